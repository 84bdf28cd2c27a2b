/* How many more items the windows of a node hold, lane by lane: lane j is the windows
   with at least j of the items that come later. Files that are compiled for each kind of
   processor include it, as they do core/base/masks.h. */
#ifndef SYN_PATTERNS_SPECTRUM_LANES_H
#define SYN_PATTERNS_SPECTRUM_LANES_H

#include "core/base/masks.h"
#include "core/patterns/spectrum/node.h"

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

#if SYN_COUNTS
/* The same for masks of one word, with all lanes in a register. */
static inline unsigned syn_word_lanes_alive(uint64_t mask, __m512i lanes, __m512i need)
{
    __m512i both = _mm512_and_si512(_mm512_set1_epi64((long long)mask), lanes);
    return _mm512_cmpge_epu64_mask(_mm512_popcnt_epi64(both), need);
}

static inline __m512i syn_word_lanes_deepen(uint64_t mask, __m512i lanes)
{
    __m512i before = _mm512_alignr_epi64(lanes, lanes, 7);  /* lane 0 stays full */
    return _mm512_or_si512(
        lanes, _mm512_maskz_and_epi64(0xfe, before,
                                      _mm512_set1_epi64((long long)mask)));
}
#endif

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
static inline __attribute__((always_inline)) void
syn_look_back(const syn_maxima_search *s, syn_maxima_node *n, syn_coming_units *units,
              size_t words, uint64_t *lane)
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
        unsigned alive = syn_word_lanes_alive(reach, lanes, need);
        if (alive) {
            _mm512_storeu_si512(lane, lanes);
            n->reach[children] = reach & lane[syn_low_bit(alive)];
            n->lanes[children] = (uint8_t)alive;
            n->child[children++] = p;
        }
        lanes = syn_word_lanes_deepen(mask, lanes);
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

#endif
