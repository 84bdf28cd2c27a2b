/* What a warp has under way in the search for maxima, and what both of its ways of
   searching need. */
#ifndef SYN_GPU_SPECTRUM_NODE_CUH
#define SYN_GPU_SPECTRUM_NODE_CUH

#include "gpu/spectrum/types.cuh"

namespace gpu {

/* How much of a warp's room is given out: in shared memory, and beyond. */
struct heap_top {
    uint32_t near, far;
};

/* A set of items with the windows that hold it, and those that may be added, as rows. */
struct wide_node {
    const uint32_t *row;      /* [windows][words] */
    const uint32_t *bin;      /* [windows] where they open */
    const uint32_t *item;     /* [listed] */
    const uint32_t *count;    /* [listed] windows with the item */
    uint32_t windows, words, listed;
    uint32_t size, units;     /* items of the set, and how many of its units are known */
    uint32_t reach;           /* no larger set below it matters */
    uint32_t next, end;       /* items to be added next, and the last of them */
    heap_top mark;            /* before this node */
};

/* What a warp keeps, in shared memory; between launches in global memory. */
struct warp_state {
    alignas(16) uint32_t near[SPECTRUM_NEAR];
    uint32_t least[SPECTRUM_SIZES];   /* sets of so many items matter above that */
    uint32_t unit[SPECTRUM_SIZES];    /* different units of the set, up to min_units */
    wide_node wide[SPECTRUM_WIDE];
    uint32_t *bin;                    /* where the windows open that masks are of, and
                                         after them room for as many */
    uint64_t sets;                    /* looked at */
    uint32_t wides;                   /* nodes of wide[]; 0 when the warp has no task */
    uint32_t mask_words;              /* of nodes with masks; 0 when there are none */
    uint32_t deepest;                 /* where the last of these is */
    uint32_t surrogate;               /* in the batch */
    uint32_t place;                   /* of the root among tasks */
    uint32_t duration;                /* whose maxima are in least[] */
    heap_top top;
};

constexpr uint32_t NOWHERE = 0xffffffffu;

/* Room is given out on whole 16 bytes. */
__device__ inline uint64_t whole_words(uint64_t words)
{
    return (words + 3) / 4 * 4;
}

/* Whether a set of `size` items counts, going by all that its windows share: that may be
   more than the set. They open at bin[n]. */
__device__ inline __noinline__ bool
set_counts(const spectrum_task &task, const spectrum_batch &batch, uint32_t surrogate,
           uint32_t duration, uint32_t size, const uint32_t *bin, uint32_t n)
{
    const uint32_t *bits = batch.bits + (size_t) surrogate * task.words * task.units;
    uint32_t lane = threadIdx.x % WARP;
    uint32_t last = task.durations > 1 ? duration : task.window - 1;
    uint32_t shared = 0, later = 0, inside, beyond;
#pragma unroll 1
    for (uint32_t rank = lane; rank < task.units; rank += WARP)
#pragma unroll 1
        for (uint32_t block = 0; block < task.blocks; block++) {
            uint32_t lags = ~0u;
#pragma unroll 1
            for (uint32_t i = 0; i < n && lags; i++)
                lags &= lags_of(task, bits, rank, bin[i], block);
            uint32_t early = last / 32 > block   ? ~0u
                             : last / 32 < block ? 0
                                                 : ~0u >> (31 - last % 32);
            shared += __popc(lags & early);
            later += __popc(lags & ~early);
        }
    __syncwarp();
    sum_below(shared, &inside);
    sum_below(later, &beyond);
    if (task.strict)
        return beyond == 0 && inside == size;
    return beyond == 0 || (task.limited && inside >= task.most);
}

/* All that a warp searches with. */
struct searcher {
    const spectrum_task &task;
    const spectrum_batch &batch;
    warp_state *my;
    uint32_t *arena;
    uint32_t room;            /* words of the arena */
    uint32_t lane;

    __device__ uint32_t *maxima() const
    {
        return batch.maximum +
               ((size_t) my->surrogate * task.durations + my->duration) * SPECTRUM_SIZES;
    }

    /* Takes over what others have found. Where max_count is reached, nothing is left. */
    __device__ void refresh() const
    {
        const uint32_t *known = maxima();
#pragma unroll
        for (uint32_t z = lane; z < SPECTRUM_SIZES; z += WARP) {
            uint32_t now = __ldcg(known + z);
            now = now < task.min_count ? task.min_count - 1 : now;
            my->least[z] = now >= task.max_count ? SPECTRUM_DONE : now;
        }
        __syncwarp();
    }

    __device__ void fail() const
    {
        if (lane == 0)
            batch.failed[my->surrogate] = 1;
    }

    __device__ uint32_t *words_at(uint32_t place) const
    {
        return place < SPECTRUM_NEAR ? my->near + place : arena + (place - SPECTRUM_NEAR);
    }

    /* A place for that many words that stays where it is between launches. Without room
       the surrogate is given up, and this is NOWHERE. */
    __device__ uint32_t reserve_far(heap_top *top, uint64_t words) const
    {
        words = whole_words(words);
        if (words > room - top->far) {
            fail();
            return NOWHERE;
        }
        top->far += (uint32_t) words;
        return SPECTRUM_NEAR + top->far - (uint32_t) words;
    }

    __device__ uint32_t reserve(heap_top *top, uint64_t words) const
    {
        words = whole_words(words);
        if (words > SPECTRUM_NEAR - top->near)
            return reserve_far(top, words);
        top->near += (uint32_t) words;
        return top->near - (uint32_t) words;
    }

    /* The smallest pattern that a set can become. */
    __device__ uint32_t needed(uint32_t size, uint32_t units) const
    {
        uint32_t by_units = units < task.min_units ? size + task.min_units - units : size;
        return by_units > task.min_spikes ? by_units : task.min_spikes;
    }

    /* Notes the unit of an item; returns how many are known, at most min_units. */
    __device__ uint32_t add_unit(uint32_t units, uint32_t item) const
    {
        if (units >= task.min_units)
            return units;
        uint32_t rank = item >> task.lag_bits;
        int known = 0;
#pragma unroll 1
        for (uint32_t k = lane; k < units; k += WARP)
            known |= my->unit[k] == rank;
        if (__any_sync(WHOLE_WARP, known))
            return units;
        if (lane == 0)
            my->unit[units] = rank;
        __syncwarp();
        return units + 1;
    }

    /* Whether sets below one of so many items and windows, of up to `reach` items, may
       matter. */
    __device__ bool leads_on(uint32_t size, uint32_t units, uint32_t windows,
                             uint32_t reach) const
    {
        return reach > size && windows > my->least[reach] && reach >= needed(size, units);
    }

    /* Raises the maxima of patterns of `size` items and fewer. */
    __device__ void raise(uint32_t size, uint32_t windows) const
    {
        uint32_t *known = maxima();
#pragma unroll 1
        for (uint32_t z = task.min_spikes + lane; z <= size; z += WARP)
            if (my->least[z] < windows) {
                my->least[z] = windows == task.max_count ? SPECTRUM_DONE : windows;
                atomicMax(known + z, windows);
            }
        __syncwarp();
    }

    /* Meets a set; bins() lists where its windows open. False when neither it nor any
       larger one below it counts. */
    template <class F>
    __device__ bool visit(uint32_t size, uint32_t units, uint32_t windows, F bins) const
    {
        if (size >= task.most && !task.limited)
            fail();
        if (task.strict && size > task.most)
            return true;
        size = size < task.most ? size : task.most;
        if (size < task.min_spikes || units < task.min_units ||
            windows > task.max_count || windows <= my->least[size])
            return true;
        __syncwarp();
        if (task.checked &&
            !set_counts(task, batch, my->surrogate, my->duration, size, bins(), windows))
            return task.strict || task.limited;
        raise(size, windows);
        return true;
    }
};

}  // namespace gpu

#endif
