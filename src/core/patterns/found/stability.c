#include "core/patterns/found/stability.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/masks.h"
#include "core/base/parallel.h"
#include "core/patterns/windows.h"
#include "core/base/random.h"

enum { LOOK_EVERY = 64 };  /* subsets between two looks at the clock */

/* ---- subsets that do not survive ---- */

/* A subset of `members` survives unless one of some sets, the witnesses, holds it. */
typedef struct witnesses {
    uint32_t members, words;
    uint32_t n;
    size_t room;          /* words */
    uint64_t *mask;       /* [n * words] */
    uint32_t *bits;       /* [n] members of each, */
    uint32_t *order;      /* [n] and which have the most */
    uint32_t orders;      /* room for these two */
} witnesses;

static void witnesses_start(witnesses *w, uint32_t members)
{
    w->members = members;
    w->words = (members + 63) / 64;
    w->n = 0;
}

static void witnesses_free(witnesses *w)
{
    free(w->mask);
    free(w->bits);
    free(w->order);
}

/* One more witness, empty so far; NULL without memory. */
static uint64_t *witnesses_add(witnesses *w)
{
    size_t needed = ((size_t)w->n + 1) * w->words;
    if (needed >= w->room) {
        uint64_t *more = realloc(w->mask, (2 * needed + 1) * sizeof *more);
        if (!more)
            return NULL;
        w->mask = more;
        w->room = 2 * needed + 1;
    }
    uint64_t *mask = w->mask + (size_t)w->n++ * w->words;
    memset(mask, 0, w->words * sizeof *mask);
    return mask;
}

static int holds(const uint64_t *set, const uint64_t *subset, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        if (subset[i] & ~set[i])
            return 0;
    return 1;
}

/* Takes back the newest witness if another holds it, else those that it holds. */
static void witnesses_tidy(witnesses *w)
{
    uint32_t words = w->words, last = w->n - 1, kept = 0;
    const uint64_t *newest = w->mask + (size_t)last * words;
    for (uint32_t i = 0; i < last; i++)
        if (holds(w->mask + (size_t)i * words, newest, words)) {
            w->n = last;
            return;
        }
    for (uint32_t i = 0; i <= last; i++) {
        const uint64_t *mask = w->mask + (size_t)i * words;
        if (i < last && holds(newest, mask, words))
            continue;
        memmove(w->mask + (size_t)kept++ * words, mask, words * sizeof *mask);
        if (i == last)
            break;
    }
    w->n = kept;
}

/* Puts those with the most members first. */
static syn_status witnesses_order(witnesses *w)
{
    if (w->n > w->orders || !w->order) {
        free(w->bits);
        free(w->order);
        w->orders = 2 * w->n + 1;
        w->bits = malloc(w->orders * sizeof *w->bits);
        w->order = malloc(w->orders * sizeof *w->order);
        if (!w->bits || !w->order)
            return SYN_NO_MEMORY;
    }
    uint32_t placed = 0, less = w->members + 1;
    for (uint32_t i = 0; i < w->n; i++)
        w->bits[i] = syn_set_bits(w->mask + (size_t)i * w->words, w->words);
    while (placed < w->n) {
        uint32_t most = 0;
        for (uint32_t i = 0; i < w->n; i++)
            if (w->bits[i] < less && w->bits[i] > most)
                most = w->bits[i];
        for (uint32_t i = 0; i < w->n; i++)
            if (w->bits[i] == most)
                w->order[placed++] = i;
        less = most;
    }
    return SYN_OK;
}

static int survives(const witnesses *w, const uint64_t *subset)
{
    uint32_t bits = syn_set_bits(subset, w->words);
    for (uint32_t i = 0; i < w->n && w->bits[w->order[i]] >= bits; i++)
        if (holds(w->mask + (size_t)w->order[i] * w->words, subset, w->words))
            return 0;
    return 1;
}

/* ---- one pattern after the other ---- */

typedef struct pattern {
    const uint32_t *unit, *lag, *bin;
    uint32_t size, windows;
} pattern;

typedef struct worker {
    int busy;             /* with an item that took too long */
    witnesses w;
    uint64_t *held;       /* [bins * words of the largest pattern] zero between uses */
    uint32_t *slot;       /* [items] number of a witness from 1; zero between uses */
    uint32_t *item;       /* [longest] of a window */
    uint64_t *subset;     /* [words of the most members] */
    syn_random random;
    uint64_t total, done, survived;
} worker;

typedef struct stability {
    const syn_raster *raster;
    const syn_stability_options *options;
    syn_bin_windows windows;
    syn_budget budget;    /* without a limit */
    pattern *pattern;     /* [n] */
    worker *worker;       /* [threads] */
    double *share[2];     /* of items, of windows */
    int kinds, kind[2];   /* which of them are wanted */
} stability;

/* Looks at each window that holds an item: marks the item in its held[] or, without
   `mark`, takes what it holds as a witness, unless that is all, and clears it. */
static syn_status each_window(const syn_raster *r, worker *w, const pattern *p,
                              uint32_t k, int mark)
{
    uint32_t words = w->w.words;
    for (uint32_t i = r->unit_first[p->unit[k]]; i < r->unit_first[p->unit[k] + 1]; i++) {
        uint32_t at = r->unit_bin[i];
        int64_t number = r->number[at] - p->lag[k];
        while (at > 0 && r->number[at] > number)
            at--;
        if (r->number[at] != number)
            continue;
        uint64_t *held = w->held + (size_t)at * words;
        if (mark) {
            held[k / 64] |= (uint64_t)1 << k % 64;
        } else {
            uint32_t bits = syn_set_bits(held, words);
            if (bits > 0 && bits < p->size) {
                uint64_t *mask = witnesses_add(&w->w);
                if (!mask)
                    return SYN_NO_MEMORY;
                memcpy(mask, held, words * sizeof *mask);
                witnesses_tidy(&w->w);
            }
            memset(held, 0, words * sizeof *held);
        }
    }
    return SYN_OK;
}

/* What other windows hold of the items. */
static syn_status witnesses_of_items(const stability *s, worker *w, const pattern *p)
{
    syn_status status = SYN_OK;
    witnesses_start(&w->w, p->size);
    if (p->windows < s->raster->bins && !witnesses_add(&w->w))
        return SYN_NO_MEMORY;
    for (uint32_t k = 0; k < p->size; k++)
        each_window(s->raster, w, p, k, 1);
    for (uint32_t k = 0; k < p->size && status == SYN_OK; k++)
        status = each_window(s->raster, w, p, k, 0);
    return status;
}

/* Marks in a witness for each item but the pattern's own that it is in window `i`. */
static syn_status note_items(const stability *s, worker *w, const pattern *p, uint32_t i)
{
    uint32_t n = syn_bin_windows_read(&s->windows, p->bin[i], w->item);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t *slot = &w->slot[w->item[k]];
        if (*slot == UINT32_MAX)
            continue;
        if (*slot == 0) {
            if (!witnesses_add(&w->w))
                return SYN_NO_MEMORY;
            *slot = w->w.n;
        }
        w->w.mask[(size_t)(*slot - 1) * w->w.words + i / 64] |= (uint64_t)1 << i % 64;
    }
    return SYN_OK;
}

/* The windows that hold each other item. */
static syn_status witnesses_of_windows(const stability *s, worker *w, const pattern *p)
{
    syn_status status = SYN_OK;
    witnesses_start(&w->w, p->windows);
    if (p->size < s->windows.items && !witnesses_add(&w->w))
        return SYN_NO_MEMORY;
    for (uint32_t k = 0; k < p->size; k++)
        w->slot[p->lag[k] * s->raster->units + p->unit[k]] = UINT32_MAX;
    for (uint32_t i = 0; i < p->windows && status == SYN_OK; i++)
        status = note_items(s, w, p, i);
    for (uint32_t i = 0; i < p->windows; i++) {
        uint32_t n = syn_bin_windows_read(&s->windows, p->bin[i], w->item);
        for (uint32_t k = 0; k < n; k++)
            w->slot[w->item[k]] = 0;
    }
    return status;
}

static void draw(worker *w)
{
    uint32_t words = w->w.words;
    for (uint32_t i = 0; i < words; i++) {
        uint64_t low = syn_random_bits(&w->random);
        w->subset[i] = low | (uint64_t)syn_random_bits(&w->random) << 32;
    }
    if (w->w.members % 64)
        w->subset[words - 1] &= ((uint64_t)1 << w->w.members % 64) - 1;
}

static syn_status prepare(const stability *s, worker *w, size_t number, int kind)
{
    const pattern *p = &s->pattern[number];
    syn_status status = kind == 0 ? witnesses_of_items(s, w, p)
                                  : witnesses_of_windows(s, w, p);
    if (status == SYN_OK)
        status = witnesses_order(&w->w);
    syn_random_start(&w->random, s->options->key, 2 * (uint64_t)number + (uint64_t)kind);
    w->done = w->survived = 0;
    w->total = s->options->subsets;
    if (w->w.members < 64 && (uint64_t)1 << w->w.members <= w->total)
        w->total = (uint64_t)1 << w->w.members;
    return status;
}

static syn_status look_at_subsets(void *context, size_t item, int number)
{
    const stability *s = context;
    worker *w = &s->worker[number];
    size_t of = item / (size_t)s->kinds;
    int kind = s->kind[item % (size_t)s->kinds];
    double begun = syn_seconds();
    if (!w->busy) {
        syn_status status = prepare(s, w, of, kind);
        if (status != SYN_OK)
            return status;
    }
    int all = w->w.members < 64 && w->total == (uint64_t)1 << w->w.members;
    w->busy = 1;
    for (; w->done < w->total; w->done++) {
        if (w->done % LOOK_EVERY == LOOK_EVERY - 1 &&
            syn_seconds() - begun > SYN_SLICE_SECONDS)
            break;
        if (all)
            w->subset[0] = w->done;
        else
            draw(w);
        w->survived += (uint64_t)survives(&w->w, w->subset);
    }
    if (w->done < w->total)
        return SYN_UNFINISHED;
    w->busy = 0;
    s->share[kind][of] = (double)w->survived / (double)w->total;
    return SYN_OK;
}

/* ---- all of them ---- */

static void stability_free(stability *s)
{
    for (int i = 0; s->worker && i < s->options->threads; i++) {
        worker *w = &s->worker[i];
        witnesses_free(&w->w);
        free(w->held);
        free(w->slot);
        free(w->item);
        free(w->subset);
    }
    free(s->worker);
    free(s->pattern);
    syn_bin_windows_free(&s->windows);
}

static syn_status worker_make(const stability *s, worker *w, uint32_t size,
                              uint32_t windows)
{
    uint32_t members = size > windows ? size : windows;
    size_t words = ((size_t)size + 63) / 64;
    w->subset = malloc(((size_t)members / 64 + 1) * sizeof *w->subset);
    w->held = calloc(s->raster->bins * words + 1, sizeof *w->held);
    w->slot = calloc((size_t)s->windows.items + 1, sizeof *w->slot);
    w->item = malloc(((size_t)s->windows.longest + 1) * sizeof *w->item);
    return w->subset && w->held && w->slot && w->item ? SYN_OK : SYN_NO_MEMORY;
}

static syn_status stability_make(stability *s, const syn_pattern_list *list,
                                 const syn_pattern_windows *windows)
{
    uint32_t size = 0, most = 0;
    size_t items = 0, bins = 0;
    s->pattern = malloc((list->n + 1) * sizeof *s->pattern);
    s->worker = calloc((size_t)s->options->threads, sizeof *s->worker);
    if (!s->pattern || !s->worker)
        return SYN_NO_MEMORY;
    for (size_t p = 0; p < list->n; p++) {
        s->pattern[p] = (pattern){.unit = list->unit + items, .lag = list->lag + items,
                                  .bin = windows->bin + bins, .size = list->size[p],
                                  .windows = windows->count[p]};
        items += list->size[p];
        bins += windows->count[p];
        size = list->size[p] > size ? list->size[p] : size;
        most = windows->count[p] > most ? windows->count[p] : most;
    }
    syn_status status =
        syn_bin_windows_measure(&s->windows, s->raster, s->options->window, &s->budget);
    for (int i = 0; i < s->options->threads && status == SYN_OK; i++)
        status = worker_make(s, &s->worker[i], size, most);
    return status;
}

syn_status syn_pattern_stability(const syn_raster *raster, const syn_pattern_list *list,
                                 const syn_pattern_windows *windows,
                                 const syn_stability_options *options,
                                 const syn_watch *watch, double *intensional,
                                 double *extensional)
{
    stability s = {.raster = raster, .options = options, .budget = {.limit = SIZE_MAX},
                   .share = {intensional, extensional}};
    for (int kind = 0; kind < 2; kind++)
        if (s.share[kind])
            s.kind[s.kinds++] = kind;
    syn_status status = stability_make(&s, list, windows);
    if (status == SYN_OK)
        status = syn_parallel_for(list->n * (size_t)s.kinds, options->threads, watch,
                                  "patterns", look_at_subsets, &s);
    stability_free(&s);
    return status;
}
