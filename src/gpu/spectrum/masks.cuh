/* The search below sets of few windows. Each item that may be added has the windows of
   the set with it as a mask, so that a look at all pairs of items, a lane an item, tells
   which of them can lead to anything: very few. */
#pragma once

#include "gpu/spectrum/raster.cuh"

namespace gpu {

/* ---- what a warp has under way, for both ways of searching ---- */

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
    room_top mark;            /* before this node */
};

/* What a warp keeps, in shared memory; between launches in global memory. */
struct warp_state {
    alignas(16) uint32_t near[SPECTRUM_NEAR];
    uint32_t least[SPECTRUM_SIZES];   /* sets of so many items matter above that */
    uint32_t unit[SPECTRUM_SIZES];    /* different units of the set, up to min_units */
    wide_node wide[SPECTRUM_WIDE];
    uint32_t *bin;                    /* where the windows open that masks are of, and
                                         after them room for as many */
    uint32_t wides;                   /* nodes of wide[]; 0 when the warp has no task */
    uint32_t mask_words;              /* of nodes with masks; 0 when there are none */
    uint32_t deepest;                 /* where the last of these is */
    uint32_t surrogate;               /* in the batch */
    uint32_t place;                   /* of the root among tasks */
    uint32_t duration;                /* whose maxima are in least[] */
    room_top top;
};

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
    for (uint32_t rank = lane; rank < task.units; rank += WARP)
        for (uint32_t block = 0; block < task.blocks; block++) {
            uint32_t lags = ~0u;
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

struct spectrum_queue : tree_queue<warp_state> {
    uint32_t *busy;            /* warps that have not seen its end */
    const unsigned long long *first;  /* [units + 1] the first task of roots, those of the
                                         highest rank before the others; of a root,
                                         each surrogate has as many */
};

struct searcher : tree_search<searcher, spectrum_task, spectrum_batch, spectrum_queue,
                              warp_state, SPECTRUM_NEAR> {
    using tree_search::tree_search;

    __device__ uint32_t *maxima() const
    {
        return batch.maximum +
               ((size_t) my->surrogate * job.durations + my->duration) * SPECTRUM_SIZES;
    }

    /* Takes over what others have found. Where max_count is reached, nothing is left. */
    __device__ void refresh() const
    {
        const uint32_t *known = maxima();
        for (uint32_t z = lane; z < SPECTRUM_SIZES; z += WARP) {
            uint32_t now = __ldcg(known + z);
            now = now < job.min_count ? job.min_count - 1 : now;
            my->least[z] = now >= job.max_count ? SPECTRUM_DONE : now;
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
        uint32_t by_units = units < job.min_units ? size + job.min_units - units : size;
        return by_units > job.min_spikes ? by_units : job.min_spikes;
    }

    /* Notes the unit of an item; returns how many are known, at most min_units. */
    __device__ uint32_t add_unit(uint32_t units, uint32_t item) const
    {
        if (units >= job.min_units)
            return units;
        uint32_t rank = item >> job.lag_bits;
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

    /* The lanes in `full` have items that are in all windows of a set: these join it. */
    __device__ void join(uint32_t full, uint32_t item, uint32_t *size,
                         uint32_t *units) const
    {
        *size += __popc(full);
#pragma unroll 1
        for (; full && *units < job.min_units; full &= full - 1)
            *units = add_unit(*units, __shfl_sync(WHOLE_WARP, item, __ffs(full) - 1));
    }

    /* Whether sets below one of so many items and windows, of up to `reach` items, may
       matter. */
    __device__ bool leads_on(uint32_t size, uint32_t units, uint32_t windows,
                             uint32_t reach) const
    {
        return reach > size && windows > my->least[reach] && reach >= needed(size, units);
    }

    /* Meets a set; bins() lists where its windows open. False when neither it nor any
       larger one below it counts. */
    template <class F>
    __device__ bool visit(uint32_t size, uint32_t units, uint32_t windows, F bins) const
    {
        if (size >= job.most && !job.limited)
            fail();
        if (job.strict && size > job.most)
            return true;
        size = size < job.most ? size : job.most;
        if (size < job.min_spikes || units < job.min_units ||
            windows > job.max_count || windows <= my->least[size])
            return true;
        __syncwarp();
        if (job.checked &&
            !set_counts(job, batch, my->surrogate, my->duration, size, bins(), windows))
            return job.strict || job.limited;
        /* Raises the maxima of patterns of so many items and fewer. */
        uint32_t *known = maxima();
#pragma unroll 1
        for (uint32_t z = job.min_spikes + lane; z <= size; z += WARP)
            if (my->least[z] < windows) {
                my->least[z] = windows == job.max_count ? SPECTRUM_DONE : windows;
                atomicMax(known + z, windows);
            }
        __syncwarp();
        return true;
    }
};

/* ---- nodes with masks ---- */

enum {
    MASK_WORDS = 4,       /* of 64 windows in the largest masks */
    MASK_STEPS = 256,     /* between two looks at the clock */
    MASK_AIMS = 3         /* sizes that a set is to reach, each by more windows than the
                             next */
};

template <int WORDS> struct alignas(WORDS == 1 ? 8 : 16) window_mask {
    uint64_t word[WORDS];

    __device__ uint32_t count() const
    {
        uint32_t n = 0;
        SYN_UNROLL(w, WORDS)
            n += __popcll(word[w]);
        return n;
    }

    __device__ void set_half(int k, uint32_t bits)
    {
        word[k / 2] |= (uint64_t) bits << k % 2 * 32;
    }

    __device__ window_mask operator&(const window_mask &other) const
    {
        window_mask both;
        SYN_UNROLL(w, WORDS)
            both.word[w] = word[w] & other.word[w];
        return both;
    }
};

/* A set of items and those that may be added; its list follows. */
struct alignas(16) mask_node {
    uint32_t before;          /* where the node before it is */
    uint32_t size, units, reach;
    uint32_t listed, room;    /* items there are, and that there is room for */
    uint32_t next;            /* the first item not yet looked at */
    uint32_t alive[MASK_AIMS];  /* which of the 32 before that are still to be added, for
                                   each aim, */
    uint32_t least[MASK_AIMS];  /* what the aim asks for */
    room_top mark;            /* before this node */
    uint32_t spare;           /* copies have no holes to leave out */
};

template <int WORDS> struct mask_list {
    window_mask<WORDS> *mask;  /* windows of the set that have the item */
    uint32_t *item;
};

template <int WORDS>
__device__ inline mask_list<WORDS> list_of(const searcher &s, uint32_t at, uint32_t room)
{
    auto mask = (window_mask<WORDS> *) (s.words_at(at) + sizeof(mask_node) / 4);
    return {mask, (uint32_t *) (mask + room)};
}

/* A place for a node and its list. */
template <int WORDS>
__device__ inline uint32_t reserve_node(const searcher &s, room_top *top, uint32_t room)
{
    return s.reserve(top, sizeof(mask_node) / 4 + (2ull * WORDS + 1) * room);
}

/* What sets below a node may be after: `size` items or more, in more than `least`
   windows. Sizes that ask for the same are one aim, the last aim stands for all larger
   sizes. An aim that is none asks for more windows than there are. */
struct mask_aims {
    uint32_t size[MASK_AIMS], least[MASK_AIMS];
};

__device__ inline mask_aims aims_of(const searcher &s, uint32_t from, uint32_t reach)
{
    const uint32_t *least = s.my->least;
    uint32_t z = from + s.lane < reach ? from + s.lane : reach, asked = least[z];
    uint32_t before = __shfl_up_sync(WHOLE_WARP, asked, 1);
    bool starts = s.lane == 0 || (z == from + s.lane && asked != before);
    uint32_t starting = __ballot_sync(WHOLE_WARP, from <= reach && starts);
    mask_aims aims;
    for (int k = 0; k < MASK_AIMS; k++, starting &= starting - 1) {
        uint32_t first = starting ? __ffs(starting) - 1 : 0;
        uint32_t level = __shfl_sync(WHOLE_WARP, asked, first);
        if (k == MASK_AIMS - 1)
            level = least[reach];
        aims.size[k] = from + first;
        aims.least[k] = starting ? level : SPECTRUM_DONE;
    }
    return aims;
}

/* Counts for three aims at a time, in ten bits each: a number above what an aim asks for
   sets the highest bit of its ten, which is then added to its lowest. */
struct aim_counter {
    enum { BITS = 10, HALF = 1 << (BITS - 1), MOST = 2 * HALF - 1 };
    static constexpr uint32_t ONES = 1u << 2 * BITS | 1u << BITS | 1;
    uint32_t above, counts;

    __device__ explicit aim_counter(const mask_aims &aims) : above(0), counts(0)
    {
        SYN_UNROLL(k, MASK_AIMS) {
            uint32_t least = aims.least[k] < HALF ? aims.least[k] : HALF - 1;
            above |= (HALF - 1 - least) << k * BITS;
        }
    }

    /* At most MOST numbers, each up to HALF. */
    __device__ void count(uint32_t number)
    {
        counts += (number * ONES + above) >> (BITS - 1) & ONES;
    }

    __device__ uint32_t of(int aim) const { return counts >> aim * BITS & MOST; }
};

/* Of the 32 items from node.next on, which can lead to anything when they are added: for
   one of the aims, so many of the items after them must share windows enough with them.
   Fills node.alive[] and node.least[]; false when there is none. */
template <int WORDS>
__device__ inline bool look_ahead(const searcher &s, mask_node *node,
                                  const mask_list<WORDS> &list)
{
    static_assert(64 * WORDS < aim_counter::HALF && MASK_AIMS == 3, "counts fit");
    uint32_t reach = node->size + node->listed - node->next, t = node->next + s.lane;
    reach = reach < node->reach ? reach : node->reach;
    uint32_t size = node->size + 1, z = s.needed(node->size, node->units);
    mask_aims aims = aims_of(s, z < size ? size : z, reach);
    window_mask<WORDS> mine = list.mask[t < node->listed ? t : node->next];
    uint32_t windows = t < node->listed ? mine.count() : 0, alive = 0;
    uint32_t found[MASK_AIMS] = {};
    uint32_t lowest = aims.least[0];
    for (int k = 1; k < MASK_AIMS; k++)
        lowest = aims.least[k] < lowest ? aims.least[k] : lowest;
    if (!__any_sync(WHOLE_WARP, windows > lowest))
        return false;
    uint32_t begin = node->next + 1, own = node->next + WARP;
    while (begin < node->listed) {
        aim_counter counter(aims);
        uint32_t end = node->listed - begin < aim_counter::MOST
                           ? node->listed
                           : begin + aim_counter::MOST;
        uint32_t u = begin, near = own < end ? own : end;
#pragma unroll 2
        for (; u < near; u++)
            counter.count(u > t ? (mine & list.mask[u]).count() : 0);
        for (; u < end; u++)
            counter.count((mine & list.mask[u]).count());
        SYN_UNROLL(k, MASK_AIMS)
            found[k] += counter.of(k);
        begin = end;
    }
    SYN_UNROLL(k, MASK_AIMS) {
        bool leads = windows > aims.least[k] && found[k] + size >= aims.size[k];
        node->alive[k] = __ballot_sync(WHOLE_WARP, leads);
        node->least[k] = aims.least[k];
        alive |= node->alive[k];
    }
    return alive != 0;
}

/* Lists the items of lanes that have one. Those in all windows of the set join it. */
template <int WORDS>
__device__ inline void add_items(const searcher &s, const mask_list<WORDS> &list,
                                 bool there, const window_mask<WORDS> &mask,
                                 uint32_t item, uint32_t windows, mask_node *node)
{
    bool joins = there && mask.count() == windows;
    uint32_t full = __ballot_sync(WHOLE_WARP, joins);
    uint32_t place = place_for(there && !joins, &node->listed);
    if (there && !joins) {
        list.mask[place] = mask;
        list.item[place] = item;
    }
    s.join(full, item, &node->size, &node->units);
}

/* Where the windows of a set open. */
template <int WORDS>
__device__ inline const uint32_t *list_bins(const searcher &s,
                                            const window_mask<WORDS> &set)
{
    uint32_t n = 0, *some = s.my->bin + whole_words(64 * WORDS);
    SYN_UNROLL(half, 2 * WORDS) {
        uint32_t part = (uint32_t) (set.word[half / 2] >> half % 2 * 32);
        if (part >> s.lane & 1)
            some[n + __popc(part & lanes_below())] = s.my->bin[half * 32 + s.lane];
        n += __popc(part);
    }
    __syncwarp();
    return some;
}

/* Meets the child of a node with its item `t`, below which sets in more than `enough`
   windows are looked for; false when nothing is below it. Else its node and list are at
   `at`, and the heap is taken up to `top`. */
template <int WORDS>
__device__ inline bool mask_child(const searcher &s, const mask_node &node,
                                  const mask_list<WORDS> &list, uint32_t t,
                                  uint32_t enough, mask_node *child, uint32_t *at,
                                  room_top *top)
{
    window_mask<WORDS> set = list.mask[t];
    uint32_t windows = set.count();
    *child = {};
    child->before = *at;
    child->mark = *top;
    child->size = node.size + 1;
    child->units = s.add_unit(node.units, list.item[t]);
#pragma unroll 1
    for (uint32_t k = t + 1 + s.lane; k < node.listed; k += WARP)
        child->room += (list.mask[k] & set).count() > enough;
    child->room = warp_sum(child->room);
    uint32_t most = child->size + child->room, least;
    child->reach = most < node.reach ? most : node.reach;
    least = s.my->least[child->reach];
    enough = enough > least ? enough : least;
    if (windows <= enough || child->reach < s.needed(child->size, child->units))
        return false;
    *at = reserve_node<WORDS>(s, top, child->room);
    if (*at == NO_PLACE)
        return false;
    mask_list<WORDS> to = list_of<WORDS>(s, *at, child->room);
    for (uint32_t from = t + 1; from < node.listed; from += WARP) {
        uint32_t k = from + s.lane < node.listed ? from + s.lane : t;
        window_mask<WORDS> mask = list.mask[k] & set;
        bool there = k > t && mask.count() > enough;
        add_items(s, to, there, mask, list.item[k], windows, child);
    }
    most = child->size + child->listed;
    child->reach = most < child->reach ? most : child->reach;
    __syncwarp();
    auto bins = [&] { return list_bins(s, set); };
    return s.visit(child->size, child->units, windows, bins) &&
           s.leads_on(child->size, child->units, windows, child->reach);
}

/* The next item of a node that is to be added, counted from the first of its 32, which is
   noted; and the least that any of its aims asks for. */
__device__ inline uint32_t take_alive(mask_node *node, uint32_t *enough)
{
    uint32_t all = 0, first;
    *enough = SPECTRUM_DONE;
    SYN_UNROLL(k, MASK_AIMS)
        all |= node->alive[k];
    first = __ffs(all) - 1;
    SYN_UNROLL(k, MASK_AIMS) {
        if (node->alive[k] >> first & 1 && node->least[k] < *enough)
            *enough = node->least[k];
        node->alive[k] &= ~(1u << first);
    }
    return first;
}

/* One step: the next child of the deepest node, or a look at those that follow, or the
   end of the node. */
template <int WORDS> __device__ inline void step_masks(const searcher &s)
{
    warp_state *my = s.my;
    uint32_t at = my->deepest;
    room_top top = my->top;
    mask_node *kept = (mask_node *) s.words_at(at), node = *kept;
    __syncwarp();
    if (node.alive[0] | node.alive[1] | node.alive[2]) {
        uint32_t enough, t = node.next - WARP + take_alive(&node, &enough);
        if (s.lane == 0)
            SYN_UNROLL(k, MASK_AIMS)
                kept->alive[k] = node.alive[k];
        __syncwarp();
        mask_node child;
        if (!mask_child(s, node, list_of<WORDS>(s, at, node.room), t, enough, &child, &at,
                        &top))
            return;
        node = child;
        kept = (mask_node *) s.words_at(at);
    } else if (node.next >= node.listed) {
        at = node.before;
        top = node.mark;
    }
    if (node.next < node.listed) {
        bool leads = look_ahead(s, &node, list_of<WORDS>(s, at, node.room));
        node.next += WARP;
        if (!leads && node.next >= node.listed) {  /* nothing came of it */
            at = node.before;
            top = node.mark;
        } else if (s.lane == 0) {
            *kept = node;
        }
    }
    __syncwarp();
    if (s.lane == 0) {
        my->deepest = at;
        my->top = top;
    }
    __syncwarp();
}

/* Goes on until all is done, or for some time. */
template <int WORDS> __device__ inline void search_masks(const searcher &s)
{
    warp_state *my = s.my;
    auto go_on = [&](auto words) {
        for (int k = 0; k < MASK_STEPS && my->deepest != NO_PLACE; k++)
            step_masks<decltype(words)::value>(s);
    };
    if constexpr (WORDS > 0)
        go_on(std::integral_constant<int, WORDS>());
    else
        with_number<1, 2, MASK_WORDS>(my->mask_words, go_on);
    __syncwarp();
    if (s.lane == 0 && my->deepest == NO_PLACE)
        my->mask_words = 0;
    __syncwarp();
}

}  // namespace gpu
