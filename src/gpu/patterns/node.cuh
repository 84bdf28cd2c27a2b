/* What a warp has under way in the search for patterns: nodes, each with a list of what
   can be added and one of what must not be, and what was found. */
#pragma once

#include "gpu/patterns/roots.cuh"

namespace gpu {

/* Items with masks: entries of a place and then its `words` of windows. */
struct mask_entries {
    uint32_t at;              /* where they are */
    uint32_t n;
};

/* A set of items, which begins the path. */
struct pattern_set {
    uint32_t size, units;
    uint32_t last;            /* the largest place in it */
    uint32_t windows;         /* that hold it */
};

/* A set, and items that may be added or must not be. */
struct alignas(16) pattern_node : pattern_set {
    uint32_t before;          /* where the node before it is */
    uint32_t words;           /* of a mask */
    mask_entries open, barred;
    uint32_t next, until;     /* open items to be looked at next, and the end of them */
    uint32_t base, alive;     /* which of the 32 from `base` on are still to be added, */
    uint32_t leaves;          /* and which of these are known to have no children */
    uint32_t passed;          /* whether the set itself has been kept, or must not be */
    uint32_t stream;          /* what is found after its end goes there, or NO_PLACE */
    room_top mark;            /* before this node */
};

/* What a warp keeps, in shared memory; between launches in global memory. */
struct pattern_warp {
    alignas(16) uint32_t near[PATTERN_NEAR];
    uint32_t path[PATTERN_PATH];  /* places of the set at hand */
    uint32_t stream;          /* where what is found goes */
    uint32_t root;            /* of the batch */
    uint32_t next, end;       /* children of the root to be looked at */
    uint32_t root_at;         /* the child that the root's own set comes before */
    uint32_t deepest;         /* the last node */
    room_top top;
    uint32_t segment;         /* that is open, or NO_PLACE */
    uint32_t busy;            /* whether it has a task */
    uint32_t lent;            /* the share whose node it lent last, from 1, or 0 */
    uint64_t chunk, used;     /* where its chunk ends, and what comes next in it */
};

/* Open items of a node, which its warp gives away in pieces. */
struct pattern_share {
    uint32_t root;              /* in the batch */
    uint32_t giver;             /* who lends the node: see pattern_queue */
    uint32_t from, until, step; /* a piece has so many of them */
    uint32_t pieces;
    uint32_t stream;            /* of the first piece; the others' follow */
    uint32_t taken;             /* pieces, */
    uint32_t copied;            /* and those whose taker has the node */
    uint32_t ready;             /* whether all this is written */
};

struct pattern_queue : tree_queue<pattern_warp> {
    uint32_t shares;           /* that there is room for */
    pattern_share *share;      /* [shares] */
    uint32_t *first, *end;     /* shares from *first to before *end may have pieces that
                                  nobody has taken */
    uint32_t *lent;            /* [warps][words_lent] the node that a warp lends: itself,
                                  its path, its open entries and the barred ones */
    uint32_t words_lent;
    uint32_t *active;          /* warps that have a task, and so may give some away; one
                                  that has just taken it may not be counted yet */
};

struct pattern_search : tree_search<pattern_search, pattern_job, pattern_batch,
                                    pattern_queue, pattern_warp, PATTERN_NEAR> {
    using tree_search::tree_search;

    /* Gives the root up: the host has it searched elsewhere. */
    __device__ void fail() const
    {
        if (lane == 0)
            batch.root[my->root].failed = 1;
    }

    /* A place for that many words, and for nothing still a place of its own. */
    __device__ uint32_t reserve(room_top *top, uint64_t words) const
    {
        return tree_search::reserve(top, words ? words : 1);
    }

    /* Of what was reserved last, keeps the first `words`. */
    __device__ void keep_first(room_top *top, uint32_t at, uint64_t words) const
    {
        words = whole_words(words);
        if (at < PATTERN_NEAR)
            top->near = at + (uint32_t) words;
        else
            top->far = at - PATTERN_NEAR + (uint32_t) words;
    }

    /* Adds a place to a set; false without room. */
    __device__ bool extend(pattern_set *set, uint32_t place) const
    {
        if (set->size == PATTERN_PATH) {
            fail();
            return false;
        }
        uint32_t rank = job.rank[place];
        int known = 0;
        for (uint32_t k = lane; k < set->size; k += WARP)
            known |= job.rank[my->path[k]] == rank;
        known = __any_sync(WHOLE_WARP, known);
        if (lane == 0)
            my->path[set->size] = place;
        __syncwarp();
        set->units += !known;
        set->last = set->last > place ? set->last : place;
        set->size++;
        return true;
    }

    /* ---- what was found ---- */

    __device__ void close_segment() const
    {
        if (lane == 0 && my->segment != NO_PLACE) {
            batch.segment[my->segment].end = my->used;
            my->segment = NO_PLACE;
        }
        __syncwarp();
    }

    /* What is found from now on goes to another stream. */
    __device__ void go_to_stream(uint32_t stream) const
    {
        close_segment();
        if (lane == 0)
            my->stream = stream;
        __syncwarp();
    }

    /* Where so many numbers go; false where the pool or the list of segments is full. */
    __device__ bool take_room(uint32_t numbers) const
    {
        if (my->used + numbers > my->chunk) {
            close_segment();
            if (lane == 0) {
                uint64_t chunk = atomicAdd(batch.used + USED_CHUNKS, 1u);
                bool there = chunk < batch.chunks;
                my->used = there ? chunk * PATTERN_CHUNK : 0;
                my->chunk = there ? my->used + PATTERN_CHUNK : 0;
            }
        }
        if (lane == 0 && my->segment == NO_PLACE && my->chunk > 0) {
            uint32_t s = atomicAdd(batch.used + USED_SEGMENTS, 1u);
            if (s < batch.segments) {
                pattern_segment opened = {my->stream, my->root, my->used, my->used};
                batch.segment[s] = opened;
                my->segment = s;
            }
        }
        __syncwarp();
        bool there = my->chunk > 0 && my->segment != NO_PLACE;
        if (!there && lane == 0)
            batch.used[USED_OVERFLOW] = 1;
        return there;
    }

    template <class NUMBER> __device__ void write(const pattern_set &set) const
    {
        NUMBER *to = (NUMBER *) batch.pool + my->used;
        for (uint32_t k = lane; k < set.size; k += WARP) {
            uint32_t place = my->path[k], rank = job.rank[place], before = 0;
            uint32_t item = lag_of(job, place, rank) * job.units + job.unit[rank];
            for (uint32_t j = 0; j < set.size; j++) {
                uint32_t other = my->path[j], of = job.rank[other];
                before += lag_of(job, other, of) * job.units + job.unit[of] < item;
            }
            to[2 + before] = (NUMBER) item;
        }
        if (lane == 0) {
            to[0] = (NUMBER) set.size;
            to[1] = (NUMBER) set.windows;
        }
        __syncwarp();
        if (lane == 0)
            my->used += set.size + 2;
        __syncwarp();
    }

    /* Keeps the set, if it is a pattern. */
    __device__ void keep(pattern_set set) const
    {
        if (set.size < job.min_spikes || set.size > job.max_spikes ||
            set.units < job.min_units || set.windows > job.max_count)
            return;
        if (!take_room(set.size + 2))
            return;
        if (job.narrow)
            write<uint16_t>(set);
        else
            write<uint32_t>(set);
        if (lane == 0 && batch.used[USED_LARGEST] < set.size)
            atomicMax(batch.used + USED_LARGEST, set.size);
    }

    /* ---- rules ---- */

    /* Whether a set with so many items that can be added leads to a pattern. */
    __device__ bool leads_on(const pattern_set &set, uint32_t open) const
    {
        return !(job.closed && set.size > job.max_spikes) &&
               set.size + open >= job.min_spikes && set.units + open >= job.min_units;
    }

    /* Whether it must not be kept; `holds`: whether another item is in all its windows,
       `more`: whether one is in enough of them. */
    __device__ bool is_hidden(const pattern_set &set, bool holds, bool more) const
    {
        if (job.maximal)
            return more;
        return !job.closed && job.barred && holds && set.size < job.max_spikes;
    }
};

}  // namespace gpu
