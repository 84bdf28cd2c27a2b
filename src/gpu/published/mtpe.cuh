/* MTPE, "multiple threads per episode" (Cao et al. 2010): a thread takes an episode and a
   segment of the recording; then the segments are put together.

   The paper starts one machine for each position of the episode before a segment, and
   keeps the one whose first occurrence is the last one of the segment before. Where no
   machine has that occurrence, it has no answer. Here one machine starts early enough to
   have most likely fallen in with the true one, and remembers where it stood when the
   segment began. Only where that is not where the segment before ended, the segment is
   read again, from the true state on, until both machines count the same occurrence: from
   there on they are the same. */
#ifndef SYN_GPU_PUBLISHED_MTPE_CUH
#define SYN_GPU_PUBLISHED_MTPE_CUH

#include "gpu/published/machine.cuh"

namespace gpu {

/* A segment holds the occurrences that end at events begin .. end - 1. */
struct segment {
    uint32_t lead;    /* where its machine starts */
    uint32_t reach;   /* first event an occurrence of any episode of this size may use */
    uint32_t begin, end;
    uint32_t beyond;  /* events before this one may end occurrences that start in it */
};

/* [segments][n]: what `open()` was where the segment begins and where it ends. */
struct segment_counts {
    uint32_t *entry, *exit, *count;
};

/* blockIdx.y is the segment. */
template <int ROOM>
__global__ void count_segments(machine_input in, strategy_batch batch,
                               const segment *segments, segment_counts out,
                               uint32_t *waiting)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch.n)
        return;
    size_t width = (size_t) gridDim.x * blockDim.x;
    machine<ROOM> m(batch, i,
                    place_of(waiting, blockIdx.y * width + i, gridDim.y * width));
    const segment here = segments[blockIdx.y];
    uint32_t count = 0, entry = 0;
    m.run(in, here.lead, here.end, batch.stop, [&](uint32_t e) {
        if (e < here.begin)
            entry = e + 1;
        else
            count++;
    });
    size_t at = (size_t) blockIdx.y * batch.n + i;
    out.entry[at] = entry;
    out.exit[at] = m.open();
    out.count[at] = count;
}

/* Reads a segment once more, from the true state `open` on as well as from the guess it
   was counted from, in turns, until both complete the same occurrence. Corrects `count`
   and gives the true state at the end. */
template <int ROOM>
__device__ uint32_t stitch_segment(const machine_input &in, const segment &here,
                                   uint32_t open, uint32_t guess, uint32_t guessed_exit,
                                   machine<ROOM> &right, machine<ROOM> &wrong,
                                   uint32_t *count)
{
    uint32_t right_at = here.reach, wrong_at = here.reach;
    right.start_over(open);
    wrong.start_over(guess);
    uint32_t a = right.next(in, right_at, here.end);
    uint32_t b = wrong.next(in, wrong_at, here.end);
    while (a != b) {
        if (a < b) {
            (*count)++;
            a = right.next(in, right_at, here.end);
        } else {
            (*count)--;
            b = wrong.next(in, wrong_at, here.end);
        }
    }
    return a < here.end ? guessed_exit : right.open();
}

/* A thread an episode: adds up its segments, and mends those that began elsewhere. States
   from before `reach` are all alike. */
template <int ROOM>
__global__ void stitch_segments(machine_input in, strategy_batch batch,
                                const segment *segments, uint32_t n_segments,
                                segment_counts from, uint32_t *waiting)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch.n)
        return;
    size_t width = (size_t) gridDim.x * blockDim.x;
    machine<ROOM> right(batch, i, place_of(waiting, i, 2 * width));
    machine<ROOM> wrong(batch, i, place_of(waiting, width + i, 2 * width));
    uint32_t open = from.exit[i], count = from.count[i];
    for (uint32_t r = 1; r < n_segments && !*batch.stop; r++) {
        const segment here = segments[r];
        size_t at = (size_t) r * batch.n + i;
        uint32_t guess = from.entry[at], exit = from.exit[at];
        count += from.count[at];
        if (max(open, here.reach) == max(guess, here.reach))
            open = exit;
        else
            open = stitch_segment(in, here, open, guess, exit, right, wrong, &count);
    }
    batch.count[i] = count;
}

/* ---- the paper's own merge ---- */

/* What each machine of a segment met, [segments][size][n]: the first occurrence that ends
   in its segment and the first after it, as one more than an event, and how many end in
   the segment. The former are 0 when that is so late that nothing they are made of lies
   before the boundary. */
struct published_tuples {
    uint32_t *a, *b, *count;
};

/* Episodes, of those that are merged. */
struct published_notes {
    unsigned long long unmatched;   /* for some segment no machine has a = b */
    unsigned long long miscounted;  /* all have one, and the sum is not the count */
};

/* Events that end occurrences which may begin before event `begin`. */
__device__ inline uint32_t crossing_end(const strategy_events &events, uint32_t begin,
                                        int64_t span)
{
    return begin < events.n
               ? first_from(events.tick, events.n, events.tick[begin] + span)
               : events.n;
}

/* blockIdx.y is the segment and the machine: machine k starts as far before its segment
   as the first k intervals reach, at most k times the longest. The first segment has one
   machine only. An occurrence begins at or after the event where its machine starts, so
   that the threads of a warp may read from the earliest such event on. */
template <int ROOM>
__global__ void run_published(machine_input in, strategy_events events,
                              strategy_batch batch, const segment *segments,
                              int64_t longest, published_tuples out, uint32_t *waiting)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t s = blockIdx.y / batch.size, k = blockIdx.y % batch.size;
    if (i >= batch.n || (s == 0 && k > 0))
        return;
    size_t width = (size_t) gridDim.x * blockDim.x;
    machine<ROOM> m(batch, i,
                    place_of(waiting, blockIdx.y * width + i, gridDim.y * width));
    const segment here = segments[s];
    int64_t span = 0, before = 0;
    for (uint32_t j = 0; j + 1 < batch.size; j++) {
        span += events.bounds[2 * batch.interval[(size_t) j * batch.n + i] + 1];
        before = j + 1 == k ? span : before;
    }
    int64_t boundary = events.tick[here.begin];
    uint32_t first_limit = crossing_end(events, here.begin, span);
    uint32_t second_limit = crossing_end(events, here.end, span);
    uint32_t a = EMPTY, b = EMPTY, count = 0;
    m.start_over(first_from(events.tick, here.begin, boundary - before));
    m.run(in, first_from(events.tick, here.begin, boundary - k * longest), here.beyond,
          batch.stop, [&](uint32_t e) {
              a = e >= here.begin && a == EMPTY ? e : a;
              b = e >= here.end && b == EMPTY ? e : b;
              count += e >= here.begin && e < here.end;
          });
    size_t at = (size_t) blockIdx.y * batch.n + i;
    out.a[at] = a < first_limit ? a + 1 : 0;
    out.b[at] = b < second_limit ? b + 1 : 0;
    out.count[at] = count;
}

/* A thread an episode: adds up the counts of the machines that fit each other, and
   compares the sum with batch.count. Machines with a = b start anew after the same event,
   so that it is right wherever there is one. */
__global__ void merge_published(strategy_batch batch, uint32_t n_segments,
                                published_tuples from, published_notes *notes)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch.n)
        return;
    uint32_t b = from.b[i], count = from.count[i];
    for (uint32_t s = 1; s < n_segments; s++) {
        size_t begin = (size_t) s * batch.size * batch.n + i;
        uint32_t k = 0;
        while (k < batch.size && from.a[begin + (size_t) k * batch.n] != b)
            k++;
        if (k == batch.size) {
            atomicAdd(&notes->unmatched, 1ull);
            return;
        }
        b = from.b[begin + (size_t) k * batch.n];
        count += from.count[begin + (size_t) k * batch.n];
    }
    if (count != batch.count[i])
        atomicAdd(&notes->miscounted, 1ull);
}

}  // namespace gpu

#endif
