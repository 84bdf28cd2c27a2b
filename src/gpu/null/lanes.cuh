/* What single threads do to surrogates and episodes: making a unit, looking for windows,
   counting one child of a prefix, writing a part of a list. No thread here waits for
   another.

   Repeats of a unit on one tick stay in the line: an event that follows its own repeat
   neither completes an occurrence (the unit is busy until after the first, or the start
   is too early for both) nor adds a new start. They are left out only where single units
   are counted. */
#ifndef SYN_GPU_NULL_LANES_CUH
#define SYN_GPU_NULL_LANES_CUH

#include "core/base/seek.h"
#include "gpu/base/surrogate.cuh"

#include <cstddef>
#include <cstdint>

namespace gpu {

/* A valid end, and the first event on the tick of its latest start. */
struct null_end {
    uint32_t event, start;
};

/* core/episodes/trie.h on a device, and the single events of a unit. */
struct null_tree {
    uint32_t nodes, roots;
    const uint32_t *unit, *level, *open, *shut, *after, *child, *of, *root;
};

/* How keys are made: batch number of the surrogate, tick, unit. */
struct null_keys {
    unsigned unit_bits, tick_bits;
    uint32_t events, units, bounds;
    const int64_t *shift;     /* [trials] */
    const int64_t *bound;     /* [bounds] */
    const uint32_t *first;    /* [units + 1] where a unit's events begin in `by_unit` */
};

/* One surrogate in time order. */
struct null_line {
    const uint64_t *key;      /* [events] */
    const uint32_t *by_unit;  /* [events] events of one unit after the other */
    const uint32_t *beyond;   /* [bounds][events] first event more than a bound later */
};

/* Unit `unit` of surrogate `index`, which is number `batch` of those being counted:
   `tick`, which has room for its spikes, becomes their keys in `key`. */
SYN_EVERYWHERE void make_unit(const syn_surrogate_plan &plan, const null_keys &keys,
                              uint64_t index, uint32_t batch, uint32_t unit,
                              int64_t *tick, uint32_t *scratch, uint64_t *key)
{
    uint32_t begin = keys.first[unit], n = keys.first[unit + 1] - begin;
    uint64_t above = (uint64_t) batch << keys.tick_bits;
    syn_surrogate_unit(&plan, index, unit, tick, scratch);
    for (uint32_t i = 0; i < n; i++) {
        int64_t shift = keys.shift[plan.trains.trial[begin + i]];
        key[i] = (above | (uint64_t) (tick[i] + shift)) << keys.unit_bits | unit;
    }
}

/* The first of at[i .. n - 1], increasing, that is `least` or more; near i as a rule. */
template <class T>
SYN_EVERYWHERE uint32_t seek(const T *at, uint32_t i, uint32_t n, T least)
{
    SYN_SEEK_NEAR(uint32_t, j, i, n, at[j] < least);
    return i;
}

/* The first event that is more than a bound later than `event`. */
SYN_EVERYWHERE uint32_t look_beyond(const null_keys &keys, const uint64_t *key,
                                    uint32_t event, uint32_t from, uint32_t bound)
{
    uint64_t mask = ((uint64_t) 1 << keys.unit_bits) - 1;
    uint64_t most = (key[event] | mask) +
                    ((uint64_t) keys.bound[bound] << keys.unit_bits);
    return seek(key, from, keys.events, most + 1);
}

SYN_EVERYWHERE null_end single_end(const null_keys &keys, const null_line &line,
                                   uint32_t event)
{
    uint64_t tick = line.key[event] >> keys.unit_bits;
    uint32_t start = event;
    while (start > 0 && line.key[start - 1] >> keys.unit_bits == tick)
        start--;
    return {event, start};
}

/* How many of a unit's events are on a tick of their own or the first there: those of
   one of `lanes` lanes. */
SYN_EVERYWHERE uint32_t count_single(const null_keys &keys, const null_line &line,
                                     uint32_t unit, uint32_t lane, uint32_t lanes)
{
    uint32_t begin = keys.first[unit], end = keys.first[unit + 1], count = 0;
    for (uint32_t i = begin + lane; i < end; i += lanes)
        count += i == begin ||
                 line.key[line.by_unit[i]] != line.key[line.by_unit[i - 1]];
    return count;
}

/* The step from a prefix to one of its children. */
struct null_edge {
    const uint32_t *open, *shut;  /* [events] what an event's window holds */
    const uint32_t *at;           /* the events of the child's unit */
    uint32_t n;
};

SYN_EVERYWHERE null_edge edge_to(const null_tree &tree, const null_keys &keys,
                                 const null_line &line, uint32_t node)
{
    uint32_t begin = keys.first[tree.unit[node]];
    return {line.beyond + (size_t) tree.open[node] * keys.events,
            line.beyond + (size_t) tree.shut[node] * keys.events,
            line.by_unit + begin, keys.first[tree.unit[node] + 1] - begin};
}

/* Calls found(event, start) for the child's ends that the ends begin to below `end` of a
   list of n are the newest valid predecessors of. */
template <class F>
SYN_EVERYWHERE void follow(const null_edge &edge, const null_end *list, uint32_t n,
                           uint32_t begin, uint32_t end, F found)
{
    uint32_t place = 0;
    if (begin >= end)
        return;
    uint32_t open = edge.open[list[begin].event];
    for (uint32_t i = begin; i < end && place < edge.n; i++) {
        null_end here = list[i];
        uint32_t next = i + 1 < n ? edge.open[list[i + 1].event] : UINT32_MAX;
        uint32_t shut = edge.shut[here.event];
        shut = next < shut ? next : shut;
        place = seek(edge.at, place, edge.n, open);
        for (; place < edge.n && edge.at[place] < shut; place++)
            found(edge.at[place], here.start);
        open = next;
    }
}

struct count_ends {
    uint32_t *n;
    __host__ __device__ void operator()(uint32_t, uint32_t) const { (*n)++; }
};

struct write_ends {
    null_end **to;
    __host__ __device__ void operator()(uint32_t event, uint32_t start) const
    {
        *(*to)++ = {event, start};
    }
};

/* An event that starts before the last occurrence has ended does not count. */
struct take_greedily {
    uint32_t *busy, *count;
    __host__ __device__ void operator()(uint32_t event, uint32_t start) const
    {
        bool hit = start >= *busy;
        *count += hit;
        *busy = hit ? event + 1 : *busy;
    }
};

SYN_EVERYWHERE uint32_t count_edge(const null_edge &edge, const null_end *list,
                                   uint32_t n)
{
    uint32_t busy = 0, count = 0;
    follow(edge, list, n, 0, n, take_greedily{&busy, &count});
    return count;
}

/* The part of a list of n that belongs to a lane: from begin_of(lane) to below
   begin_of(lane + 1). */
SYN_EVERYWHERE uint32_t begin_of(uint32_t n, uint32_t lane, uint32_t lanes)
{
    return (uint32_t) ((uint64_t) n * lane / lanes);
}

SYN_EVERYWHERE uint32_t count_part(const null_edge &edge, const null_end *list,
                                   uint32_t n, uint32_t lane, uint32_t lanes)
{
    uint32_t ends = 0;
    follow(edge, list, n, begin_of(n, lane, lanes), begin_of(n, lane + 1, lanes),
           count_ends{&ends});
    return ends;
}

SYN_EVERYWHERE void write_part(const null_edge &edge, const null_end *list, uint32_t n,
                               uint32_t lane, uint32_t lanes, null_end *to)
{
    follow(edge, list, n, begin_of(n, lane, lanes), begin_of(n, lane + 1, lanes),
           write_ends{&to});
}

}  // namespace gpu

#endif
