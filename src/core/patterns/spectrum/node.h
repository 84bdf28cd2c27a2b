/* The interface between the search for maxima and its inner loops. */
#ifndef SYN_PATTERNS_SPECTRUM_NODE_H
#define SYN_PATTERNS_SPECTRUM_NODE_H

#include "core/base/arena.h"
#include "core/patterns/spectrum/maxima.h"

/* All zero, except for `budget`, is an empty tape. Only units in enough bins are on it,
   numbered by rank: those in fewest bins first. Gaps as long as a window are cut to that.
   Item lag * 64 * words + unit of the window that opens at bin b is bit `unit` of bin
   b + lag. */
typedef struct syn_tape {
    uint32_t units, window;
    size_t words;        /* of a bin */
    uint64_t *bits;      /* [bins][words], and a window and a block more, empty */
    uint32_t *first;     /* [units + 1] where a unit's bins begin in `at` */
    uint32_t *at;        /* bins in which a unit fires, increasing */
    uint32_t *rank;      /* [units of the raster] */
    size_t rooms[4];     /* words of bits, first, at and rank */
    syn_budget *budget;  /* what they are taken from */
} syn_tape;

enum { SYN_MAXIMA_WORK = 1 << 15 };  /* words between two looks at the clock */

/* A set of items, and the items that may still be added: in the order of the units, then
   of lags. Masks are bits of windows. */
typedef struct syn_maxima_node {
    uint32_t size, units;  /* items of the set, different units */
    uint32_t unit;         /* that of the item added last */
    uint32_t listed;
    size_t words;          /* of a mask, at least 1 */
    uint32_t *place;       /* [listed] which of the root's items */
    uint64_t *mask;        /* [listed][words] */
    uint64_t *row;         /* [words * 64][stride] the masks turned, or NULL */
    size_t stride;
    uint32_t *window;      /* which of the root's windows a bit stands for */
    uint32_t children, next;
    uint32_t *child;       /* [children] where in the list they are, last first; the
                              root has all */
    uint8_t *lanes;        /* [children] sizes they may reach: bit j, j items more */
    uint64_t *reach;       /* [children][words] their windows that can */
    uint64_t need[SYN_MAXIMA_LANES];  /* what sets of j + 1 items more must have; of 8 or
                                         more in the last */
    uint64_t seen;         /* s->raised when `need` was read */
    syn_arena_mark mark;   /* the arena before this node */
} syn_maxima_node;

/* The items of the root under way, without its own. */
typedef struct syn_maxima_root {
    uint32_t *unit, *lag;   /* [listed in the root] */
    uint64_t *within;       /* [window][stride] items of at most that lag */
    uint64_t *open;         /* [stride] items that can be added */
    uint64_t *allowed;      /* [stride] those after the pair under way */
} syn_maxima_root;

/* Looks at the next child of the deepest node, which has one: it becomes the deepest if
   there is something to find below it. */
typedef syn_status syn_maxima_child(syn_maxima_search *search);

struct syn_maxima_search {
    const syn_pattern_options *options;
    int by_duration;
    int strict;             /* a set must be closed to count, for max_spikes' sake */
    int checks;             /* whether closedness matters at all */
    syn_maxima_child *child;
    syn_budget *budget;
    syn_arena arena;
    syn_tape tape;
    syn_maxima *maxima;
    size_t part, parts;
    uint32_t left;          /* roots not yet made; the next one is left - 1 */
    syn_maxima_root root;
    uint32_t duration;      /* of the sets under way */
    syn_maxima_node *node;  /* [room] the nodes from the root down */
    size_t depth, room;
    uint32_t *index;        /* [windows] */
    uint64_t *frequent, *all;  /* [a window's words on the tape, or the root's stride] */
    uint64_t raised;        /* how often a maximum was */
    size_t work;            /* words gone through since the last look at the clock */
};

/* Compiled once for each kind of processor; all give the same. */
syn_maxima_child syn_maxima_child_any, syn_maxima_child_256, syn_maxima_child_512;

/* The bits of word `w` that come after bit `at` of all. */
static inline uint64_t syn_after(uint32_t at, size_t w)
{
    size_t word = at / 64;
    return w > word ? ~(uint64_t)0 : w < word ? 0 : ~(uint64_t)1 << at % 64;
}

typedef enum syn_maxima_verdict {
    SYN_MAXIMA_COUNTS,
    SYN_MAXIMA_DOES_NOT,
    SYN_MAXIMA_LEADS_NOWHERE  /* nor does any larger set that is still to come */
} syn_maxima_verdict;

/* What becomes of a set of `size` items whose closure has `inside` items at lags within
   its duration, and `beyond` others; of all these, `later` may still be added. */
static inline syn_maxima_verdict syn_maxima_judge(const syn_maxima_search *s,
                                                  uint32_t size, uint32_t inside,
                                                  uint32_t beyond, uint32_t later)
{
    uint32_t most = s->options->max_spikes;
    if (s->strict) {
        if (inside + beyond > most || inside + beyond - later > size)
            return SYN_MAXIMA_LEADS_NOWHERE;
        return inside + beyond == size ? SYN_MAXIMA_COUNTS : SYN_MAXIMA_DOES_NOT;
    }
    /* Without items beyond, a larger set of the same duration has the same windows. */
    if (beyond == 0 || inside >= most)
        return SYN_MAXIMA_COUNTS;
    return most == UINT32_MAX ? SYN_MAXIMA_LEADS_NOWHERE : SYN_MAXIMA_DOES_NOT;
}

/* Adds a node to the stack, empty, with the arena as it is now. */
syn_status syn_maxima_push(syn_maxima_search *search);

/* Leaves the deepest node again. */
void syn_maxima_pop(syn_maxima_search *search);

#endif
