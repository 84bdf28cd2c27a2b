/* The valid ends of an episode, and the pass over them that finds what extends it.

   An event is a valid end of an episode when an occurrence of the episode ends there.
   For counting it is enough to know each valid end and the latest start that leads to
   it. Latest starts never decrease from one end to the next, so that of all ends whose
   window holds a later event, only the newest one matters for this event. Each end
   therefore owns a range of later events, and one pass over the ends finds all episodes
   that are longer by one event (vignettes/definitions.Rmd has the proof). */
#ifndef SYN_EPISODES_ENDS_H
#define SYN_EPISODES_ENDS_H

#include <stddef.h>
#include <stdint.h>

/* A valid end of an episode, as its row in `by_unit`: the rows of one unit lie side by
   side. The latest possible start is the number of the first event on its tick, so that
   `start > event[row]` compares ticks. */
typedef struct syn_end {
    uint32_t row, start;
} syn_end;

typedef struct syn_end_list {
    const syn_end *end;
    uint32_t n;
    uint32_t span;  /* most events from a start to its end; the window engine's alone */
} syn_end_list;

/* The events of a recording, and the window of one interval after each of them: the
   events open[row] <= j < shut[row] follow the event of the row within the interval. */
typedef struct syn_lag_window {
    const uint32_t *unit, *row;   /* [events] */
    const uint32_t *open, *shut;  /* [rows] */
} syn_lag_window;

/* The events *a <= j < *b that end `i` of a list owns. */
static inline void syn_owned_range(const syn_lag_window *window, const syn_end_list *list,
                                   uint32_t i, uint32_t *a, uint32_t *b)
{
    uint32_t row = list->end[i].row;
    *a = window->open[row];
    *b = window->shut[row];
    if (i + 1 < list->n && window->open[list->end[i + 1].row] < *b)
        *b = window->open[list->end[i + 1].row];
}

/* Writes the ends of all episodes that extend the list by one event, sorted by the unit
   of this event: those of unit u from found[cursor[u]] on. step[u] is 1 for units whose
   ends are wanted. It is 0 for others, whose ends overwrite each other in one place,
   which costs less than asking. */
static inline void syn_find_ends(syn_lag_window window, syn_end_list list,
                                 const uint32_t *step, uint32_t *cursor, syn_end *found)
{
    const uint32_t *unit = window.unit, *row = window.row;
    for (uint32_t i = 0; i < list.n; i++) {
        uint32_t a, b, start = list.end[i].start;
        syn_owned_range(&window, &list, i, &a, &b);
        for (uint32_t j = a; j < b; j++) {
            uint32_t u = unit[j], place = cursor[u];
            cursor[u] = place + step[u];
            found[place].row = row[j];
            found[place].start = start;
        }
    }
}

#endif
