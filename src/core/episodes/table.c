/* Finds the window of each event and interval, and what occurs first in it. Windows are
   found by two pointers that move forward through the events. The table is filled
   backwards in time: an event that enters the window is then the first one of its unit.
   Segments of the recording go to different threads. */
#include "core/episodes/table.h"

#include <stdlib.h>
#include <string.h>

#include "core/episodes/rows.h"
#include "core/base/parallel.h"

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
    const syn_interval *intervals;
    uint64_t *inside;  /* [intervals][segments] events inside the windows */
    uint32_t *reach;   /* [intervals][segments] */
} window_job;

/* The first event from `from` on that is more than `lag` ticks behind event `e`. */
static uint32_t first_beyond(const syn_recording *r, uint32_t from, uint32_t e,
                             int64_t lag)
{
    uint32_t to = r->events;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (r->tick[middle] - r->tick[e] > lag)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

/* An item is a segment of the events and an interval. */
static syn_status find_windows(void *context, size_t item, int worker)
{
    const window_job *job = context;
    const syn_recording *r = job->recording;
    size_t k = item / segments_of(r);
    syn_interval lag = job->intervals[k];
    uint32_t begin = (uint32_t)(item % segments_of(r)) * SEGMENT;
    uint32_t a = first_beyond(r, begin, begin, lag.low);
    uint32_t b = first_beyond(r, begin, begin, lag.high);
    (void)worker;
    for (uint32_t e = begin; e < segment_end(r, begin); e++) {
        while (a < r->events && r->tick[a] - r->tick[e] <= lag.low)
            a++;
        while (b < r->events && r->tick[b] - r->tick[e] <= lag.high)
            b++;
        job->windows->open[k][r->row[e]] = a;
        job->windows->shut[k][r->row[e]] = b;
        job->inside[item] += b - a;
        if (b - 1 - e > job->reach[item])
            job->reach[item] = b - 1 - e;
    }
    return SYN_OK;
}

static void sum_up(syn_windows *windows, const window_job *job)
{
    size_t segments = segments_of(job->recording);
    for (uint32_t k = 0; k < windows->n_intervals; k++) {
        double inside = 0;
        for (size_t item = k * segments; item < (k + 1) * segments; item++) {
            inside += (double)job->inside[item];
            if (job->reach[item] > windows->reach)
                windows->reach = job->reach[item];
        }
        if (segments > 0 && inside / job->recording->events > windows->occupancy)
            windows->occupancy = inside / job->recording->events;
    }
}

static syn_status allocate_windows(syn_windows *windows, const syn_recording *r)
{
    size_t bytes = ((size_t)r->events + 1) * sizeof(uint32_t);
    windows->open = calloc((size_t)windows->n_intervals + 1, sizeof *windows->open);
    windows->shut = calloc((size_t)windows->n_intervals + 1, sizeof *windows->shut);
    if (!windows->open || !windows->shut)
        return SYN_NO_MEMORY;
    for (uint32_t k = 0; k < windows->n_intervals; k++) {
        windows->open[k] = malloc(bytes);
        windows->shut[k] = malloc(bytes);
        if (!windows->open[k] || !windows->shut[k])
            return SYN_NO_MEMORY;
    }
    return SYN_OK;
}

syn_status syn_windows_make(syn_windows *out, const syn_recording *recording,
                            const syn_interval *intervals, uint32_t n_intervals,
                            int threads, const syn_watch *watch)
{
    size_t items = n_intervals * segments_of(recording);
    window_job job = {out, recording, intervals,
                      calloc(items + 1, sizeof *job.inside),
                      calloc(items + 1, sizeof *job.reach)};
    memset(out, 0, sizeof *out);
    out->n_intervals = n_intervals;
    syn_status status = allocate_windows(out, recording);
    if (!job.inside || !job.reach)
        status = SYN_NO_MEMORY;
    if (status == SYN_OK)
        status = syn_parallel_for(items, threads, watch, "windows", find_windows, &job);
    if (status == SYN_OK)
        sum_up(out, &job);
    else
        syn_windows_free(out);
    free(job.inside);
    free(job.reach);
    return status;
}

void syn_windows_free(syn_windows *windows)
{
    for (uint32_t k = 0; k < windows->n_intervals; k++) {
        if (windows->open)
            free(windows->open[k]);
        if (windows->shut)
            free(windows->shut[k]);
    }
    free(windows->open);
    free(windows->shut);
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

/* Going back in time, an event that enters the window is the first of its unit. */
static void fill_interval(const table_job *job, uint32_t k, uint32_t begin, uint32_t end,
                          uint32_t *next)
{
    const uint32_t *open = job->windows->open[k], *shut = job->windows->shut[k];
    size_t lanes = job->table->lanes;
    const syn_recording *r = job->recording;
    uint32_t entered = shut[r->row[end - 1]];
    memset(next, 0xff, lanes * sizeof *next);
    for (uint32_t e = end; e-- > begin;) {
        uint32_t row = r->row[e];
        uint16_t *distance = job->table->distance + row * job->table->stride + k * lanes;
        while (entered > open[row]) {
            uint32_t lane = job->lane[r->unit[--entered]];
            if (lane < lanes)
                next[lane] = entered;
        }
        for (size_t l = 0; l < lanes; l++)
            distance[l] = next[l] < shut[row] ? (uint16_t)(next[l] - e) : 0;
    }
}

static syn_status fill_segment(void *context, size_t item, int worker)
{
    const table_job *job = context;
    uint32_t begin = (uint32_t)item * SEGMENT;
    uint32_t end = segment_end(job->recording, begin);
    for (uint32_t k = 0; k < job->windows->n_intervals; k++)
        fill_interval(job, k, begin, end, job->next + (size_t)worker * job->table->lanes);
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
    out->stride = windows->n_intervals * out->lanes;
    out->distance = malloc(syn_next_table_bytes(recording->events, windows->n_intervals,
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
