/* Makes one surrogate after the other and mines it; of what is found only the largest
   counts stay. */
#include "core/episodes/null/largest.h"

#include <string.h>

#include "core/base/background.h"
#include "core/base/memory.h"

/* The largest counts of one surrogate. */
typedef struct row_of_counts {
    uint32_t sizes;
    uint32_t *count;  /* [sizes] */
} row_of_counts;

struct syn_largest {
    syn_largest_options options;
    syn_interval *intervals;  /* [options.n_intervals] */
    int64_t reach;
    syn_budget budget;        /* of the trains, the plan and the surrogates */
    syn_trains trains;
    syn_surrogate_plan plan;
    row_of_counts *found;           /* [options.n] */
    uint32_t usual;           /* the least count so far of the largest size; 0 before */
    syn_background *work;
};

/* ---- one surrogate ---- */

typedef struct surrogate {
    size_t n;
    double *tick;  /* [n] */
    int *unit;     /* [n] */
    syn_recording recording;
    syn_episodes episodes;
} surrogate;

/* Bytes of the arrays of a recording for each of its events, about. */
enum { RECORDING_BYTES = 40 };

/* What occurs at least `least` times. */
static syn_status mine(syn_largest *m, surrogate *s, uint32_t least, int together,
                       const syn_watch *watch)
{
    const syn_trains *t = &m->trains;
    const syn_largest_options *o = &m->options;
    size_t share = o->max_memory / (size_t)together;
    size_t held = (size_t)syn_trains_bytes(t->events, t->units, t->trials) +
                  (size_t)t->events * RECORDING_BYTES;
    if (held >= share)
        return SYN_OVER_BUDGET;
    double start = (double)t->start[0], stop = (double)t->stop[0];
    syn_spikes spikes = {.n = s->n, .tick = s->tick, .unit = s->unit,
                         .units = t->units, .trials = 1, .start = &start, .stop = &stop};
    syn_mine_options options = {
        .intervals = m->intervals, .n_intervals = o->n_intervals, .min_count = least,
        .max_size = o->max_size, .distinct_units = o->distinct_units,
        .engine = SYN_ENGINE_WINDOW, .threads = 1, .max_memory = share - held};
    syn_recording_free(&s->recording);
    syn_episodes_free(&s->episodes);
    syn_status status =
        syn_recording_make(&s->recording, &spikes, least, m->reach, 1, watch);
    return status == SYN_OK
               ? syn_mine_episodes(&s->recording, &options, watch, &s->episodes)
               : status;
}

/* With a largest size, less need be searched: where an episode of that size occurs
   `least` times, so do those that begin it, and no largest count is below `least`. The
   counts of the surrogates before say which `least` to try. */
static uint32_t first_least(const syn_largest *m)
{
    uint32_t usual = __atomic_load_n(&m->usual, __ATOMIC_RELAXED);
    uint32_t least = usual - usual / 8;
    return least > m->options.min_count ? least : m->options.min_count;
}

static uint32_t sizes_found(const syn_episodes *episodes)
{
    size_t k = episodes->n_levels;
    while (k > 0 && episodes->level[k - 1].n == 0)
        k--;
    return (uint32_t)k;
}

static syn_status take_largest(const syn_episodes *episodes, row_of_counts *out)
{
    uint32_t sizes = sizes_found(episodes);
    uint32_t *count;
    SYN_NEW_ZEROS(count, (size_t)sizes + 1);
    for (uint32_t k = 0; k < sizes; k++)
        for (size_t i = 0; i < episodes->level[k].n; i++)
            if (episodes->level[k].count[i] > count[k])
                count[k] = episodes->level[k].count[i];
    *out = (row_of_counts){sizes, count};
    return SYN_OK;
}

static syn_status find_largest(syn_largest *m, uint32_t index, surrogate *s, int together,
                               const syn_watch *watch)
{
    size_t events = m->trains.events;
    SYN_TAKE(&m->budget, s->tick, events + 1);
    SYN_TAKE(&m->budget, s->unit, events + 1);
    SYN_TRY(syn_surrogate_list(&m->plan, index, 1, &s->tick, &s->unit, 1, watch));
    /* Two spikes of a unit that have come to the same tick are one. */
    s->n = 0;
    for (size_t i = 0; i < events; i++) {
        if (i > 0 && s->tick[i] == s->tick[i - 1] && s->unit[i] == s->unit[i - 1])
            continue;
        s->tick[s->n] = s->tick[i];
        s->unit[s->n++] = s->unit[i];
    }
    uint32_t least = first_least(m);
    syn_status status = mine(m, s, least, together, watch);
    if (status == SYN_OK && least > m->options.min_count &&
        sizes_found(&s->episodes) < m->options.max_size)
        status = mine(m, s, m->options.min_count, together, watch);
    return status == SYN_OK ? take_largest(&s->episodes, &m->found[index]) : status;
}

static syn_status do_surrogate(void *context, size_t item, int together,
                               const syn_watch *watch)
{
    syn_largest *m = context;
    surrogate s;
    memset(&s, 0, sizeof s);
    syn_status status = find_largest(m, (uint32_t)item, &s, together, watch);
    if (status == SYN_OK) {
        uint32_t usual = __atomic_load_n(&m->usual, __ATOMIC_RELAXED);
        uint32_t own = m->found[item].sizes == m->options.max_size
                           ? m->found[item].count[m->found[item].sizes - 1]
                           : 1;
        if (usual == 0 || own < usual)
            __atomic_store_n(&m->usual, own, __ATOMIC_RELAXED);
    }
    SYN_GIVE(&m->budget, s.tick, s.unit);
    syn_recording_free(&s.recording);
    syn_episodes_free(&s.episodes);
    return status;
}

/* ---- all of them ---- */

syn_status syn_largest_start(syn_largest **out, const syn_spikes *spikes,
                             const syn_largest_options *options, const syn_watch *watch)
{
    syn_largest *m = calloc(1, sizeof *m);
    *out = m;
    if (!m)
        return SYN_NO_MEMORY;
    m->options = *options;
    syn_largest_options *o = &m->options;
    m->budget.limit = o->max_memory;
    SYN_NEW(m->intervals, (size_t)o->n_intervals + 1);
    SYN_NEW_ZEROS(m->found, (size_t)o->n + 1);
    memcpy(m->intervals, o->intervals, o->n_intervals * sizeof *m->intervals);
    o->intervals = m->intervals;
    for (uint32_t k = 0; k < o->n_intervals; k++)
        m->reach = m->intervals[k].high > m->reach ? m->intervals[k].high : m->reach;
    double bytes = syn_trains_bytes((double)spikes->n, spikes->units, spikes->trials);
    if (!syn_budget_take(&m->budget, (size_t)bytes))
        return SYN_OVER_BUDGET;
    SYN_TRY(syn_trains_make(&m->trains, spikes, watch));
    SYN_TRY(syn_surrogate_plan_make(&m->plan, &m->trains, &o->surrogate, 1, &m->budget,
                                    watch));
    m->work = syn_background_start(options->n, options->threads, do_surrogate, m);
    return m->work ? SYN_OK : SYN_NO_MEMORY;
}

syn_status syn_largest_wait(syn_largest *m, const syn_watch *watch)
{
    return syn_background_wait(m->work, watch);
}

uint32_t syn_largest_sizes(const syn_largest *m)
{
    uint32_t sizes = 0;
    for (uint32_t k = 0; k < m->options.n; k++)
        sizes = m->found[k].sizes > sizes ? m->found[k].sizes : sizes;
    return sizes;
}

uint32_t syn_largest_count(const syn_largest *m, uint32_t surrogate, uint32_t size)
{
    const row_of_counts *l = &m->found[surrogate];
    return size <= l->sizes ? l->count[size - 1] : 0;
}

int syn_largest_is_here(const syn_largest *m)
{
    return m->work && syn_background_is_here(m->work);
}

void syn_largest_free(syn_largest *m)
{
    if (!m)
        return;
    syn_background_stop(m->work);
    for (uint32_t k = 0; m->found && k < m->options.n; k++)
        free(m->found[k].count);
    free(m->found);
    syn_surrogate_plan_free(&m->plan);
    syn_trains_free(&m->trains);
    SYN_FREE(m->intervals, m);
}
