/* Counting along lists of ends: the greedy rule, a size of episodes moved on with the
   window, and episodes that are new to it. */
#pragma once

#include "core/base/seek.h"
#include "gpu/stream/changes.cuh"

namespace gpu::live {

/* The greedy rule, run along a list of ends by the lanes of a warp, each for its own
   candidate. All that a chain remembers is the first event that is free. */

enum { GROUP = 8 };  /* ends whose rows are fetched at once */

struct chain {
    uint32_t hits, free;
};

/* A lane counts a candidate that stands in one column of the table. */
struct candidate {
    const uint16_t *column;
    bool real;  /* else the lane has none, and only takes part */
};

__device__ inline uint32_t lane_number()
{
    return threadIdx.x % WARP;
}

__device__ inline void step(chain *c, end e, uint32_t next)
{
    if (next > 0 && e.start >= c->free) {
        c->hits++;
        c->free = e.event + next + 1;
    }
}

/* The ends of places `at` + lane, as far as they are below `to`. */
__device__ inline end load_ends(const end_list &list, uint32_t at, uint32_t to)
{
    end none = {0, 0};
    return to - at > lane_number() ? list.at(at + lane_number()) : none;
}

/* A group of ends from number `j` of a warp's on, with what follows each in the lane's
   column. Beyond the last of `n` ends nothing follows. */
struct group {
    end ends[GROUP];
    uint32_t next[GROUP];

    __device__ void load(const ring_view &ring, const candidate &mine, end own,
                         uint32_t j, uint32_t n)
    {
        const uint32_t stride = ring.intervals * ring.units;
        SYN_UNROLL(g, GROUP) {
            ends[g].event = __shfl_sync(WHOLE_WARP, own.event, j + g);
            ends[g].start = __shfl_sync(WHOLE_WARP, own.start, j + g);
            next[g] = 0;
            if (mine.real && j + g < n)
                next[g] = mine.column[(size_t) (ends[g].event & ring.mask) * stride];
        }
    }
};

/* Runs a chain along the places from `at` to before `to`. */
__device__ inline void run_chain(const ring_view &ring, const end_list &list, uint32_t at,
                                 uint32_t to, const candidate &mine, chain *c)
{
    for (; at != to; at += min(to - at, (uint32_t) WARP)) {
        end own = load_ends(list, at, to);
        uint32_t n = min(to - at, (uint32_t) WARP);
        for (uint32_t j = 0; j < n; j += GROUP) {
            group some;
            some.load(ring, mine, own, j, n);
            SYN_UNROLL(g, GROUP)
                step(c, some.ends[g], some.next[g]);
        }
    }
}

/* Whether two chains are the same for whatever starts from `start` on. */
__device__ inline bool are_same(const chain &a, const chain &b, uint32_t start)
{
    return a.free == b.free || (a.free <= start && b.free <= start);
}

/* Runs two chains along the places from `at` to before `to`, until those of all lanes are
   the same for the rest of the list and for whatever starts from `open` on. Whether they
   came to that. */
__device__ inline bool run_until_met(const ring_view &ring, const end_list &list,
                                     uint32_t at, uint32_t to, uint32_t open,
                                     const candidate &mine, chain *a, chain *b)
{
    while (at != to) {
        end own = load_ends(list, at, to);
        uint32_t n = min(to - at, (uint32_t) WARP);
        for (uint32_t j = 0; j < n; j += GROUP) {
            group some;
            some.load(ring, mine, own, j, n);
            SYN_UNROLL(g, GROUP) {
                step(a, some.ends[g], some.next[g]);
                step(b, some.ends[g], some.next[g]);
            }
            bool last = j + GROUP >= n;
            if (last && at + n == to)
                return false;
            uint32_t start = last ? list.at(at + n).start
                                  : __shfl_sync(WHOLE_WARP, own.start, j + GROUP);
            start = min(start, open);
            if (__all_sync(WHOLE_WARP, !mine.real || are_same(*a, *b, start)))
                return true;
        }
        at += n;
    }
    return false;
}

/* Tells the host the counts of a warp's candidates that it wants. */
__device__ inline void report(const report_view &to, bool wanted, uint32_t id,
                              uint32_t place, uint32_t count)
{
    uint32_t who = __ballot_sync(WHOLE_WARP, wanted);
    if (who == 0)
        return;
    uint32_t at = add_by_warp(to.n, (uint32_t) __popc(who)) + __popc(who & lanes_below());
    if (wanted && at < to.room)
        to.to[at] = {id, place, count};
}

/* One size of episodes moved on with the window: ends that came are listed, and counts
   change by what came and what goes (the proof is in vignettes/definitions.Rmd). */

struct move_job {
    window_view window;
    const uint32_t *id;  /* [blocks] kept episodes of one size */
    uint32_t pending;    /* the first event that events that came can follow */
    uint32_t begin;      /* where the window will begin */
};

/* How many of the first of n things `is` holds for, by their number; it holds for none
   after them. By a warp. */
template <class F> __device__ inline uint32_t count_first(uint32_t n, F is)
{
    for (uint32_t from = 0;; from += WARP) {
        uint32_t i = from + lane_number();
        uint32_t many = __popc(__ballot_sync(WHOLE_WARP, i < n && is(i)));
        if (many < WARP)
            return from + many;
    }
}

/* The first place of ends at events from `event` on; it is near the last one. By a
   warp. */
__device__ inline uint32_t places_from(const end_list &list, uint32_t event)
{
    return list.tail - count_first(list.tail - list.head, [&](uint32_t i) {
        return list.at(list.tail - 1 - i).event >= event;
    });
}

/* The first place of ends that start at event `begin` or later. By a warp. */
__device__ inline uint32_t places_kept(const end_list &list, uint32_t begin)
{
    return list.head + count_first(list.tail - list.head, [&](uint32_t i) {
        return list.at(list.head + i).start < begin;
    });
}

/* The start of the first end that events to come may follow: a chain that stands beyond
   it has passed over ends that may still be followed. By a warp. */
__device__ inline uint32_t open_start(const end_list &list, uint32_t open)
{
    uint32_t at = places_from(list, open);
    return at == list.tail ? 0xffffffffu : list.at(at).start;
}

/* The place after the last end before event `until`, from `from` on. By one lane. */
__device__ inline uint32_t place_before(const end_list &list, uint32_t from,
                                        uint32_t until)
{
    uint32_t low = 0;
    SYN_SEEK(uint32_t, at, low, list.tail - from, list.at(from + at).event < until);
    return from + low;
}

/* Appends the ends at events of the last unit that came: at each the newest end of the
   prefix that it follows is the one that counts. By a warp. */
__device__ inline void extend_list(const move_job &job, const kept_view &k, end_list *own)
{
    const ring_view &ring = job.window.ring;
    const end_list &unit = job.window.list[k.unit], &prefix = job.window.list[k.parent];
    const followed *follows = ring.follows + (size_t) k.interval * (ring.mask + 1);
    if (unit.fresh == unit.tail)
        return;
    uint32_t from = places_from(prefix, job.pending);
    if (from == prefix.tail)
        return;
    uint32_t tail = own->tail;
    for (uint32_t at = unit.fresh; at != unit.tail;) {
        uint32_t n = min(unit.tail - at, (uint32_t) WARP), lane = lane_number();
        end one = load_ends(unit, at, unit.tail);
        bool valid = false;
        if (lane < n) {
            followed reach = follows[one.event & ring.mask];
            uint32_t p = place_before(prefix, from, reach.until);
            if (p != from) {
                end last = prefix.at(p - 1);
                valid = last.event >= reach.since;
                one.start = last.start;
            }
        }
        uint32_t to = place_for(valid, &tail);
        if (valid)
            own->at(to) = one;
        at += n;
    }
    __syncwarp();
    if (lane_number() == 0)
        own->tail = tail;
}

/* What an update does to the candidates of an episode: they go on along the ends from
   place `back` on, and no longer count those before place `kept`. */
struct change {
    uint32_t back, kept;
    uint32_t open;  /* start of the first end that events to come may follow */
};

__device__ inline void move_candidates(const move_job &job, const kept_view &k,
                                       uint32_t id, const end_list &own, change what,
                                       uint32_t first)
{
    const ring_view &ring = job.window.ring;
    const report_view &to = job.window.report;
    uint32_t place = first + lane_number(), was = 0;
    candidate mine = {ring.next, place < k.n};
    chain back = {0, 0};
    if (mine.real) {
        mine.column += k.slot[place];
        back = {k.count[place], k.free[place]};
        was = back.hits;
    }
    run_chain(ring, own, what.back, own.tail, mine, &back);
    if (what.kept != own.head) {
        chain old = {0, 0}, now = {0, job.begin};
        bool met = run_until_met(ring, own, own.head, own.tail, what.open, mine, &old,
                                 &now);
        back.hits -= old.hits - now.hits;
        back.free = met ? back.free : now.free;
    }
    if (mine.real) {
        k.count[place] = back.hits;
        k.free[place] = back.free;
    }
    bool wanted = to.all ? back.hits >= to.least
                         : back.hits != was && max(back.hits, was) >= to.least;
    report(to, mine.real && wanted, id, place, back.hits);
}

/* A block takes an episode, and its warps the candidates. */
__global__ void move_episodes(SYN_GPU_JOB move_job job)
{
    __shared__ change what;
    const uint32_t id = job.id[blockIdx.x];
    const kept_view &k = job.window.kept[id];
    end_list *list = &job.window.list[k.list];
    if (threadIdx.x < WARP) {
        if (k.size > 1) {
            if (threadIdx.x == 0)
                list->head = list->front;
            __syncwarp();
            extend_list(job, k, list);
            __syncwarp();
        }
        change own = {places_from(*list, job.pending), places_kept(*list, job.begin),
                      open_start(*list, job.window.open)};
        if (threadIdx.x == 0)
            what = own;
    }
    __syncthreads();
    const end_list own = *list;
    if (what.back != own.tail || what.kept != own.head || job.window.report.all)
        for (uint32_t first = threadIdx.x / WARP * WARP; first < k.n; first += blockDim.x)
            move_candidates(job, k, id, own, what, first);
    __syncthreads();
    if (threadIdx.x == 0 && k.size > 1)
        list->front = what.kept;
}

/* What the host waits for. */
struct signal {
    uint32_t found, serial;
};

/* Says how much there is to read, after all that. */
__global__ void tell_host(uint32_t *n, uint32_t serial, volatile signal *host)
{
    host->found = *n;
    *n = 0;
    __threadfence_system();
    host->serial = serial;
}

/* Episodes that are new to the window: their ends are listed, and candidates are counted
   along whole lists for the first time. */

enum {
    LIST_THREADS = 1024,
    SEARCHES = 4,       /* that a thread of these has under way */
    COUNT_WARPS = 16,   /* segments of a list that are counted at once, at the most */
    LEAST_SEGMENT = 96, /* ends of a segment, at least */
    LEAD = 64           /* ends before a segment that its first state is guessed from */
};

struct list_job {
    window_view window;
    const uint32_t *id;  /* [blocks] episodes of two or more events */
};

/* The places after the last ends before some events, searched for side by side, as each
   step waits for memory. Widths are the same for all. */
__device__ inline void places_before(const end_list &list, const uint32_t *until,
                                     uint32_t *place)
{
    uint32_t width = 1, n = list.tail - list.front;
    while (width <= n / 2)
        width *= 2;
    SYN_UNROLL(s, SEARCHES)
        place[s] = 0;
    for (; width > 0 && n > 0; width /= 2) {
        SYN_UNROLL(s, SEARCHES)
            if (place[s] + width <= n &&
                list.at(list.front + place[s] + width - 1).event < until[s])
                place[s] += width;
    }
}

/* A block lists the ends of an episode anew. They lie at ends of its suffix: those that
   follow an end of its prefix. */
__global__ void __launch_bounds__(LIST_THREADS) list_episodes(SYN_GPU_JOB list_job job)
{
    __shared__ uint32_t room[LIST_THREADS / WARP];
    const ring_view &ring = job.window.ring;
    const kept_view &k = job.window.kept[job.id[blockIdx.x]];
    const end_list prefix = job.window.list[k.parent], suffix = job.window.list[k.suffix];
    const followed *follows = ring.follows + (size_t) k.interval * (ring.mask + 1);
    end_list *own = &job.window.list[k.list];
    uint32_t tail = 0;
    for (uint32_t at = suffix.front; at != suffix.tail;) {
        uint32_t n = min(suffix.tail - at, (uint32_t) (LIST_THREADS * SEARCHES));
        uint32_t until[SEARCHES], since[SEARCHES], place[SEARCHES], valid = 0, many = 0;
        end one[SEARCHES];
        SYN_UNROLL(s, SEARCHES) {
            uint32_t i = threadIdx.x * SEARCHES + s;
            until[s] = since[s] = 0;
            if (i < n) {
                one[s] = suffix.at(at + i);
                followed reach = follows[one[s].event & ring.mask];
                since[s] = reach.since;
                until[s] = reach.until;
            }
        }
        places_before(prefix, until, place);
        SYN_UNROLL(s, SEARCHES) {
            if (place[s] == 0)
                continue;
            end last = prefix.at(prefix.front + place[s] - 1);
            if (last.event < since[s])
                continue;
            one[s].start = last.start;
            valid |= 1u << s;
            many++;
        }
        uint32_t all, to = tail + block_sum_below(many, room, &all);
        SYN_UNROLL(s, SEARCHES)
            if (valid >> s & 1)
                own->at(to++) = one[s];
        tail += all;
        at += n;
    }
    if (threadIdx.x == 0) {
        own->head = own->front = own->fresh = 0;
        own->tail = tail;
    }
}

/* Some candidates of an episode: those from `first` on, a lane each. */
struct count_task {
    uint32_t id, first;
};

struct count_job {
    window_view window;
    const count_task *task;  /* [blocks] */
};

/* What a segment of a list left: the state that it began in, and the chain at its end. */
struct segment {
    uint32_t entry[WARP], hits[WARP], free[WARP];
};

/* Adds up the segments, by one warp. One that began in another state than the one before
   it ended in is gone through again, from both, until they are the same. */
__device__ inline chain join_segments(const ring_view &ring, const end_list &list,
                                      const candidate &mine, const segment *done,
                                      uint32_t segments, uint32_t size, uint32_t open)
{
    const uint32_t lane = lane_number();
    chain sum = {done[0].hits[lane], done[0].free[lane]};
    for (uint32_t s = 1; s < segments && s * size < list.tail - list.front; s++) {
        uint32_t begin = list.front + s * size;
        uint32_t stop = begin + min(size, list.tail - begin);
        chain guess = {0, done[s].entry[lane]}, own = {0, sum.free};
        bool same =
            !mine.real || are_same(own, guess, min(list.at(begin).start, open));
        if (__all_sync(WHOLE_WARP, same)) {
            sum.hits += done[s].hits[lane];
            sum.free = done[s].free[lane];
        } else if (run_until_met(ring, list, begin, stop, open, mine, &own, &guess)) {
            sum.hits += done[s].hits[lane] + own.hits - guess.hits;
            sum.free = done[s].free[lane];
        } else {
            sum.hits += own.hits;
            sum.free = own.free;
        }
    }
    return sum;
}

/* A block counts the candidates of a task, and its warps a segment of the list each. */
__global__ void __launch_bounds__(COUNT_WARPS *WARP)
    count_candidates(SYN_GPU_JOB count_job job)
{
    __shared__ segment done[COUNT_WARPS];
    const uint32_t lane = lane_number(), s = threadIdx.x / WARP;
    const count_task task = job.task[blockIdx.x];
    const kept_view &k = job.window.kept[task.id];
    const ring_view &ring = job.window.ring;
    const end_list list = job.window.list[k.list];
    const uint32_t n = list.tail - list.front, place = task.first + lane;
    uint32_t segments = min(max(n / LEAST_SEGMENT, 1u), (uint32_t) COUNT_WARPS);
    uint32_t size = (n + segments - 1) / segments;
    candidate mine = {ring.next, place < k.n};
    if (mine.real)
        mine.column += k.slot[place];
    if (s < segments) {
        uint32_t begin = list.front + min(s * size, n);
        uint32_t stop = begin + min(size, list.tail - begin);
        chain c = {0, 0};
        uint32_t lead = min((uint32_t) LEAD, begin - list.front);
        run_chain(ring, list, begin - lead, begin, mine, &c);
        done[s].entry[lane] = c.free;
        c.hits = 0;
        run_chain(ring, list, begin, stop, mine, &c);
        done[s].hits[lane] = c.hits;
        done[s].free[lane] = c.free;
    }
    __syncthreads();
    if (s > 0)
        return;
    chain all = join_segments(ring, list, mine, done, segments, size,
                              open_start(list, job.window.open));
    if (mine.real) {
        k.count[place] = all.hits;
        k.free[place] = all.free;
    }
    report(job.window.report, mine.real && all.hits >= job.window.report.least, task.id,
           place, all.hits);
}

}  // namespace gpu::live
