/* The search for nearest neighbours, a prediction row at a time. */
#ifndef SYN_EDM_SEARCH_H
#define SYN_EDM_SEARCH_H

#include "core/edm/edm.h"
#include "core/edm/nearest.h"

/* Gets the neighbours of prediction row number `i` in their order. `near` is the body's
   to change, and gone after it. Called by several threads. */
typedef void syn_near_body(void *context, uint32_t i, syn_near *near, uint32_t found);

/* A library that is ready to be searched. */
typedef struct syn_search syn_search;

/* Gathers `library`. `points` must outlive `out`, which the caller frees with
   syn_search_free(), also after an error. */
syn_status syn_search_make(const syn_points *points, const syn_rows *library,
                           const syn_neighbour_options *options, syn_search **out);

/* Runs body(context, i, ...) for each row of `prediction`, as syn_find_neighbours() does
   its work; never holds more than a few rows' neighbours. */
syn_status syn_search_rows(syn_search *search, const syn_rows *prediction,
                           const syn_watch *watch, syn_near_body *body, void *context);

void syn_search_free(syn_search *search);

/* All three one after the other. */
syn_status syn_each_neighbourhood(const syn_points *points, const syn_rows *library,
                                  const syn_rows *prediction,
                                  const syn_neighbour_options *options,
                                  const syn_watch *watch, syn_near_body *body,
                                  void *context);

/* Rows between a library row and a prediction row. */
static inline uint32_t syn_rows_apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* The coordinates of `row`. */
static inline void syn_point_at(const syn_points *points, uint32_t row, uint32_t dims,
                                double *point)
{
    for (uint32_t d = 0; d < dims; d++)
        point[d] = points->coordinate[(size_t)d * points->rows + row];
}

#endif
