/* The published method: Porrmann F, Pilz S, Stella A, Kleinjohann A, Denker M,
   Hagemeyer J, Rueckert U (2021), "Acceleration of the SPADE Method Using a
   Custom-Tailored FP-Growth Implementation", Frontiers in Neuroinformatics 15:723406.

   Windows are transactions. FP-growth lists their frequent itemsets: every entry of a
   tree's header table extends the pattern that the tree belongs to, and has a conditional
   tree of its own. Inside the miner, what can no longer pass the filters is not followed;
   what passes is collected, and closedness is decided last. Threads share the header
   table of the tree of all windows.

   The order of items differs from the paper's. They stand in trees by falling frequency,
   but units at lag 0 come last, nearest to the leaves: only their header entries can
   begin a pattern, and they alone are followed. So the tree of all windows is never held:
   the conditional tree of each root is built from the windows that it opens.

   Header entries are followed from the last to the first. That finds patterns of one size
   in the order of syn_patterns, and each set after all its supersets in the same windows
   with the same root, except the supersets that come from entries of its own conditional
   tree. So a set is not closed when such an entry is in all of its windows, when a set
   kept before holds it, or when a root of lower rank is in all of its windows, which bits
   in the trees record. */
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "core/base/parallel.h"
#include "core/patterns/engine.h"
#include "core/patterns/fpgrowth/tree.h"
#include "core/patterns/windows.h"

/* ---- kept itemsets ----

   A hash table of the patterns kept so far. The hash of a pattern's windows says where
   to look, and the items themselves then decide. */

typedef struct kept_slot {
    uint32_t tag;          /* of the hash */
    uint32_t size;
    const void *words;     /* items, increasing, then occurrences; NULL: a free slot */
} kept_slot;

/* All zero, except for `width` and `budget`, is an empty table. */
typedef struct kept_sets {
    kept_slot *slot; /* [slots], below 2^32 */
    size_t slots, filled;
    size_t width;          /* of the words, as in syn_patterns */
    syn_budget *budget;    /* what the slots are taken from */
} kept_sets;

enum { FIRST_SLOTS = 1024 };

static size_t after(const kept_sets *kept, size_t at)
{
    return at + 1 < kept->slots ? at + 1 : 0;
}

/* Slots are in the order of tags, about, however many there are. */
static size_t place_of(const kept_sets *kept, uint32_t tag)
{
    return (size_t)((uint64_t)tag * kept->slots >> 32);
}

static void insert(kept_sets *kept, kept_slot new)
{
    size_t at = place_of(kept, new.tag);
    while (kept->slot[at].words)
        at = after(kept, at);
    kept->slot[at] = new;
}

static syn_status grow(kept_sets *kept)
{
    kept_sets old = *kept;
    kept->slots = old.slots ? old.slots / 2 * 3 : FIRST_SLOTS;
    kept->slot = syn_budget_zeros(kept->budget, kept->slots, sizeof *kept->slot);
    if (!kept->slot) {
        *kept = old;
        return syn_budget_refusal(kept->budget);
    }
    for (size_t i = 0; i < old.slots; i++)
        if (old.slot[i].words)
            insert(kept, old.slot[i]);
    syn_budget_free(kept->budget, old.slot);
    return SYN_OK;
}

static int is_subset(const uint32_t *item, uint32_t size, const kept_slot *of,
                     size_t width)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < of->size && k < size; i++)
        k += syn_word_of(of->words, width, i) == item[k];
    return k == size;
}

/* Whether one that was added holds all of item[size], which is increasing, and more, with
   the same occurrences. The hash only finds it: no collision can make this wrong. */
static int kept_holds(const kept_sets *kept, uint64_t hash, uint32_t size,
                      const uint32_t *item, uint32_t occurrences)
{
    if (kept->slots == 0)
        return 0;
    uint32_t tag = (uint32_t)(hash >> 32);
    size_t at = place_of(kept, tag);
    for (; kept->slot[at].words; at = after(kept, at)) {
        const kept_slot *s = kept->slot + at;
        if (s->tag == tag && s->size > size &&
            syn_word_of(s->words, kept->width, s->size) == occurrences &&
            is_subset(item, size, s, kept->width))
            return 1;
    }
    return 0;
}

/* A tree being worked on. */
typedef struct fp_level {
    syn_fptree tree;
    uint32_t left;         /* entries that are still to extend the pattern */
    uint32_t size;         /* of the pattern that the tree belongs to */
    syn_arena_mark mark;   /* before the tree */
} fp_level;

typedef struct fp_worker {
    syn_arena arena;
    syn_tally tally;
    kept_sets kept;
    uint32_t *code;        /* [items] */
    uint32_t *more;        /* [items] those that could extend the pattern, by code */
    uint32_t *seen;        /* [units] how often each is in the pattern */
    uint32_t *pattern;     /* the items so far, as they came, the root first */
    uint32_t *sorted;      /* the same, increasing */
    fp_level *level;   /* [level_room] */
    uint32_t size, distinct, levels;
    size_t pattern_room, sorted_room, level_room;
    syn_pattern_part *part;  /* of the root */
    int busy;              /* with a root that is not finished */
    char apart[64];        /* workers write to no cache line of each other's */
} fp_worker;

typedef struct fpgrowth {
    syn_pattern_search *search;
    syn_bin_windows windows;
    size_t roots;
    const syn_pattern_share **root;  /* [roots] the first share of each, as ordered */
    int absorb;            /* items in all windows are added without branching */
    int look_up;           /* the table decides which sets are closed, else the windows */
    fp_worker *worker; /* [threads] */
} fpgrowth;

/* What is known of the pattern when it is found. */
typedef struct fp_found {
    uint32_t occurrences;
    uint32_t more;         /* items that could extend it */
    int has_full;          /* one of them is in all of its windows */
    uint64_t hash;         /* of its windows */
    uint32_t words;
    const uint64_t *shared;  /* [words] not zero: all hold a root of lower rank */
} fp_found;

/* The windows that a unit opens. */
typedef struct fp_root {
    const uint32_t *bin;   /* [n] */
    uint32_t n;
    uint32_t rank;
    uint32_t guards;       /* units of lower rank at lag 0 that could be in all windows */
    uint32_t words;        /* for as many bits */
    uint64_t *bits;        /* [n * words] the guards in each window */
    size_t steps;          /* items of the tree in all windows */
} fp_root;

static inline void fp_push(const fpgrowth *f, fp_worker *w, uint32_t item)
{
    w->pattern[w->size++] = item;
    w->distinct += w->seen[item % f->search->raster->units]++ == 0;
}

/* ---- roots ----

   Builds the tree of one root: the windows that open at the spikes of one unit. Items
   that can be in no pattern with this root are left out first. The items that remain
   get codes by falling frequency, and each window becomes a path of codes. */

static uint64_t hash_of(uint32_t bin)
{
    uint64_t h = (bin + UINT64_C(1)) * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ h >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    h = (h ^ h >> 27) * UINT64_C(0x94D049BB133111EB);
    return h ^ h >> 31;
}

/* ---- items ---- */

static int descending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x < y) - (x > y);
}

/* Room for one level more than there are. */
static syn_status fp_make_level(const fpgrowth *f, fp_worker *w)
{
    syn_budget *budget = f->search->budget;
    SYN_GROW(budget, w->level, w->level_room, (size_t)w->levels + 1);
    return SYN_OK;
}

static int is_guard(const syn_pattern_search *s, uint32_t item, uint32_t rank)
{
    return item < s->raster->units && s->rank[item] < rank;
}

/* Sorts out the items touched by the tally: those that may be in the pattern become
   places at the front of `touched`, returned is how many; guards get the number of their
   bit as code; the others no code. */
static uint32_t sort_out(const fpgrowth *f, fp_worker *w, uint32_t touched, fp_root *root)
{
    const syn_pattern_search *s = f->search;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < touched; i++) {
        uint32_t item = w->tally.touched[i], n = w->tally.count[item];
        int frequent = n >= s->options->min_count;
        int guard = is_guard(s, item, root->rank);
        w->code[item] = SYN_FP_NONE;
        if (frequent && !guard && item != s->ranked[root->rank]) {
            w->tally.touched[kept++] = syn_pattern_place(s, item);
            continue;
        }
        if (frequent && guard && f->look_up)
            w->code[item] = root->guards++;
        w->tally.count[item] = 0;
    }
    qsort(w->tally.touched, kept, sizeof *w->tally.touched, descending);
    return kept;
}

/* Makes the unit of a rank, which is frequent, the pattern, with the items that are in
   all of its windows if these are absorbed. Others that are frequent go to w->more, and
   get their codes, by falling frequency. */
static syn_status fp_root_open(const fpgrowth *f, fp_worker *w, uint32_t rank,
                               fp_root *root, fp_found *found)
{
    const syn_raster *raster = f->search->raster;
    uint32_t unit = f->search->ranked[rank], from = raster->unit_first[unit];
    memset(root, 0, sizeof *root);
    memset(found, 0, sizeof *found);
    root->rank = rank;
    root->bin = raster->unit_bin + from;
    root->n = raster->unit_first[unit + 1] - from;
    const syn_pattern_search *s = f->search;
    uint32_t touched = syn_bin_windows_tally(&f->windows, &w->tally, root->bin, root->n);
    uint32_t kept = sort_out(f, w, touched, root);
    SYN_RENEW(s->budget, w->pattern, w->pattern_room, (size_t)kept + 1);
    SYN_RENEW(s->budget, w->sorted, w->sorted_room, (size_t)kept + 1);
    fp_push(f, w, s->ranked[root->rank]);
    for (uint32_t i = 0; i < kept; i++) {
        uint32_t item = syn_pattern_item(s, w->tally.touched[i]);
        uint32_t n = w->tally.count[item];
        w->tally.count[item] = 0;
        if (f->absorb && n == root->n) {
            fp_push(f, w, item);
            continue;
        }
        found->has_full |= n == root->n;
        root->steps += n;
        w->code[item] = found->more;
        w->more[found->more++] = item;
    }
    root->words = (root->guards + 63) / 64;
    uint64_t *all;
    SYN_ARENA(&w->arena, all, root->words);
    SYN_ARENA(&w->arena, root->bits, (size_t)root->n * root->words);
    /* The bits of each window: which guards are in it. `all` becomes what they share. */
    memset(root->bits, 0, (size_t)root->n * root->words * sizeof *root->bits);
    memset(all, 0xff, root->words * sizeof *all);
    for (uint32_t i = 0; i < root->n && root->words > 0; i++) {
        uint64_t *bits = root->bits + (size_t)i * root->words;
        uint32_t bin = root->bin[i];
        for (uint32_t k = raster->first[bin]; k < raster->first[bin + 1]; k++) {
            uint32_t unit = raster->unit[k], code = w->code[unit];
            if (is_guard(f->search, unit, root->rank) && code != SYN_FP_NONE)
                bits[code / 64] |= UINT64_C(1) << code % 64;
        }
        for (uint32_t k = 0; k < root->words; k++)
            all[k] &= bits[k];
    }
    found->occurrences = root->n;
    found->words = root->words;
    found->shared = all;
    for (uint32_t i = 0; i < root->n; i++)
        found->hash += hash_of(root->bin[i]);
    return SYN_OK;
}

/* ---- the tree ---- */

/* Paths before they have their steps. */
typedef struct layout {
    syn_fp_path *path;     /* [n] */
    size_t *first;         /* [entries + 2] where the windows of each entry begin */
    uint32_t *window;      /* [steps] windows, entry after entry */
    uint32_t *step;        /* [steps] of all paths */
} layout;

/* Codes of the window's items that are entries, into w->tally.item. */
static uint32_t read_codes(const fpgrowth *f, fp_worker *w, const fp_root *root,
                           uint32_t i)
{
    uint32_t *item = w->tally.item, codes = 0;
    uint32_t items = syn_bin_windows_read(&f->windows, root->bin[i], item);
    for (uint32_t k = 0; k < items; k++) {
        uint32_t code = w->code[item[k]];
        if (code != SYN_FP_NONE && !is_guard(f->search, item[k], root->rank))
            item[codes++] = code;
    }
    return codes;
}

/* Entries are handed to windows in their order, so that no path has to be sorted. */
static void lay_paths(const fpgrowth *f, fp_worker *w, const fp_root *root,
                      uint32_t entries, const layout *l)
{
    memset(l->first, 0, ((size_t)entries + 2) * sizeof *l->first);
    uint32_t *step = l->step;
    for (uint32_t i = 0; i < root->n; i++) {
        uint32_t codes = read_codes(f, w, root, i);
        for (uint32_t k = 0; k < codes; k++)
            l->first[w->tally.item[k] + 2]++;
        l->path[i] = (syn_fp_path){step, 0, 1, hash_of(root->bin[i]),
                                   root->bits + (size_t)i * root->words};
        step += codes;
    }
    for (uint32_t e = 0; e < entries; e++)
        l->first[e + 2] += l->first[e + 1];
    for (uint32_t i = 0; i < root->n; i++) {
        uint32_t codes = read_codes(f, w, root, i);
        for (uint32_t k = 0; k < codes; k++)
            l->window[l->first[w->tally.item[k] + 1]++] = i;
    }
    for (uint32_t e = 0; e < entries; e++)
        for (size_t k = l->first[e]; k < l->first[e + 1]; k++) {
            syn_fp_path *path = l->path + l->window[k];
            path->entry[path->length++] = e;
        }
}

/* Makes the tree of these others the first level. */
static syn_status fp_root_build(const fpgrowth *f, fp_worker *w, const fp_root *root,
                                uint32_t entries)
{
    double bytes = syn_fptree_bytes(entries, root->words, root->steps, root->n) +
                   (double)root->steps * 2 * sizeof(uint32_t);
    if (bytes > (double)f->search->budget->limit || root->steps >= SYN_FP_NONE)
        return SYN_OVER_BUDGET;
    syn_arena *a = &w->arena;
    layout l;
    SYN_ARENA(a, l.path, root->n);
    SYN_ARENA(a, l.first, (size_t)entries + 2);
    SYN_ARENA(a, l.window, root->steps);
    SYN_ARENA(a, l.step, root->steps);
    SYN_TRY(fp_make_level(f, w));
    lay_paths(f, w, root, entries, &l);
    size_t paths = 0;  /* that have steps; these move to the front */
    for (size_t i = 0; i < root->n; i++)
        if (l.path[i].length > 0)
            l.path[paths++] = l.path[i];
    fp_level *top = w->level;
    SYN_TRY(syn_fptree_build(&top->tree, a, entries, root->words, l.path, paths,
                             root->steps));
    memcpy(top->tree.item, w->more, entries * sizeof *w->more);
    top->left = entries;
    top->size = w->size;
    top->mark = syn_arena_here(a);
    w->levels = 1;
    return SYN_OK;
}

enum { STEPS_PER_LOOK = 16 };  /* at the clock */
enum { A_FEW_ITEMS = 32 };     /* that are sorted one by one */

/* ---- collecting ---- */

static void cut_pattern(const fpgrowth *f, fp_worker *w, uint32_t size)
{
    while (w->size > size) {
        uint32_t unit = w->pattern[--w->size] % f->search->raster->units;
        w->distinct -= --w->seen[unit] == 0;
    }
}

static void sort_pattern(fp_worker *w)
{
    if (w->size > A_FEW_ITEMS) {
        memcpy(w->sorted, w->pattern, w->size * sizeof *w->sorted);
        qsort(w->sorted, w->size, sizeof *w->sorted, syn_by_number);
        return;
    }
    for (uint32_t k = 0; k < w->size; k++)
        syn_insert_number(w->sorted, k, w->pattern[k]);
}

static int has_superset(const fpgrowth *f, fp_worker *w, uint32_t least)
{
    return syn_bin_windows_superset(&f->windows, &w->tally, w->sorted, w->size, least);
}

/* Whether the target asks for the pattern. */
static int is_wanted(const fpgrowth *f, fp_worker *w, const fp_found *x)
{
    const syn_pattern_options *o = f->search->options;
    if (o->target == SYN_PATTERNS_FREQUENT)
        return 1;
    if (o->target == SYN_PATTERNS_MAXIMAL)
        return x->more == 0 && !has_superset(f, w, o->min_count);
    if (!f->look_up)
        return !has_superset(f, w, x->occurrences);
    if (w->size == o->max_spikes)
        return 1;  /* larger sets do not count */
    for (uint32_t k = 0; k < x->words; k++)
        if (x->shared[k])
            return 0;
    return !x->has_full &&
           !kept_holds(&w->kept, x->hash, w->size, w->sorted, x->occurrences);
}

static syn_status collect(const fpgrowth *f, fp_worker *w, const fp_found *x)
{
    syn_pattern_search *s = f->search;
    if (!syn_pattern_passes(s->options, w->size, w->distinct, x->occurrences))
        return SYN_OK;
    sort_pattern(w);
    if (!is_wanted(f, w, x))
        return SYN_OK;
    uint32_t size = w->size;
    syn_status status = syn_pattern_keep(s, w->part, size, w->sorted, x->occurrences);
    if (status != SYN_OK || !f->look_up)
        return status;
    const syn_pattern_block *block = syn_pattern_chain_of(w->part, size)->tail;
    size_t before = (block->patterns - 1) * ((size_t)size + 1) * s->out->width;
    /* The words of the pattern stay where they are. */
    if (4 * (w->kept.filled + 1) > 3 * w->kept.slots)
        SYN_TRY(grow(&w->kept));
    insert(&w->kept, (kept_slot){(uint32_t)(x->hash >> 32), size,
                                 (const char *)(block + 1) + before});
    w->kept.filled++;
    return SYN_OK;
}

/* ---- growing ---- */

/* Whether the pattern with some of the first `more` items of w->more could pass the
   filters. Units met are marked by the highest bit of `seen` for a while. */
static int can_grow(const fpgrowth *f, fp_worker *w, uint32_t more)
{
    const syn_pattern_options *o = f->search->options;
    const uint32_t met = UINT32_C(1) << 31;
    uint32_t units = f->search->raster->units, reach = w->distinct, k = 0;
    if (more == 0 || w->size >= o->max_spikes || (uint64_t)w->size + more < o->min_spikes)
        return 0;
    for (; k < more && reach < o->min_units; k++) {
        uint32_t *seen = w->seen + w->more[k] % units;
        reach += *seen == 0;
        *seen |= met;
    }
    while (k-- > 0)
        w->seen[w->more[k] % units] &= ~met;
    return reach >= o->min_units;
}

/* Extends the pattern by an entry, and by those in all of its windows if these are
   absorbed; others that are frequent go to w->more. Returns how many steps these have in
   all of its windows. */
static size_t extend(const fpgrowth *f, fp_worker *w, const syn_fptree *tree,
                     uint32_t entry, fp_found *x)
{
    uint32_t least = f->search->options->min_count, *count = w->tally.count;
    size_t steps = 0;
    x->occurrences = tree->count[entry];
    x->hash = tree->hash[entry];
    x->words = tree->words;
    x->shared = tree->shared + (size_t)entry * tree->words;
    x->more = 0;
    x->has_full = 0;
    fp_push(f, w, tree->item[entry]);
    syn_fptree_count(tree, entry, count);
    for (uint32_t e = 0; e < entry; e++) {
        uint32_t n = count[e];
        count[e] = 0;
        w->code[e] = SYN_FP_NONE;
        if (n < least)
            continue;
        if (f->absorb && n == x->occurrences) {
            fp_push(f, w, tree->item[e]);
            continue;
        }
        x->has_full |= n == x->occurrences;
        w->more[x->more] = tree->item[e];
        w->code[e] = x->more++;
        steps += n;
    }
    return steps;
}

/* Follows the last entry that is left of the tree on top. */
static syn_status step(const fpgrowth *f, fp_worker *w)
{
    SYN_TRY(fp_make_level(f, w));
    fp_level *level = w->level + w->levels - 1, *top = level + 1;
    uint32_t entry = --level->left;
    fp_found x;
    cut_pattern(f, w, level->size);
    size_t steps = extend(f, w, &level->tree, entry, &x);
    syn_status status = collect(f, w, &x);
    if (status != SYN_OK || !can_grow(f, w, x.more))
        return status;
    top->mark = syn_arena_here(&w->arena);
    SYN_TRY(syn_fptree_project(&top->tree, &w->arena, &level->tree, entry, w->code,
                               x.more, steps));
    memcpy(top->tree.item, w->more, x.more * sizeof *w->more);
    top->left = x.more;
    top->size = w->size;
    w->levels++;
    return SYN_OK;
}

/* ---- roots ---- */

static syn_status open_root(const fpgrowth *f, fp_worker *w, uint32_t rank)
{
    const uint32_t *first = f->search->raster->unit_first + f->search->ranked[rank];
    fp_root root;
    fp_found x;
    if (first[1] - first[0] < f->search->options->min_count || f->search->idle[rank])
        return SYN_OK;
    syn_status status = fp_root_open(f, w, rank, &root, &x);
    SYN_NEXT(status, collect(f, w, &x));
    if (status != SYN_OK || !can_grow(f, w, x.more))
        return status;
    return fp_root_build(f, w, &root, x.more);
}

static syn_status mine_root(void *context, size_t k, int worker)
{
    const fpgrowth *f = context;
    fp_worker *w = f->worker + worker;
    double until = syn_seconds() + SYN_SLICE_SECONDS;
    const syn_pattern_share *share = f->root[k];
    size_t first = (size_t)(share - f->search->share);
    w->part = f->search->out->part + first;
    syn_status status = w->busy ? SYN_OK : open_root(f, w, share->root);
    w->busy = 1;
    for (size_t steps = 1; status == SYN_OK && w->levels > 0; steps++) {
        if (steps % STEPS_PER_LOOK == 0 && syn_seconds() >= until)
            return SYN_UNFINISHED;
        if (w->level[w->levels - 1].left > 0)
            status = step(f, w);
        else
            syn_arena_return(&w->arena, w->level[--w->levels].mark);
    }
    cut_pattern(f, w, 0);
    syn_arena_clear(&w->arena);
    /* Forgets all patterns, keeps the memory. */
    if (w->kept.filled > 0)
        memset(w->kept.slot, 0, w->kept.slots * sizeof *w->kept.slot);
    w->kept.filled = 0;
    w->busy = 0;
    for (uint32_t n = 0; n < share->of && first + n < f->search->shares; n++)
        w->part[n].done = status == SYN_OK;
    return status;
}

/* ---- the engine ---- */

static syn_status start_worker(const fpgrowth *f, fp_worker *w)
{
    size_t items = f->windows.items, units = f->search->raster->units;
    syn_budget *b = f->search->budget;
    w->arena.budget = w->kept.budget = b;
    w->kept.width = f->search->out->width;
    SYN_TRY(syn_tally_start(&w->tally, &f->windows));
    SYN_TAKE(b, w->code, items + 1);
    SYN_TAKE(b, w->more, items + 1);
    SYN_TAKE_ZEROS(b, w->seen, units + 1);
    return SYN_OK;
}

static void end_worker(syn_budget *b, fp_worker *w)
{
    syn_arena_free(&w->arena);
    syn_tally_free(&w->tally);
    if (w->kept.budget) {
        /* Forgets all patterns and frees the memory. */
        syn_budget_free(w->kept.budget, w->kept.slot);
        w->kept.slot = NULL;
        w->kept.slots = w->kept.filled = 0;
    }
    SYN_GIVE(b, w->code, w->more, w->seen, w->pattern, w->sorted, w->level);
}

/* With a limit on the size, closedness within it needs the sets up to it one by one; true
   closedness is then read from the windows, as sets that would tell may be too large. */
static void set_rules(fpgrowth *f)
{
    const syn_pattern_options *o = f->search->options;
    int limited = o->max_spikes != UINT32_MAX;
    int within = o->target == SYN_PATTERNS_CLOSED_WITHIN;
    f->absorb = o->target != SYN_PATTERNS_FREQUENT && !(within && limited);
    f->look_up = within || (o->target == SYN_PATTERNS_CLOSED && !limited);
}

/* The roots whose first share is to be mined: it gets all of a root's patterns. */
static syn_status find_roots(fpgrowth *f)
{
    const syn_pattern_search *s = f->search;
    SYN_TAKE(s->budget, f->root, s->shares + 1);
    for (size_t k = 0; k < s->shares; k++)
        if (s->order[k]->number == 0 && !s->out->part[s->order[k] - s->share].done)
            f->root[f->roots++] = s->order[k];
    return SYN_OK;
}

static syn_status mine(fpgrowth *f)
{
    syn_pattern_search *s = f->search;
    const syn_pattern_options *o = s->options;
    SYN_TAKE_ZEROS(s->budget, f->worker, (size_t)o->threads);
    set_rules(f);
    SYN_TRY(find_roots(f));
    SYN_TRY(syn_bin_windows_measure(&f->windows, s->raster, o->window, s->budget));
    for (int w = 0; w < o->threads; w++)
        SYN_TRY(start_worker(f, f->worker + w));
    return syn_parallel_for(f->roots, o->threads, s->watch, "roots", mine_root, f);
}

syn_status syn_patterns_fpgrowth(syn_pattern_search *search)
{
    fpgrowth f = {.search = search};
    syn_status status = mine(&f);
    for (int w = 0; w < search->options->threads && f.worker; w++)
        end_worker(search->budget, f.worker + w);
    SYN_GIVE(search->budget, f.worker, f.root);
    syn_bin_windows_free(&f.windows);
    return status;
}
