#include "core/patterns_node.h"

#include <string.h>

/* Words of a row with a bit for each of `listed` items. */
static size_t row_words(size_t listed)
{
    return (listed / (64 * SYN_ROW_WORDS) + 1) * SYN_ROW_WORDS;
}

syn_status syn_node_space_make(syn_node_space *space, size_t listed, size_t windows)
{
    size_t words = (windows + 63) / 64;
    size_t stride = row_words(listed);
    syn_arena *arena = &space->arena;
    space->full = syn_arena_take(arena, (listed + 1) * sizeof *space->full);
    space->index = syn_arena_take(arena, windows * sizeof *space->index);
    space->frequent = syn_arena_take(arena, stride * sizeof *space->frequent);
    space->all = syn_arena_take(arena, stride * sizeof *space->all);
    space->set = syn_arena_take(arena, (2 * words + 2) * sizeof *space->set);
    space->reachable =
        syn_arena_take(arena, (SYN_MOST_AHEAD + 2) * words * sizeof *space->reachable);
    return space->full && space->index && space->frequent && space->all && space->set &&
                   space->reachable
               ? SYN_OK
               : SYN_NO_MEMORY;
}

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

/* One pass over the open items, last to first: which windows have enough after each to
   complete the set. Items of one unit stand together, but for those at lag 0, where the
   bound is a little loose. Inlined for masks of one word, which stay in registers. */
static inline __attribute__((always_inline)) void
look_back(const syn_node_rules *rules, syn_node *node, lack need, size_t words,
          uint64_t *reached)
{
    uint64_t *group = reached;  /* depth 0 is not needed: windows of the unit at hand */
    uint32_t unit = UINT32_MAX, least = rules->options->min_occ;
    uint32_t children = 0;
    int is_new = 1;
    memset(reached, 0, (need.n + 1) * words * sizeof *reached);
    for (uint32_t p = node->open; p-- > 0;) {
        const uint64_t *mask = node->mask + p * words;
        if (need.of_units && rules->unit_of[node->place[p]] != unit) {
            deepen(reached, need.n, group, words);
            memset(group, 0, words * sizeof *group);
            unit = rules->unit_of[node->place[p]];
            is_new = !has_unit(node, unit);
        }
        uint32_t slot = node->open - 1 - children, shared = 0;
        const uint64_t *after = reached + (need.n - (uint32_t)is_new) * words;
        for (size_t w = 0; w < words; w++) {
            uint64_t reach = mask[w] & after[w];
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
    uint32_t least = rules->options->min_occ, kept = 0, open = 0;
    size_t words = node->words;
    if (words == 1) {
        syn_narrow_list list = {node->mask, node->place};
        open = (uint32_t)rules->masks->keep(list, node->open, *good, least, list, NULL,
                                            NULL);
        syn_narrow_list from = {node->mask + node->open, node->place + node->open};
        syn_narrow_list to = {node->mask + open, node->place + open};
        kept = open + (uint32_t)rules->masks->keep(from, node->listed - node->open, *good,
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
            open += shared >= least && i < node->open;
        }
    }
    node->open = open;
    node->listed = kept;
}

syn_status syn_node_look_ahead(const syn_node_rules *rules, syn_node_space *space,
                               syn_node *node)
{
    lack need = what_lacks(rules, node);
    node->next = 0;
    node->children = node->open;
    node->child = NULL;
    node->reach = NULL;
    if (need.n < 2 || node->open == 0)
        return SYN_OK;
    node->child = syn_arena_take(&space->arena, node->open * sizeof *node->child);
    node->reach = syn_arena_take(&space->arena,
                                 (size_t)node->open * node->words * sizeof *node->reach);
    if (!node->child || !node->reach)
        return SYN_NO_MEMORY;
    uint32_t open;
    do {
        uint64_t one_word[SYN_MOST_AHEAD + 1];
        uint64_t *reached = node->words == 1 ? one_word : space->reachable;
        if (node->words == 1)
            look_back(rules, node, need, 1, reached);
        else
            look_back(rules, node, need, node->words, reached);
        open = node->open;
        const uint64_t *good = reached + need.n * node->words;
        uint32_t left = 0;
        for (size_t w = 0; w < node->words; w++)
            left += syn_bits(good[w]);
        if (left < rules->options->min_occ)
            node->children = 0;
        if (left == node->windows || node->children == 0)
            break;
        node->windows = left;
        restrict_to(rules, node, good);
    } while (node->open < open);
    /* The children stand at the end of what was room for all open items. */
    uint32_t skipped = open - node->children;
    node->child += skipped;
    node->reach += (size_t)skipped * node->words;
    return SYN_OK;
}

/* ---- children ---- */

/* What is known of a child once its items have been compared with its windows. */
typedef struct child_lists {
    size_t full;   /* places in space->full: the child's own, and those that join it */
    size_t open;   /* of its list; the others follow them */
    size_t barred;
    int holds;     /* whether an item that must not be added is in all its windows */
} child_lists;

/* Room for a list like that of `parent`, with masks of `words` words. */
static syn_status take_lists(syn_node_space *space, size_t listed, uint32_t words,
                             syn_node *out)
{
    out->words = words;
    out->row = NULL;
    out->mask = syn_arena_take(&space->arena, listed * words * sizeof *out->mask);
    out->place = syn_arena_take(&space->arena, listed * sizeof *out->place);
    return out->mask && out->place ? SYN_OK : SYN_NO_MEMORY;
}

/* Whether a set of `size` items may not grow any more. */
static int is_longest(const syn_node_rules *rules, size_t size)
{
    return size >= rules->options->max_spikes;
}

/* Whether what must not be added still matters below, or for the set itself. */
static int needs_barred(const syn_node_rules *rules, const syn_node *parent,
                        const child_lists *lists)
{
    return rules->barred &&
           (rules->maximal ||
            (lists->open > 0 && !is_longest(rules, parent->size + lists->full)));
}

/* Whether a set that is too short, too long or not closed has nothing below it. */
static int leads_nowhere(const syn_node_rules *rules, const syn_node *parent,
                         const child_lists *lists)
{
    const syn_pattern_options *o = rules->options;
    size_t size = parent->size + lists->full;
    return (rules->closed && (lists->holds || size > o->max_spikes)) ||
           size + lists->open < o->min_spikes;
}

static syn_node_made finish_child(const syn_node_rules *rules, syn_node_space *space,
                                  const syn_node *parent, const child_lists *lists,
                                  syn_node *out)
{
    int longest = is_longest(rules, parent->size + lists->full);
    out->open = (uint32_t)lists->open;
    out->listed = (uint32_t)(lists->open + lists->barred);
    out->kept = 0;
    if (rules->maximal)
        out->hidden = out->listed > 0;
    if (longest && !rules->closed)
        out->hidden = 0;
    if (extend(rules, space, parent, space->full, lists->full, out) != SYN_OK)
        return SYN_NODE_FAILED;
    return out->open == 0 || longest ? SYN_NODE_LEAF : SYN_NODE_BRANCH;
}

static const syn_node nothing = {0};

syn_node_made syn_node_root(const syn_node_rules *rules, syn_node_space *space,
                            const uint32_t *full, size_t n, syn_node *node)
{
    child_lists lists = {n, node->open, node->listed - node->open, 0};
    if (leads_nowhere(rules, &nothing, &lists))
        return SYN_NODE_NONE;
    memmove(space->full, full, n * sizeof *full);
    uint32_t whole = 0;
    for (uint32_t i = 0; i < node->listed && !rules->closed && rules->barred; i++) {
        const uint64_t *mask = node->mask + (size_t)i * node->words;
        whole += rules->masks->shared(mask, mask, node->words) == node->windows;
    }
    node->hidden = whole > 0;
    return finish_child(rules, space, &nothing, &lists, node);
}

static syn_node_made narrow_child(const syn_node_rules *rules, syn_node_space *space,
                                  const syn_node *parent, uint32_t at, uint64_t set,
                                  syn_node *out)
{
    const syn_mask_kind *masks = rules->masks;
    const uint32_t least = rules->options->min_occ;
    const uint32_t open = parent->open, shut = parent->listed - open;
    child_lists lists = {1, 0, 0, 0};
    lists.holds = rules->barred && (masks->any_holds(parent->mask, at, set) ||
                                    masks->any_holds(parent->mask + open, shut, set));
    if (lists.holds && rules->closed)
        return SYN_NODE_NONE;
    if (take_lists(space, parent->listed, 1, out) != SYN_OK)
        return SYN_NODE_FAILED;
    space->full[0] = parent->place[at];
    syn_narrow_list after = {parent->mask + at + 1, parent->place + at + 1};
    syn_narrow_list to = {out->mask, out->place};
    lists.open = masks->keep(after, open - at - 1, set, least, to,
                             rules->closed ? space->full : NULL, &lists.full);
    if (leads_nowhere(rules, parent, &lists))
        return SYN_NODE_NONE;
    if (needs_barred(rules, parent, &lists)) {
        syn_narrow_list before = {parent->mask, parent->place};
        syn_narrow_list barred = {parent->mask + open, parent->place + open};
        to.mask += lists.open;
        to.place += lists.open;
        lists.barred = masks->keep(before, at, set, least, to, NULL, NULL);
        to.mask += lists.barred;
        to.place += lists.barred;
        lists.barred += masks->keep(barred, shut, set, least, to, NULL, NULL);
    }
    out->windows = syn_bits(set);
    out->hidden = !rules->closed && rules->barred &&
                  (lists.holds || masks->any_holds(out->mask, lists.open, set));
    return finish_child(rules, space, parent, &lists, out);
}

/* ---- children of nodes with more windows ---- */

static syn_status turn(syn_node_space *space, syn_node *node)
{
    size_t bits = (size_t)node->words * 64;
    node->stride = row_words(node->listed);
    node->row = syn_arena_take(&space->arena, bits * node->stride * sizeof *node->row);
    if (!node->row)
        return SYN_NO_MEMORY;
    syn_masks_turn(node->mask, node->listed, node->words, node->row, bits, node->stride);
    return SYN_OK;
}

/* Which items listed are in enough of the windows `set`, and which in all: row by row
   where these are few, mask by mask where the list is short. */
static void compare_all(const syn_node_rules *rules, syn_node_space *space,
                        const syn_node *node, const uint64_t *set, uint32_t windows,
                        int by_rows)
{
    const uint32_t least = rules->options->min_occ;
    if (by_rows) {
        uint32_t n = 0;
        for (uint32_t w = 0; w < node->words; w++)
            for (uint64_t left = set[w]; left; left &= left - 1)
                space->index[n++] = w * 64 + syn_low_bit(left);
        rules->masks->count_rows(node->row, node->stride, space->index, n, least,
                                 space->frequent, space->all);
        return;
    }
    for (uint32_t i = 0; i < node->listed; i++) {
        uint32_t n = rules->masks->shared(node->mask + (size_t)i * node->words, set,
                                          node->words);
        uint64_t bit = (uint64_t)1 << i % 64;
        if (i % 64 == 0)
            space->frequent[i / 64] = space->all[i / 64] = 0;
        space->frequent[i / 64] |= n >= least ? bit : 0;
        space->all[i / 64] |= n == windows ? bit : 0;
    }
}

/* The bits of row[] from `begin` up to `end` that lie in word `w`. */
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

static int any_between(const uint64_t *row, uint32_t begin, uint32_t end)
{
    for (uint32_t w = begin / 64; w * 64 < end; w++)
        if (bits_between(row, w, begin, end))
            return 1;
    return 0;
}

static uint32_t count_between(const uint64_t *row, uint32_t begin, uint32_t end)
{
    uint32_t n = 0;
    for (uint32_t w = begin / 64; w * 64 < end; w++)
        n += syn_bits(bits_between(row, w, begin, end));
    return n;
}

/* Appends to the list of `out`, from number `n` on, the items of space->frequent between
   two positions; returns how many. */
static uint32_t gather(const syn_node_rules *rules, syn_node_space *space,
                       const syn_node *parent, const uint64_t *set, uint32_t begin,
                       uint32_t end, size_t n, syn_node *out)
{
    uint64_t *rest = space->set + parent->words;
    uint32_t found = 0;
    for (uint32_t w = begin / 64; w * 64 < end; w++)
        for (uint64_t left = bits_between(space->frequent, w, begin, end); left;
             left &= left - 1) {
            uint32_t i = w * 64 + syn_low_bit(left);
            const uint64_t *mask = parent->mask + (size_t)i * parent->words;
            rules->masks->compress(mask, set, parent->words, rest);
            memcpy(out->mask + (n + found) * out->words, rest,
                   out->words * sizeof *rest);
            out->place[n + found++] = parent->place[i];
        }
    return found;
}

static syn_node_made wide_child(const syn_node_rules *rules, syn_node_space *space,
                                syn_node *parent, uint32_t at, const uint64_t *set,
                                syn_node *out)
{
    const uint32_t open = parent->open, listed = parent->listed;
    uint32_t windows = 0;
    for (uint32_t w = 0; w < parent->words; w++)
        windows += syn_bits(set[w]);
    int by_rows = windows * row_words(listed) < (size_t)listed * parent->words;
    if (by_rows && !parent->row && turn(space, parent) != SYN_OK)
        return SYN_NODE_FAILED;
    out->mark = syn_arena_here(&space->arena);
    compare_all(rules, space, parent, set, windows, by_rows);

    child_lists lists = {1, 0, 0, 0};
    lists.holds = rules->barred && (any_between(space->all, 0, at) ||
                                    any_between(space->all, open, listed));
    if (lists.holds && rules->closed)
        return SYN_NODE_NONE;
    space->full[0] = parent->place[at];
    uint32_t joined = 0;
    for (uint32_t w = 0; rules->closed && w * 64 < listed; w++) {
        uint64_t joins = w * 64 < open && at + 1 < (w + 1) * 64
                             ? bits_between(space->all, w, at + 1, open)
                             : 0;
        for (uint64_t left = joins; left; left &= left - 1)
            space->full[++joined] = parent->place[w * 64 + syn_low_bit(left)];
        space->frequent[w] &= ~space->all[w];
    }
    lists.full += joined;
    lists.open = count_between(space->frequent, at + 1, open);
    if (leads_nowhere(rules, parent, &lists))
        return SYN_NODE_NONE;
    int barred = needs_barred(rules, parent, &lists);
    if (barred)
        lists.barred = count_between(space->frequent, 0, at) +
                       count_between(space->frequent, open, listed);
    if (take_lists(space, lists.open + lists.barred, (windows + 63) / 64, out) != SYN_OK)
        return SYN_NODE_FAILED;
    size_t n = gather(rules, space, parent, set, at + 1, open, 0, out);
    if (barred) {
        n += gather(rules, space, parent, set, 0, at, n, out);
        gather(rules, space, parent, set, open, listed, n, out);
    }
    out->windows = windows;
    out->hidden = !rules->closed && rules->barred &&
                  (lists.holds || any_between(space->all, at + 1, open));
    return finish_child(rules, space, parent, &lists, out);
}

syn_node_made syn_node_child(const syn_node_rules *rules, syn_node_space *space,
                             syn_node *parent, uint32_t k, syn_node *out)
{
    uint32_t at = parent->child ? parent->child[k] : k;
    const uint64_t *reach = parent->reach ? parent->reach + (size_t)k * parent->words
                                          : parent->mask + (size_t)at * parent->words;
    out->mark = syn_arena_here(&space->arena);
    if (parent->words == 1)
        return narrow_child(rules, space, parent, at, *reach, out);
    memcpy(space->set, reach, parent->words * sizeof *reach);
    return wide_child(rules, space, parent, at, space->set, out);
}
