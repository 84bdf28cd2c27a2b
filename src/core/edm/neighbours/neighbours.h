/* The search for the nearest neighbours of points. */
#ifndef SYN_EDM_NEIGHBOURS_NEIGHBOURS_H
#define SYN_EDM_NEIGHBOURS_NEIGHBOURS_H

#include "core/edm/model/points.h"
#include "core/edm/neighbours/nearest.h"

typedef struct syn_neighbour_options {
    uint32_t k;          /* neighbours wanted, at least 1 */
    uint32_t exclusion;  /* library rows at most this far from the prediction's are left
                            out; with 0 still the row itself */
    int threads;
    int vector_bits;     /* 0: the widest registers this processor has; 256 or 512 for no
                            wider ones than that, 1 for portable C. All give the same. */
} syn_neighbour_options;

/* The nearest library rows of each prediction row, ordered by squared distance (the terms
   added in the order of the coordinates), then as they follow the prediction row in a
   fixed shuffle (core/base/rank.h). */
typedef struct syn_neighbours {
    uint32_t n, k;
    uint32_t *found;     /* [n] how many there are, fewer than k in a small library */
    uint32_t *row;       /* [n][k] */
    double *distance;    /* [n][k] Euclidean */
} syn_neighbours;

/* Searches blocks of 64 library rows that lie near each other, and passes over a block
   when the box around it is farther than the k-th neighbour so far. That never loses to a
   search without boxes, so there is no other: with 20,000 rows of noisy series it takes a
   tenth of the time in one coordinate, a fifth in five, and 90 % in twenty. Rows whose
   squared distance is beyond the range of a double are not found.
   The caller frees `out` with syn_neighbours_free(), also after an error. */
syn_status syn_find_neighbours(const syn_points *points, const syn_rows *library,
                               const syn_rows *prediction,
                               const syn_neighbour_options *options,
                               const syn_watch *watch, syn_neighbours *out);

void syn_neighbours_free(syn_neighbours *neighbours);

/* A library that is ready to be searched. */
typedef struct syn_search syn_search;

/* Gathers `library` for a search in the first `step` * E coordinates for the nearest
   options->k + E - 1 rows, for all E from 1 to dims / step at once; in one number of
   dimensions, where `step` is that. `points` must outlive `out`, which the caller frees
   with syn_search_free(), also after an error. */
syn_status syn_search_make(const syn_points *points, const syn_reach *library,
                           uint32_t step, const syn_neighbour_options *options,
                           syn_search **out);

/* Gets the neighbours of prediction row number `i` in their order, for each E that the
   row reaches; `e` is E - 1. `near` is the body's to change, but for the rows, and gone
   after it. Called by several threads, each with a number of its own, below those that
   were asked for. */
typedef void syn_near_body(void *context, int worker, uint32_t i, uint32_t e,
                           syn_near *near, uint32_t found);

/* Runs `body` for each row of `prediction`; never holds more than a few rows'
   neighbours. */
syn_status syn_search_rows(syn_search *search, const syn_reach *prediction,
                           const syn_watch *watch, syn_near_body *body, void *context);

void syn_search_free(syn_search *search);

/* All three one after the other. */
syn_status syn_each_neighbourhood(const syn_points *points, const syn_reach *library,
                                  const syn_reach *prediction, uint32_t step,
                                  const syn_neighbour_options *options,
                                  const syn_watch *watch, syn_near_body *body,
                                  void *context);

#endif
