/* The counter for given episodes: how often each occurs in a recording, or in each of
   many surrogates. Two others count what the level-wise search asks for: the window
   engine, which stops where an episode cannot become frequent (window.h), and the
   published state machines, which are there to be compared with (state.c). */
#ifndef SYN_EPISODES_GIVEN_H
#define SYN_EPISODES_GIVEN_H

#include "core/base/arena.h"
#include "core/base/arrays.h"
#include "core/episodes/ends.h"
#include "core/episodes/occurrences.h"

/* A node is a prefix of an episode. Nodes are numbered so that a node comes before its
   children, and all below a node lie side by side. The children of a node are sorted by
   interval, then unit. An interval is two bounds: a lag is more than bound[open] and at
   most bound[shut]. */
typedef struct syn_trie {
    uint32_t nodes, roots, bounds;
    uint32_t depth;       /* events of the longest episode */
    int64_t *bound;       /* [bounds] ticks, increasing */
    uint32_t *unit;       /* [nodes] last unit */
    uint32_t *level;      /* [nodes] events but one */
    uint32_t *open;       /* [nodes] bounds of the last lag; of roots 0 */
    uint32_t *shut;       /* [nodes] */
    uint32_t *after;      /* [nodes] the first node that is not below it */
    uint32_t *child;      /* [nodes + 1] where the children of a node begin in `of` */
    uint32_t *of;         /* [nodes - roots] nodes by parent */
    uint32_t *root;       /* [roots] increasing */
    uint32_t *node;       /* [episodes] the node of each episode */
    syn_arrays memory;
} syn_trie;

/* The tree of `n` episodes, in any order, repeats allowed. The caller frees `out` with
   syn_trie_free(), also after an error. SYN_TOO_LARGE from 2^31 - 1 nodes. */
syn_status syn_trie_make(const syn_episode *episode, size_t n, syn_trie *out);

void syn_trie_free(syn_trie *trie);

/* What episodes are counted in: events numbered in time order, of which one unit has at
   most one on a tick. */
typedef struct syn_line {
    uint32_t events, units;
    int64_t *tick;      /* [events] non-decreasing */
    uint32_t *unit;     /* [events] */
    uint32_t *row;      /* [events] the event's place in `by_unit` */
    uint32_t *by_unit;  /* [rows] event numbers, unit after unit, increasing */
    uint32_t *first;    /* [units] where a unit's events begin in `by_unit` */
    uint32_t *last;     /* [units] and end */
    uint32_t **beyond;  /* [bounds][rows] the first event more than the bound later */
} syn_line;

/* For each node of a tree that is the first child of its parent after an interval:
   whether these children are found one by one, each through the events of its own unit,
   which takes nothing of `beyond`; else together, through all events of the windows, and
   `*together` becomes 1. `rate` is that of all events, in events per tick. The caller
   frees; NULL without memory. */
uint8_t *syn_choose_ways(const syn_trie *trie, uint32_t units, double rate,
                         int *together);

/* One worker's walk through the tree. */
typedef struct syn_walk {
    const syn_trie *trie;
    const uint8_t *one_by_one;  /* of syn_choose_ways() */
    const syn_line *line;
    uint32_t *count;       /* [nodes] the caller's, zero before the walk */
    syn_end_list *list;    /* [nodes] of those with children, while they are needed */
    syn_end *found;        /* [rows + 1] ends by unit; the last place is for all others */
    uint32_t rows;
    uint32_t *cursor;      /* [units] where the next end of a unit goes */
    uint32_t *step;        /* [units] 1 for units whose ends are wanted */
    syn_arena lists;
    syn_arena_mark *mark;  /* [depth + 1] what lists of nodes above a level take */
} syn_walk;

/* Bytes that a walk takes besides its lists. */
size_t syn_walk_bytes(const syn_trie *trie, uint32_t units, uint32_t rows);

/* Makes room for walks through a line of at most so many rows. Lists are taken from
   `budget`. The caller frees, also after an error. */
syn_status syn_walk_open(syn_walk *walk, const syn_trie *trie, const uint8_t *one_by_one,
                         const syn_line *line, uint32_t rows, syn_budget *budget);
void syn_walk_close(syn_walk *walk);

/* Counts the children of `*node`, and a root itself; moves `*node` on to the next node.
   Begin with a root, whose list replaces those of the root before. */
syn_status syn_walk_step(syn_walk *walk, uint32_t *node);

/* count[i] = the non-overlapped occurrences of episode[i]. SYN_TOO_LARGE when the
   episodes have 2^31 - 1 events. */
syn_status syn_count_episodes(const syn_recording *recording, const syn_episode *episode,
                              size_t n, int threads, const syn_watch *watch,
                              uint32_t *count);

#endif
