/* Goes through the sets below a root in search of larger maxima. A set is left as soon
   as too few windows hold enough further items for any size to beat the maximum found
   so far. Compiled once for each kind of processor. */
#include "core/patterns/spectrum/node.h"

#include <string.h>

#include "core/base/masks.h"

/* The lanes j in which `mask` shares need[j] or more windows with lane j and `more`, as
   bits; masks of `words` words, lanes one after the other. No need is below `least`, and
   a lane holds no window that the one before it does not. */
static inline unsigned syn_lanes_alive(const uint64_t *mask, const uint64_t *more,
                                       const uint64_t *lane, size_t words,
                                       const uint64_t *need, uint64_t least)
{
    unsigned alive = 0;
    for (unsigned j = 0; j < SYN_MAXIMA_LANES; j++) {
        uint64_t n = 0;
        for (size_t w = 0; w < words; w++)
            n += syn_bits(mask[w] & more[w] & lane[j * words + w]);
        if (n < least)
            break;
        alive |= (unsigned)(n >= need[j]) << j;
    }
    return alive;
}

/* ---- which children are worth a visit ---- */

/* Whether the set of the deepest node has a unit; the nodes above have the others. */
static inline int syn_has_unit(const syn_maxima_search *s, uint32_t unit)
{
    for (size_t k = 0; k < s->depth; k++)
        if (s->node[k].unit == unit)
            return 1;
    return 0;
}

/* Windows with at least so many units to come that are new to the set. */
typedef struct syn_coming_units {
    uint64_t *windows;  /* [lack + 1][words], all of them for 0 */
    uint64_t *group;    /* [words] those of the unit at hand */
    uint32_t lack, unit;
    int is_new;
} syn_coming_units;

static inline void syn_next_unit(const syn_maxima_search *s, syn_coming_units *c,
                                 uint32_t unit, size_t words)
{
    if (unit == c->unit)
        return;
    if (c->is_new)
        syn_deepen(c->windows, c->lack, c->group, words);
    memset(c->group, 0, words * sizeof *c->group);
    c->unit = unit;
    c->is_new = !syn_has_unit(s, unit);
}

/* One pass over the list of the deepest node, last to first: a child is worth a visit if
   in some lane enough of its windows hold the items that this takes, and the units.
   Inlined for masks of one word. */
static inline __attribute__((always_inline)) void syn_look_back(
    const syn_maxima_search *s, syn_maxima_node *n, syn_coming_units *units, size_t words,
    uint64_t *lane)
{
    uint64_t least = UINT32_MAX;
    for (unsigned j = 0; j < SYN_MAXIMA_LANES; j++)
        least = n->need[j] < least ? n->need[j] : least;
    for (uint32_t p = n->listed; p-- > 0;) {
        const uint64_t *mask = n->mask + p * words, *more = units->windows;
        if (units->lack > 0) {
            syn_next_unit(s, units, s->root.unit[n->place[p]], words);
            more += (units->lack - (uint32_t)units->is_new) * words;
        }
        unsigned lanes = syn_lanes_alive(mask, more, lane, words, n->need, least);
        if (lanes) {
            const uint64_t *after = lane + syn_low_bit(lanes) * words;
            for (size_t w = 0; w < words; w++)
                n->reach[n->children * words + w] = mask[w] & more[w] & after[w];
            n->lanes[n->children] = (uint8_t)lanes;
            n->child[n->children++] = p;
        }
        syn_deepen(lane, SYN_MAXIMA_LANES - 1, mask, words);
        for (size_t w = 0; w < words && units->lack > 0 && units->is_new; w++)
            units->group[w] |= mask[w];
    }
}

#if SYN_COUNTS
/* The same for masks of one word, with all lanes in a register. */
static inline void syn_look_back_word(const syn_maxima_search *s, syn_maxima_node *n,
                                      syn_coming_units *units, uint64_t *lane)
{
    __m512i need = _mm512_loadu_si512(n->need), lanes = _mm512_maskz_set1_epi64(1, -1);
    uint32_t children = 0;
    for (uint32_t p = n->listed; p-- > 0;) {
        uint64_t mask = n->mask[p], reach = mask;
        if (units->lack > 0) {
            syn_next_unit(s, units, s->root.unit[n->place[p]], 1);
            reach &= units->windows[units->lack - (uint32_t)units->is_new];
            *units->group |= units->is_new ? mask : 0;
        }
        /* The same for masks of one word, with all lanes in a register. */
        __m512i both = _mm512_and_si512(_mm512_set1_epi64((long long)reach), lanes);
        unsigned alive = _mm512_cmpge_epu64_mask(_mm512_popcnt_epi64(both), need);
        if (alive) {
            _mm512_storeu_si512(lane, lanes);
            n->reach[children] = reach & lane[syn_low_bit(alive)];
            n->lanes[children] = (uint8_t)alive;
            n->child[children++] = p;
        }
        __m512i before = _mm512_alignr_epi64(lanes, lanes, 7);  /* lane 0 stays full */
        lanes = _mm512_or_si512(
            lanes,
            _mm512_maskz_and_epi64(0xfe, before, _mm512_set1_epi64((long long)mask)));
    }
    n->children = children;
}
#else
static inline void syn_look_back_word(const syn_maxima_search *s, syn_maxima_node *n,
                                      syn_coming_units *units, uint64_t *lane)
{
    syn_look_back(s, n, units, 1, lane);
}
#endif

typedef syn_maxima_search search;
typedef syn_maxima_node node;

/* ---- what is still worth finding ---- */

static uint32_t lacking_units(const search *s, const node *n)
{
    uint32_t least = s->options->min_units;
    return least > n->units ? least - n->units : 0;
}

/* Reads what sets below a node need by now. Those without enough units cannot count. */
static void read_need(const search *s, node *n)
{
    const syn_maxima *m = s->maxima;
    const uint32_t *need = m->need + (s->by_duration ? s->duration * m->stride : 0);
    uint32_t lack = lacking_units(s, n);
    for (uint32_t j = 0; j < SYN_MAXIMA_LANES; j++) {
        uint32_t size = n->size + 1 + j;
        if (j == SYN_MAXIMA_LANES - 1 && size <= m->sizes)
            size = m->sizes;
        else if (j + 1 < lack || size > m->sizes)
            size = 0;  /* needs more than there can be */
        n->need[j] = __atomic_load_n(need + size, __ATOMIC_RELAXED);
    }
    n->seen = s->raised;
}

/* The lanes in which so many windows are enough. */
static inline unsigned lanes_for(const node *n, uint32_t windows)
{
#if SYN_COUNTS
    return _mm512_cmple_epu64_mask(_mm512_loadu_si512(n->need),
                                   _mm512_set1_epi64(windows));
#else
    unsigned lanes = 0;
    for (unsigned j = 0; j < SYN_MAXIMA_LANES; j++)
        lanes |= (unsigned)(windows >= n->need[j]) << j;
    return lanes;
#endif
}

static unsigned highest(unsigned lanes)
{
    unsigned j = 0;
    while (lanes >>= 1)
        j++;
    return j;
}

/* ---- looking ahead ---- */

/* Fills the children of the deepest node. */
static syn_status maxima_look_ahead(search *s, node *n)
{
    size_t words = n->words, listed = n->listed;
    SYN_ARENA(&s->arena, n->child, listed);
    SYN_ARENA(&s->arena, n->lanes, listed);
    SYN_ARENA(&s->arena, n->reach, listed * words);
    read_need(s, n);
    syn_coming_units units = {.lack = lacking_units(s, n), .unit = UINT32_MAX};
    if (units.lack > SYN_MAXIMA_LANES)
        units.lack = SYN_MAXIMA_LANES;
    uint64_t one_word[2 * SYN_MAXIMA_LANES + 2], *lane = one_word;
    if (words > 1)
        SYN_ARENA(&s->arena, lane, (2 * SYN_MAXIMA_LANES + 2) * words);
    memset(lane, 0, (2 * SYN_MAXIMA_LANES + 2) * words * sizeof *lane);
    units.windows = lane + SYN_MAXIMA_LANES * words;
    units.group = units.windows + (SYN_MAXIMA_LANES + 1) * words;
    memset(lane, 0xff, words * sizeof *lane);
    memset(units.windows, 0xff, words * sizeof *lane);
    if (words == 1)
        syn_look_back_word(s, n, &units, lane);
    else
        syn_look_back(s, n, &units, words, lane);
    return SYN_OK;
}

/* ---- closedness ---- */

/* The items that all the root's windows index[n] hold, in s->all: the closure, without
   the root's own. */
static void close_set(search *s, const uint32_t *index, uint32_t n)
{
    const node *root = s->node;
    memset(s->all, 0xff, root->stride * sizeof *s->all);
    for (uint32_t i = 0; i < n; i++)
        for (size_t w = 0; w < root->stride; w++)
            s->all[w] &= root->row[index[i] * root->stride + w];
}

/* What becomes of a set of `size` items, the last of them the root's item `place`, that
   the windows index[n] hold. */
static syn_maxima_verdict judge(search *s, uint32_t size, uint32_t place,
                                const uint32_t *index, uint32_t n)
{
    const syn_maxima_root *root = &s->root;
    size_t stride = s->node->stride;
    close_set(s, index, n);
    uint32_t inside = 1, beyond = 0, later = 0;
    for (size_t w = 0; w < stride; w++) {
        uint64_t within = root->within[s->duration * stride + w];
        inside += syn_bits(s->all[w] & within);
        beyond += syn_bits(s->all[w] & ~within);
        uint64_t after = size > 2 ? syn_after(place, w) : ~(uint64_t)0;
        later += syn_bits(s->all[w] & root->allowed[w] & after);
    }
    return syn_maxima_judge(s, size, inside, beyond, later);
}

/* Raises what the set of child `at`, of `n` windows, can raise; their bits are index[n],
   which changes. */
static syn_maxima_verdict try_to_raise(search *s, const node *parent, uint32_t at,
                                       uint32_t n, uint32_t *index)
{
    uint32_t size = parent->size + 1;
    syn_maxima_verdict verdict = SYN_MAXIMA_COUNTS;
    if (s->checks) {
        for (uint32_t i = 0; i < n && parent->window; i++)
            index[i] = parent->window[index[i]];
        verdict = judge(s, size, parent->place[at], index, n);
    }
    if (verdict == SYN_MAXIMA_COUNTS) {
        syn_maxima_raise(s->maxima, s->by_duration ? s->duration : 0, size, n);
        s->raised++;
    }
    return verdict;
}

/* ---- children ---- */

/* What is known of a child before its list is made. */
typedef struct prospect {
    uint32_t at;        /* where it stands in the list */
    uint32_t windows;
    uint32_t more;      /* items it must get at least */
    uint32_t least;     /* windows they must share with it */
    uint32_t units;     /* different ones in its set */
} prospect;

/* Whether child `c` of a node, of the windows `set`, may lead to something once its own
   set has been seen to; `lanes` are those it had when the node was made. */
static int has_prospects(search *s, node *n, unsigned lanes, const uint64_t *set,
                         prospect *c)
{
    c->windows = syn_set_bits(set, n->words);
    if (n->seen != s->raised)
        read_need(s, n);
    lanes &= lanes_for(n, c->windows);
    c->units = n->units;
    if (c->units < s->options->min_units)
        c->units += !syn_has_unit(s, s->root.unit[n->place[c->at]]);
    if ((lanes & 1) && c->units >= s->options->min_units) {
        uint32_t *index = s->index;
        if (s->checks)
            syn_index_bits(set, n->words, index);
        if (try_to_raise(s, n, c->at, c->windows, index) == SYN_MAXIMA_LEADS_NOWHERE)
            return 0;
        read_need(s, n);
        lanes &= lanes_for(n, c->windows);
    }
    lanes &= ~1u;
    if (!lanes)
        return 0;
    c->more = syn_low_bit(lanes);
    c->least = (uint32_t)n->need[highest(lanes)];
    return 1;
}

/* Makes the node of a child, with room for `room` items; its masks have a word to
   spare. */
static syn_status push_child(search *s, const prospect *c, uint32_t room, size_t words)
{
    SYN_TRY(syn_maxima_push(s));
    node *out = s->node + s->depth - 1;
    const node *parent = out - 1;
    out->unit = s->root.unit[parent->place[c->at]];
    out->size = parent->size + 1;
    out->units = c->units;
    out->words = words;
    out->listed = room;
    SYN_ARENA(&s->arena, out->place, room);
    SYN_ARENA(&s->arena, out->mask, room * words + 1);
    return SYN_OK;
}

/* Looks ahead from a new node, and leaves it again if there is nothing. */
static syn_status enter(search *s, node *out)
{
    syn_status status = maxima_look_ahead(s, out);
    s->work += out->listed * out->words * SYN_MAXIMA_LANES;
    if (status == SYN_OK && out->children == 0)
        syn_maxima_pop(s);
    return status;
}

static syn_status maxima_narrow_child(search *s, node *n, const prospect *c, uint64_t set)
{
    size_t rest = n->listed - c->at - 1;
    s->work += rest;
    if (rest < c->more)
        return SYN_OK;
    SYN_TRY(push_child(s, c, (uint32_t)rest, 1));
    node *out = s->node + s->depth - 1;
    n = out - 1;
    syn_narrow_list from = {n->mask + c->at + 1, n->place + c->at + 1};
    syn_narrow_list to = {out->mask, out->place};
    out->listed = (uint32_t)syn_keep(from, rest, set, c->least, to, NULL, NULL);
    out->window = n->window;
    if (out->listed >= c->more)
        return enter(s, out);
    syn_maxima_pop(s);
    return SYN_OK;
}

/* ---- children of nodes with more windows ---- */

static syn_status maxima_turn(search *s, node *n)
{
    n->stride = syn_row_words(n->listed);
    SYN_ARENA(&s->arena, n->row, n->words * 64 * n->stride);
    syn_turn(n->mask, n->listed, n->words, n->row, n->stride);
    return SYN_OK;
}

/* Leaves of s->frequent, from word `begin` on, the items that can be added to the child
   at `at`; returns how many. */
static uint32_t keep_allowed(search *s, const node *n, uint32_t at, size_t begin)
{
    uint32_t kept = 0;
    const uint64_t *allowed = s->depth == 1 ? s->root.allowed : NULL;
    for (size_t w = begin; w < n->stride; w++) {
        s->frequent[w] &= allowed ? allowed[w] : syn_after(at, w);
        kept += syn_bits(s->frequent[w]);
    }
    return kept;
}

/* Lists the items of s->frequent from word `begin` on, with masks of the windows
   `set`. */
static void maxima_gather(const search *s, const node *parent, const uint64_t *set,
                          size_t begin, node *out)
{
    syn_set_word part[64];
    uint32_t n = 0, words = (uint32_t)parent->words;
    uint32_t parts = out->words == 1 ? syn_split_set(set, words, part) : 0;
    for (size_t w = begin; w < parent->stride; w++)
        for (uint64_t left = s->frequent[w]; left; left &= left - 1, n++) {
            size_t i = w * 64 + syn_low_bit(left);
            const uint64_t *mask = parent->mask + i * words;
            out->place[n] = parent->place[i];
            if (out->words == 1)
                out->mask[n] = syn_extract_parts(mask, part, parts);
            else
                syn_compress(mask, set, words, out->mask + n * out->words);
        }
}

static syn_status maxima_wide_child(search *s, node *n, const prospect *c,
                                    const uint64_t *set)
{
    if (n->listed - c->at - 1 < c->more && s->depth > 1)
        return SYN_OK;
    if (!n->row)
        SYN_TRY(maxima_turn(s, n));
    size_t begin = s->depth == 1 && s->by_duration
                       ? 0
                       : (c->at + 1) / (64 * SYN_ROW_WORDS) * SYN_ROW_WORDS;
    syn_index_bits(set, n->words, s->index);
    syn_count_rows_of_bits(n->row + begin, n->stride, n->stride - begin, s->index,
                           c->windows, c->least, s->frequent + begin, s->all + begin);
    s->work += c->windows * (n->stride - begin);
    uint32_t listed = keep_allowed(s, n, c->at, begin);
    if (listed < c->more)
        return SYN_OK;
    SYN_TRY(push_child(s, c, listed, (c->windows + 63) / 64));
    node *out = s->node + s->depth - 1;
    n = out - 1;
    maxima_gather(s, n, set, begin, out);
    if (s->checks) {
        SYN_ARENA(&s->arena, out->window, c->windows);
        for (uint32_t i = 0; i < c->windows; i++)
            out->window[i] = n->window ? n->window[s->index[i]] : s->index[i];
    }
    return enter(s, out);
}

/* ---- the step ---- */

/* The items that may follow item `at` of the root: those after it, or in sets of its
   duration, earlier ones too. */
static void allow(search *s, const node *n, uint32_t at)
{
    syn_maxima_root *root = &s->root;
    uint32_t lag = root->lag[at];
    const uint64_t *upto = root->within + (s->by_duration ? lag * n->stride : 0);
    const uint64_t *below = s->by_duration && lag > 0 ? upto - n->stride : NULL;
    for (size_t w = 0; w < n->stride; w++)
        root->allowed[w] = root->open[w] & ((upto[w] & syn_after(at, w)) |
                                            (below ? below[w] : 0));
}

static syn_status root_child(search *s, node *n, uint32_t k)
{
    uint32_t at = n->listed - 1 - k;
    if (!(s->root.open[at / 64] >> at % 64 & 1))
        return SYN_OK;
    if (s->by_duration)
        s->duration = s->root.lag[at];
    read_need(s, n);  /* other threads may have raised it */
    prospect c = {.at = at};
    const uint64_t *set = n->mask + at * n->words;
    allow(s, n, at);
    s->work += n->words + n->stride;
    if (!has_prospects(s, n, (1u << SYN_MAXIMA_LANES) - 1, set, &c))
        return SYN_OK;
    return maxima_wide_child(s, n, &c, set);
}

/* Goes through children until one of them becomes the deepest node. */
syn_status SYN_KIND_NAME(syn_maxima_child)(search *s)
{
    size_t depth = s->depth;
    node *n = s->node + depth - 1;
    if (depth == 1)
        return root_child(s, n, n->next++);
    syn_status status = SYN_OK;
    while (status == SYN_OK && s->depth == depth && n->next < n->children &&
           s->work < SYN_MAXIMA_WORK) {
        uint32_t k = n->next++;
        prospect c = {.at = n->child[k]};
        const uint64_t *set = n->reach + k * n->words;
        s->work++;
        if (!has_prospects(s, n, n->lanes[k], set, &c))
            continue;
        status = n->words == 1 ? maxima_narrow_child(s, n, &c, *set)
                               : maxima_wide_child(s, n, &c, set);
        n = s->node + depth - 1;  /* the stack may have moved */
    }
    return status;
}
