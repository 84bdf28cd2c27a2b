#include "core/patterns_node.h"

#include <string.h>

#include "core/masks.h"

/* The files that include this one name their own kind. */
#ifndef SYN_NODE_KIND
#define SYN_NODE_KIND syn_node_kind_any
#endif

/* Words of a row with a bit for each of `listed` items. */
static size_t row_words(size_t listed)
{
    return (listed / (64 * SYN_ROW_WORDS) + 1) * SYN_ROW_WORDS;
}

#if SYN_MASKS == 0
syn_status syn_node_space_make(syn_node_space *space, size_t listed, size_t windows)
{
    size_t words = (windows + 63) / 64, stride = row_words(listed);
    syn_arena *arena = &space->arena;
    space->full = syn_arena_take(arena, (listed + 1) * sizeof *space->full);
    space->place = syn_arena_take(arena, listed * sizeof *space->place);
    space->mask = syn_arena_take(arena, listed * sizeof *space->mask);
    space->index = syn_arena_take(arena, windows * sizeof *space->index);
    space->frequent = syn_arena_take(arena, stride * sizeof *space->frequent);
    space->all = syn_arena_take(arena, stride * sizeof *space->all);
    space->set = syn_arena_take(arena, words * sizeof *space->set);
    space->left = syn_arena_take(arena, (words + 1) * sizeof *space->left);
    space->reached =
        syn_arena_take(arena, (SYN_MOST_AHEAD + 1) * words * sizeof *space->reached);
    return space->full && space->place && space->mask && space->index &&
                   space->frequent && space->all && space->set && space->left &&
                   space->reached
               ? SYN_OK
               : SYN_NO_MEMORY;
}
#endif

/* ---- sets ---- */

static int has_unit(const syn_node *node, uint32_t unit)
{
    for (uint32_t u = 0; u < node->units; u++)
        if (node->unit[u] == unit)
            return 1;
    return 0;
}

static void insert(uint32_t *item, uint32_t size, uint32_t more)
{
    for (; size > 0 && item[size - 1] > more; size--)
        item[size] = item[size - 1];
    item[size] = more;
}

/* Gives `node` the set of `before` and the items at `n` more places. */
static syn_status extend(const syn_node_rules *rules, syn_node_space *space,
                         const syn_node *before, const uint32_t *place, size_t n,
                         syn_node *node)
{
    size_t room = before->size + n;
    uint32_t *item = syn_arena_take(&space->arena, 2 * room * sizeof *item);
    if (!item)
        return SYN_NO_MEMORY;
    node->item = item;
    node->unit = item + room;
    if (before->size > 0) {
        memcpy(node->item, before->item, before->size * sizeof *item);
        memcpy(node->unit, before->unit, before->units * sizeof *item);
    }
    node->size = before->size;
    node->units = before->units;
    node->last = before->last;
    for (size_t i = 0; i < n; i++) {
        uint32_t unit = rules->unit_of[place[i]];
        insert(node->item, node->size++, rules->item_of[place[i]]);
        if (!has_unit(node, unit))
            node->unit[node->units++] = unit;
        if (place[i] > node->last)
            node->last = place[i];
    }
    return SYN_OK;
}

/* ---- looking ahead ---- */

/* What a set still needs: so many units that are new to it or, if that is more, items. */
typedef struct lack {
    uint32_t n;
    int of_units;
} lack;

static lack what_lacks(const syn_node_rules *rules, const syn_node *node)
{
    const syn_pattern_options *o = rules->options;
    uint32_t spikes = o->min_spikes > node->size ? o->min_spikes - node->size : 0;
    uint32_t units = o->min_units > node->units ? o->min_units - node->units : 0;
    lack out = {units >= spikes ? units : spikes, units >= spikes};
    if (out.n > SYN_MOST_AHEAD)
        out.n = SYN_MOST_AHEAD;
    return out;
}

/* Windows with one more item count as reached one deeper: reached[j * words ...] are those
   with j or more. */
static inline void deepen(uint64_t *reached, uint32_t depth, const uint64_t *windows,
                          size_t words)
{
    for (uint32_t j = depth; j > 1; j--)
        for (size_t w = 0; w < words; w++)
            reached[j * words + w] |= reached[(j - 1) * words + w] & windows[w];
    for (size_t w = 0; w < words; w++)
        reached[words + w] |= windows[w];
}

/* One pass over the items that can be added, last to first: which windows have enough
   after each to complete the set. Items of one unit stand together, but for those at lag
   0, where the bound is a little loose. Inlined for masks of one word, which then stay in
   registers. */
static inline __attribute__((always_inline)) void
look_back(const syn_node_rules *rules, syn_node *node, lack need, size_t words,
          uint64_t *reached)
{
    uint64_t *group = reached;  /* of the unit at hand: depth 0 needs no windows */
    uint32_t unit = UINT32_MAX, least = rules->options->min_occ;
    uint32_t open = node->listed - node->barred, children = 0, is_new = 1;
    memset(reached, 0, (need.n + 1) * words * sizeof *reached);
    for (uint32_t p = node->listed; p-- > node->barred;) {
        const uint64_t *mask = node->mask + p * words;
        if (need.of_units && rules->unit_of[node->place[p]] != unit) {
            deepen(reached, need.n, group, words);
            memset(group, 0, words * sizeof *group);
            unit = rules->unit_of[node->place[p]];
            is_new = !has_unit(node, unit);
        }
        uint32_t slot = open - 1 - children, shared = 0, depth = need.n - is_new;
        for (size_t w = 0; w < words; w++) {
            uint64_t after = depth > 0 ? reached[depth * words + w] : ~(uint64_t)0;
            uint64_t reach = mask[w] & after;
            node->reach[slot * words + w] = reach;
            shared += syn_bits(reach);
        }
        node->child[slot] = p;
        children += shared >= least;
        if (!need.of_units)
            deepen(reached, need.n, mask, words);
        else if (is_new)
            for (size_t w = 0; w < words; w++)
                group[w] |= mask[w];
    }
    if (need.of_units)
        deepen(reached, need.n, group, words);
    node->children = children;
}

/* Drops all but the `good` windows, and the items that are left with too few. */
static void restrict_to(const syn_node_rules *rules, syn_node *node, const uint64_t *good)
{
    uint32_t least = rules->options->min_occ, kept = 0, barred = 0;
    size_t words = node->words;
    if (words == 1) {
        syn_narrow_list list = {node->mask, node->place};
        barred = (uint32_t)syn_keep(list, node->barred, *good, least, list, NULL, NULL);
        syn_narrow_list from = {node->mask + node->barred, node->place + node->barred};
        syn_narrow_list to = {node->mask + barred, node->place + barred};
        kept = barred + (uint32_t)syn_keep(from, node->listed - node->barred, *good,
                                           least, to, NULL, NULL);
    } else {
        for (uint32_t i = 0; i < node->listed; i++) {
            const uint64_t *from = node->mask + i * words;
            uint64_t *to = node->mask + kept * words;
            uint32_t shared = 0;
            node->place[kept] = node->place[i];
            for (size_t w = 0; w < words; w++) {
                to[w] = from[w] & good[w];
                shared += syn_bits(to[w]);
            }
            kept += shared >= least;
            barred += shared >= least && i < node->barred;
        }
    }
    node->barred = barred;
    node->listed = kept;
}

static syn_status look_ahead(const syn_node_rules *rules, syn_node_space *space,
                             syn_node *node)
{
    lack need = what_lacks(rules, node);
    uint32_t open = node->listed - node->barred;
    node->next = 0;
    node->children = open;
    node->child = NULL;
    node->reach = NULL;
    if (need.n == 0 || (need.n == 1 && !need.of_units))
        return SYN_OK;
    node->child = syn_arena_take(&space->arena, open * sizeof *node->child);
    node->reach = syn_arena_take(&space->arena,
                                 (size_t)open * node->words * sizeof *node->reach);
    if (!node->child || !node->reach)
        return SYN_NO_MEMORY;
    for (;;) {
        uint64_t one_word[SYN_MOST_AHEAD + 1];
        uint64_t *reached = node->words == 1 ? one_word : space->reached;
        if (node->words == 1)
            look_back(rules, node, need, 1, reached);
        else
            look_back(rules, node, need, node->words, reached);
        const uint64_t *good = reached + need.n * node->words;
        uint32_t left = 0;
        for (size_t w = 0; w < node->words; w++)
            left += syn_bits(good[w]);
        if (left < rules->options->min_occ)
            node->children = 0;
        if (left == node->windows || node->children == 0)
            break;
        uint32_t before = node->listed;
        node->windows = left;
        restrict_to(rules, node, good);
        if (node->listed == before)
            break;
        open = node->listed - node->barred;
    }
    /* The children stand at the end of what was room for all. */
    node->child += open - node->children;
    node->reach += (size_t)(open - node->children) * node->words;
    return SYN_OK;
}

/* ---- children ---- */

/* What is known of a child once its items have been compared with its windows. */
typedef struct child_lists {
    size_t full;   /* places in space->full: the child's own, and those that join it */
    size_t open;   /* items that can be added to it */
    int holds;     /* whether an item that must not be added is in all its windows */
} child_lists;

static syn_status take_lists(syn_node_space *space, size_t listed, uint32_t windows,
                             syn_node *out)
{
    out->words = windows > 64 ? (windows + 63) / 64 : 1;
    out->row = NULL;
    out->mask = syn_arena_take(&space->arena, listed * out->words * sizeof *out->mask);
    out->place = syn_arena_take(&space->arena, listed * sizeof *out->place);
    return out->mask && out->place ? SYN_OK : SYN_NO_MEMORY;
}

/* Whether a set is too short, too long or not closed, and all that is below it. */
static int leads_nowhere(const syn_node_rules *rules, size_t size,
                         const child_lists *lists)
{
    const syn_pattern_options *o = rules->options;
    return (rules->closed && (lists->holds || size > o->max_spikes)) ||
           size + lists->open < o->min_spikes;
}

/* Whether items can be added to a set of that size. */
static int goes_on(const syn_node_rules *rules, size_t size, const child_lists *lists)
{
    return lists->open > 0 && size < rules->options->max_spikes;
}

/* Gives `out` its set. Its list, where it has one, is there: a leaf has none, but where
   it matters whether there are barred items. */
static syn_node_made finish(const syn_node_rules *rules, syn_node_space *space,
                            const syn_node *parent, const child_lists *lists,
                            syn_node *out)
{
    out->kept = 0;
    if (rules->maximal)
        out->hidden = out->listed > 0;
    if (extend(rules, space, parent, space->full, lists->full, out) != SYN_OK)
        return SYN_NODE_FAILED;
    return goes_on(rules, out->size, lists) ? SYN_NODE_BRANCH : SYN_NODE_LEAF;
}

/* What tells whether a set that is not made closed at once is so all the same. */
static int is_hidden(const syn_node_rules *rules, size_t size, int any_holds)
{
    return !rules->closed && rules->barred && any_holds &&
           size < rules->options->max_spikes;
}

static const syn_node nothing = {0};

static syn_node_made root(const syn_node_rules *rules, syn_node_space *space, size_t n,
                          syn_node *node)
{
    child_lists lists = {n, node->listed - node->barred, 0};
    if (leads_nowhere(rules, n, &lists))
        return SYN_NODE_NONE;
    int any_holds = 0;
    for (uint32_t i = 0; i < node->listed && !rules->closed; i++) {
        const uint64_t *mask = node->mask + (size_t)i * node->words;
        any_holds |= syn_shared(mask, mask, node->words) == node->windows;
    }
    node->hidden = is_hidden(rules, n, any_holds);
    return finish(rules, space, &nothing, &lists, node);
}

static syn_node_made narrow_child(const syn_node_rules *rules, syn_node_space *space,
                                  const syn_node *parent, uint32_t at, uint64_t set,
                                  syn_node *out)
{
    const uint32_t least = rules->options->min_occ;
    child_lists lists = {1, 0, rules->barred && syn_any_holds(parent->mask, at, set)};
    if (lists.holds && rules->closed)
        return SYN_NODE_NONE;
    syn_narrow_list after = {parent->mask + at + 1, parent->place + at + 1};
    syn_narrow_list found = {space->mask, space->place};
    space->full[0] = parent->place[at];
    lists.open = syn_keep(after, parent->listed - at - 1, set, least, found,
                          rules->closed ? space->full : NULL, &lists.full);
    size_t size = parent->size + lists.full;
    if (leads_nowhere(rules, size, &lists))
        return SYN_NODE_NONE;
    out->windows = syn_bits(set);
    out->barred = out->listed = 0;
    if (goes_on(rules, size, &lists) || rules->maximal) {
        syn_narrow_list before = {parent->mask, parent->place};
        if (take_lists(space, at + lists.open, 1, out) != SYN_OK)
            return SYN_NODE_FAILED;
        syn_narrow_list to = {out->mask, out->place};
        if (rules->barred)
            out->barred = (uint32_t)syn_keep(before, at, set, least, to, NULL, NULL);
        memcpy(out->mask + out->barred, found.mask, lists.open * sizeof *found.mask);
        memcpy(out->place + out->barred, found.place, lists.open * sizeof *found.place);
        out->listed = out->barred + (uint32_t)lists.open;
    }
    out->hidden = !rules->closed &&
                  is_hidden(rules, size,
                            lists.holds || syn_any_holds(found.mask, lists.open, set));
    return finish(rules, space, parent, &lists, out);
}

/* ---- children of nodes with more windows ---- */

static syn_status turn(syn_node_space *space, syn_node *node)
{
    node->stride = row_words(node->listed);
    node->row = syn_arena_take(&space->arena,
                               node->words * 64 * node->stride * sizeof *node->row);
    if (!node->row)
        return SYN_NO_MEMORY;
    syn_turn(node->mask, node->listed, node->words, node->row, node->stride);
    return SYN_OK;
}

/* Which items listed are in enough of the windows space->set, and which in all: row by
   row, or mask by mask. */
static void compare_all(const syn_node_rules *rules, syn_node_space *space,
                        const syn_node *node, uint32_t windows, int by_rows)
{
    const uint32_t least = rules->options->min_occ;
    if (by_rows) {
        uint32_t n = 0;
        for (uint32_t w = 0; w < node->words; w++)
            for (uint64_t left = space->set[w]; left; left &= left - 1)
                space->index[n++] = w * 64 + syn_low_bit(left);
        syn_count_rows_of_bits(node->row, node->stride, space->index, n, least,
                               space->frequent, space->all);
        return;
    }
    for (uint32_t i = 0; i < node->listed; i++) {
        uint32_t n = syn_shared(node->mask + (size_t)i * node->words, space->set,
                                node->words);
        uint64_t bit = (uint64_t)1 << i % 64;
        if (i % 64 == 0)
            space->frequent[i / 64] = space->all[i / 64] = 0;
        space->frequent[i / 64] |= n >= least ? bit : 0;
        space->all[i / 64] |= n == windows ? bit : 0;
    }
}

/* The bits of row[] from `begin` up to `end` that lie in word `w`, which holds some. */
static uint64_t bits_between(const uint64_t *row, uint32_t w, uint32_t begin,
                             uint32_t end)
{
    uint64_t word = row[w];
    if (begin > w * 64)
        word &= ~(uint64_t)0 << (begin - w * 64);
    if (end < (w + 1) * 64)
        word &= ((uint64_t)1 << (end - w * 64)) - 1;
    return word;
}

static uint32_t count_between(const uint64_t *row, uint32_t begin, uint32_t end)
{
    uint32_t n = 0;
    for (uint32_t w = begin / 64; w * 64 < end; w++)
        n += syn_bits(bits_between(row, w, begin, end));
    return n;
}

/* Words of a set of at most 64 windows that hold some, and where in one word they go. */
typedef struct set_word {
    uint64_t bits;
    uint32_t word, shift;
} set_word;

static uint32_t split_set(const uint64_t *set, uint32_t words, set_word *part)
{
    uint32_t n = 0, shift = 0;
    for (uint32_t w = 0; w < words && shift < 64; w++) {
        if (!set[w])
            continue;
        part[n].bits = set[w];
        part[n].word = w;
        part[n++].shift = shift;
        shift += syn_bits(set[w]);
    }
    return n;
}

/* Lists the items of space->frequent between two positions, from number `n` on, with
   masks of the windows space->set; returns the number after the last. */
static uint32_t gather(syn_node_space *space, const syn_node *parent, uint32_t begin,
                       uint32_t end, uint32_t n, syn_node *out)
{
    set_word part[64];
    uint32_t parts = out->words == 1 ? split_set(space->set, parent->words, part) : 0;
    for (uint32_t w = begin / 64; w * 64 < end; w++)
        for (uint64_t left = bits_between(space->frequent, w, begin, end); left;
             left &= left - 1, n++) {
            uint32_t i = w * 64 + syn_low_bit(left);
            const uint64_t *mask = parent->mask + (size_t)i * parent->words;
            out->place[n] = parent->place[i];
            if (out->words == 1) {
                uint64_t word = 0;
                for (uint32_t k = 0; k < parts; k++)
                    word |= syn_extract(mask[part[k].word], part[k].bits)
                            << part[k].shift;
                out->mask[n] = word;
            } else {
                syn_compress(mask, space->set, parent->words, space->left);
                memcpy(out->mask + (size_t)n * out->words, space->left,
                       out->words * sizeof *space->left);
            }
        }
    return n;
}

/* Moves those of space->all between two positions to space->full, from number `n` on;
   returns the number after the last. */
static size_t join(syn_node_space *space, const syn_node *parent, uint32_t begin,
                   uint32_t end, size_t n)
{
    for (uint32_t w = begin / 64; w * 64 < end; w++) {
        uint64_t joins = bits_between(space->all, w, begin, end);
        space->frequent[w] &= ~joins;
        for (; joins; joins &= joins - 1)
            space->full[n++] = parent->place[w * 64 + syn_low_bit(joins)];
    }
    return n;
}

/* The windows of the child are space->set. */
static syn_node_made wide_child(const syn_node_rules *rules, syn_node_space *space,
                                syn_node *parent, uint32_t at, syn_node *out)
{
    const uint32_t listed = parent->listed;
    uint32_t windows = syn_shared(space->set, space->set, parent->words);
    int by_rows = windows * row_words(listed) < (size_t)listed * parent->words;
    if (by_rows && !parent->row && turn(space, parent) != SYN_OK)
        return SYN_NODE_FAILED;
    out->mark = syn_arena_here(&space->arena);
    compare_all(rules, space, parent, windows, by_rows);

    child_lists lists = {1, 0, rules->barred && count_between(space->all, 0, at) > 0};
    if (lists.holds && rules->closed)
        return SYN_NODE_NONE;
    int any_holds = lists.holds || count_between(space->all, at + 1, listed) > 0;
    space->full[0] = parent->place[at];
    if (rules->closed)
        lists.full = join(space, parent, at + 1, listed, 1);
    lists.open = count_between(space->frequent, at + 1, listed);
    size_t size = parent->size + lists.full;
    if (leads_nowhere(rules, size, &lists))
        return SYN_NODE_NONE;
    out->windows = windows;
    out->barred = out->listed = 0;
    if (goes_on(rules, size, &lists) || rules->maximal) {
        uint32_t barred = rules->barred ? count_between(space->frequent, 0, at) : 0;
        if (take_lists(space, barred + lists.open, windows, out) != SYN_OK)
            return SYN_NODE_FAILED;
        if (rules->barred)
            out->barred = gather(space, parent, 0, at, 0, out);
        out->listed = gather(space, parent, at + 1, listed, out->barred, out);
    }
    out->hidden = is_hidden(rules, size, any_holds);
    return finish(rules, space, parent, &lists, out);
}

static syn_node_made child(const syn_node_rules *rules, syn_node_space *space,
                           syn_node *parent, uint32_t k, syn_node *out)
{
    uint32_t at = parent->child ? parent->child[k] : parent->barred + k;
    const uint64_t *reach = parent->reach ? parent->reach + (size_t)k * parent->words
                                          : parent->mask + (size_t)at * parent->words;
    out->mark = syn_arena_here(&space->arena);
    if (parent->words == 1)
        return narrow_child(rules, space, parent, at, *reach, out);
    memcpy(space->set, reach, parent->words * sizeof *reach);
    return wide_child(rules, space, parent, at, out);
}

const syn_node_kind SYN_NODE_KIND = {root, look_ahead, child};
