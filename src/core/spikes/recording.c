/* Makes a recording ready for mining. One pass over the sorted spikes counts those of
   each unit; the next numbers the events, moves trials apart and drops rare units. A
   counting sort then lists the events of each unit. */
#include "core/spikes/recording.h"

#include <string.h>

#include "core/base/memory.h"
#include "core/base/parallel.h"

/* ---- events in time order ---- */

/* Threads share the spikes, a part each at a time. A part's events are counted by unit
   first: then it is known which units are rare, and where the part's events go. */
typedef struct reading {
    const syn_spikes *spikes;
    syn_recording *out;
    size_t parts, of_part;  /* spikes of a part */
    uint32_t *count;        /* [parts][units] */
    uint32_t *before;       /* [parts + 1] events in the parts before */
    uint8_t *rare;          /* [units] */
    int64_t *shift;         /* [trials + 1] ticks by which each trial, from 1, is moved */
    int any_rare;
} reading;

enum { PARTS_A_THREAD = 4 };

/* Parts that are worth a thread each, and take little memory to count in. */
static size_t choose_parts(const syn_spikes *spikes, int threads)
{
    size_t n = spikes->n, polled = n / SYN_SPIKES_A_POLL + 1;
    size_t shared = (size_t)threads * PARTS_A_THREAD, room = n / (spikes->units + 1) + 1;
    size_t parts = threads > 1 && shared > polled ? shared : polled;
    return parts < room ? parts : room;
}

/* Where a part begins, and with it the one before ends. */
static size_t part_begins(const reading *job, size_t part)
{
    size_t begin = part * job->of_part;
    return begin < job->spikes->n ? begin : job->spikes->n;
}

static syn_status count_part(void *context, size_t part, int worker)
{
    (void)worker;
    const reading *job = context;
    const int *unit = job->spikes->unit, *trial = job->spikes->trial;
    uint32_t *count = job->count + part * job->out->units;
    size_t end = part_begins(job, part + 1);
    for (size_t i = part_begins(job, part); i < end; i++)
        if (!trial || trial[i] >= 1)
            count[unit[i] - 1]++;
    return SYN_OK;
}

/* Each spike is written where the next event goes, and counted unless it is left out: a
   branch would be guessed wrongly too often. */
static void write_some(const reading *job, size_t i, uint32_t e, uint32_t end)
{
    const double *tick = job->spikes->tick;
    const int *unit = job->spikes->unit, *trial = job->spikes->trial;
    syn_recording *r = job->out;
    for (; e < end; i++) {
        int now = trial ? trial[i] : 1, inside = now >= 1;
        r->tick[e] = (int64_t)tick[i] + job->shift[inside ? now : 0];
        r->unit[e] = (uint32_t)(unit[i] - 1);
        if (r->source)
            r->source[e] = (uint32_t)i;
        e += inside && !job->rare[unit[i] - 1];
    }
}

static syn_status write_part(void *context, size_t part, int worker)
{
    (void)worker;
    const reading *job = context;
    const double *tick = job->spikes->tick;
    const int *unit = job->spikes->unit;
    syn_recording *r = job->out;
    size_t begin = part_begins(job, part), n = part_begins(job, part + 1) - begin;
    uint32_t e = job->before[part], end = job->before[part + 1];
    if (job->any_rare || job->spikes->trial || r->source) {
        write_some(job, begin, e, end);
        return SYN_OK;
    }
    for (size_t i = 0; i < n; i++)
        r->tick[e + i] = (int64_t)tick[begin + i];
    for (size_t i = 0; i < n; i++)
        r->unit[e + i] = (uint32_t)(unit[begin + i] - 1);
    return SYN_OK;
}

static syn_status read_parts(reading *job, uint32_t min_count, int64_t reach,
                             int sources, int threads, const syn_watch *watch)
{
    syn_recording *r = job->out;
    size_t n = job->spikes->n, units = r->units, trials = job->spikes->trials;
    SYN_NEW(r->tick, n + 1);
    SYN_NEW(r->unit, n + 1);
    SYN_NEW_ZEROS(r->first, units + 1);
    if (sources)
        SYN_NEW(r->source, n + 1);
    SYN_NEW_ZEROS(job->count, job->parts * units + 1);
    SYN_NEW_ZEROS(job->before, job->parts + 1);
    SYN_NEW_ZEROS(job->rare, units + 1);
    SYN_NEW_ZEROS(job->shift, trials + 1);
    /* Each trial begins more than `reach` ticks after the last tick of the one before. */
    const syn_spikes *s = job->spikes;
    for (uint32_t t = 1; s->trial && t < s->trials; t++) {
        int64_t last = (int64_t)s->stop[t - 1] + job->shift[t];
        int64_t apart = last + reach + 1 - ((int64_t)s->start[t] + job->shift[t]);
        if (last > INT64_MAX / 4)
            return SYN_TOO_LARGE;
        job->shift[t + 1] = job->shift[t] + (apart > 0 ? apart : 0);
    }
    SYN_TRY(syn_parallel_for(job->parts, threads, watch, "spikes", count_part, job));
    /* Which units are rare, where the events of each begin, and those of each part. */
    for (size_t p = 0; p < job->parts; p++)
        for (uint32_t u = 0; u < r->units; u++)
            r->first[u + 1] += job->count[p * r->units + u];
    for (uint32_t u = 0; u < r->units; u++) {
        job->rare[u] = r->first[u + 1] < min_count;
        job->any_rare |= job->rare[u] && r->first[u + 1] > 0;
        r->first[u + 1] = r->first[u] + (job->rare[u] ? 0 : r->first[u + 1]);
    }
    for (size_t p = 0; p < job->parts; p++) {
        uint32_t kept = 0;
        for (uint32_t u = 0; u < r->units; u++)
            kept += job->rare[u] ? 0 : job->count[p * r->units + u];
        job->before[p + 1] = job->before[p] + kept;
    }
    r->events = job->before[job->parts];
    return syn_parallel_for(job->parts, threads, watch, "spikes", write_part, job);
}

static syn_status read_recording(syn_recording *out, const syn_spikes *spikes,
                                 uint32_t min_count, int64_t reach, int sources,
                                 int threads, const syn_watch *watch)
{
    memset(out, 0, sizeof *out);
    if (spikes->n >= INT32_MAX)
        return SYN_TOO_LARGE;
    out->units = spikes->units;
    threads = syn_spikes_threads(spikes->n, threads);
    reading job = {.spikes = spikes, .out = out, .parts = choose_parts(spikes, threads)};
    job.of_part = spikes->n / job.parts + 1;
    syn_status status = read_parts(&job, min_count, reach, sources, threads, watch);
    SYN_FREE(job.count, job.before, job.rare, job.shift);
    return status;
}

syn_status syn_recording_read(syn_recording *out, const syn_spikes *spikes,
                              uint32_t min_count, int64_t reach, int threads,
                              const syn_watch *watch)
{
    return read_recording(out, spikes, min_count, reach, 0, threads, watch);
}

/* ---- events by tick and by unit ---- */

/* By a stable counting sort: `next` is where the next event of each unit goes. */
syn_status syn_recording_arrange(syn_recording *r, const syn_watch *watch)
{
    size_t n = (size_t)r->events + 1, units = (size_t)r->units + 1;
    uint32_t *next, first = 0;
    syn_status status = SYN_OK;
    SYN_NEW(r->group, n);
    SYN_NEW(r->by_unit, n);
    SYN_NEW(r->row, n);
    SYN_NEW(next, units);
    memcpy(next, r->first, units * sizeof *next);
    const uint32_t *unit = r->unit;
    const int64_t *tick = r->tick;
    uint32_t *group = r->group, *row = r->row, *by_unit = r->by_unit;
    for (uint32_t i = 0; i < r->events && status == SYN_OK; i++) {
        status = syn_spikes_poll(watch, i, r->events);
        first = i > 0 && tick[i] == tick[i - 1] ? first : i;
        group[i] = first;
        row[i] = next[unit[i]]++;
        by_unit[row[i]] = i;
    }
    free(next);
    return status;
}

/* ---- all of it ---- */

syn_status syn_recording_make(syn_recording *out, const syn_spikes *spikes,
                              uint32_t min_count, int64_t reach, int threads,
                              const syn_watch *watch)
{
    SYN_TRY(read_recording(out, spikes, min_count, reach, 1, threads, watch));
    return syn_recording_arrange(out, watch);
}

void syn_recording_free(syn_recording *r)
{
    SYN_FREE(r->tick, r->unit, r->group, r->source, r->first, r->by_unit, r->row);
    memset(r, 0, sizeof *r);
}
