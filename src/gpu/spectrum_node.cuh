/* What a warp has under way in the search for maxima, and what both of its ways of
   searching need. */
#ifndef SYN_GPU_SPECTRUM_NODE_CUH
#define SYN_GPU_SPECTRUM_NODE_CUH

#include "gpu/spectrum_types.cuh"

namespace gpu {

/* A set of items with the windows that hold it, and those that may be added. A root has
   them as rows, of a bit for each item, that many warps share: [windows][words]. Nodes
   below have a mask for each item, of a bit for each window: [words][stride]. */
struct wide_node {
    const uint32_t *bits;
    const uint32_t *bin;      /* [windows] where they open */
    const uint32_t *item;     /* [listed] */
    const uint32_t *count;    /* [listed] windows with the item */
    uint32_t windows, words, listed;
    uint32_t stride;          /* 0: a root */
    uint32_t size, units;     /* items of the set, and how many of its units are known */
    uint32_t reach;           /* no larger set below it matters */
    uint32_t next, end;       /* items to be added next, and the last of them */
    uint32_t todo;            /* of the 32 before `next`, those still to be added */
    uint32_t mark;            /* words of the arena taken before */

    __device__ uint32_t has(uint32_t window, uint32_t at) const
    {
        if (stride == 0)
            return bits[(size_t) window * words + at / 32] >> at % 32 & 1;
        return bits[(size_t) (window / 32) * stride + at] >> window % 32 & 1;
    }
};

/* The same for up to 32 items in 64 windows: a lane has the windows of its item. */
struct small_node {
    uint64_t windows;
    uint32_t open;            /* lanes whose items may be added */
    uint32_t todo;            /* of these, lanes still to be added */
    uint32_t size, units, reach;
};

/* What a warp keeps, in shared memory; between launches in global memory. */
struct warp_state {
    uint32_t least[SPECTRUM_SIZES];   /* sets of so many items matter above that */
    uint64_t mask[SPECTRUM_WARP];     /* the lanes' windows */
    uint32_t item[SPECTRUM_WARP];
    small_node small[SPECTRUM_WARP + 1];
    uint32_t smalls;                  /* nodes of small[] */
    uint32_t wides;                   /* nodes of wide[]; 0 when the warp has no task */
    uint32_t top;                     /* words taken from the arena */
    uint32_t surrogate;               /* in the batch */
    uint32_t duration;                /* whose maxima are in least[] */
    uint32_t index[64];               /* windows of the child in hand, in its parent's */
    uint32_t at[SPECTRUM_FEW];        /* items of the child, in its parent's list, */
    uint32_t count[SPECTRUM_FEW];     /* and how many of its windows have them */
    uint32_t unit[SPECTRUM_SIZES];    /* different units of the set, up to min_units */
    wide_node wide[SPECTRUM_WIDE];
    uint64_t sets;                    /* visited */
};

/* Some windows of a node: window i is bin[index[i]], or without `index` bin[i], with i
   the set bits of `set`, or without those 0 to n - 1. */
struct window_set {
    const uint32_t *bin, *index;
    uint64_t set;
    uint32_t n;
};

/* How many items all the windows have: with lags up to `last`, and beyond. Not inlined:
   it is needed little and would take much room. */
__device__ __noinline__ inline uint2 find_closure(unit_bits bits, window_set of,
                                                  uint32_t last)
{
    uint32_t inside = 0, beyond = 0;
    uint2 all;
    for (uint32_t rank = threadIdx.x % SPECTRUM_WARP; rank < bits.units;
         rank += SPECTRUM_WARP)
        for (uint32_t block = 0; block < bits.blocks; block++) {
            uint32_t lags = ~0u;
            uint64_t set = of.set;
            for (uint32_t i = 0; i < of.n && lags; i++, set &= set - 1) {
                uint32_t at = of.set ? __ffsll((long long) set) - 1 : i;
                lags &= lags_of(bits, rank, of.bin[of.index ? of.index[at] : at], block);
            }
            uint32_t early = last / 32 > block   ? ~0u
                             : last / 32 < block ? 0
                                                 : ~0u >> (31 - last % 32);
            inside += __popc(lags & early);
            beyond += __popc(lags & ~early);
        }
    __syncwarp();
    sum_before(inside, &all.x);
    sum_before(beyond, &all.y);
    return all;
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

    /* Takes over what others have found. Where max_occ is reached, nothing is left. */
    __device__ void refresh() const
    {
        const uint32_t *known = maxima();
        for (uint32_t z = lane; z <= task.most; z += SPECTRUM_WARP) {
            uint32_t now = __ldcg(known + z);
            now = now < task.min_occ ? task.min_occ - 1 : now;
            my->least[z] = now >= task.max_occ ? SPECTRUM_DONE : now;
        }
        __syncwarp();
    }

    __device__ void fail() const
    {
        if (lane == 0)
            batch.failed[my->surrogate] = 1;
    }

    /* The smallest pattern that a set can become. */
    __device__ uint32_t needed(uint32_t size, uint32_t units) const
    {
        uint32_t by_units = units < task.min_units ? size + task.min_units - units : size;
        return by_units > task.min_spikes ? by_units : task.min_spikes;
    }

    /* Whether a child of `at` may matter, in `count` windows and with `n` items that may
       be added to it. */
    template <class NODE>
    __device__ bool matters(const NODE &at, uint32_t count, uint32_t n) const
    {
        uint32_t reach = at.size + 1 + n;
        reach = reach < at.reach ? reach : at.reach;
        return reach >= needed(at.size, at.units) && count > my->least[reach];
    }

    /* Notes the unit of an item; returns how many are known, at most min_units. */
    __device__ uint32_t add_unit(uint32_t units, uint32_t item) const
    {
        if (units >= task.min_units)
            return units;
        uint32_t rank = item >> task.lag_bits;
        int known = 0;
        for (uint32_t k = lane; k < units; k += SPECTRUM_WARP)
            known |= my->unit[k] == rank;
        if (__any_sync(WHOLE_WARP, known))
            return units;
        if (lane == 0)
            my->unit[units] = rank;
        __syncwarp();
        return units + 1;
    }

    /* Whether a set of `size` items counts, going by all that its windows share: that may
       be more than the set. */
    __device__ bool counts(uint32_t size, const window_set &of) const
    {
        unit_bits bits = bits_of(task, batch, my->surrogate);
        uint2 shared = find_closure(
            bits, of, task.durations > 1 ? my->duration : task.window - 1);
        if (task.strict)
            return shared.y == 0 && shared.x == size;
        return shared.y == 0 || (task.limited && shared.x >= task.most);
    }

    /* Raises the maxima of patterns of `size` items and fewer. */
    __device__ void raise(uint32_t size, uint32_t windows) const
    {
        uint32_t *known = maxima();
        for (uint32_t z = task.min_spikes + lane; z <= size; z += SPECTRUM_WARP)
            if (my->least[z] < windows) {
                my->least[z] = windows == task.max_occ ? SPECTRUM_DONE : windows;
                atomicMax(known + z, windows);
            }
        __syncwarp();
    }

    /* Meets a set. */
    __device__ void visit(uint32_t size, uint32_t units, const window_set &of) const
    {
        uint32_t windows = of.n;
        if (size >= task.most && !task.limited)
            fail();
        if (task.strict && size > task.most)
            return;
        size = size < task.most ? size : task.most;
        if (size < task.min_spikes || units < task.min_units || windows > task.max_occ ||
            windows <= my->least[size])
            return;
        __syncwarp();
        if (!task.checked || counts(size, of))
            raise(size, windows);
    }
};

}  // namespace gpu

#endif
