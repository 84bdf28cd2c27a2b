/* Makes the children of a node of the closure search. One item is added to the node's
   set; the windows that hold it are left, and the masks of the items that may come
   later are cut down to these. Children that cannot lead to a pattern, because too few
   windows have enough units left, are never made. Compiled once for each kind of
   processor. */
#include "core/patterns/closure/node.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/masks.h"
#include "core/base/order.h"

enum {
    FEW = 8,          /* children that are not worth turning masks for */
    A_FEW_ITEMS = 32  /* that are added one by one */
};

#if SYN_WIDTH == 0
syn_status syn_node_space_make(syn_node_space *space, size_t listed, size_t windows)
{
    size_t words = (windows + 63) / 64, stride = syn_row_words(listed);
    syn_arena *arena = &space->arena;
    SYN_ARENA(arena, space->full, listed + 1);
    SYN_ARENA(arena, space->place, listed);
    SYN_ARENA(arena, space->mask, listed);
    SYN_ARENA(arena, space->index, windows);
    SYN_ARENA(arena, space->frequent, stride);
    SYN_ARENA(arena, space->all, stride);
    SYN_ARENA(arena, space->set, words);
    SYN_ARENA(arena, space->left, words + 1);
    SYN_ARENA(arena, space->reached, (SYN_MOST_AHEAD + 2) * words);
    return SYN_OK;
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

/* Sorts `n` numbers and drops repeats; returns how many stay. */
static uint32_t sort_unique(uint32_t *number, size_t n)
{
    uint32_t kept = 0;
    qsort(number, n, sizeof *number, syn_by_number);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || number[i] != number[i - 1])
            number[kept++] = number[i];
    return kept;
}

/* Adds the items at `n` places, one by one: fast for few. */
static void add_few(const syn_node_rules *rules, const uint32_t *place, size_t n,
                    syn_node *node)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t unit = rules->unit_of[place[i]];
        syn_insert_number(node->item, node->size++, rules->item_of[place[i]]);
        if (!has_unit(node, unit))
            node->unit[node->units++] = unit;
    }
}

/* The same for many. */
static void add_many(const syn_node_rules *rules, const uint32_t *place, size_t n,
                     syn_node *node)
{
    for (size_t i = 0; i < n; i++) {
        node->item[node->size++] = rules->item_of[place[i]];
        node->unit[node->units++] = rules->unit_of[place[i]];
    }
    sort_unique(node->item, node->size);
    node->units = sort_unique(node->unit, node->units);
}

/* Gives `node` the set of `before` and the items at the `n` places of space->full. */
static syn_status extend(const syn_node_rules *rules, syn_node_space *space,
                         const syn_node *before, size_t n, syn_node *node)
{
    const uint32_t *place = space->full;
    size_t room = before->size + n;
    SYN_ARENA(&space->arena, node->item, 2 * room);
    node->unit = node->item + room;
    if (before->size > 0) {
        memcpy(node->item, before->item, before->size * sizeof *node->item);
        memcpy(node->unit, before->unit, before->units * sizeof *node->unit);
    }
    node->size = before->size;
    node->units = before->units;
    node->last = before->last;
    (n <= A_FEW_ITEMS ? add_few : add_many)(rules, place, n, node);
    for (size_t i = 0; i < n; i++)
        if (place[i] > node->last)
            node->last = place[i];
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

/* One pass over the items that can be added, last to first: which windows have enough
   after each to complete the set. Items of one unit stand together, except those at lag
   0, for which the bound is a little loose. Inlined for masks of one word, which then
   stay in registers. */
static inline __attribute__((always_inline)) void
look_back(const syn_node_rules *rules, syn_node *node, lack need, size_t words,
          uint64_t *reached)
{
    uint64_t *group = reached + (need.n + 1) * words;  /* of the unit at hand */
    uint32_t unit = UINT32_MAX, least = rules->options->min_count;
    uint32_t open = node->listed, children = 0, is_new = 1;
    memset(reached, 0, (need.n + 2) * words * sizeof *reached);
    memset(reached, 0xff, words * sizeof *reached);
    for (uint32_t p = open; p-- > 0;) {
        const uint64_t *mask = node->mask + p * words;
        if (need.of_units && rules->unit_of[node->place[p]] != unit) {
            syn_deepen(reached, need.n, group, words);
            memset(group, 0, words * sizeof *group);
            unit = rules->unit_of[node->place[p]];
            is_new = !has_unit(node, unit);
        }
        uint32_t slot = open - 1 - children, shared = 0, depth = need.n - is_new;
        for (size_t w = 0; w < words; w++) {
            uint64_t reach = mask[w] & reached[depth * words + w];
            node->reach[slot * words + w] = reach;
            shared += syn_bits(reach);
        }
        node->child[slot] = p;
        children += shared >= least;
        if (!need.of_units)
            syn_deepen(reached, need.n, mask, words);
        else if (is_new)
            for (size_t w = 0; w < words; w++)
                group[w] |= mask[w];
    }
    if (need.of_units)
        syn_deepen(reached, need.n, group, words);
    node->children = children;
}

/* Drops all but the `good` windows, and the items that are left with too few; returns
   how many items stay. */
static uint32_t restrict_to(const syn_node_rules *rules, syn_node *node,
                            const uint64_t *good)
{
    uint32_t least = rules->options->min_count, kept = 0;
    size_t words = node->words;
    if (words == 1) {
        syn_narrow_list list = {node->mask, node->place};
        return (uint32_t)syn_keep(list, node->listed, *good, least, list, NULL, NULL);
    }
    for (uint32_t i = 0; i < node->listed; i++) {
        const uint64_t *from = node->mask + i * words;
        uint64_t *to = node->mask + kept * words;
        for (size_t w = 0; w < words; w++)
            to[w] = from[w] & good[w];
        node->place[kept] = node->place[i];
        kept += syn_set_bits(to, words) >= least;
    }
    return kept;
}

/* Fills the children of `node`, whose set is there and whose list holds nothing yet but
   what can be added; windows and items that cannot lead to a pattern are dropped. */
static syn_status look_ahead(const syn_node_rules *rules, syn_node_space *space,
                             syn_node *node)
{
    lack need = what_lacks(rules, node);
    uint32_t open = node->listed;
    node->next = 0;
    node->children = open;
    node->child = NULL;
    node->reach = NULL;
    if (need.n == 0 || (need.n == 1 && !need.of_units))
        return SYN_OK;
    SYN_ARENA(&space->arena, node->child, open);
    SYN_ARENA(&space->arena, node->reach, (size_t)open * node->words);
    for (;;) {
        uint64_t one_word[SYN_MOST_AHEAD + 2];
        uint64_t *reached = node->words == 1 ? one_word : space->reached;
        if (node->words == 1)
            look_back(rules, node, need, 1, reached);
        else
            look_back(rules, node, need, node->words, reached);
        const uint64_t *good = reached + need.n * node->words;
        uint32_t left = syn_set_bits(good, node->words);
        if (left < rules->options->min_count)
            node->children = 0;
        if (left == node->windows || node->children == 0)
            break;
        node->windows = left;
        node->listed = restrict_to(rules, node, good);
        if (node->listed == open)
            break;
        open = node->listed;
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

/* Room for a list of `listed` items, of which `barred` come first. */
static syn_status take_list(syn_node_space *space, uint32_t barred, size_t listed,
                            syn_node *out)
{
    out->barred = barred;
    out->listed = (uint32_t)listed;
    out->words = out->windows > 64 ? (out->windows + 63) / 64 : 1;
    out->row = NULL;
    SYN_ARENA(&space->arena, out->mask, listed * out->words);
    SYN_ARENA(&space->arena, out->place, listed);
    return SYN_OK;
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

/* Looks ahead from a node that has its set, with the items that can be added, which
   follow the barred ones. The barred ones need not have been listed yet. */
static syn_node_made look_at_open(const syn_node_rules *rules, syn_node_space *space,
                                  syn_node *node)
{
    uint32_t barred = node->barred;
    node->mask += (size_t)barred * node->words;
    node->place += barred;
    node->listed -= barred;
    syn_status status = look_ahead(rules, space, node);
    node->mask -= (size_t)barred * node->words;
    node->place -= barred;
    node->listed += barred;
    if (status != SYN_OK)
        return SYN_NODE_FAILED;
    /* Where a set is short of a pattern and no child leads to one, there is nothing. */
    return node->children == 0 ? SYN_NODE_NONE : SYN_NODE_BRANCH;
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
        any_holds |= syn_set_bits(mask, node->words) == node->windows;
    }
    node->kept = 0;
    node->hidden = rules->maximal ? node->listed > 0 : is_hidden(rules, n, any_holds);
    if (extend(rules, space, &nothing, n, node) != SYN_OK)
        return SYN_NODE_FAILED;
    return goes_on(rules, n, &lists) ? look_at_open(rules, space, node) : SYN_NODE_LEAF;
}

static syn_node_made narrow_child(const syn_node_rules *rules, syn_node_space *space,
                                  const syn_node *parent, uint32_t at, uint64_t set,
                                  syn_node *out)
{
    const uint32_t least = rules->options->min_count;
    child_lists lists = {1, 0, rules->barred && syn_any_holds(parent->mask, at, set)};
    if (lists.holds && rules->closed)
        return SYN_NODE_NONE;
    syn_narrow_list before = {parent->mask, parent->place};
    syn_narrow_list after = {parent->mask + at + 1, parent->place + at + 1};
    syn_narrow_list found = {space->mask, space->place};
    space->full[0] = parent->place[at];
    lists.open = syn_keep(after, parent->listed - at - 1, set, least, found,
                          rules->closed ? space->full : NULL, &lists.full);
    size_t size = parent->size + lists.full;
    if (leads_nowhere(rules, size, &lists))
        return SYN_NODE_NONE;
    out->kept = 0;
    out->windows = syn_bits(set);
    out->hidden = !rules->closed &&
                  is_hidden(rules, size,
                            lists.holds || syn_any_holds(found.mask, lists.open, set));
    if (extend(rules, space, parent, lists.full, out) != SYN_OK)
        return SYN_NODE_FAILED;
    if (!goes_on(rules, size, &lists)) {
        if (rules->maximal)
            out->hidden = lists.open > 0 ||
                          syn_keep(before, at, set, least, found, NULL, NULL) > 0;
        return SYN_NODE_LEAF;
    }
    uint32_t room = rules->barred ? at : 0;
    if (take_list(space, room, room + lists.open, out) != SYN_OK)
        return SYN_NODE_FAILED;
    memcpy(out->mask + room, found.mask, lists.open * sizeof *found.mask);
    memcpy(out->place + room, found.place, lists.open * sizeof *found.place);
    syn_node_made made = look_at_open(rules, space, out);
    if (made != SYN_NODE_BRANCH || !rules->barred)
        return made;
    /* The barred ones that matter end where the others begin. */
    uint32_t barred = (uint32_t)syn_keep(before, at, set, least, found, NULL, NULL);
    out->mask += room - barred;
    out->place += room - barred;
    out->listed -= room - barred;
    out->barred = barred;
    memcpy(out->mask, found.mask, barred * sizeof *found.mask);
    memcpy(out->place, found.place, barred * sizeof *found.place);
    if (rules->maximal)
        out->hidden = 1;
    return made;
}

/* ---- children of nodes with more windows ---- */

static syn_status turn(syn_node_space *space, syn_node *node)
{
    node->stride = syn_row_words(node->listed);
    SYN_ARENA(&space->arena, node->row, node->words * 64 * node->stride);
    syn_turn(node->mask, node->listed, node->words, node->row, node->stride);
    return SYN_OK;
}

/* Which items from word `begin` up to word `end` of a row are in enough of the windows
   space->set, and which in all: row by row, or mask by mask. */
static void compare(const syn_node_rules *rules, syn_node_space *space, syn_node *node,
                    uint32_t windows, int by_rows, size_t begin, size_t end)
{
    const uint32_t least = rules->options->min_count;
    if (by_rows) {
        syn_count_rows_of_bits(node->row + begin, node->stride, end - begin, space->index,
                               windows, least, space->frequent + begin,
                               space->all + begin);
        return;
    }
    for (size_t i = begin * 64; i < node->listed && i < end * 64; i++) {
        uint32_t n = syn_shared(node->mask + i * node->words, space->set, node->words);
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

/* Lists the items of space->frequent between two positions, from number `n` on, with
   masks of the windows space->set. */
static void gather(syn_node_space *space, const syn_node *parent, uint32_t begin,
                       uint32_t end, uint32_t n, syn_node *out)
{
    syn_set_word part[64];
    uint32_t parts = out->words == 1 ? syn_split_set(space->set, parent->words, part) : 0;
    for (uint32_t w = begin / 64; w * 64 < end; w++)
        for (uint64_t left = bits_between(space->frequent, w, begin, end); left;
             left &= left - 1, n++) {
            uint32_t i = w * 64 + syn_low_bit(left);
            const uint64_t *mask = parent->mask + (size_t)i * parent->words;
            out->place[n] = parent->place[i];
            if (out->words == 1) {
                out->mask[n] = syn_extract_parts(mask, part, parts);
            } else {
                syn_compress(mask, space->set, parent->words, space->left);
                memcpy(out->mask + (size_t)n * out->words, space->left,
                       out->words * sizeof *space->left);
            }
        }
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

/* The windows of the child are space->set. What comes after it in the list is compared
   first: what comes before matters only if there is enough after. */
static syn_node_made wide_child(const syn_node_rules *rules, syn_node_space *space,
                                syn_node *parent, uint32_t at, syn_node *out)
{
    const uint32_t listed = parent->listed;
    const size_t words = syn_row_words(listed);
    const size_t middle = at / (64 * SYN_ROW_WORDS) * SYN_ROW_WORDS;
    uint32_t windows = syn_shared(space->set, space->set, parent->words);
    /* Whether to count row by row: where a child's windows are few among many, and, as
       the masks have to be turned for that first, the children many. */
    int by_rows = windows * syn_row_words(parent->listed) <
                      (size_t)parent->listed * parent->words &&
                  (parent->row || parent->children >= FEW);
    if (by_rows && !parent->row && turn(space, parent) != SYN_OK)
        return SYN_NODE_FAILED;
    if (by_rows)
        syn_index_bits(space->set, parent->words, space->index);
    out->mark = syn_arena_here(&space->arena);
    compare(rules, space, parent, windows, by_rows, middle, words);

    child_lists lists = {1, 0, 0};
    int any_holds = count_between(space->all, at + 1, listed) > 0;
    space->full[0] = parent->place[at];
    if (rules->closed && any_holds)
        lists.full = join(space, parent, at + 1, listed, 1);
    lists.open = count_between(space->frequent, at + 1, listed);
    size_t size = parent->size + lists.full;
    if (leads_nowhere(rules, size, &lists))
        return SYN_NODE_NONE;
    uint32_t barred = 0;
    if (rules->barred) {
        compare(rules, space, parent, windows, by_rows, 0, middle);
        lists.holds = count_between(space->all, 0, at) > 0;
        if (lists.holds && rules->closed)
            return SYN_NODE_NONE;
        barred = count_between(space->frequent, 0, at);
    }
    out->kept = 0;
    out->windows = windows;
    out->hidden = rules->maximal ? barred + lists.open > 0
                                 : is_hidden(rules, size, lists.holds || any_holds);
    if (extend(rules, space, parent, lists.full, out) != SYN_OK)
        return SYN_NODE_FAILED;
    if (!goes_on(rules, size, &lists))
        return SYN_NODE_LEAF;
    if (take_list(space, barred, barred + lists.open, out) != SYN_OK)
        return SYN_NODE_FAILED;
    gather(space, parent, at + 1, listed, barred, out);
    syn_node_made made = look_at_open(rules, space, out);
    if (made == SYN_NODE_BRANCH && barred > 0)
        gather(space, parent, 0, at, 0, out);
    return made;
}

static syn_node_made child(const syn_node_rules *rules, syn_node_space *space,
                           syn_node *parent, uint32_t k, syn_node *out)
{
    uint32_t at = parent->barred + (parent->child ? parent->child[k] : k);
    const uint64_t *reach = parent->reach ? parent->reach + (size_t)k * parent->words
                                          : parent->mask + (size_t)at * parent->words;
    out->mark = syn_arena_here(&space->arena);
    if (parent->words == 1)
        return narrow_child(rules, space, parent, at, *reach, out);
    memcpy(space->set, reach, parent->words * sizeof *reach);
    return wide_child(rules, space, parent, at, out);
}

const syn_node_kind SYN_KIND_NAME(syn_node_kind) = {root, child};
