/* The published method: Porrmann F, Pilz S, Stella A, Kleinjohann A, Denker M, Hagemeyer J,
   Rueckert U (2021), "Acceleration of the SPADE Method Using a Custom-Tailored FP-Growth
   Implementation", Frontiers in Neuroinformatics 15:723406.

   Windows are transactions. FP-growth lists all their frequent itemsets: every entry of a
   tree's header table extends the pattern that the tree belongs to, and has a conditional
   tree of its own. What passes the filters is collected, and there reduced to what is
   closed. Threads share the header table of the tree of all windows.

   Two orders differ from the paper. Items stand in trees by falling frequency, but units
   at lag 0 come last, nearest to the leaves: only their header entries can begin a
   pattern, and they alone are followed. So the tree of all windows is never held: the
   conditional tree of a unit at lag 0 is built from the windows that it opens. And header
   entries are followed from the last to the first, which finds patterns of one size in
   the order of syn_patterns, and each set before all its subsets in the same windows (but
   those that it extends by items met later, which are added without branching). So what is
   closed is known when it is found, from a table of what was kept for the same root. That
   a root of lower rank is in all windows is told by bits in the trees. */
#include "core/patterns_engine.h"

#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/fptree.h"
#include "core/parallel.h"
#include "core/patterns_kept.h"

enum { STEPS_PER_LOOK = 16 };  /* at the clock */

/* A tree being worked on. */
typedef struct level {
    syn_fptree tree;
    uint32_t left;         /* entries that are still to extend the pattern */
    uint32_t size;         /* of the pattern that the tree belongs to */
    syn_arena_mark mark;   /* before the tree */
} level;

typedef struct worker {
    syn_arena arena;
    syn_kept kept;
    uint32_t *tally;       /* [items] zero between uses */
    uint32_t *code;        /* [items] */
    uint32_t *touched;     /* [items] */
    uint32_t *more;        /* [items] those that could extend the pattern */
    uint32_t *window;      /* [longest] the items of a window */
    uint32_t *list;        /* [bins] of windows */
    uint32_t *pattern;     /* [room] the items so far, as they came */
    uint32_t *sorted;      /* [room] the same, increasing */
    uint32_t *seen;        /* [units] how often each is in the pattern */
    level *level;          /* [room] */
    uint32_t room, size, distinct, levels;
    int busy;              /* with a root that is not finished */
    size_t fixed, told;    /* bytes */
    char apart[64];
} worker;

typedef struct fpgrowth {
    syn_pattern_search *search;
    uint32_t items;        /* there can be */
    uint32_t longest;      /* items in a window */
    uint32_t roots;        /* ranks from options->root_begin on */
    uint32_t limit;        /* larger patterns are not searched for */
    uint32_t *end;         /* [bins] after a window's last bin */
    int absorb;            /* items in all windows are added without branching */
    int look_up;           /* closed sets are told by the table, else by the windows */
    worker *worker;        /* [threads] */
} fpgrowth;

/* What a set found stands for. */
typedef struct found {
    uint32_t occurrences;
    uint64_t hash;
    const uint64_t *shared;
    uint32_t words;
    uint32_t more;         /* entries that could extend it */
    int has_full;          /* one of them is in all of its windows */
} found;

/* ---- windows ---- */

static uint64_t hash_of(uint32_t bin)
{
    uint64_t h = (bin + UINT64_C(1)) * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ h >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    h = (h ^ h >> 27) * UINT64_C(0x94D049BB133111EB);
    return h ^ h >> 31;
}

/* The items of the window opened at `bin`, increasing; returns their number. */
static uint32_t read_window(const fpgrowth *f, uint32_t bin, uint32_t *item)
{
    const syn_raster *r = f->search->raster;
    uint32_t n = 0;
    for (uint32_t b = bin; b < f->end[bin]; b++) {
        uint32_t from = (uint32_t)(r->number[b] - r->number[bin]) * r->units;
        for (uint32_t i = r->first[b]; i < r->first[b + 1]; i++)
            item[n++] = from + r->unit[i];
    }
    return n;
}

/* Cuts a list of `n` windows down to those with `item`; returns their number. */
static uint32_t keep_windows(const syn_raster *r, uint32_t item, uint32_t *list,
                             uint32_t n)
{
    uint32_t unit = item % r->units, lag = item / r->units, kept = 0;
    uint32_t at = r->unit_first[unit], end = r->unit_first[unit + 1];
    for (uint32_t i = 0; i < n; i++) {
        int64_t number = r->number[list[i]] + lag;
        while (at < end && r->number[r->unit_bin[at]] < number)
            at++;
        if (at < end && r->number[r->unit_bin[at]] == number)
            list[kept++] = list[i];
    }
    return kept;
}

/* Adds the items of the `n` windows in `list` to the tally; returns how many different
   ones there are in `touched`. */
static uint32_t tally_windows(const fpgrowth *f, worker *w, const uint32_t *list,
                              uint32_t n)
{
    uint32_t touched = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t items = read_window(f, list[i], w->window);
        for (uint32_t k = 0; k < items; k++)
            if (w->tally[w->window[k]]++ == 0)
                w->touched[touched++] = w->window[k];
    }
    return touched;
}

/* Whether an item outside of the pattern is in at least `least` of its windows. */
static int has_superset(const fpgrowth *f, worker *w, uint32_t least)
{
    const syn_raster *r = f->search->raster;
    uint32_t unit = w->sorted[0], n = r->unit_first[unit + 1] - r->unit_first[unit];
    memcpy(w->list, r->unit_bin + r->unit_first[unit], n * sizeof *w->list);
    for (uint32_t k = 1; k < w->size; k++)
        n = keep_windows(r, w->sorted[k], w->list, n);
    uint32_t touched = tally_windows(f, w, w->list, n), reach = 0;
    for (uint32_t i = 0; i < touched; i++) {
        reach += w->tally[w->touched[i]] >= least;
        w->tally[w->touched[i]] = 0;
    }
    return reach > w->size;
}

/* ---- the pattern ---- */

static void push_item(const fpgrowth *f, worker *w, uint32_t item)
{
    w->pattern[w->size++] = item;
    w->distinct += w->seen[item % f->search->raster->units]++ == 0;
}

static void cut_pattern(const fpgrowth *f, worker *w, uint32_t size)
{
    while (w->size > size) {
        uint32_t unit = w->pattern[--w->size] % f->search->raster->units;
        w->distinct -= --w->seen[unit] == 0;
    }
}

static void sort_pattern(worker *w)
{
    for (uint32_t k = 0; k < w->size; k++) {
        uint32_t item = w->pattern[k], to = k;
        for (; to > 0 && w->sorted[to - 1] > item; to--)
            w->sorted[to] = w->sorted[to - 1];
        w->sorted[to] = item;
    }
}

/* ---- collecting ---- */

static int passes(const syn_pattern_options *o, const worker *w, const found *x)
{
    return w->size >= o->min_spikes && w->size <= o->max_spikes &&
           w->distinct >= o->min_units && x->occurrences <= o->max_occ;
}

static int is_wanted(const fpgrowth *f, worker *w, const found *x)
{
    const syn_pattern_options *o = f->search->options;
    if (o->target == SYN_PATTERNS_FREQUENT)
        return 1;
    if (o->target == SYN_PATTERNS_MAXIMAL)
        return x->more == 0 && !has_superset(f, w, o->min_occ);
    if (!f->look_up)
        return !has_superset(f, w, x->occurrences);
    if (!f->absorb && w->size == o->max_spikes)
        return 1;
    for (uint32_t k = 0; k < x->words; k++)
        if (x->shared[k])
            return 0;
    return !x->has_full &&
           !syn_kept_holds(&w->kept, x->hash, w->size, w->sorted, x->occurrences);
}

/* Keeps the pattern if it passes the filters and the target asks for it. */
static syn_status collect(fpgrowth *f, int worker_id, const found *x)
{
    worker *w = f->worker + worker_id;
    syn_pattern_search *s = f->search;
    if (!passes(s->options, w, x))
        return SYN_OK;
    sort_pattern(w);
    if (!is_wanted(f, w, x))
        return SYN_OK;
    uint32_t root = s->rank[w->pattern[0]];
    syn_pattern_part *part = s->out->part + (root - s->options->root_begin);
    if (syn_pattern_keep(s, part, worker_id, w->size, w->sorted, x->occurrences) !=
        SYN_OK)
        return SYN_NO_MEMORY;
    if (!f->look_up)
        return SYN_OK;
    const syn_pattern_block *block = part->chain[w->size - 1].tail;
    return syn_kept_add(&w->kept, x->hash, w->size,
                        block->word + (block->patterns - 1) * ((size_t)w->size + 1));
}

/* ---- growing ---- */

/* Whether the pattern with some of the first items of w->more could pass the filters.
   Units met are marked by the highest bit of `seen` for a while. */
static int can_grow(const fpgrowth *f, worker *w, uint32_t more)
{
    const syn_pattern_options *o = f->search->options;
    uint32_t units = f->search->raster->units, reach = w->distinct;
    if (more == 0 || w->size >= f->limit || w->size + (uint64_t)more < o->min_spikes)
        return 0;
    uint32_t k = 0;
    for (; k < more && reach < o->min_units; k++) {
        uint32_t *seen = w->seen + w->more[k] % units;
        reach += *seen == 0;
        *seen |= UINT32_C(1) << 31;
    }
    while (k-- > 0)
        w->seen[w->more[k] % units] &= ~(UINT32_C(1) << 31);
    return reach >= o->min_units;
}

/* Extends the pattern by the last entry that is left of the tree on top. */
static syn_status step(fpgrowth *f, int worker_id)
{
    worker *w = f->worker + worker_id;
    const syn_pattern_options *o = f->search->options;
    level *l = w->level + w->levels - 1;
    const syn_fptree *t = &l->tree;
    uint32_t e = --l->left, occurrences = t->count[e];
    cut_pattern(f, w, l->size);
    push_item(f, w, t->item[e]);
    syn_fptree_count(t, e, w->tally);
    found x = {occurrences, t->hash[e], t->shared + (size_t)e * t->words, t->words, 0, 0};
    size_t steps = 0;
    for (uint32_t j = 0; j < e; j++) {
        uint32_t n = w->tally[j];
        w->tally[j] = 0;
        w->code[j] = SYN_FP_NONE;
        if (n < o->min_occ)
            continue;
        x.has_full |= n == occurrences;
        if (f->absorb && n == occurrences) {
            push_item(f, w, t->item[j]);
        } else {
            w->more[x.more] = t->item[j];
            w->code[j] = x.more++;
            steps += n;
        }
    }
    if (f->absorb)
        x.has_full = 0;
    syn_status status = collect(f, worker_id, &x);
    if (status != SYN_OK || !can_grow(f, w, x.more))
        return status;
    level *top = w->level + w->levels;
    top->mark = syn_arena_here(&w->arena);
    status = syn_fptree_project(&top->tree, &w->arena, t, e, w->code, x.more, steps);
    if (status != SYN_OK)
        return status;
    memcpy(top->tree.item, w->more, x.more * sizeof *w->more);
    top->left = x.more;
    top->size = w->size;
    w->levels++;
    return SYN_OK;
}

static void end_level(worker *w)
{
    syn_arena_return(&w->arena, w->level[--w->levels].mark);
}

/* ---- the tree of a root ---- */

typedef struct root_windows {
    const uint32_t *bin;
    uint32_t n;
    uint32_t entries;      /* items of its tree, in `more` by their codes */
    uint32_t guards;       /* units of lower rank at lag 0 that could be in all windows */
    size_t steps;
} root_windows;

static int descending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x < y) - (x > y);
}

static syn_status make_room(worker *w, uint32_t room)
{
    if (room <= w->room)
        return SYN_OK;
    uint32_t *pattern = realloc(w->pattern, room * sizeof *pattern);
    if (pattern)
        w->pattern = pattern;
    uint32_t *sorted = realloc(w->sorted, room * sizeof *sorted);
    if (sorted)
        w->sorted = sorted;
    level *levels = realloc(w->level, room * sizeof *levels);
    if (levels)
        w->level = levels;
    if (!pattern || !sorted || !levels)
        return SYN_NO_MEMORY;
    w->room = room;
    return SYN_OK;
}

/* Counts the items of the root's windows, adds those that are in all of them to the
   pattern, and gives codes to the others that are frequent: the entries of the tree, and
   bits for the units of lower rank at lag 0. */
static syn_status code_items(const fpgrowth *f, worker *w, uint32_t root,
                             root_windows *r, int *has_full)
{
    const syn_pattern_search *s = f->search;
    uint32_t touched = tally_windows(f, w, r->bin, r->n), kept = 0;
    for (uint32_t i = 0; i < touched; i++) {
        uint32_t item = w->touched[i], n = w->tally[item];
        int is_root = item < s->raster->units && s->rank[item] <= root;
        w->code[item] = SYN_FP_NONE;
        if (n < s->options->min_occ || is_root) {
            if (is_root && n >= s->options->min_occ && s->rank[item] < root && f->look_up)
                w->code[item] = r->guards++;
            w->tally[item] = 0;
        } else {
            w->touched[kept++] = syn_pattern_place(s, item);
        }
    }
    if (make_room(w, kept + 1) != SYN_OK)
        return SYN_NO_MEMORY;
    qsort(w->touched, kept, sizeof *w->touched, descending);
    push_item(f, w, s->ranked[root]);
    for (uint32_t i = 0; i < kept; i++) {
        uint32_t item = syn_pattern_item(s, w->touched[i]), n = w->tally[item];
        w->tally[item] = 0;
        *has_full |= n == r->n;
        if (f->absorb && n == r->n) {
            push_item(f, w, item);
        } else {
            r->steps += n;
            w->code[item] = r->entries;
            w->more[r->entries++] = item;
        }
    }
    return SYN_OK;
}

static int is_guard(const syn_pattern_search *s, uint32_t item, uint32_t root)
{
    return item < s->raster->units && s->rank[item] < root;
}

/* The bits of each window: which guards are in it. `all` becomes what they share. */
static void mark_guards(const fpgrowth *f, worker *w, uint32_t root,
                        const root_windows *r, uint32_t words, uint64_t *bits,
                        uint64_t *all)
{
    const syn_raster *raster = f->search->raster;
    memset(bits, 0, (size_t)r->n * words * sizeof *bits);
    memset(all, 0xff, words * sizeof *all);
    for (uint32_t i = 0; i < r->n; i++) {
        uint64_t *of = bits + (size_t)i * words;
        uint32_t bin = r->bin[i];
        for (uint32_t k = raster->first[bin]; k < raster->first[bin + 1]; k++) {
            uint32_t unit = raster->unit[k];
            if (is_guard(f->search, unit, root) && w->code[unit] != SYN_FP_NONE)
                of[w->code[unit] / 64] |= UINT64_C(1) << w->code[unit] % 64;
        }
        for (uint32_t k = 0; k < words; k++)
            all[k] &= of[k];
    }
}

/* The paths of all windows. Entries are handed to windows in their order, so that none
   has to be sorted. `window` has a place for each step, as has `step`. */
static void lay_paths(const fpgrowth *f, worker *w, uint32_t root, const root_windows *r,
                      uint32_t *window, uint32_t *step, size_t *first,
                      syn_fp_path *path)
{
    memset(first, 0, ((size_t)r->entries + 2) * sizeof *first);
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < r->n; i++) {
            uint32_t items = read_window(f, r->bin[i], w->window);
            uint32_t length = 0;
            for (uint32_t k = 0; k < items; k++) {
                uint32_t item = w->window[k];
                uint32_t code = w->code[item];
                if (code == SYN_FP_NONE || is_guard(f->search, item, root))
                    continue;
                if (pass == 0)
                    first[code + 2]++;
                else
                    window[first[code + 1]++] = i;
                length++;
            }
            path[i].entry = step;
            path[i].length = 0;
            step += pass == 0 ? 0 : length;
        }
        for (uint32_t e = 0; pass == 0 && e < r->entries; e++)
            first[e + 2] += first[e + 1];
    }
    for (uint32_t e = 0; e < r->entries; e++)
        for (size_t i = first[e]; i < first[e + 1]; i++)
            path[window[i]].entry[path[window[i]].length++] = e;
}

/* Windows with at least one step, moved to the front; returns their number. */
static size_t drop_empty(syn_fp_path *path, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (path[i].length > 0)
            path[kept++] = path[i];
    return kept;
}

static syn_status build_root(const fpgrowth *f, worker *w, uint32_t root,
                             const root_windows *r, uint32_t words,
                             const uint64_t *bits)
{
    level *top = w->level;
    size_t room = f->search->options->max_memory;
    double bytes = syn_fptree_bytes(r->entries, words, r->steps, r->n) +
                   8.0 * (double)r->steps;
    if (bytes > (double)room || r->steps >= SYN_FP_NONE)
        return SYN_OVER_BUDGET;
    syn_arena *a = &w->arena;
    uint32_t *window = syn_arena_take(a, r->steps * sizeof *window);
    uint32_t *step = syn_arena_take(a, r->steps * sizeof *step);
    size_t *first = syn_arena_take(a, ((size_t)r->entries + 2) * sizeof *first);
    syn_fp_path *path = syn_arena_take(a, r->n * sizeof *path);
    if (!window || !step || !first || !path)
        return SYN_NO_MEMORY;
    lay_paths(f, w, root, r, window, step, first, path);
    for (uint32_t i = 0; i < r->n; i++) {
        path[i].count = 1;
        path[i].hash = hash_of(r->bin[i]);
        path[i].shared = bits + (size_t)i * words;
    }
    size_t paths = drop_empty(path, r->n);
    syn_status status =
        syn_fptree_build(&top->tree, a, r->entries, words, path, paths, r->steps);
    if (status != SYN_OK)
        return status;
    memcpy(top->tree.item, w->more, r->entries * sizeof *w->more);
    top->left = r->entries;
    top->size = w->size;
    top->mark = syn_arena_here(a);
    w->levels = 1;
    return SYN_OK;
}

static syn_status open_root(fpgrowth *f, int worker_id, uint32_t root)
{
    worker *w = f->worker + worker_id;
    const syn_raster *raster = f->search->raster;
    uint32_t unit = f->search->ranked[root], from = raster->unit_first[unit];
    root_windows r = {raster->unit_bin + from, raster->unit_first[unit + 1] - from,
                      0, 0, 0};
    w->size = w->distinct = w->levels = 0;
    if (r.n < f->search->options->min_occ || r.n == 0)
        return SYN_OK;
    found x = {r.n, 0, NULL, 0, 0, 0};
    if (code_items(f, w, root, &r, &x.has_full) != SYN_OK)
        return SYN_NO_MEMORY;
    x.words = (r.guards + 63) / 64;
    x.more = r.entries;
    x.has_full &= !f->absorb;
    uint64_t *bits = syn_arena_take(&w->arena, (size_t)r.n * x.words * sizeof *bits);
    uint64_t *all = syn_arena_take(&w->arena, x.words * sizeof *all);
    if (!bits || !all)
        return SYN_NO_MEMORY;
    mark_guards(f, w, root, &r, x.words, bits, all);
    for (uint32_t i = 0; i < r.n; i++)
        x.hash += hash_of(r.bin[i]);
    x.shared = all;
    syn_status status = collect(f, worker_id, &x);
    if (status != SYN_OK || !can_grow(f, w, r.entries))
        return status;
    return build_root(f, w, root, &r, x.words, bits);
}

static void tell_bytes(const fpgrowth *f, int worker_id)
{
    worker *w = f->worker + worker_id;
    syn_pattern_account *account = f->search->account + worker_id;
    size_t bytes = w->fixed + w->arena.held + w->kept.slots * sizeof *w->kept.slot +
                   w->room * (sizeof *w->level + 2 * sizeof *w->pattern);
    account->bytes += bytes - w->told;
    w->told = bytes;
}

/* Roots with many windows, and so with much to do, come first. */
static syn_status mine_root(void *context, size_t k, int worker_id)
{
    fpgrowth *f = context;
    worker *w = f->worker + worker_id;
    syn_status status = SYN_OK;
    double until = syn_seconds() + SYN_SLICE_SECONDS;
    if (!w->busy)
        status = open_root(f, worker_id, f->search->options->root_begin + f->roots - 1 -
                                             (uint32_t)k);
    w->busy = 1;
    for (size_t steps = 1; status == SYN_OK && w->levels > 0; steps++) {
        if (steps % STEPS_PER_LOOK == 0 && syn_seconds() >= until) {
            tell_bytes(f, worker_id);
            return SYN_UNFINISHED;
        }
        if (w->level[w->levels - 1].left == 0)
            end_level(w);
        else
            status = step(f, worker_id);
    }
    tell_bytes(f, worker_id);
    cut_pattern(f, w, 0);
    syn_arena_clear(&w->arena);
    syn_kept_clear(&w->kept);
    w->busy = 0;
    return status;
}

/* ---- the engine ---- */

static syn_status start_worker(const fpgrowth *f, worker *w)
{
    const syn_raster *r = f->search->raster;
    w->arena.limit = SIZE_MAX;
    w->tally = calloc((size_t)f->items + 1, sizeof *w->tally);
    w->code = malloc(((size_t)f->items + 1) * sizeof *w->code);
    w->touched = malloc(((size_t)f->items + 1) * sizeof *w->touched);
    w->more = malloc(((size_t)f->items + 1) * sizeof *w->more);
    w->window = malloc(((size_t)f->longest + 1) * sizeof *w->window);
    w->list = malloc(((size_t)r->bins + 1) * sizeof *w->list);
    w->seen = calloc((size_t)r->units + 1, sizeof *w->seen);
    if (!w->tally || !w->code || !w->touched || !w->more || !w->window || !w->list ||
        !w->seen)
        return SYN_NO_MEMORY;
    w->fixed = ((size_t)f->items * 4 + f->longest + r->bins + r->units) * 4;
    return SYN_OK;
}

static void end_worker(worker *w)
{
    syn_arena_free(&w->arena);
    syn_kept_free(&w->kept);
    free(w->tally);
    free(w->code);
    free(w->touched);
    free(w->more);
    free(w->window);
    free(w->list);
    free(w->pattern);
    free(w->sorted);
    free(w->seen);
    free(w->level);
}

static void measure_windows(fpgrowth *f)
{
    const syn_raster *r = f->search->raster;
    for (uint32_t b = 0; b < r->bins; b++) {
        f->end[b] = syn_raster_window_end(r, b, f->search->options->window);
        uint32_t items = r->first[f->end[b]] - r->first[b];
        if (items > f->longest)
            f->longest = items;
    }
}

/* With a limit on the size, closedness within it needs the sets up to it one by one; true
   closedness is then read from the windows, as the sets that would tell are too large. */
static void set_rules(fpgrowth *f)
{
    const syn_pattern_options *o = f->search->options;
    int limited = o->max_spikes != UINT32_MAX;
    f->limit = o->max_spikes;
    f->absorb = o->target == SYN_PATTERNS_CLOSED || o->target == SYN_PATTERNS_MAXIMAL ||
                (o->target == SYN_PATTERNS_CLOSED_WITHIN && !limited);
    f->look_up = o->target == SYN_PATTERNS_CLOSED_WITHIN ||
                 (o->target == SYN_PATTERNS_CLOSED && !limited);
}

static syn_status mine(fpgrowth *f)
{
    syn_pattern_search *s = f->search;
    const syn_pattern_options *o = s->options;
    uint32_t end = o->root_end < s->raster->units ? o->root_end : s->raster->units;
    f->roots = end > o->root_begin ? end - o->root_begin : 0;
    syn_status status = syn_pattern_parts(s, f->roots);
    if (status != SYN_OK)
        return status;
    if (!f->end || !f->worker)
        return SYN_NO_MEMORY;
    set_rules(f);
    measure_windows(f);
    for (int w = 0; w < o->threads && status == SYN_OK; w++)
        status = start_worker(f, f->worker + w);
    if (status == SYN_OK)
        status = syn_parallel_for(f->roots, o->threads, s->watch, "roots", mine_root, f);
    return status;
}

syn_status syn_patterns_fpgrowth(syn_pattern_search *search)
{
    const syn_raster *r = search->raster;
    size_t threads = (size_t)search->options->threads;
    fpgrowth f = {.search = search, .items = r->units * search->options->window};
    f.end = malloc(((size_t)r->bins + 1) * sizeof *f.end);
    f.worker = calloc(threads, sizeof *f.worker);
    syn_status status = mine(&f);
    for (size_t w = 0; w < threads && f.worker; w++) {
        search->account[w].bytes -= f.worker[w].told;
        end_worker(f.worker + w);
    }
    free(f.worker);
    free(f.end);
    return status;
}
