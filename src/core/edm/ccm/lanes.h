/* The inner loops of cross mapping: for one row, the nearest of all library rows in
   order, and from these the predictions of up to 64 libraries side by side, or of up to
   8 targets by one library. */
#ifndef SYN_EDM_CCM_LANES_H
#define SYN_EDM_CCM_LANES_H

#include "core/base/kinds.h"
#include "core/edm/ccm/ccm.h"
#include "core/edm/neighbours/nearest.h"

enum { SYN_CCM_LANES = 64 };
enum { SYN_CCM_BESIDE = 8 };  /* targets side by side, in a group of one library */
enum { SYN_CCM_DIRECT = 8 };  /* libraries that are searched one by one together */

/* Library rows in the fixed shuffle of all rows (core/base/rank.h). */
typedef struct syn_ccm_order {
    uint32_t n;
    uint32_t *rank;      /* [n] the place of each among them, from 0, */
    uint32_t *ranked;    /* [n] which has each place, */
    uint32_t *shuffled;  /* [n] and the places among all rows, sorted */
} syn_ccm_order;

/* All library rows and what is to be predicted. */
typedef struct syn_ccm_problem {
    uint32_t n, dims, targets, k, exclusion;
    const uint32_t *row;       /* [n] increasing */
    syn_ccm_order order;       /* of ties */
    const double *coordinate;  /* [dims][n] */
    double least;              /* that of the points */
    size_t stride;             /* between the coordinates of a prediction row */
    const double *value;       /* [targets][n] targets, from their shift; groups of
                                  several libraries take these */
    const double *beside;      /* the same for groups of one library: for each 8 targets
                                  [n][8], for the last ones [n][as many as are left], and
                                  8 more numbers */
} syn_ccm_problem;

/* The nearest library rows of one row, in order; or those in each library of a group. Of
   a neighbour, `row` is its number in the library, `rank` how far it comes after the
   prediction row in the order of ties in the library, modulo 2^32, and `squared` the
   distance itself once it is in a list. */
typedef struct syn_ccm_list {
    uint32_t n;
    int whole;              /* whether there are no others */
    syn_near *near;
    uint32_t *found;        /* [SYN_CCM_DIRECT] of each library how many; near + l * k are
                               those of library l. Otherwise NULL */
    const double *square;   /* [n of problem] of all distances, INFINITY if left out; or
                               NULL, if they have not been computed */
    uint32_t row;           /* of the data */
    uint32_t from;          /* the first library row after it in the order of ties */
    const double *point;    /* [dims] `stride` apart */
    const double *observed; /* [targets] from their shift, NaN if unknown; 7 more can be
                               read */
} syn_ccm_list;

/* Up to 64 libraries of one size: lane l is library l. In a group of one, lane l is the
   l-th of 8 targets. */
typedef struct syn_ccm_group {
    uint32_t n, size;
    uint64_t *member;    /* [n of problem] a bit for each library that has the row; or */
    uint32_t *rows;      /* [n][size] the same as lists, where searching these is faster
                            than going through the nearest of all. The other is NULL */
    double *sum;         /* [targets][SYN_CCM_SUMS][SYN_CCM_LANES], and of one library
                            [targets / 8][SYN_CCM_SUMS][SYN_CCM_BESIDE] */
} syn_ccm_group;

/* Sums of a group that there is room for. */
static inline size_t syn_ccm_sums(const syn_ccm_group *g, size_t targets)
{
    size_t eights = (targets + SYN_CCM_BESIDE - 1) / SYN_CCM_BESIDE;
    return SYN_CCM_SUMS *
           (g->n == 1 ? eights * SYN_CCM_BESIDE : targets * SYN_CCM_LANES);
}

/* Where sum `s` of library `lane` and target `t` is. */
static inline size_t syn_ccm_sum_at(const syn_ccm_group *g, uint32_t lane, size_t t,
                                    int s)
{
    size_t eight = t / SYN_CCM_BESIDE, beside = t % SYN_CCM_BESIDE;
    return g->n == 1 ? (eight * SYN_CCM_SUMS + (size_t)s) * SYN_CCM_BESIDE + beside
                     : (t * SYN_CCM_SUMS + (size_t)s) * SYN_CCM_LANES + lane;
}

/* The neighbours of one row in each library of a group. */
typedef struct syn_ccm_lanes {
    uint32_t *at;         /* [k][SYN_CCM_LANES] which */
    double *distance;     /* [k][SYN_CCM_LANES] how far; they become weights */
} syn_ccm_lanes;

enum { SYN_CCM_TOGETHER = 16 };

/* What a worker uses over and over. */
typedef struct syn_ccm_space {
    syn_near *near;   /* [n + 1] */
    syn_near *sorted; /* [n + 1] */
    uint32_t *bucket;     /* [SYN_CCM_BUCKETS + 1] zeros */
    uint64_t *tied;       /* [n / 64 + 1] zeros */
    uint32_t *last;       /* [n] the list of the row before */
    uint32_t lasts;
    uint32_t *rows;       /* [n + 1] */
    double *square;       /* [n] of a list without them */
    uint32_t lanes_rows;  /* rows taken together, at most SYN_CCM_TOGETHER */
    syn_ccm_lanes lanes[SYN_CCM_TOGETHER];
} syn_ccm_space;

enum { SYN_CCM_BUCKETS = 0x7ff0 };  /* upper 16 bits of squares below INFINITY */

typedef struct syn_ccm_kind {
    /* Fills list->near with the `most` nearest library rows of list->point, and `square`
       with the squared distances to all; list->row is given. */
    void (*nearest)(const syn_ccm_problem *problem, uint32_t most, double *square,
                    syn_ccm_space *space, syn_ccm_list *list);

    /* Adds rows, `list` of each, to the sums of a group. */
    void (*add_rows)(const syn_ccm_problem *problem, const syn_ccm_list *list,
                     uint32_t rows, const syn_ccm_group *group, syn_ccm_space *space);
} syn_ccm_kind;

SYN_KIND_TABLES(syn_ccm_kind, syn_ccm_kind);

#endif
