/* Drives one thread's search for maxima. It takes unit after unit as root, those with
   most windows first, since what they reach bounds the others. For each root, the windows
   that open at the spikes of its unit are counted on the tape to find the frequent items,
   and the rows of the windows are turned into a mask of windows for each item. */
#include <stdlib.h>
#include <string.h>

#include "core/base/masks.h"
#include "core/base/parallel.h"
#include "core/patterns/spectrum/node.h"

/* ---- the tape of a raster ----

   Turns a raster into a tape: one row of bits for each bin, one bit for each unit. The
   items of a window are then a stretch of the tape. Memory is used again for the next
   surrogate. */

/* Bins from kept bin `b - 1` to kept bin `b` on the tape. */
static int64_t step_to(const syn_raster *raster, uint32_t b, uint32_t window)
{
    int64_t step = b > 0 ? raster->number[b] - raster->number[b - 1] : 0;
    return step < window ? step : window;
}

/* Ranks the units, and lists the tape's; returns how many units it leaves out. */
static uint32_t list_units(syn_tape *tape, const syn_raster *raster, uint32_t min_count)
{
    uint32_t out = 0;
    for (uint32_t u = 0; u < raster->units; u++)
        out += raster->unit_first[u + 1] - raster->unit_first[u] < min_count;
    tape->units = raster->units - out;
    tape->first[0] = 0;
    for (uint32_t u = 0; u < raster->units; u++)
        if (tape->rank[u] >= out)
            tape->first[tape->rank[u] - out + 1] =
                raster->unit_first[u + 1] - raster->unit_first[u];
    for (uint32_t u = 0; u < tape->units; u++)
        tape->first[u + 1] += tape->first[u];
    return out;
}

/* Makes it the tape of `raster`, of its units in at least `min_count` bins, for windows
   of `window` bins; memory is used again. The caller frees with tape_free(), also
   after an error: SYN_OVER_BUDGET or SYN_NO_MEMORY. */
static syn_status tape_fill(syn_tape *tape, const syn_raster *raster, uint32_t window,
                            uint32_t min_count)
{
    syn_budget *budget = tape->budget;
    size_t units = raster->units;
    int64_t bins = window;
    for (uint32_t b = 0; b < raster->bins; b++)
        bins += step_to(raster, b, window);
    tape->window = window;
    SYN_RENEW(budget, tape->rank, tape->rooms[3], units + 1);
    SYN_RENEW(budget, tape->first, tape->rooms[1], units + 2);
    SYN_RENEW(budget, tape->at, tape->rooms[2], (size_t)raster->events + 1);
    if (syn_pattern_ranks(raster, tape->rank) != SYN_OK)
        return SYN_NO_MEMORY;
    uint32_t out = list_units(tape, raster, min_count);
    tape->words = tape->units > 0 ? (tape->units + 63) / 64 : 1;
    double words = (double)bins * (double)tape->words + SYN_ROW_WORDS;
    if (bins > INT32_MAX || words * sizeof(uint64_t) > (double)budget->limit)
        return SYN_OVER_BUDGET;
    SYN_RENEW(budget, tape->bits, tape->rooms[0], (size_t)words);
    memset(tape->bits, 0, (size_t)words * sizeof *tape->bits);
    /* Writes bit after bit, and moves the beginnings of units to their ends. */
    uint32_t at = 0;
    for (uint32_t b = 0; b < raster->bins; b++) {
        at += (uint32_t)step_to(raster, b, tape->window);
        uint64_t *bin = tape->bits + at * tape->words;
        for (uint32_t e = raster->first[b]; e < raster->first[b + 1]; e++) {
            uint32_t rank = tape->rank[raster->unit[e]];
            if (rank < out)
                continue;
            rank -= out;
            bin[rank / 64] |= (uint64_t)1 << rank % 64;
            tape->at[tape->first[rank]++] = at;
        }
    }
    for (uint32_t u = tape->units; u > 0; u--)
        tape->first[u] = tape->first[u - 1];
    tape->first[0] = 0;
    return SYN_OK;
}

static void tape_free(syn_tape *tape)
{
    syn_budget *budget = tape->budget;
    SYN_GIVE(budget, tape->bits, tape->first, tape->at, tape->rank);
    *tape = (syn_tape){.budget = budget};
}

/* The least that any size, of any duration, needs. */
static uint32_t least_need(const syn_maxima *m)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t d = 0; d < m->durations; d++) {
        uint32_t need = __atomic_load_n(m->need + d * m->stride + m->sizes,
                                        __ATOMIC_RELAXED);
        least = need < least ? need : least;
    }
    return least;
}

/* Finds which items are in enough of the windows that open at at[n], as bits of the
   tape's rows in s->frequent; returns how many. Those at lag 0 of units before have roots
   of their own: they stay only where closures are to show them. */
static syn_status count_items(syn_maxima_search *s, uint32_t unit, const uint32_t *at,
                              uint32_t n, uint32_t *items)
{
    const syn_tape *t = &s->tape;
    size_t words = t->words * t->window, room = syn_row_words(words * 64);
    uint32_t least = least_need(s->maxima);
    SYN_ARENA(&s->arena, s->frequent, room);
    SYN_ARENA(&s->arena, s->all, room);
    *items = 0;
    if (n < least)
        return SYN_OK;
    syn_count_rows_of_bits(t->bits, t->words, syn_row_words(words * 64 - 1), at, n, least,
                           s->frequent, s->all);
    s->work += words * n;
    for (uint32_t u = s->checks ? unit : 0; u <= unit; u++)
        s->frequent[u / 64] &= ~((uint64_t)1 << u % 64);
    for (size_t w = 0; w < words; w++)
        *items += syn_bits(s->frequent[w]);
    return SYN_OK;
}

/* Lists the items of s->frequent by unit, then lag, and where each is in the list. */
static syn_status list_items(syn_maxima_search *s, syn_maxima_node *n, uint32_t *place)
{
    const syn_tape *t = &s->tape;
    syn_maxima_root *root = &s->root;
    uint32_t *begin;
    SYN_ARENA(&s->arena, begin, t->words * 64 + 1);
    SYN_ARENA(&s->arena, root->unit, n->listed);
    SYN_ARENA(&s->arena, root->lag, n->listed);
    SYN_ARENA(&s->arena, n->place, n->listed);
    /* begin[unit] becomes the place in the list where the items of the unit begin. */
    memset(begin, 0, (t->words * 64 + 1) * sizeof *begin);
    for (size_t i = 0; i < t->words * t->window; i++)
        for (uint64_t left = s->frequent[i]; left; left &= left - 1)
            begin[i % t->words * 64 + syn_low_bit(left) + 1]++;
    for (size_t u = 0; u < t->words * 64; u++)
        begin[u + 1] += begin[u];
    for (size_t i = 0; i < t->words * t->window; i++)
        for (uint64_t left = s->frequent[i]; left; left &= left - 1) {
            uint32_t bit = syn_low_bit(left), unit = (uint32_t)(i % t->words) * 64 + bit;
            uint32_t at = begin[unit]++;
            root->unit[at] = unit;
            root->lag[at] = (uint32_t)(i / t->words);
            n->place[at] = at;
            place[i * 64 + bit] = at;
        }
    return SYN_OK;
}

/* The masks are the rows of the windows that open at at[n], turned, 64 by 64. */
static syn_status fill_masks(syn_maxima_search *s, const uint32_t *at, uint32_t n,
                             const uint32_t *place, syn_maxima_node *node)
{
    const syn_tape *t = &s->tape;
    size_t words = node->words;
    SYN_ARENA(&s->arena, node->mask, node->listed * words);
    for (size_t i = 0; i < t->words * t->window; i++)
        for (size_t w = 0; w < words && s->frequent[i]; w++) {
            uint64_t square[64];
            for (size_t k = 0; k < 64; k++)
                square[k] = w * 64 + k < n ? t->bits[at[w * 64 + k] * t->words + i] : 0;
            syn_turn_square(square);
            for (uint64_t left = s->frequent[i]; left; left &= left - 1) {
                uint32_t bit = syn_low_bit(left);
                node->mask[place[i * 64 + bit] * words + w] = square[bit];
            }
        }
    s->work += t->words * t->window * words * 64;
    return SYN_OK;
}

/* The masks turned into rows, and which items are what. */
static syn_status fill_rows(syn_maxima_search *s, uint32_t unit, syn_maxima_node *n)
{
    syn_maxima_root *root = &s->root;
    uint32_t durations = s->maxima->durations;
    size_t stride = n->stride = syn_row_words(n->listed);
    SYN_ARENA(&s->arena, n->row, n->words * 64 * stride);
    SYN_ARENA(&s->arena, root->within, durations * stride);
    SYN_ARENA(&s->arena, root->open, stride);
    SYN_ARENA(&s->arena, root->allowed, stride);
    SYN_ARENA(&s->arena, s->frequent, stride);
    SYN_ARENA(&s->arena, s->all, stride);
    syn_turn(n->mask, n->listed, n->words, n->row, stride);
    memset(root->within, 0, durations * stride * sizeof *root->within);
    memset(root->open, 0, stride * sizeof *root->open);
    memset(root->allowed, 0, stride * sizeof *root->allowed);
    for (uint32_t i = 0; i < n->listed; i++) {
        uint64_t bit = (uint64_t)1 << i % 64;
        uint32_t from = s->by_duration ? root->lag[i] : 0;
        root->within[from * stride + i / 64] |= bit;
        root->open[i / 64] |= root->lag[i] > 0 || root->unit[i] > unit ? bit : 0;
    }
    for (size_t i = stride; i < durations * stride; i++)
        root->within[i] |= root->within[i - stride];
    return SYN_OK;
}

/* The root's own set: one item. */
static void raise_root(syn_maxima_search *s, const syn_maxima_node *n, uint32_t windows)
{
    if (s->options->min_units > 1 || s->maxima->min_spikes > 1)
        return;
    uint32_t inside = 1, beyond = 0;
    for (uint32_t i = 0; i < n->listed && s->checks; i++) {
        const uint64_t *mask = n->mask + i * n->words;
        uint32_t full = syn_set_bits(mask, n->words) == windows;
        inside += s->by_duration && s->root.lag[i] > 0 ? 0 : full;
        beyond += s->by_duration && s->root.lag[i] > 0 ? full : 0;
    }
    if (syn_maxima_judge(s, 1, inside, beyond, 0) == SYN_MAXIMA_COUNTS) {
        syn_maxima_raise(s->maxima, 0, 1, windows);
        s->raised++;
    }
}

/* Makes the root of unit `unit` of the tape the first node, unless nothing is to be found
   there. */
static syn_status maxima_root_make(syn_maxima_search *s, uint32_t unit)
{
    const syn_tape *t = &s->tape;
    const uint32_t *at = t->at + t->first[unit];
    uint32_t windows = t->first[unit + 1] - t->first[unit];
    SYN_TRY(syn_maxima_push(s));
    syn_maxima_node *n = s->node;
    n->size = n->units = 1;
    n->unit = unit;
    n->words = (windows + 63) / 64;
    s->duration = 0;
    SYN_TRY(count_items(s, unit, at, windows, &n->listed));
    if (n->listed > 0) {
        uint32_t *place;
        SYN_ARENA(&s->arena, s->index, windows);
        SYN_ARENA(&s->arena, place, t->words * t->window * 64);
        SYN_TRY(list_items(s, n, place));
        SYN_TRY(fill_masks(s, at, windows, place, n));
        SYN_TRY(fill_rows(s, unit, n));
    }
    raise_root(s, n, windows);
    n->children = n->listed;
    return SYN_OK;
}

/* ---- a thread's search ---- */

syn_maxima_search *syn_maxima_search_make(const syn_pattern_options *options,
                                          int by_duration, syn_budget *budget)
{
    syn_maxima_search *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->options = options;
    s->by_duration = by_duration;
    s->strict = options->target == SYN_PATTERNS_CLOSED &&
                options->max_spikes < UINT32_MAX;
    s->checks = s->strict || by_duration;
    syn_maxima_child *kinds[] = SYN_KINDS(syn_maxima_child_any, syn_maxima_child_256,
                                          syn_maxima_child_256, syn_maxima_child_512);
    s->child = kinds[syn_kind_here(options->vector_bits)];
    s->budget = s->arena.budget = s->tape.budget = budget;
    return s;
}

void syn_maxima_search_free(syn_maxima_search *s)
{
    if (!s)
        return;
    syn_arena_free(&s->arena);
    tape_free(&s->tape);
    syn_budget_free(s->budget, s->node);
    free(s);
}

syn_status syn_maxima_search_begin(syn_maxima_search *s, const syn_raster *raster,
                                   syn_maxima *maxima, size_t part, size_t parts)
{
    SYN_TRY(tape_fill(&s->tape, raster, s->options->window, s->options->min_count));
    s->maxima = maxima;
    s->part = part;
    s->parts = parts;
    s->left = s->tape.units;
    s->depth = 0;
    return SYN_OK;
}

syn_status syn_maxima_push(syn_maxima_search *s)
{
    SYN_GROW(s->budget, s->node, s->room, s->depth + 1);
    s->node[s->depth++] = (syn_maxima_node){.mark = syn_arena_here(&s->arena)};
    return SYN_OK;
}

void syn_maxima_pop(syn_maxima_search *s)
{
    syn_arena_return(&s->arena, s->node[--s->depth].mark);
}

/* Units with most windows come first: what they reach bounds the others. */
static syn_status next_root(syn_maxima_search *s)
{
    uint32_t unit = --s->left;
    if ((s->tape.units - 1 - unit) % s->parts != s->part)
        return SYN_OK;
    syn_arena_clear(&s->arena);
    return maxima_root_make(s, unit);
}

syn_status syn_maxima_search_go_on(syn_maxima_search *s, double deadline)
{
    while (s->depth > 0 || s->left > 0) {
        const syn_maxima_node *node = s->depth > 0 ? s->node + s->depth - 1 : NULL;
        if (!node)
            SYN_TRY(next_root(s));
        else if (node->next < node->children)
            SYN_TRY(s->child(s));
        else
            syn_maxima_pop(s);
        if (s->work < SYN_MAXIMA_WORK)
            continue;
        s->work = 0;
        if (syn_seconds() > deadline)
            return SYN_UNFINISHED;
    }
    return SYN_OK;
}
