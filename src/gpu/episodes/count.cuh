/* Counting: a warp takes a task, an item or a time segment of one, and counts every
   symbol that may follow in one pass over the node's list. */
#pragma once

#include "gpu/episodes/types.cuh"

#include <cuda_pipeline_primitives.h>

namespace gpu {

/* ---- the innermost loop, along a list of ends ---- */

/* What a lane keeps of its symbols. `busy` is the first event free for a symbol; an end
   whose start is at or after it scores when the symbol occurs in its window. */
template <int K> struct tally {
    uint32_t busy[K], hits[K];

    __device__ void clear()
    {
        for (int j = 0; j < K; j++)
            busy[j] = hits[j] = 0;
    }

    /* An end with its start, and what the row of the table counts from, which has symbol
       j at `distance`. Spelt out because this is the innermost step, and nothing shorter
       is made of plain C; what needs `busy`, for which the next end waits, comes last. */
    __device__ __forceinline__ void pass(int j, uint32_t start, uint32_t from,
                                         uint32_t distance)
    {
        asm("{\n\t"
            ".reg .pred scores;\n\t"
            "setp.ne.u32 scores, %4, 0;\n\t"
            "setp.ge.and.u32 scores, %2, %0, scores;\n\t"
            "@scores add.u32 %0, %3, %4;\n\t"
            "@scores add.u32 %1, %1, 1;\n\t"
            "}"
            : "+r"(busy[j]), "+r"(hits[j])
            : "r"(start), "r"(from), "r"(distance));
    }
};

/* Rows of the table are fetched into shared memory in stages of some ends, which are
   passed three stages later; a lane fetches 16 bytes at a time. */
constexpr uint32_t STAGES = 4, STAGE_BYTES = 1024, PIECE = 16;

template <int K, class T> struct stage {
    static constexpr uint32_t row = row_bytes<K, T>::row;
    static constexpr uint32_t ends = row <= 64 ? 16 : STAGE_BYTES / row;
    static constexpr uint32_t pieces_a_row = row / PIECE, pieces = ends * pieces_a_row;
};

/* A warp's ends, 32 at a time, in shared memory, where all lanes read them. Of each there
   are its row, its start, and what the row counts from: for a symbol of a page, and for
   the spare one. */
struct end_ring {
    alignas(PIECE) unsigned char rows[STAGES][STAGE_BYTES];
    uint32_t row[4][WARP];
    uint2 of_pages[2][WARP], of_spare[2][WARP];
};

/* What a warp works on. */
template <int K> struct item_view {
    const uint2 *ends;
    const place<uint16_t> *places;
    const unsigned char *rows;  /* the column's first row */
    bool fetches;               /* whether anybody reads what this lane fetches */
    uint32_t wanted[K];         /* the candidates */
};

/* Whether a candidate can still become frequent when at most `most` further occurrences
   of the node come, less those it has already scored itself. */
template <int K>
__device__ bool any_hope(uint32_t min_count, const tally<K> &t, const uint32_t *wanted,
                         uint32_t most)
{
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t node_hits = __shfl_sync(WHOLE_WARP, t.hits[0], WARP - 1);
    bool alive = false;
    SYN_UNROLL(j, K)
        alive |= (wanted[j] >> lane & 1) && t.hits[j] + most >= node_hits + min_count;
    return __any_sync(WHOLE_WARP, alive);
}

/* Begins to fetch the rows of a stage's ends, of which `first` is the first. */
template <int K, class T>
__device__ __forceinline__ void fetch_rows(const item_view<K> &item, uint32_t first,
                                           end_ring &ring)
{
    typedef stage<K, T> S;
    unsigned char *to = ring.rows[first / S::ends % STAGES];
    SYN_UNROLL(p, S::pieces / WARP) {
        uint32_t piece = p * WARP + threadIdx.x % WARP;
        uint32_t end = first + piece / S::pieces_a_row;
        size_t row = ring.row[end / WARP % 4][end % WARP];
        if (item.fetches)
            __pipeline_memcpy_async(to + piece * PIECE,
                                    item.rows + row * S::row +
                                        piece % S::pieces_a_row * PIECE,
                                    PIECE);
    }
    __pipeline_commit();
}

/* Passes the ends of a stage. `mine` is what this lane sees of them. */
template <int K, class T>
__device__ __forceinline__ void pass_stage(const unsigned char *rows, const uint2 *mine,
                                           tally<K> &t)
{
    typedef stage<K, T> S;
#pragma unroll
    for (uint32_t a = 0; a < S::ends; a += 2) {
        uint4 two = *(const uint4 *) (mine + a);
        row_pack<K, T> first = load_pack<K, T>(rows + a * S::row);
        row_pack<K, T> second = load_pack<K, T>(rows + (a + 1) * S::row);
        SYN_UNROLL(j, K) {
            t.pass(j, two.x, two.y, first.next(j));
            t.pass(j, two.z, two.w, second.next(j));
        }
    }
}

/* Passes the ends begin .. end - 1, and calls at_mark(start of the end there) before the
   one at `mark`, some batches of 32 after the first. With `most` above zero it stops
   early, and returns false, once no candidate can become frequent, but not before the
   mark. */
template <int K, class T, class F>
__device__ __forceinline__ bool pass_ends(uint32_t events, uint32_t min_count,
                                          const item_view<K> &item, uint32_t begin,
                                          uint32_t mark, uint32_t end, uint32_t most,
                                          end_ring &ring, tally<K> &t, F at_mark)
{
    typedef stage<K, T> S;
    const uint32_t lane = threadIdx.x % WARP;
    const uint2 padding = make_uint2(events, 0);
    auto end_at = [&](uint32_t i) { return i < end ? item.ends[i] : padding; };
    auto place_of = [&](uint2 e) {
        return e.x < events ? item.places[e.x] : place<uint16_t>{0, 0, 0};
    };
    auto put = [&](uint32_t side, uint2 e, place<uint16_t> at) {
        ring.of_pages[side][lane] = make_uint2(e.y, at.event + at.open);
        ring.of_spare[side][lane] = make_uint2(e.y, at.event);
    };

    uint2 first = end_at(begin + lane), second = end_at(begin + WARP + lane);
    uint2 third = end_at(begin + 2 * WARP + lane);
    uint2 fourth = end_at(begin + 3 * WARP + lane);
    __syncwarp();
    ring.row[0][lane] = first.x;
    ring.row[1][lane] = second.x;
    put(0, first, place_of(first));
    place<uint16_t> where = place_of(second);
    __syncwarp();
    uint32_t fetched = 0, batch = 0, passed = 0;
    for (; fetched < (STAGES - 1) * S::ends; fetched += S::ends)
        fetch_rows<K, T>(item, fetched, ring);

    bool hope = true;
    for (uint32_t i = begin; i < end && hope; i += WARP, batch++) {
        __syncwarp();
        put((batch + 1) % 2, second, where);
        ring.row[(batch + 2) % 4][lane] = third.x;
        second = third;
        where = place_of(second);
        third = fourth;
        fourth = end_at(i + 4 * WARP + lane);
        if (i == mark)
            at_mark(ring.of_pages[batch % 2][0].x);
        const uint2 *mine = (lane < WARP - 1 ? ring.of_pages : ring.of_spare)[batch % 2];
#pragma unroll 1
        for (uint32_t a = 0; a < WARP; a += S::ends) {
            __pipeline_wait_prior(STAGES - 2);
            __syncwarp();
            fetch_rows<K, T>(item, fetched, ring);
            fetched += S::ends;
            pass_stage<K, T>(ring.rows[passed++ % STAGES] + lane * row_bytes<K, T>::lane,
                             mine + a, t);
        }
        hope = most == 0 || i < mark || any_hope<K>(min_count, t, item.wanted, most);
    }
    __pipeline_wait_prior(0);
    return hope;
}

/* ---- tasks ---- */

enum {
    COUNT_WARPS = 4,      /* of a block */
    LEAD = 192,           /* most ends before a segment that its first state is guessed
                             from; much fewer, and guesses are often wrong */
    DEAD = 1 << 16        /* added to `done` by a segment that rules out all symbols */
};

typedef level_job<uint16_t> count_job;  /* with a table */

constexpr int COUNT_BLOCKS = 4;  /* a multiprocessor: more leave too few registers */

/* Keeps the symbols of an item that are frequent. */
template <int K, class W>
__device__ void keep_found(const level_job<W> &job, uint32_t item, const uint32_t *wanted,
                           const uint32_t *hits)
{
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t mask[K], n = 0, slot = 0;
    SYN_UNROLL(j, K) {
        bool frequent = (wanted[j] >> lane & 1) && hits[j] >= job.min_count;
        mask[j] = __ballot_sync(WHOLE_WARP, frequent);
        n += __popc(mask[j]);
    }
    if (lane == 0) {
        if (n > 0)
            slot = atomicAdd(&job.head->found, n);
        for (int j = 0; j < K; j++)
            job.here.mask[(size_t) item * K + j] = mask[j];
        job.here.children[item] = n;
        job.here.slot[item] = slot | job.share.device << SLOT_BITS;
    }
    slot = __shfl_sync(WHOLE_WARP, slot, 0) + rank_of_lane<K>(mask);
    SYN_UNROLL(j, K) {
        if (mask[j] >> lane & 1) {
            if (slot < job.count_room)
                job.counts[slot] = hits[j];
            slot++;
        }
    }
}

/* States are compared as they look to the ends from `start` on. */
__device__ inline uint32_t seen_from(uint32_t start, uint32_t busy)
{
    return busy > start ? busy : 0;
}

template <int K>
__device__ bool same_state(const uint32_t *wanted, uint32_t start, const uint32_t *a,
                           const uint32_t *b)
{
    const uint32_t lane = threadIdx.x % WARP;
    bool same = true;
    SYN_UNROLL(j, K)
        same &= !(wanted[j] >> lane & 1) ||
                seen_from(start, a[j]) == seen_from(start, b[j]);
    return __all_sync(WHOLE_WARP, same);
}

/* The same for the rare cases: out of line, so that it costs the usual ones nothing. */
template <int K, class T>
__device__ __noinline__ void pass_again(const count_job &job, const item_view<K> &item,
                                        uint32_t begin, uint32_t end,
                                        end_ring &ring, tally<K> &t)
{
    pass_ends<K, T>(job.events.n, 0, item, begin, end, end, 0, ring, t,
                    [](uint32_t) {});
}

/* Passes a segment that began in another state than `t` once more from there, beside what
   it did: two such states soon meet, and what follows is known. `guess` holds the state
   it began in, `known` what it ended in and its hits. Leaves the true ones in `t`. */
template <int K, class T>
__device__ __noinline__ void mend_segment(const count_job &job, const item_view<K> &item,
                                          uint32_t begin, uint32_t end,
                                          end_ring &ring, tally<K> &guess,
                                          const tally<K> &known, tally<K> &t)
{
    enum { STEP = 2 * WARP };
    for (uint32_t i = begin; i < end; i += STEP) {
        uint32_t stop = min(i + STEP, end);
        pass_again<K, T>(job, item, i, stop, ring, t);
        pass_again<K, T>(job, item, i, stop, ring, guess);
        if (stop < end &&
            same_state<K>(item.wanted, item.ends[stop].y, t.busy, guess.busy)) {
            SYN_UNROLL(j, K) {
                t.busy[j] = known.busy[j];
                t.hits[j] += known.hits[j] - guess.hits[j];
            }
            return;
        }
    }
}

/* What segment `s` of an item leaves for the others, this lane's share. */
template <int K>
__device__ uint32_t *stored_state(const count_job &job, const task &what, uint32_t s)
{
    return job.segment + (size_t) (what.first + s) * 3 * K * WARP + threadIdx.x % WARP;
}

/* A segment as its warp left it. */
template <int K> struct segment_record {
    uint32_t start;  /* of its first end */
    tally<K> entry, exit;

    /* Past the first cache, where another multiprocessor's words may be old. */
    __device__ void load(const uint32_t *stored)
    {
        SYN_UNROLL(j, K) {
            entry.busy[j] = __ldcg(stored + j * WARP);
            exit.busy[j] = __ldcg(stored + (K + j) * WARP);
            exit.hits[j] = __ldcg(stored + (2 * K + j) * WARP);
        }
    }
};

/* Adds up an item's segments one after the other, and mends those that began in another
   state than the segment before them ended in. Records are fetched several at a time,
   because each takes as long as all of them. */
template <int K, class T>
__device__ __noinline__ void join_segments(const count_job &job, const item_view<K> &item,
                                           const task &what, uint32_t length,
                                           uint32_t size, end_ring &ring)
{
    constexpr uint32_t AHEAD = K == 1 ? 8 : K == 2 ? 6 : K == 4 ? 3 : 1;
    uint32_t total[K] = {};
    tally<K> t;
    t.clear();
    for (uint32_t s = 0; s < what.segments; s += AHEAD) {
        segment_record<K> record[AHEAD];
        SYN_UNROLL(a, AHEAD) {
            if (s + a < what.segments) {
                record[a].load(stored_state<K>(job, what, s + a));
                uint32_t begin = (s + a) * size;
                record[a].start = begin < length ? item.ends[begin].y : 0;
            }
        }
        SYN_UNROLL(a, AHEAD) {
            if (s + a >= what.segments)
                break;
            segment_record<K> &now = record[a];
            if (s + a == 0 ||
                same_state<K>(item.wanted, now.start, t.busy, now.entry.busy)) {
                t = now.exit;
            } else {
                uint32_t begin = (s + a) * size;
                SYN_UNROLL(j, K)
                    now.entry.hits[j] = t.hits[j] = 0;
                mend_segment<K, T>(job, item, begin, min(begin + size, length), ring,
                                   now.entry, now.exit, t);
            }
            SYN_UNROLL(j, K)
                total[j] += t.hits[j];
        }
    }
    keep_found<K>(job, what.item, item.wanted, total);
}

/* At both ends of a segment: the second of two neighbours to be done looks whether the
   later one began as the earlier one ended. `t` is what this one ended in. */
template <int K>
__device__ bool agrees(const count_job &job, const item_view<K> &item, const task &what,
                       uint32_t length, uint32_t size, const tally<K> &t)
{
    bool same = true;
    for (uint32_t later = what.segment; later <= what.segment + 1; later++) {
        if (later == 0 || later == what.segments ||
            add_by_warp(job.meet + what.first + later, 1u) == 0)
            continue;
        __threadfence();
        segment_record<K> other;
        bool is_later = later > what.segment;
        uint32_t begin = later * size, start = begin < length ? item.ends[begin].y : 0;
        other.load(stored_state<K>(job, what, is_later ? later : later - 1));
        segment_record<K> own;
        own.load(stored_state<K>(job, what, what.segment));
        same &= is_later ? same_state<K>(item.wanted, start, t.busy, other.entry.busy)
                         : same_state<K>(item.wanted, start, other.exit.busy,
                                         own.entry.busy);
    }
    return same;
}

/* Leaves what a segment found. The last one of an item to be done keeps the sum, or goes
   through all of them once more where two neighbours disagree. */
template <int K, class T>
__device__ __noinline__ void finish_segment(const count_job &job,
                                            const item_view<K> &item, const task &what,
                                            uint32_t length, uint32_t size, bool hope,
                                            tally<K> &t, end_ring &ring)
{
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t *stored = stored_state<K>(job, what, what.segment);
    uint32_t *sum = job.sum + (size_t) what.first * K * WARP + lane;
    SYN_UNROLL(j, K) {
        stored[(K + j) * WARP] = t.busy[j];
        stored[(2 * K + j) * WARP] = t.hits[j];
        atomicAdd(sum + j * WARP, t.hits[j]);
    }
    __threadfence();
    __syncwarp();
    if (!agrees<K>(job, item, what, length, size, t) && lane == 0)
        atomicExch(job.meet + what.first, 1);
    __threadfence();
    __syncwarp();
    uint32_t done = hope ? 1 : 1 + DEAD;
    uint32_t before = add_by_warp(job.here.done + what.item, done);
    if (before % DEAD != what.segments - 1)
        return;
    __threadfence();
    bool disagree = __ldcg(job.meet + what.first);
    SYN_UNROLL(j, K) {
        t.hits[j] = hope && before < DEAD ? __ldcg(sum + j * WARP) : 0;
        sum[j * WARP] = 0;
    }
    __syncwarp();
    for (uint32_t s = lane; s < what.segments; s += WARP)
        job.meet[what.first + s] = 0;
    if (lane == 0)
        job.here.done[what.item] = 0;
    if (disagree && hope && before < DEAD)
        join_segments<K, T>(job, item, what, length, size, ring);
    else
        keep_found<K>(job, what.item, item.wanted, t.hits);
}

template <int K, class T>
__device__ __forceinline__ void count_task(const count_job &job, const task &what,
                                           end_ring &ring)
{
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t node = what.item / job.columns.n;
    uint32_t column = what.item - node * job.columns.n;
    uint32_t length = job.here.length[node], count = job.here.count[node];
    item_view<K> item;
    item.ends = job.end + job.here.offset[node];
    item.places = job.places + (size_t) (column / job.columns.pages) * job.events.n;
    item.rows = (const unsigned char *) job.table +
                (size_t) column * (job.events.n + 1) * row_bytes<K, T>::row;
    const uint32_t *mask =
        job.above.mask + ((size_t) job.here.suffix[node] * job.columns.n + column) * K;
    SYN_UNROLL(j, K)
        item.wanted[j] = mask[j];
    /* What no lane reads of a row need not come from afar. */
    constexpr uint32_t LANES = PIECE / row_bytes<K, T>::lane;  /* that share a piece */
    uint32_t reads = lane == WARP - 1;
    SYN_UNROLL(j, K)
        reads |= item.wanted[j] >> lane & 1;
    uint32_t readers = __ballot_sync(WHOLE_WARP, reads);
    uint32_t of_piece = lane % stage<K, T>::pieces_a_row * LANES;
    item.fetches = readers >> of_piece & ((1u << LANES) - 1);

    uint32_t size = (length + what.segments - 1) / what.segments;
    uint32_t begin = min(what.segment * size, length), end = min(begin + size, length);
    uint32_t lead = begin < end ? min(min(size / 2, LEAD), begin) / WARP * WARP : 0;
    bool whole = what.segments == 1;
    /* The node's occurrences elsewhere, and one begun before them; one more for each of
       the two counts where the state may have been guessed wrong. */
    uint32_t most = count + (whole ? 1 : 3);
    tally<K> t;
    t.clear();
    auto leave_entry = [&](uint32_t start) {  /* the state that a segment begins in */
        if (whole)
            return;
        uint32_t *stored = stored_state<K>(job, what, what.segment);
        SYN_UNROLL(j, K) {
            t.busy[j] = seen_from(start, t.busy[j]);
            t.hits[j] = 0;
            stored[j * WARP] = t.busy[j];
        }
    };
    if (begin >= end)
        leave_entry(0);
    bool hope = pass_ends<K, T>(job.events.n, job.min_count, item, begin - lead, begin,
                                end, most, ring, t, leave_entry);
    if (whole) {
        SYN_UNROLL(j, K)
            t.hits[j] = hope ? t.hits[j] : 0;
        keep_found<K>(job, what.item, item.wanted, t.hits);
        return;
    }

    finish_segment<K, T>(job, item, what, length, size, hope, t, ring);
}

/* By all warps: each has its first tasks, and takes more from a common pile, a few at a
   time, while there are any. */
template <int K, class T>
__device__ __forceinline__ void count_tasks(const count_job &job, end_ring &ring)
{
    const uint32_t lane = threadIdx.x % WARP, tasks = job.head->tasks;
    const uint32_t warps = gridDim.x * blockDim.x / WARP;
    if (job.head->list_ends > job.end_room)
        return;
    uint32_t some = max(tasks / (warps * 8), 1);
    uint32_t next = (threadIdx.x / WARP * gridDim.x + blockIdx.x) * some;
    while (next < tasks) {
        for (uint32_t last = min(next + some, tasks); next < last; next++)
            count_task<K, T>(job, job.tasks[next], ring);
        /* One lane asks, so that all hear the same. */
        next = tasks;
        if (warps * some < tasks && lane == 0 && !*(volatile const uint32_t *) job.stop)
            next = warps * some + atomicAdd(&job.head->taken, some);
        next = __shfl_sync(WHOLE_WARP, next, 0);
    }
}

template <int K, class T>
__global__ void __launch_bounds__(COUNT_WARPS *WARP, COUNT_BLOCKS)
    count_children(SYN_GPU_JOB count_job job)
{
    __shared__ end_ring ring[COUNT_WARPS];
    count_tasks<K, T>(job, ring[threadIdx.x / WARP]);
}

}  // namespace gpu
