/* Finds the maxima of many surrogates. A thread makes a surrogate, bins it and
   searches it. With fewer surrogates than threads, several threads search parts of the
   same one. Threads are given up when memory is short. */
#include "core/patterns/spectrum/spectrum.h"

#include <string.h>

#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/patterns/spectrum/maxima.h"
#include "core/surrogates/raster.h"

/* With fewer surrogates for each thread they are cut into parts. */
enum { FEW = 8 };
enum { NODE_ROOM = 1 << 22 };  /* bytes that the nodes of a search hardly pass */

/* What one thread uses over and over. */
typedef struct worker {
    syn_surrogate_binner binner;
    int64_t *tick;              /* [events] */
    uint32_t *scratch;          /* [plan->scratch] */
    syn_maxima own;             /* of a surrogate that is not cut */
    syn_maxima_search *search;
    int busy;                   /* an item is under way */
} worker;

typedef struct spectrum {
    const syn_spectrum_options *options;
    syn_budget *budget;
    syn_spectrum *out;
    uint32_t items;             /* a window can hold */
    size_t parts;               /* of each surrogate */
    uint32_t *number;           /* [numbers] surrogates that are still to be mined */
    uint32_t numbers;
    uint8_t *done;              /* [n] */
    syn_maxima *shared;         /* [numbers] where they are cut, else NULL */
    worker *worker;             /* [threads] */
    int threads;
} spectrum;

/* ---- set-up ---- */

/* Bytes of the tape of a surrogate: it has a bin for each bin of the trials, and no more
   than a window for each spike. */
static double tape_bytes(const syn_spectrum_options *o)
{
    const syn_trains *t = &o->plan->trains;
    double window = o->patterns->window, bins = window, most = window * t->events;
    for (uint32_t k = 0; k < t->trials; k++)
        bins += (double)(t->stop[k] - t->start[k]) / (double)o->width + 1 + window;
    return (bins < most ? bins : most) * (t->units / 64 + 1) * sizeof(uint64_t);
}

/* Bytes of a thread, with a search that is not out of the ordinary. */
static double worker_bytes(const spectrum *s)
{
    const syn_spectrum_options *o = s->options;
    double spike = 4 * sizeof(int64_t) + 6 * sizeof(uint32_t);
    return spike * o->plan->trains.events + tape_bytes(o) + NODE_ROOM +
           syn_maxima_bytes(o->patterns, o->by_duration, s->items);
}

static syn_status worker_make(spectrum *s, worker *w)
{
    const syn_spectrum_options *o = s->options;
    const syn_trains *t = &o->plan->trains;
    SYN_TAKE(s->budget, w->tick, (size_t)t->events + 1);
    SYN_TAKE(s->budget, w->scratch, (size_t)o->plan->scratch + 1);
    w->search = syn_maxima_search_make(o->patterns, o->by_duration, s->budget);
    if (!w->search)
        return SYN_NO_MEMORY;
    SYN_TRY(syn_surrogate_binner_make(&w->binner, t, o->width, o->patterns->window,
                                      s->budget));
    if (!s->shared)
        SYN_TRY(
            syn_maxima_make(&w->own, o->patterns, o->by_duration, s->items, s->budget));
    return SYN_OK;
}

static void worker_free(spectrum *s, worker *w)
{
    syn_surrogate_binner_free(&w->binner);
    SYN_GIVE(s->budget, w->tick, w->scratch);
    syn_maxima_free(&w->own);
    syn_maxima_search_free(w->search);
}

static syn_status share_tables(spectrum *s)
{
    s->shared = calloc((size_t)s->numbers + 1, sizeof *s->shared);
    SYN_TRY(s->shared ? SYN_OK : SYN_NO_MEMORY);
    for (uint32_t k = 0; k < s->numbers; k++)
        SYN_TRY(syn_maxima_make(s->shared + k, s->options->patterns,
                                s->options->by_duration, s->items, s->budget));
    return SYN_OK;
}

/* For up to `threads` threads, as many as should fit in the budget. */
static syn_status open_workers(spectrum *s, int threads)
{
    double each = worker_bytes(s), room = (double)syn_budget_left(s->budget);
    s->threads = threads;
    if (each * s->threads > room)
        s->threads = room > each ? (int)(room / each) : 1;
    s->parts = 1;
    if (s->threads > 1 && s->numbers < (double)FEW * s->threads && s->numbers > 0)
        s->parts = ((size_t)FEW * (size_t)s->threads - 1) / s->numbers + 1;
    syn_status status = s->parts > 1 ? share_tables(s) : SYN_OK;
    SYN_NEW_ZEROS(s->worker, (size_t)s->threads);
    for (int w = 0; w < s->threads && status == SYN_OK; w++)
        status = worker_make(s, s->worker + w);
    return status;
}

static syn_status open_spectrum(spectrum *s)
{
    const syn_spectrum_options *o = s->options;
    syn_spectrum *out = s->out;
    out->n = o->n;
    out->durations = o->by_duration ? o->patterns->window : 1;
    if (!syn_budget_take(s->budget, (size_t)o->n * sizeof *out->row))
        return SYN_OVER_BUDGET;
    SYN_NEW_ZEROS(out->row, (size_t)o->n + 1);
    SYN_TAKE(s->budget, s->number, (size_t)o->n + 1);
    SYN_TAKE_ZEROS(s->budget, s->done, (size_t)o->n + 1);
    for (uint32_t k = 0; k < o->n; k++)
        if (!o->only || o->only[k])
            s->number[s->numbers++] = k;
    /* The most items that a window of any surrogate can hold. */
    uint64_t items = 0;
    for (uint32_t u = 0; u < o->plan->trains.units; u++) {
        uint32_t n = o->plan->trains.first[u + 1] - o->plan->trains.first[u];
        items += n < o->patterns->window ? n : o->patterns->window;
    }
    s->items = (uint32_t)items;
    return SYN_OK;
}

/* ---- mining ---- */

/* Rows stay until the end, so their bytes are not given back to the budget. */
static syn_status store_row(const spectrum *s, const syn_maxima *m, syn_spectrum_row *row)
{
    uint32_t least = m->min_spikes, largest = syn_maxima_largest(m);
    row->sizes = largest >= least ? largest - least + 1 : 0;
    if (row->sizes == 0)
        return SYN_OK;
    size_t cells = (size_t)row->sizes * s->out->durations;
    if (!syn_budget_take(s->budget, cells * sizeof *row->most))
        return SYN_OVER_BUDGET;
    SYN_NEW(row->most, cells);
    for (uint32_t d = 0; d < s->out->durations; d++)
        for (uint32_t k = 0; k < row->sizes; k++)
            row->most[(size_t)d * row->sizes + k] = syn_maxima_most(m, d, least + k);
    return SYN_OK;
}

/* Makes the surrogate of an item and sets out on its part of it. */
static syn_status begin_item(const spectrum *s, worker *w, size_t item)
{
    const syn_spectrum_options *o = s->options;
    size_t k = item / s->parts;
    if (!s->shared)
        syn_maxima_clear(&w->own);
    syn_surrogate_ticks(o->plan, o->first + s->number[k], w->tick, w->scratch);
    syn_surrogate_raster(&w->binner, w->tick);
    return syn_maxima_search_begin(w->search, &w->binner.raster,
                                   s->shared ? s->shared + k : &w->own, item % s->parts,
                                   s->parts);
}

static syn_status mine_item(void *context, size_t item, int id)
{
    const spectrum *s = context;
    worker *w = s->worker + id;
    double deadline = syn_seconds() + SYN_SLICE_SECONDS;
    syn_status status = w->busy ? SYN_OK : begin_item(s, w, item);
    w->busy = 1;
    SYN_NEXT(status, syn_maxima_search_go_on(w->search, deadline));
    if (status != SYN_OK)
        return status;
    w->busy = 0;
    if (s->shared)
        return SYN_OK;
    uint32_t k = s->number[item];
    status = store_row(s, &w->own, s->out->row + k);
    s->done[k] = status == SYN_OK;
    return status;
}

/* Mines what is still to be mined on up to `threads` threads. */
static syn_status mine(spectrum *s, int threads, const syn_watch *watch)
{
    syn_status status = open_workers(s, threads);
    SYN_NEXT(status, syn_parallel_for((size_t)s->numbers * s->parts, s->threads, watch,
                                      "surrogates", mine_item, s));
    for (uint32_t k = 0; s->shared && status == SYN_OK && k < s->numbers; k++)
        status = store_row(s, s->shared + k, s->out->row + s->number[k]);
    for (int w = 0; s->worker && w < s->threads; w++)
        worker_free(s, s->worker + w);
    for (uint32_t k = 0; s->shared && k < s->numbers; k++)
        syn_maxima_free(s->shared + k);
    SYN_FREE(s->shared, s->worker);
    s->shared = NULL;
    s->worker = NULL;
    return status;
}

syn_status syn_spectrum_make(const syn_spectrum_options *options, const syn_watch *watch,
                             syn_spectrum *out)
{
    memset(out, 0, sizeof *out);
    if ((uint64_t)options->plan->trains.units * options->patterns->window > INT32_MAX)
        return SYN_TOO_LARGE;
    spectrum s = {.options = options, .out = out, .budget = options->plan->budget};
    syn_status status = open_spectrum(&s);
    SYN_NEXT(status, mine(&s, options->patterns->threads, watch));
    /* What is too much for many threads at a time may do for fewer. */
    while (status == SYN_OVER_BUDGET && s.threads > 1) {
        /* Leaves those that are still to be mined. */
        uint32_t left = 0;
        for (uint32_t k = 0; k < s.numbers; k++)
            if (!s.done[s.number[k]])
                s.number[left++] = s.number[k];
        s.numbers = left;
        status = mine(&s, s.threads / 2, watch);
    }
    SYN_GIVE(s.budget, s.number, s.done);
    out->peak_memory = s.budget->most;
    return status;
}

uint32_t syn_spectrum_sizes(const syn_spectrum *spectrum)
{
    uint32_t sizes = 0;
    for (uint32_t k = 0; k < spectrum->n; k++)
        if (spectrum->row[k].sizes > sizes)
            sizes = spectrum->row[k].sizes;
    return sizes;
}

void syn_spectrum_free(syn_spectrum *spectrum)
{
    for (uint32_t k = 0; spectrum->row && k < spectrum->n; k++)
        free(spectrum->row[k].most);
    free(spectrum->row);
    memset(spectrum, 0, sizeof *spectrum);
}
