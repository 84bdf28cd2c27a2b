/* One size of episodes moved on with the window: ends that came are listed, and counts
   change by what came and what goes (the proof is in vignettes/definitions.Rmd). */
#ifndef SYN_GPU_STREAM_MOVE_CUH
#define SYN_GPU_STREAM_MOVE_CUH

#include "gpu/stream/chains.cuh"

namespace gpu {
namespace live {

struct move_job {
    window_view window;
    const uint32_t *id;  /* [blocks] kept episodes of one size */
    uint32_t pending;    /* the first event that events that came can follow */
    uint32_t begin;      /* where the window will begin */
};

/* The first place of ends at events from `event` on; it is near the last one. By a
   warp. */
__device__ inline uint32_t places_from(const end_list &list, uint32_t event)
{
    uint32_t at = list.tail;
    for (;;) {
        uint32_t n = min(at - list.head, (uint32_t) WARP), lane = lane_number();
        bool later = lane < n && list.at(at - 1 - lane).event >= event;
        uint32_t many = __popc(__ballot_sync(WHOLE_WARP, later));
        at -= many;
        if (many < WARP)
            return at;
    }
}

/* The first place of ends that start at event `begin` or later. By a warp. */
__device__ inline uint32_t places_kept(const end_list &list, uint32_t begin)
{
    uint32_t at = list.head;
    for (;;) {
        uint32_t n = min(list.tail - at, (uint32_t) WARP), lane = lane_number();
        bool gone = lane < n && list.at(at + lane).start < begin;
        uint32_t many = __popc(__ballot_sync(WHOLE_WARP, gone));
        at += many;
        if (many < WARP)
            return at;
    }
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
    uint32_t low = from, n = list.tail - from;
    while (n > 0) {
        uint32_t half = n / 2;
        if (list.at(low + half).event < until) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return low;
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
        uint32_t who = __ballot_sync(WHOLE_WARP, valid);
        if (valid)
            own->at(tail + __popc(who & ((1u << lane) - 1))) = one;
        tail += __popc(who);
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

}  // namespace live
}  // namespace gpu

#endif
