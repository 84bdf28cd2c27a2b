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
#include "core/patterns/fpgrowth/fpgrowth.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "core/base/parallel.h"

enum { STEPS_PER_LOOK = 16 };  /* at the clock */
enum { A_FEW_ITEMS = 32 };     /* that are sorted one by one */

/* ---- collecting ---- */

static void cut_pattern(const syn_fpgrowth *f, syn_fp_worker *w, uint32_t size)
{
    while (w->size > size) {
        uint32_t unit = w->pattern[--w->size] % f->search->raster->units;
        w->distinct -= --w->seen[unit] == 0;
    }
}

static void sort_pattern(syn_fp_worker *w)
{
    if (w->size > A_FEW_ITEMS) {
        memcpy(w->sorted, w->pattern, w->size * sizeof *w->sorted);
        qsort(w->sorted, w->size, sizeof *w->sorted, syn_by_number);
        return;
    }
    for (uint32_t k = 0; k < w->size; k++)
        syn_insert_number(w->sorted, k, w->pattern[k]);
}

static int has_superset(const syn_fpgrowth *f, syn_fp_worker *w, uint32_t least)
{
    return syn_bin_windows_superset(&f->windows, &w->tally, w->sorted, w->size, least);
}

/* Whether the target asks for the pattern. */
static int is_wanted(const syn_fpgrowth *f, syn_fp_worker *w, const syn_fp_found *x)
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
           !syn_kept_holds(&w->kept, x->hash, w->size, w->sorted, x->occurrences);
}

static syn_status collect(const syn_fpgrowth *f, syn_fp_worker *w, const syn_fp_found *x)
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
    return syn_kept_add(&w->kept, x->hash, size, (const char *)(block + 1) + before);
}

/* ---- growing ---- */

/* Whether the pattern with some of the first `more` items of w->more could pass the
   filters. Units met are marked by the highest bit of `seen` for a while. */
static int can_grow(const syn_fpgrowth *f, syn_fp_worker *w, uint32_t more)
{
    const syn_pattern_options *o = f->search->options;
    const uint32_t met = UINT32_C(1) << 31;
    uint32_t units = f->search->raster->units, reach = w->distinct, k = 0;
    if (more == 0 || w->size >= o->max_spikes ||
        (uint64_t)w->size + more < o->min_spikes)
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
static size_t extend(const syn_fpgrowth *f, syn_fp_worker *w, const syn_fptree *tree,
                     uint32_t entry, syn_fp_found *x)
{
    uint32_t least = f->search->options->min_count, *count = w->tally.count;
    size_t steps = 0;
    x->occurrences = tree->count[entry];
    x->hash = tree->hash[entry];
    x->words = tree->words;
    x->shared = tree->shared + (size_t)entry * tree->words;
    x->more = 0;
    x->has_full = 0;
    syn_fp_push(f, w, tree->item[entry]);
    syn_fptree_count(tree, entry, count);
    for (uint32_t e = 0; e < entry; e++) {
        uint32_t n = count[e];
        count[e] = 0;
        w->code[e] = SYN_FP_NONE;
        if (n < least)
            continue;
        if (f->absorb && n == x->occurrences) {
            syn_fp_push(f, w, tree->item[e]);
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
static syn_status step(const syn_fpgrowth *f, syn_fp_worker *w)
{
    SYN_TRY(syn_fp_make_level(f, w));
    syn_fp_level *level = w->level + w->levels - 1, *top = level + 1;
    uint32_t entry = --level->left;
    syn_fp_found x;
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

static syn_status open_root(const syn_fpgrowth *f, syn_fp_worker *w, uint32_t rank)
{
    const uint32_t *first = f->search->raster->unit_first + f->search->ranked[rank];
    syn_fp_root root;
    syn_fp_found x;
    if (first[1] - first[0] < f->search->options->min_count || f->search->idle[rank])
        return SYN_OK;
    syn_status status = syn_fp_root_open(f, w, rank, &root, &x);
    SYN_NEXT(status, collect(f, w, &x));
    if (status != SYN_OK || !can_grow(f, w, x.more))
        return status;
    return syn_fp_root_build(f, w, &root, x.more);
}

static syn_status mine_root(void *context, size_t k, int worker)
{
    const syn_fpgrowth *f = context;
    syn_fp_worker *w = f->worker + worker;
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
    syn_kept_clear(&w->kept);
    w->busy = 0;
    for (uint32_t n = 0; n < share->of && first + n < f->search->shares; n++)
        w->part[n].done = status == SYN_OK;
    return status;
}

/* ---- the engine ---- */

static syn_status start_worker(const syn_fpgrowth *f, syn_fp_worker *w)
{
    size_t items = f->windows.items, units = f->search->raster->units;
    syn_budget *b = f->search->budget;
    w->arena.limit = SIZE_MAX;
    w->arena.budget = w->kept.budget = b;
    w->kept.width = f->search->out->width;
    SYN_TRY(syn_tally_start(&w->tally, &f->windows));
    SYN_TAKE(b, w->code, items + 1);
    SYN_TAKE(b, w->more, items + 1);
    SYN_TAKE_ZEROS(b, w->seen, units + 1);
    return SYN_OK;
}

static void end_worker(syn_budget *b, syn_fp_worker *w)
{
    syn_arena_free(&w->arena);
    syn_tally_free(&w->tally);
    if (w->kept.budget)
        syn_kept_free(&w->kept);
    SYN_GIVE(b, w->code, w->more, w->seen, w->pattern, w->sorted, w->level);
}

/* With a limit on the size, closedness within it needs the sets up to it one by one; true
   closedness is then read from the windows, as sets that would tell may be too large. */
static void set_rules(syn_fpgrowth *f)
{
    const syn_pattern_options *o = f->search->options;
    int limited = o->max_spikes != UINT32_MAX;
    int within = o->target == SYN_PATTERNS_CLOSED_WITHIN;
    f->absorb = o->target != SYN_PATTERNS_FREQUENT && !(within && limited);
    f->look_up = within || (o->target == SYN_PATTERNS_CLOSED && !limited);
}

/* The roots whose first share is to be mined: it gets all of a root's patterns. */
static syn_status find_roots(syn_fpgrowth *f)
{
    const syn_pattern_search *s = f->search;
    SYN_TAKE(s->budget, f->root, s->shares + 1);
    for (size_t k = 0; k < s->shares; k++)
        if (s->order[k]->number == 0 && !s->out->part[s->order[k] - s->share].done)
            f->root[f->roots++] = s->order[k];
    return SYN_OK;
}

static syn_status mine(syn_fpgrowth *f)
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
    syn_fpgrowth f = {.search = search};
    syn_status status = mine(&f);
    for (int w = 0; w < search->options->threads && f.worker; w++)
        end_worker(search->budget, f.worker + w);
    SYN_GIVE(search->budget, f.worker, f.root);
    syn_bin_windows_free(&f.windows);
    return status;
}
