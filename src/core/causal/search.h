/* Neighbours in one library for all dimensions at once, and what targets they predict.
   The inner loops are compiled once for each kind of processor. */
#ifndef SYN_CAUSAL_SEARCH_H
#define SYN_CAUSAL_SEARCH_H

#include <math.h>

#include "core/base/kinds.h"
#include "core/causal/map.h"

enum {
    SYN_MAP_POOL = 512,   /* candidates for neighbours of one row */
    SYN_MAP_STRIDE = 528, /* floats from a coordinate of the pool to the next: lines of
                             the cache that do not evict each other */
    SYN_MAP_BESIDE = 64,  /* columns that a search may look at after the last */
    SYN_MAP_NEAREST = 32  /* at least the neighbours of a row */
};

#define SYN_MAP_NOWHERE UINT32_MAX

/* A neighbour: the step of its target, and its share of the prediction. */
typedef struct syn_map_neighbour {
    uint32_t target;
    float weight;
} syn_map_neighbour;

/* The neighbours of `rows` rows; of a row with fewer than E + 1, the others have no
   weight, and with none, their target is SYN_MAP_NOWHERE. */
typedef struct syn_map_table {
    uint32_t rows, room;
    uint32_t *observed;                         /* [room] the step of the row's target */
    syn_map_neighbour *of[SYN_MAP_DIMS];        /* [room][E + 1] for E - 1, NULL where
                                                   nobody wants it */
} syn_map_table;

/* Room for the neighbours of `room` rows in each E whose wanted[E - 1] is 1. */
syn_status syn_map_table_make(const unsigned char *wanted, uint32_t room,
                              syn_arrays *memory, syn_map_table *out);

/* The places of predicted points, in their order. */
typedef struct syn_map_rows {
    uint32_t n;
    uint32_t *place;
} syn_map_rows;

syn_status syn_map_rows_make(const syn_map_layout *layout, syn_arrays *memory,
                             syn_map_rows *out);

/* One library, and what a search of it leaves for the next row. Places are those
   of the layout; column is a place in its role as library point. */
typedef struct syn_map_search {
    const syn_map_layout *layout;
    uint32_t E;                    /* most dimensions that are wanted */
    unsigned char wanted[SYN_MAP_DIMS];
    uint32_t exclusion;
    int32_t Tp;
    uint32_t *place;               /* [steps] */
    float *x;                      /* [places + beside] values, NaN where there is none */
    float *library;                /* [places + beside] 0 for library points, else NaN */
    float *start;                  /* the same, but NaN also where the row excludes */
    float *sum;                    /* [places + beside] squared distances in one E */
    uint32_t at;                   /* the place that the pool was made for */
    uint32_t n;                    /* columns in the pool */
    uint32_t *pool;                /* [pool + beside] */
    float *coordinate;             /* [E + 1][stride] of columns, from the second on */
    float *squared;                /* [E][stride] their squared distances */
    float limit[SYN_MAP_DIMS];     /* squared distance: at least E + 1 are within it */
    uint32_t *seen, turn;          /* [places] the turn in which a column was pooled */
} syn_map_search;

/* Room to search libraries of `layout` in the dimensions that are wanted. */
syn_status syn_map_search_make(const syn_map_layout *layout,
                               const syn_map_options *options,
                               const unsigned char *wanted, syn_arrays *memory,
                               syn_map_search *out);

/* Takes up library `i`. */
void syn_map_search_start(syn_map_search *search, const syn_map_libraries *libraries,
                          uint32_t i);

/* Sums over the rows for which 16 targets are predicted and known. */
typedef struct syn_map_sums {
    double n[SYN_MAP_TILE];
    double p[SYN_MAP_TILE], pp[SYN_MAP_TILE];  /* predictions, and their squares */
    double y[SYN_MAP_TILE], yy[SYN_MAP_TILE];  /* observations */
    double py[SYN_MAP_TILE];
} syn_map_sums;

/* The correlation of `n` predictions and observations from their sums. NaN for fewer than
   three, and where either vary by no more than floats are rounded: as large as they are,
   or as the deviation of a series, about 1. */
static inline double syn_map_correlation(double n, double p, double pp, double y,
                                         double yy, double py)
{
    double of_p = pp - p * p / n, of_y = yy - y * y / n;
    if (!(n >= 3 && of_p > SYN_MAP_ROUNDING * fmax(pp, n) &&
          of_y > SYN_MAP_ROUNDING * fmax(yy, n)))
        return NAN;
    double rho = (py - p * y / n) / sqrt(of_p * of_y);
    return rho > 1 ? 1 : rho < -1 ? -1 : rho;
}

typedef struct syn_map_kind {
    /* Puts the neighbours of the row at `place` into row `row` of the table. */
    void (*neighbours)(syn_map_search *search, uint32_t place, syn_map_table *table,
                       uint32_t row);
    /* Predicts 16 targets, tile[steps][16], at every `every`-th row in E dimensions, and
       adds to `sums`. */
    void (*predict)(const syn_map_table *table, uint32_t E, uint32_t every,
                    const float *tile, syn_map_sums *sums);
} syn_map_kind;

SYN_KIND_TABLES(syn_map_kind, syn_map);

#endif
