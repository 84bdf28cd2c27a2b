/* The device's data structures of the episode miner. */
#pragma once

#include "core/episodes/mine.h"
#include "gpu/base/devices.h"
#include "gpu/base/warp.cuh"

namespace gpu {

constexpr uint32_t NOTHING = 0xffffffffu;  /* no event, no symbol */
constexpr uint16_t RARE = 0xffff;          /* the symbol of infrequent units */

/* The frequent units are numbered as symbols, in order, and cut into pages of one width.
   Each of a warp's lanes holds K neighbouring symbols of a page, K a power of two:
   symbol = page * width + lane * K + j. A set of a page's symbols is K words, word j of
   which has a bit for each lane. A column is an interval and a page, in this order. */
struct events_view {
    uint32_t n;
    const int64_t *tick;
    uint32_t *group, *by_unit, *row;        /* as in syn_recording */
    uint16_t *symbol;                       /* [n] */
    const uint32_t *row_begin, *row_end;    /* [symbols] rows of the unit's events */
    const uint32_t *unit;                   /* [symbols] */
};

struct columns_view {
    uint32_t n, pages, width;
};

/* A lane's share of a row of the next-occurrence table: where each of its symbols first
   occurs inside the window, counted from 1 at the event that the window opens with; 0
   where it does not occur. The table is [columns][events + 1][WARP]; rows follow by_unit,
   the last one is all 0. The last lane has no symbols of a page: it counts the events
   themselves, as the spare symbol, which occurs at each. T is uint8_t or uint16_t. */
template <int K, class T> struct row_pack {
    static constexpr int BYTES = K * sizeof(T), WORDS = (BYTES + 3) / 4;
    static constexpr int EACH = 4 / sizeof(T), BITS = 8 * sizeof(T);
    uint32_t word[WORDS];  /* unpacked late, which saves registers */

    __device__ uint32_t next(int j) const
    {
        uint32_t above = word[j / EACH] >> j % EACH * BITS;
        return BYTES < 4 && j == K - 1 ? above : above & ((1u << BITS) - 1);
    }

    __device__ void set(int j, uint32_t value)
    {
        word[j / EACH] |= value << j % EACH * BITS;
    }
};

template <int K, class T> struct row_bytes {
    static constexpr uint32_t lane = sizeof(T) * K, row = WARP * lane;
};

/* Values of so many bytes, as they are loaded and stored at once. */
template <int BYTES> struct bytes_at_once { typedef uint2 type; };
template <> struct bytes_at_once<1> { typedef uint8_t type; };
template <> struct bytes_at_once<2> { typedef uint16_t type; };
template <> struct bytes_at_once<4> { typedef uint32_t type; };

template <int K, class T>
__device__ inline row_pack<K, T> load_pack(const unsigned char *from)
{
    typedef row_pack<K, T> pack_type;
    typedef typename bytes_at_once<pack_type::BYTES>::type some;
    pack_type pack;
    if constexpr (sizeof(some) <= 4) {
        pack.word[0] = *(const some *) from;
    } else {
        SYN_UNROLL(i, pack_type::WORDS / 2) {
            uint2 two = ((const uint2 *) from)[i];
            pack.word[2 * i] = two.x;
            pack.word[2 * i + 1] = two.y;
        }
    }
    return pack;
}

template <int K, class T>
__device__ inline void store_pack(unsigned char *to, row_pack<K, T> pack)
{
    typedef typename bytes_at_once<row_pack<K, T>::BYTES>::type some;
    if constexpr (sizeof(some) <= 4)
        *(some *) to = (some) pack.word[0];
    else
        SYN_UNROLL(i, (row_pack<K, T>::WORDS))
            ((uint32_t *) to)[i] = pack.word[i];
}

/* An event of a row, and where its window opens and shuts, counted from it. T is
   uint16_t, or uint32_t where windows hold more events than that can number. */
template <class T> struct place {
    uint32_t event;
    T open, shut;
};

/* An event's row, and the next event of its unit. */
struct link {
    uint32_t row, next;
};

/* What the device knows of a level, and tells the host. */
struct header {
    unsigned long long candidates;  /* children of its nodes that are counted */
    unsigned long long own;         /* those of them that this device counts */
    unsigned long long list_ends;   /* ends that the lists made of it need */
    uint32_t lists;                 /* lists made */
    uint32_t tasks, segments;       /* planned for counting along them */
    uint32_t taken;                 /* tasks begun beyond the first of each warp */
    uint32_t found;                 /* frequent children counted */
    uint32_t reach;                 /* farthest event of any window */
    uint32_t widest;                /* most events of a window */
};

/* Ends that the lists of `nodes` nodes will need: mostly lists get shorter. */
__host__ __device__ inline unsigned long long ends_expected(const header &below,
                                                            uint32_t nodes)
{
    return below.lists > 0 ? below.list_ends / below.lists * nodes : 0;
}

/* A level on the device. A node is an episode, an item a node and a column. What items
   hold describes the node's children in that column. */
struct level_view {
    uint32_t n;                                /* nodes, where the host knows */
    uint32_t room;                             /* for nodes */
    uint32_t *nodes;                           /* how many there are; it comes first */
    uint32_t *parent, *suffix, *unit, *interval, *count;  /* [n] as on the host */
    uint32_t *step;                            /* [n] symbol in the page + 256 * column */
    uint32_t *length;                          /* [n] valid ends in the node's list */
    unsigned long long *offset;                /* [n] where the list begins */
    uint32_t *child;                           /* [n + 1] */
    uint32_t *mask;                            /* [items][K] symbols that follow */
    uint32_t *children;                        /* [items] how many */
    uint32_t *base;                            /* [items + 1] first one's number */
    uint32_t *slot;                            /* [items] first one's place in `counts`,
                                                  and whose: device << SLOT_BITS */
    uint32_t *done;                            /* [items] finished segments, 0 at rest */
};

/* What a warp counts at a time: an item, or where its list is long a segment of it, whose
   states are left at number `first` + segment for the others. */
struct task {
    uint32_t item, segment, segments, first;
};

/* How many symbols of an item's set come before this lane's first one. */
template <int K> __device__ inline uint32_t rank_of_lane(const uint32_t *mask)
{
    uint32_t lower = (1u << threadIdx.x % WARP) - 1, rank = 0;
    for (int j = 0; j < K; j++)
        rank += __popc(mask[j] & lower);
    return rank;
}

/* ---- several devices ---- */

/* How several devices share the work: all hold the same events and levels; the lists of a
   level with enough nodes are dealt out, and those of the nodes below it stay where their
   ancestor's is. Each device counts what it has lists for, and gets the rest from the
   others. */

/* A slot is a place among a device's found counts, and above SLOT_BITS the device. */
enum { DEVICES = SYN_GPU_MOST, SLOT_BITS = 28 };

constexpr uint32_t ELSEWHERE = 0xffffffffu;  /* the length of another device's list */

/* Which lists of a level this device makes. Hashed, so that siblings, whose work is
   alike, are spread evenly. */
struct sharing {
    uint32_t device, devices;
    bool deal;  /* whether this is the level that is dealt out */

    __host__ __device__ bool takes(uint32_t node, uint32_t parents_length) const
    {
        if (!deal)
            return parents_length != ELSEWHERE;
        return (node * 2654435761u >> 16) % devices == device;
    }
};

/* What a device found of a level's items: masks, numbers of children, slots, side by
   side. */
struct merge_job {
    level_view here;
    uint32_t items, devices;
    const uint32_t *words[DEVICES];  /* NULL for a device that found nothing */
};

/* A thread an item: takes over what was found by the device that counted it. */
template <int K> __global__ void merge_items(SYN_GPU_JOB merge_job job)
{
    uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= job.items)
        return;
    for (uint32_t d = 0; d < job.devices; d++) {
        const uint32_t *words = job.words[d];
        if (!words)
            continue;
        const uint32_t *children = words + (size_t) job.items * K;
        if (children[item] == 0)
            continue;
        for (int j = 0; j < K; j++)
            job.here.mask[(size_t) item * K + j] = words[(size_t) item * K + j];
        job.here.children[item] = children[item];
        job.here.slot[item] = children[job.items + item];
        return;
    }
}

/* ---- tasks ---- */

/* A list is counted along by several warps when it is longer than the work would be if
   all were equal, but not when it is shorter than LEAST_SEGMENT ends. */
constexpr unsigned long long LEAST_SEGMENT = 256, MOST_SEGMENT = 4096;

/* Where the tasks of counting along a level's lists go. */
struct task_plan {
    task *tasks;          /* room for one an item and one a segment */
    columns_view columns;
    uint32_t pages;       /* of an interval that one task counts: 1 with a table */
    uint32_t words;       /* of an item's mask */
    uint32_t warps;       /* that count at a time; 0 where lists are not cut */
    uint32_t room;        /* segments */
    uint32_t mean;        /* ends of a list, about, unless lists were made `before` */
    const header *before;
    header *head;

    /* Ends of the lists that the next ones are made from, on average. */
    __device__ uint32_t mean_list() const
    {
        return before && before->lists > 0
                   ? (uint32_t) (before->list_ends / before->lists) : mean;
    }

    /* Ends of a segment. */
    __device__ uint32_t segment(uint32_t nodes) const
    {
        if (warps == 0)
            return 1u << 31;
        unsigned long long work = (unsigned long long) mean_list() * nodes * columns.n;
        return (uint32_t) min(max(work / warps, LEAST_SEGMENT), MOST_SEGMENT);
    }
};

/* By one warp, for a node with a list: a task for each column with candidates, or for
   some pages, or several where the list is long. `masks` is that of the node's suffix. */
__device__ inline void plan_node(const task_plan &plan, uint32_t node, uint32_t length,
                                 const uint32_t *masks, uint32_t segment)
{
    const uint32_t lane = threadIdx.x % WARP, columns = plan.columns.n;
    const uint32_t pages = plan.columns.pages, runs = (pages - 1) / plan.pages + 1;
    for (uint32_t begin = 0; begin < columns / pages * runs; begin += WARP) {
        uint32_t run = begin + lane, first = 0, n = 0;
        uint32_t column = run / runs * pages + run % runs * plan.pages;
        if (column < columns && length > 0) {
            uint32_t any = 0, some = min(plan.pages, pages - column % pages);
            for (uint32_t j = 0; j < some * plan.words; j++)
                any |= masks[(size_t) column * plan.words + j];
            n = any ? max((length + segment / 2) / segment, 1) : 0;
        }
        /* Where there is no room left, nobody asks: so the counter stays near it. */
        bool room = n > 1 && *(volatile uint32_t *) &plan.head->segments < plan.room;
        n = room ? n : min(n, 1);
        if (n > 1) {
            first = atomicAdd(&plan.head->segments, n);
            n = first + n <= plan.room ? n : 1;
        }
        uint32_t all, at = 0, before = sum_below(n, &all);
        if (lane == WARP - 1 && all > 0)
            at = atomicAdd(&plan.head->tasks, all);
        at = __shfl_sync(WHOLE_WARP, at, WARP - 1) + before;
        for (uint32_t s = 0; s < n; s++)
            plan.tasks[at + s] = {node * columns + column, s, n, first};
    }
}

/* ---- the steps of a level ---- */

/* What all steps are given: children of the nodes of `here` are counted, get numbers and
   become the nodes of `next`, whose lists are made from those of `here`. W is the type
   that numbers the events of windows. */
template <class W> struct level_job {
    events_view events;
    level_view above, here, next;
    columns_view columns;
    sharing share;
    uint32_t min_count, processors;
    const place<W> *places;       /* of the table's intervals */
    const link *links;            /* NULL without a table */
    const void *table;            /* NULL where there is none */
    uint32_t stride;              /* symbols of a row of the table */
    const uint32_t *stop;         /* set by the host */
    header *head, *new_head;      /* of `here`, and of `next` */
    const uint2 *end;             /* lists of `here`, */
    unsigned long long end_room;  /* and the ends that there was room for */
    uint2 *made;                  /* lists of `next`, */
    unsigned long long next_room; /* and the ends that there is room for */

    /* counting */
    const task *tasks;
    uint32_t *counts;             /* found counts, grouped by item, */
    uint32_t count_room;          /* and how many there is room for */
    uint32_t *segment;            /* [segments][3][K][WARP]: entry, exit and hits */
    uint32_t *meet;               /* [segments] how many of the two at the boundary before
                                     it are done; of an item's first whether any of them
                                     disagree; 0 at rest */
    uint32_t *sum;                /* [segments][K][WARP] hits of an item, at its first
                                     segment; 0 at rest */
    /* numbers and nodes */
    unsigned long long *tiles;    /* [tiles] */
    uint32_t run;                 /* from 1, another one each time */
    const uint32_t *all_counts[DEVICES];
    /* lists */
    uint32_t from, to;            /* these nodes of `next`, as far as they are there; `to`
                                     is one past the last */
    uint32_t staged;              /* ends a warp can hold before it knows where they go */
    task_plan plan;

    __device__ uint32_t last() const { return min(to, *next.nodes); }
};

/* For the units, a warp each. */
__global__ void plan_units(level_view above, level_view here, task_plan plan)
{
    uint32_t node = (blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    if (node < here.n && here.length[node] != ELSEWHERE)
        plan_node(plan, node, here.length[node], above.mask, plan.segment(here.n));
}

}  // namespace gpu
