/* Finds the window of each event and interval, and what occurs first in it. Windows are
   found by two pointers that move forward through the events. The table is filled
   backwards in time: an event that enters the window is then the first one of its unit.
   Segments of the recording go to different threads. */
#include "core/episodes/table.h"

#include <stdlib.h>
#include <string.h>

#include "core/episodes/rows.h"
#include "core/base/parallel.h"
#include "core/base/seek.h"

enum { SEGMENT = 16384 };  /* events of one item of the parallel loops */

static size_t segments_of(const syn_recording *r)
{
    return ((size_t)r->events + SEGMENT - 1) / SEGMENT;
}

static uint32_t segment_end(const syn_recording *r, uint32_t begin)
{
    return r->events - begin < SEGMENT ? r->events : begin + SEGMENT;
}

/* ---- windows ---- */

typedef struct window_job {
    const syn_windows *windows;
    const syn_recording *recording;
    const int64_t *bound;
    uint64_t *inside;  /* [bounds][segments] events from each one up to the bound */
    uint32_t *reach;   /* [bounds][segments] the most of them */
} window_job;

/* An item is a segment of the events and a bound. */
static syn_status find_beyond(void *context, size_t item, int worker)
{
    const window_job *job = context;
    const syn_recording *r = job->recording;
    size_t b = item / segments_of(r);
    uint32_t *beyond = job->windows->beyond[b], reach = 0;
    uint32_t begin = (uint32_t)(item % segments_of(r)) * SEGMENT;
    /* The first event from `from` on that is more than `bound` ticks after it. */
    uint32_t low = begin;
    SYN_SEEK(uint32_t, at, low, r->events, r->tick[at] - r->tick[begin] <= job->bound[b]);
    uint32_t far = low;
    uint64_t inside = 0;
    (void)worker;
    for (uint32_t e = begin; e < segment_end(r, begin); e++) {
        while (far < r->events && r->tick[far] - r->tick[e] <= job->bound[b])
            far++;
        beyond[r->row[e]] = far;
        inside += far - 1 - e;
        reach = far - 1 - e > reach ? far - 1 - e : reach;
    }
    job->inside[item] = inside;
    job->reach[item] = reach;
    return SYN_OK;
}

static void sum_up(syn_windows *windows, const window_job *job)
{
    size_t segments = segments_of(job->recording);
    double low = 0, high = 0;
    for (uint32_t b = 0; segments > 0 && b < windows->bounds; b++) {
        low = high;
        high = 0;
        for (size_t item = b * segments; item < (b + 1) * segments; item++) {
            high += (double)job->inside[item] / job->recording->events;
            if (job->reach[item] > windows->reach)
                windows->reach = job->reach[item];
        }
        if (b % 2 == 1 && high - low > windows->occupancy)
            windows->occupancy = high - low;
    }
}

static syn_status allocate_windows(syn_windows *windows, size_t items, window_job *job)
{
    SYN_ARRAY(&windows->memory, job->inside, items);
    SYN_ARRAY(&windows->memory, job->reach, items);
    SYN_ARRAY(&windows->memory, windows->beyond, windows->bounds);
    for (uint32_t b = 0; b < windows->bounds; b++)
        SYN_ARRAY(&windows->memory, windows->beyond[b], job->recording->events);
    return SYN_OK;
}

syn_status syn_windows_make(syn_windows *out, const syn_recording *recording,
                            const int64_t *bound, uint32_t bounds, int threads,
                            const syn_watch *watch)
{
    size_t segments = segments_of(recording), items = bounds * segments;
    window_job job = {.windows = out, .recording = recording, .bound = bound};
    *out = (syn_windows){.bounds = bounds};
    if ((size_t)threads > segments)  /* a part of one is not worth a thread */
        threads = segments > 0 ? (int)segments : 1;
    syn_status status = allocate_windows(out, items, &job);
    SYN_NEXT(status,
             syn_parallel_for(items, threads, watch, "windows", find_beyond, &job));
    if (status == SYN_OK)
        sum_up(out, &job);
    else
        syn_windows_free(out);
    return status;
}

void syn_windows_free(syn_windows *windows)
{
    syn_give_back(&windows->memory);
    memset(windows, 0, sizeof *windows);
}

/* ---- the table ---- */

typedef struct table_job {
    syn_next_table *table;
    const syn_recording *recording;
    const syn_windows *windows;
    const uint32_t *lane;
    uint32_t *next;  /* [threads][lanes] the first event of each lane's unit */
} table_job;

static syn_status fill_segment(void *context, size_t item, int worker)
{
    const table_job *job = context;
    uint32_t begin = (uint32_t)item * SEGMENT;
    uint32_t end = segment_end(job->recording, begin);
    for (uint32_t k = 0; k < job->windows->bounds / 2; k++) {
        /* Going back in time, an event that enters the window is the first of its unit.
           */
        uint32_t *next = job->next + (size_t)worker * job->table->lanes;
        const uint32_t *open = job->windows->beyond[2 * k];
        const uint32_t *shut = job->windows->beyond[2 * k + 1];
        size_t lanes = job->table->lanes;
        const syn_recording *r = job->recording;
        uint32_t entered = shut[r->row[end - 1]];
        memset(next, 0xff, lanes * sizeof *next);
        for (uint32_t e = end; e-- > begin;) {
            uint32_t row = r->row[e];
            uint16_t *distance = job->table->distance + row * job->table->stride +
                                 k * lanes;
            while (entered > open[row]) {
                uint32_t lane = job->lane[r->unit[--entered]];
                if (lane < lanes)
                    next[lane] = entered;
            }
            for (size_t l = 0; l < lanes; l++)
                distance[l] = next[l] < shut[row] ? (uint16_t)(next[l] - e) : 0;
        }
    }
    return SYN_OK;
}

static size_t lanes_of(size_t units)
{
    return (units + SYN_LANES - 1) / SYN_LANES * SYN_LANES;
}

size_t syn_next_table_bytes(size_t events, size_t n_intervals, size_t units)
{
    return events * n_intervals * lanes_of(units) * sizeof(uint16_t);
}

syn_status syn_next_table_make(syn_next_table *out, const syn_recording *recording,
                               const syn_windows *windows, const uint32_t *lane,
                               size_t units, int threads, const syn_watch *watch)
{
    out->lanes = lanes_of(units);
    out->stride = windows->bounds / 2 * out->lanes;
    out->distance = malloc(syn_next_table_bytes(recording->events, windows->bounds / 2,
                                                units) + 1);
    table_job job = {out, recording, windows, lane,
                     malloc((size_t)threads * out->lanes * sizeof(uint32_t) + 1)};
    syn_status status = SYN_NO_MEMORY;
    if (out->distance && job.next)
        status = syn_parallel_for(segments_of(recording), threads, watch, "table",
                                  fill_segment, &job);
    free(job.next);
    if (status != SYN_OK)
        syn_next_table_free(out);
    return status;
}

void syn_next_table_free(syn_next_table *table)
{
    free(table->distance);
    memset(table, 0, sizeof *table);
}
