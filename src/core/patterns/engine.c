/* Mines patterns: prepares the search, runs an engine, and hands over what it found.
   Units are ranked, roots that can have no pattern are found, and the work is cut into
   shares, the largest first. An engine collects the patterns of each share in blocks,
   one chain of blocks for each size, which are freed again when memory runs short. */
#include "core/patterns/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "core/base/hash.h"
#include "core/base/memory.h"
#include "core/base/order.h"
#include "core/base/pages.h"
#include "core/base/parallel.h"
#include "core/patterns/windows.h"

enum { GIVE_BACK = 1 << 24 };  /* bytes freed before the system gets them */
enum { FIRST_ROOM = 16, MOST_WORDS = 1 << 16 };  /* of a block */
enum { FIRST_CHAINS = 4 };  /* of a part */
enum { NARROW = 1 << 16 };  /* numbers below that take words of 16 bits */

/* ---- collecting ---- */

/* The first chain whose size is `size` or more. */
static uint32_t seek_chain(const syn_pattern_part *part, uint32_t size)
{
    uint32_t low = 0;
    SYN_SEEK(uint32_t, at, low, part->chains, part->chain[at].size < size);
    return low;
}

syn_pattern_chain *syn_pattern_chain_of(const syn_pattern_part *part, uint32_t size)
{
    uint32_t at = seek_chain(part, size);
    return at < part->chains && part->chain[at].size == size ? part->chain + at : NULL;
}

static syn_status add_chain(syn_pattern_part *part, uint32_t size, syn_budget *budget)
{
    if (part->chains == part->room) {
        uint32_t room = part->room > 0 ? 2 * part->room : FIRST_CHAINS;
        size_t more = (room - part->room) * sizeof *part->chain;
        if (!syn_budget_take(budget, more))
            return SYN_OVER_BUDGET;
        syn_pattern_chain *chain = realloc(part->chain, room * sizeof *chain);
        if (!chain) {
            syn_budget_give(budget, more);
            return SYN_NO_MEMORY;
        }
        part->chain = chain;
        part->room = room;
    }
    uint32_t at = seek_chain(part, size);
    syn_pattern_chain new = {.size = size};
    memmove(part->chain + at + 1, part->chain + at,
            (part->chains++ - at) * sizeof *part->chain);
    part->chain[at] = new;
    return SYN_OK;
}

/* Appends an empty block with room for so many patterns. */
static syn_status add_block(syn_pattern_chain *chain, size_t room, size_t width,
                            syn_budget *budget)
{
    size_t bytes = sizeof(syn_pattern_block) + room * ((size_t)chain->size + 1) * width;
    if (!syn_budget_take(budget, bytes))
        return SYN_OVER_BUDGET;
    syn_pattern_block *block = syn_large_malloc(bytes);  /* freed sooner, too */
    if (!block) {
        syn_budget_give(budget, bytes);
        return SYN_NO_MEMORY;
    }
    block->next = NULL;
    block->patterns = 0;
    block->room = room;
    if (chain->tail)
        chain->tail->next = block;
    else
        chain->head = block;
    chain->tail = block;
    return SYN_OK;
}

/* The chain of a size, which is made if it is not there. */
static syn_status need_chain(syn_pattern_part *part, uint32_t size, syn_budget *budget,
                             syn_pattern_chain **chain)
{
    syn_status status = SYN_OK;
    *chain = syn_pattern_chain_of(part, size);
    if (!*chain) {
        status = add_chain(part, size, budget);
        *chain = status == SYN_OK ? syn_pattern_chain_of(part, size) : NULL;
    }
    return status;
}

syn_status syn_pattern_room(syn_pattern_search *search, syn_pattern_part *part,
                            uint32_t size, size_t n, void **room)
{
    syn_pattern_chain *chain;
    SYN_TRY(need_chain(part, size, search->budget, &chain));
    SYN_TRY(add_block(chain, n, search->out->width, search->budget));
    chain->tail->patterns = n;
    chain->patterns += n;
    *room = chain->tail + 1;
    return SYN_OK;
}

syn_status syn_pattern_keep(syn_pattern_search *search, syn_pattern_part *part,
                            uint32_t size, const uint32_t *item, uint32_t occurrences)
{
    syn_pattern_chain *chain;
    SYN_TRY(need_chain(part, size, search->budget, &chain));
    if (!chain->tail || chain->tail->patterns == chain->tail->room) {
        /* Blocks grow: most parts hold little, some hold much. */
        size_t words = (size_t)chain->size + 1;
        size_t room = chain->tail ? 2 * chain->tail->room : FIRST_ROOM;
        if (room * words > MOST_WORDS)
            room = MOST_WORDS > words ? MOST_WORDS / words : 1;
        SYN_TRY(add_block(chain, room, search->out->width, search->budget));
    }
    syn_pattern_block *block = chain->tail;
    size_t at = block->patterns++ * ((size_t)size + 1);
    if (search->out->width == sizeof(uint16_t)) {
        uint16_t *word = (uint16_t *)(block + 1) + at;
        for (uint32_t k = 0; k < size; k++)
            word[k] = (uint16_t)item[k];
        word[size] = (uint16_t)occurrences;
    } else {
        uint32_t *word = (uint32_t *)(block + 1) + at;
        for (uint32_t k = 0; k < size; k++)
            word[k] = item[k];
        word[size] = occurrences;
    }
    chain->patterns++;
    return SYN_OK;
}

/* ---- forgetting ---- */

/* Gives the bytes that were freed; `bytes` are those of a pattern. */
static size_t free_chain(syn_pattern_chain *chain, size_t bytes)
{
    size_t freed = 0;
    while (chain->head) {
        syn_pattern_block *block = chain->head;
        chain->head = block->next;
        freed += sizeof *block + block->room * bytes;
        free(block);
    }
    return freed;
}

/* The same of all that was found in a part. */
static size_t free_part(syn_pattern_part *part, size_t width)
{
    size_t freed = part->room * sizeof *part->chain;
    for (uint32_t k = 0; k < part->chains; k++)
        freed += free_chain(part->chain + k, ((size_t)part->chain[k].size + 1) * width);
    free(part->chain);
    part->chain = NULL;
    part->chains = part->room = 0;
    return freed;
}

/* ---- the order of units ---- */

syn_status syn_pattern_ranks(const syn_raster *raster, uint32_t *rank)
{
    uint64_t *key;
    SYN_NEW(key, (size_t)raster->units + 1);
    for (uint32_t u = 0; u < raster->units; u++)
        key[u] = (uint64_t)syn_bins_of(raster, u) << 32 | u;
    qsort(key, raster->units, sizeof *key, syn_by_key);
    for (uint32_t r = 0; r < raster->units; r++)
        rank[(uint32_t)key[r]] = r;
    free(key);
    return SYN_OK;
}

/* ---- shares ----

   The work of a root grows with the number of its windows; a root with much work is cut
   into several shares. */

/* So many windows of a root make a share: more would be too few to go round where one
   unit has most of the spikes, fewer would make its root again too often. */
enum { SHARE_WINDOWS = 64 };

static uint32_t shares_of(uint32_t windows, uint32_t min_count)
{
    return windows < min_count ? 0 : windows / SHARE_WINDOWS + 1;
}

syn_status syn_pattern_cut(const syn_raster *raster, uint32_t window, uint32_t min_count,
                           syn_pattern_shares *out)
{
    size_t n = 0;
    uint32_t units = raster->units, *windows;  /* of roots, by rank */
    memset(out, 0, sizeof *out);
    SYN_NEW(windows, (size_t)units + 1);
    for (uint32_t u = 0; u < units; u++) {
        windows[u] = syn_bins_of(raster, u);
        n += shares_of(windows[u], min_count);
    }
    qsort(windows, units, sizeof *windows, syn_by_number);
    out->share = malloc((n + 1) * sizeof *out->share);
    for (uint32_t r = 0; out->share && r < units; r++) {
        uint32_t of = shares_of(windows[r], min_count);
        /* About the work of a root: measured on recordings, the third power of its
           windows or a little more. The items that can be added to it are all those at
           later lags, and at lag 0 those of higher rank: where windows are one bin, that
           is what counts. */
        double after = (double)units * (window - 1) + (units - r - 1);
        double side = windows[r] * after / ((double)units * window);
        double work = side * side * side;
        for (uint32_t k = 0; k < of; k++)
            out->share[out->n++] = (syn_pattern_share){r, k, of, work / of};
    }
    free(windows);
    return out->share ? SYN_OK : SYN_NO_MEMORY;
}

void syn_pattern_shares_free(syn_pattern_shares *shares)
{
    free(shares->share);
    memset(shares, 0, sizeof *shares);
}

/* ---- the driver ---- */

enum { SURE_AFTER = 2 };  /* seconds, before what is expected is worth telling */

/* A watch that also goes by what was found so far to tell what is to come. */
typedef struct outlook_watch {
    const syn_watch *watch;
    syn_pattern_search *search;
    double begun;
    char stage[80];
    int exceeded;
} outlook_watch;

/* What the parts hold: weights of all, of those that are done, and of those begun
   besides; patterns in those that are done; and words of patterns in those and in all. */
typedef struct survey {
    double weight, done, begun;
    double patterns, words_done, words;
} survey;

static survey survey_of(const syn_patterns *found)
{
    survey v = {0};
    for (size_t p = 0; p < found->parts; p++) {
        const syn_pattern_part *part = found->part + p;
        v.weight += part->weight;
        v.done += part->done ? part->weight : 0;
        v.begun += !part->done && part->chains > 0 ? part->weight : 0;
        for (uint32_t k = 0; k < part->chains; k++) {
            double n = (double)part->chain[k].patterns;
            double words = n * (part->chain[k].size + 1.0);
            v.patterns += part->done ? n : 0;
            v.words_done += part->done ? words : 0;
            v.words += words;
        }
    }
    return v;
}

static int poll_outlook(void *data, const char *stage, double done, double total)
{
    outlook_watch *b = data;
    syn_pattern_search *s = b->search;
    survey v = survey_of(s->out);
    double share = v.weight > 0 ? v.done / v.weight : 0;
    s->out->done = share > 0 ? share : total > 0 ? done / total : 0;
    if (syn_seconds() > b->begun + SURE_AFTER && share > 0 && v.patterns > 0) {
        /* The search ends early when it is sure to exceed the budget: at first only if it
           would need three times as much, towards the end if it would need any more. */
        double patterns = v.patterns / share, sure = 3 - 2 * share;
        double bytes = v.words_done * (double)s->out->width / share;
        b->exceeded = bytes > sure * (double)s->budget->limit;
        int millions = patterns >= 1e6;
        snprintf(b->stage, sizeof b->stage, "about %.*f%s patterns, %.1f GB",
                 millions && patterns < 1e7, millions ? patterns / 1e6 : patterns,
                 millions ? " million" : "", bytes / 1e9);
        stage = b->stage;
    }
    return b->exceeded ||
           syn_poll(b->watch, stage, s->out->done * total, total) != SYN_OK;
}

static int most_work_first(const void *a, const void *b)
{
    const syn_pattern_share *x = *(const syn_pattern_share *const *)a;
    const syn_pattern_share *y = *(const syn_pattern_share *const *)b;
    double work_x = x->work * x->of, work_y = y->work * y->of;
    if (work_x != work_y)
        return work_x > work_y ? -1 : 1;
    return (x > y) - (x < y);  /* so those of one root stay together */
}

/* Bytes that hold any item, and the occurrences of any pattern: those of its units are no
   fewer. */
static size_t word_width(const syn_raster *raster, uint32_t window)
{
    uint64_t most = (uint64_t)raster->units * window;
    for (uint32_t u = 0; u < raster->units; u++)
        if (syn_bins_of(raster, u) > most)
            most = syn_bins_of(raster, u);
    return most < NARROW ? sizeof(uint16_t) : sizeof(uint32_t);
}

/* ---- roots without patterns ---- */

typedef struct unit_bins {
    uint64_t hash;       /* of the bins */
    const uint32_t *bin; /* [n] */
    uint32_t n, rank;
} unit_bins;

static uint64_t hash_bins(const uint32_t *bin, uint32_t n)
{
    uint64_t h = n;
    for (uint32_t i = 0; i < n; i++)
        h = syn_hash_more(h, bin[i]);
    return h;
}

static int alike_then_by_rank(const void *a, const void *b)
{
    const unit_bins *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Of units that fire in the same bins, all but the one with the lowest rank: it can be
   added, at lag 0, to whatever has another of them for its root. So such sets are closed
   only where a limit on the size forbids to add it. */
static syn_status find_idle(syn_pattern_search *s)
{
    const syn_pattern_options *o = s->options;
    const syn_raster *r = s->raster;
    int limited = o->target == SYN_PATTERNS_CLOSED_WITHIN && o->max_spikes != UINT32_MAX;
    if (limited || o->target == SYN_PATTERNS_FREQUENT)
        return SYN_OK;
    unit_bins *unit;
    SYN_TAKE(s->budget, unit, (size_t)r->units + 1);
    for (uint32_t u = 0; u < r->units; u++) {
        const uint32_t *bin = r->unit_bin + r->unit_first[u];
        uint32_t n = syn_bins_of(r, u);
        unit[u] = (unit_bins){hash_bins(bin, n), bin, n, s->rank[u]};
    }
    qsort(unit, r->units, sizeof *unit, alike_then_by_rank);
    for (uint32_t k = 0, first = 0; k < r->units; k++) {
        const unit_bins *a = unit + first, *b = unit + k;
        int same = k > first && a->hash == b->hash && a->n == b->n &&
                   memcmp(a->bin, b->bin, a->n * sizeof *a->bin) == 0;
        s->idle[unit[k].rank] = (uint8_t)same;
        if (!same)
            first = k;
    }
    syn_budget_free(s->budget, unit);
    return SYN_OK;
}

static syn_status prepare(syn_pattern_search *s)
{
    uint32_t units = s->raster->units;
    SYN_TAKE(s->budget, s->rank, (size_t)units + 1);
    SYN_TAKE(s->budget, s->ranked, (size_t)units + 1);
    SYN_TAKE_ZEROS(s->budget, s->idle, (size_t)units + 1);
    if (syn_pattern_ranks(s->raster, s->rank) != SYN_OK)
        return SYN_NO_MEMORY;
    for (uint32_t u = 0; u < units; u++)
        s->ranked[s->rank[u]] = u;
    SYN_TRY(find_idle(s));
    /* Takes the shares that the options ask for, and makes each a part. */
    const syn_pattern_options *o = s->options;
    if (syn_pattern_cut(s->raster, o->window, o->min_count, &s->cut) != SYN_OK)
        return SYN_NO_MEMORY;
    size_t each = sizeof *s->cut.share + sizeof *s->out->part + sizeof *s->order;
    if (!syn_budget_take(s->budget, s->cut.n * each))
        return SYN_OVER_BUDGET;
    size_t begin = o->share_begin, end = o->share_end;
    end = end < s->cut.n ? end : s->cut.n;
    begin = begin < end ? begin : end;
    s->share = s->cut.share + begin;
    s->shares = end - begin;
    SYN_NEW_ZEROS(s->out->part, s->shares + 1);
    SYN_NEW(s->order, s->shares + 1);
    s->out->parts = s->shares;
    for (size_t k = 0; k < s->shares; k++)
        s->out->part[k].weight = s->idle[s->share[k].root] ? 0 : s->share[k].work;
    for (size_t k = 0; k < s->shares; k++)
        s->order[k] = s->share + k;
    qsort(s->order, s->shares, sizeof *s->order, most_work_first);
    return SYN_OK;
}

/* A least number of occurrences with which what would be found fits, going by what has
   been found; 0 when none would. */
static uint32_t advise(const syn_pattern_search *s, int given_up)
{
    const syn_patterns *found = s->out;
    uint32_t most = s->raster->events;
    size_t *words = calloc((size_t)most + 2, sizeof *words);
    if (!words)
        return 0;
    for (size_t p = 0; p < found->parts; p++) {
        /* words[] gets how many words patterns take, by their occurrences. */
        const syn_pattern_part *part = found->part + p;
        for (uint32_t k = 0; k < part->chains; k++) {
            const syn_pattern_chain *chain = part->chain + k;
            size_t each = (size_t)chain->size + 1;
            for (const syn_pattern_block *b = chain->head; b; b = b->next)
                for (size_t i = 1; i <= b->patterns; i++)
                    words[syn_pattern_word(b, found->width, i * each - 1)] += each;
        }
    }
    /* Words that fit: as many as did, unless the search was given up before. */
    survey v = survey_of(found);
    double room = v.words, width = (double)found->width, total = 0;
    if (given_up) {
        double most = (double)s->budget->most / width;
        room = (double)s->budget->limit / width - (most > room ? most - room : 0);
    }
    /* The share that was searched, to which a part in progress counts half. Blocks are
       not full. */
    double share = v.weight > 0 ? (v.done + v.begun / 2) / v.weight : 0;
    room *= (share > 1e-3 ? share : 1e-3) / 1.1;
    uint32_t occ = most + 1;
    while (occ > s->options->min_count && total + (double)words[occ - 1] <= room)
        total += (double)words[--occ];
    free(words);
    return occ <= most ? occ : 0;
}

/* What is too much for many threads at a time may do for fewer. */
static syn_status search_here(syn_pattern_search *s, syn_pattern_options *options,
                              const outlook_watch *watch)
{
    syn_pattern_mine *const engines[] = {syn_patterns_closure, syn_patterns_fpgrowth,
                                         syn_patterns_estimate};
    syn_pattern_mine *mine = engines[options->engine];
    syn_status status = mine(s);
    while (status == SYN_OVER_BUDGET && !watch->exceeded && options->threads > 1) {
        /* Forgets what was found in parts that are not done. */
        for (size_t p = 0; p < s->out->parts; p++) {
            syn_pattern_part *part = s->out->part + p;
            if (part->done || part->room == 0)
                continue;
            syn_budget_give(s->budget, free_part(part, s->out->width));
        }
        options->threads /= 2;
        status = mine(s);
    }
    return status;
}

static int is_searched(const syn_pattern_search *s)
{
    for (size_t p = 0; p < s->out->parts; p++)
        if (!s->out->part[p].done)
            return 0;
    return 1;
}

static syn_status search_all(syn_pattern_search *s, syn_pattern_options *options,
                             const syn_pattern_device *device, const outlook_watch *watch)
{
    syn_status status = device ? device->mine(device->self, s) : SYN_OK;
    if (status != SYN_OK || (device && is_searched(s)))
        return status;
    return search_here(s, options, watch);
}

syn_status syn_mine_patterns(const syn_raster *raster, const syn_pattern_options *options,
                             const syn_pattern_device *device, syn_budget *budget,
                             const syn_watch *watch, syn_patterns *out)
{
    memset(out, 0, sizeof *out);
    if ((uint64_t)raster->units * options->window > INT32_MAX)
        return SYN_TOO_LARGE;
    syn_pattern_options met = *options;
    /* The bins that the longest window of the data takes: lags beyond are not met. */
    int64_t longest = 0;
    for (uint32_t b = 0, end = 0; b < raster->bins; b++) {
        end = syn_raster_window_end(raster, b, options->window, end);
        if (raster->number[end - 1] - raster->number[b] > longest)
            longest = raster->number[end - 1] - raster->number[b];
    }
    met.window = (uint32_t)longest + 1;
    out->width = word_width(raster, met.window);
    syn_pattern_search search = {.raster = raster, .options = &met, .out = out,
                                 .budget = budget};
    outlook_watch w = {.watch = watch, .search = &search, .begun = syn_seconds()};
    syn_watch watched = {poll_outlook, &w};
    search.watch = &watched;
    syn_status status = prepare(&search);
    SYN_NEXT(status, search_all(&search, &met, device, &w));
    if (status == SYN_OK)
        out->done = 1;
    if (w.exceeded)
        status = SYN_OVER_BUDGET;
    if (status == SYN_OVER_BUDGET)
        out->advice = advise(&search, w.exceeded);
    out->peak_memory = budget->most;
    for (size_t p = 0; p < out->parts; p++)
        for (uint32_t k = 0; k < out->part[p].chains; k++)
            out->n += out->part[p].chain[k].patterns;
    SYN_GIVE(search.budget, search.rank, search.ranked, search.idle);
    free(search.order);
    syn_pattern_shares_free(&search.cut);
    return status;
}

/* ---- results ---- */

uint32_t syn_patterns_sizes(const syn_patterns *patterns, size_t *count)
{
    uint32_t sizes = 0;
    for (size_t p = 0; p < patterns->parts; p++) {
        const syn_pattern_part *part = patterns->part + p;
        if (part->chains > 0 && part->chain[part->chains - 1].size > sizes)
            sizes = part->chain[part->chains - 1].size;
    }
    if (!count)
        return sizes;
    memset(count, 0, sizes * sizeof *count);
    for (size_t p = 0; p < patterns->parts; p++)
        for (uint32_t k = 0; k < patterns->part[p].chains; k++) {
            const syn_pattern_chain *chain = patterns->part[p].chain + k;
            count[chain->size - 1] += chain->patterns;
        }
    return sizes;
}

void syn_patterns_free(syn_patterns *patterns)
{
    size_t freed = 0;
    for (size_t p = 0; p < patterns->parts; p++)
        freed += free_part(patterns->part + p, patterns->width);
    free(patterns->part);
    memset(patterns, 0, sizeof *patterns);
#if defined(__GLIBC__)
    /* Freed blocks lie between others, so the C library keeps them unless it is asked. */
    if (freed >= GIVE_BACK)
        malloc_trim(0);
#else
    (void)freed;
#endif
}
