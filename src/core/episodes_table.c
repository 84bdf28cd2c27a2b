#include "core/episodes_table.h"

#include <stdlib.h>
#include <string.h>

#include "core/episodes_rows.h"
#include "core/parallel.h"

/* ---- windows ---- */

static void find_windows(uint32_t *open, uint32_t *shut, const syn_recording *r,
                               syn_interval lag)
{
    uint32_t a = 0, b = 0;
    for (uint32_t e = 0; e < r->events; e++) {
        while (a < r->events && r->tick[a] - r->tick[e] <= lag.low)
            a++;
        while (b < r->events && r->tick[b] - r->tick[e] <= lag.high)
            b++;
        open[r->row[e]] = a;
        shut[r->row[e]] = b;
    }
}

syn_status syn_windows_make(syn_windows *out, const syn_recording *r,
                            const syn_interval *intervals, uint32_t n_intervals)
{
    memset(out, 0, sizeof *out);
    out->n_intervals = n_intervals;
    out->open = calloc(n_intervals, sizeof *out->open);
    out->shut = calloc(n_intervals, sizeof *out->shut);
    for (uint32_t k = 0; out->open && out->shut && k < n_intervals; k++) {
        out->open[k] = malloc(((size_t)r->events + 1) * sizeof(uint32_t));
        out->shut[k] = malloc(((size_t)r->events + 1) * sizeof(uint32_t));
        if (!out->open[k] || !out->shut[k])
            break;
        find_windows(out->open[k], out->shut[k], r, intervals[k]);
        double visited = 0;
        for (uint32_t row = 0; row < r->events; row++) {
            uint32_t reach = out->shut[k][row] - 1 - r->by_unit[row];
            visited += out->shut[k][row] - out->open[k][row];
            out->reach = reach > out->reach ? reach : out->reach;
        }
        if (r->events && visited / r->events > out->occupancy)
            out->occupancy = visited / r->events;
    }
    uint32_t last = n_intervals - 1;
    if (out->open && out->shut &&
        (n_intervals == 0 || (out->open[last] && out->shut[last])))
        return SYN_OK;
    syn_windows_free(out);
    return SYN_NO_MEMORY;
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

enum { SEGMENT = 16384 };  /* events one item of the parallel loop fills */

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
    uint32_t events = job->recording->events;
    uint32_t begin = (uint32_t)item * SEGMENT;
    uint32_t end = events - begin < SEGMENT ? events : begin + SEGMENT;
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
        status = syn_parallel_for(((size_t)recording->events + SEGMENT - 1) / SEGMENT,
                                  threads, watch, "table", fill_segment, &job);
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
