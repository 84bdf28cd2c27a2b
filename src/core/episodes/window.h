/* The window engine, the fastest way to mine on a processor. An episode is kept as the
   list of its valid ends (ends.h), and one pass over this list counts all units that may
   follow the episode, from the next-occurrence table (table.h, rows.h) where that pays.
   Unlike the counter for given episodes (given.h), a pass stops as soon as none of its
   counts can reach min_count. window.c keeps the lists, window_count.c goes over them. */
#ifndef SYN_EPISODES_WINDOW_H
#define SYN_EPISODES_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/arena.h"
#include "core/episodes/engine.h"
#include "core/episodes/rows.h"
#include "core/episodes/table.h"

/* An episode on the way from the stored level to the parents. */
typedef struct syn_window_stop {
    size_t level;
    uint32_t node;
    const syn_end_list *list;
    syn_end_list *lists;  /* of its children; NULL for a parent */
    uint32_t extended;    /* children from this one on have no lists yet */
    size_t next;          /* its next child to go to; of a parent, its next candidate */
    syn_arena_mark mark;  /* before the lists */
} syn_window_stop;

typedef struct syn_window_worker {
    syn_end *end;       /* [events] ends found, by unit as in recording->by_unit */
    uint32_t *cursor;   /* [units] where the next end of a unit goes */
    uint32_t *step;     /* [units] 1 for units whose ends are wanted */
    uint32_t *busy;     /* [units] first event free for a unit */
    int32_t *total;     /* counts of all lanes of a parent, or of all units */
    syn_arena lists;    /* of the stored level */
    syn_arena stack;    /* of the levels between the stored one and the parents, or of
                           the next level's lists while they are made */
    syn_window_stop *way;  /* [depth] of [room]; empty between two items */
    size_t depth, room;
    uint32_t grown;     /* while lists are made: the next child of the item; 0 at first */
    syn_row_counter rows;
} syn_window_worker;

typedef struct syn_window_engine {
    syn_miner *miner;
    syn_windows windows;
    syn_next_table table;      /* empty when windows are visited instead */
    syn_count_rows *count_rows;
    uint32_t *lane;            /* [units] place among the frequent units */
    syn_window_worker *workers;  /* [miner->workers] */
    size_t stored;             /* level whose lists are in memory */
    syn_end_list *list;        /* [level[stored].n]; n = 0 for those never extended */
    uint32_t *order;           /* [level[stored].n] episodes by last unit, whose rows of
                                  the table then stay in the cache */
    uint8_t **live;            /* [n_live][n] whether a candidate extends a descendant;
                                  NULL below the stored level */
    size_t n_live;
    size_t counted;            /* bytes of windows and table that the budget counts */
    int full;                  /* whether lists of a further level did not fit */
    syn_end_list *growing;     /* the next level's lists while they are made */
} syn_window_engine;

/* Makes the lists of the live children of `node` of `level` from child `*next` on, as
   far as they have one interval, and moves `*next` on; lists[0] is the first child's. */
syn_status syn_window_extend(const syn_window_engine *e, syn_window_worker *w,
                             size_t level, uint32_t node, const syn_end_list *list,
                             syn_arena *arena, syn_end_list *lists, uint32_t *next);

/* Counts what extends the parents below an episode of the stored level: the number
   `item` of the engine's order. */
syn_status syn_window_count(void *self, size_t item, int worker);

#endif
