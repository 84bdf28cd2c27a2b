/* Causal maps: how well each of many series, as a library, cross-maps each of many others
   (Sugihara et al. 2012), and in how many dimensions each series is embedded best.

   All of it is in single precision, and a processor and a GPU find the same neighbours: a
   squared distance is the terms of the coordinates added from the first on, each by one
   fused multiply-add, and ties are decided as in core/edm/neighbours/neighbours.h. */
#ifndef SYN_CAUSAL_MAP_H
#define SYN_CAUSAL_MAP_H

#include <stdint.h>

#include "core/base/arrays.h"
#include "core/base/watch.h"

enum { SYN_MAP_DIMS = 30 };  /* most dimensions of an embedding */

/* The bound of the screen: so many points count as one, and so many deviations. */
#define SYN_MAP_SCREEN_POINTS 2.0
#define SYN_MAP_SCREEN_DEVIATIONS 3.5

/* Predictions whose variance is no more than this share of their mean square, or of the
   variance of what is predicted, differ by rounding alone and have no correlation. */
#define SYN_MAP_ROUNDING 1e-12

/* How points are made and what they are to predict. */
typedef struct syn_map_options {
    uint32_t E_max;       /* most dimensions that are asked for, at most SYN_MAP_DIMS */
    int32_t tau;          /* steps from a coordinate to the next, not 0; below 0 into the
                             past */
    int32_t Tp;           /* steps from a point to what it predicts */
    uint32_t exclusion;   /* library points at most so many steps away are left out; with
                             0 still the point itself */
    uint32_t lib_size;    /* library points, drawn at random for each library; 0: all */
    uint64_t key;         /* of the random numbers */
    float screen;         /* NaN: every pair. Else only pairs whose correlation may be so
                             high, judged by every `stride`-th point, are computed: see
                             syn_map_cross() */
    uint32_t stride;      /* at least 1; best a prime, since points that recur with a
                             period that it shares are not seen alike */
    int threads;
    int vector_bits;      /* as in syn_neighbour_options */
} syn_map_options;

/* The order in which steps are searched: runs of steps that are |tau| apart, each after
   E_max - 1 empty places, so that coordinate k of the point at place p is at place p - k
   whatever tau is. There is at least one, also for E_max = 1: so what is at place p + 1
   is either nothing or the step that is |tau| further, and two points that go on by a
   place stay as far from each other in time. */
typedef struct syn_map_layout {
    uint32_t places, steps, E_max;
    uint32_t lead;                 /* empty places before each run */
    int32_t *step;                 /* [places] the step there, -1 where empty */
    unsigned char *use;            /* [places] SYN_MAP_LIBRARY | SYN_MAP_PREDICTED */
    syn_arrays memory;
} syn_map_layout;

enum { SYN_MAP_LIBRARY = 1, SYN_MAP_PREDICTED = 2 };

/* Of at most 2^23 places, else SYN_TOO_LARGE.
   Leave-one-out: every step whose target, Tp later, is in the data is library and
   predicted. With `split`, delay vectors and targets of library points are within the
   first floor(steps / 2) steps, and those of predicted points after them. Free with
   syn_map_layout_free(), also after an error. */
syn_status syn_map_layout_make(uint32_t steps, const syn_map_options *options, int split,
                               syn_map_layout *out);

void syn_map_layout_free(syn_map_layout *layout);

/* Series that are embedded, each in a measure of its own (core/base/measure.h). */
typedef struct syn_map_libraries {
    uint32_t n, steps;
    float *value;            /* [n][steps] NaN where missing */
    unsigned char *drawn;    /* [n][steps] 1 for the points drawn; NULL when all are */
    int missing;             /* whether there is any NaN */
    syn_arrays memory;
} syn_map_libraries;

/* `value` is [n][steps], NaN where missing, and the first series is library number
   `first` of the map: the points it draws depend on that number and the key alone, and
   are drawn from the steps that `layout` has as library points of E_max dimensions. Free
   with syn_map_libraries_free(), also after an error. */
syn_status syn_map_libraries_make(uint32_t n, const double *value, uint64_t first,
                                  const syn_map_layout *layout,
                                  const syn_map_options *options, syn_map_libraries *out);

void syn_map_libraries_free(syn_map_libraries *libraries);

/* Series that are predicted, standardised: mean 0 and standard deviation 1, all 0 where
   constant. Those of the same E are next to each other: place p holds target `target[p]`,
   and places group[E - 1] to group[E] - 1 those of E dimensions.

   A GPU takes them one after the other, by number. The processor takes them by place, in
   tiles of SYN_MAP_TILE of the same E side by side; what is left of the last tile of an E
   is 0. */
typedef struct syn_map_targets {
    uint32_t n, steps;
    float *value;          /* a GPU's [n][steps], or [tiles][steps][SYN_MAP_TILE]; NaN
                              where missing */
    size_t *begin;         /* [n] where target j begins in `value`; */
    uint32_t stride;       /* its steps are so far from each other */
    uint32_t *E;           /* [n] by number */
    uint32_t *target;      /* [n] */
    uint32_t group[SYN_MAP_DIMS + 1];
    int missing;           /* whether there is any NaN */
    syn_arrays memory;
} syn_map_targets;

enum { SYN_MAP_TILE = 16 };  /* targets side by side */

/* Room for `n` targets, E[n] dimensions each (1 to E_max), for syn_map_cross() or, with
   `on_gpu`, for a GPU. Free with syn_map_targets_free(), also after an error. */
syn_status syn_map_targets_make(uint32_t n, uint32_t steps, const uint32_t *E, int on_gpu,
                                syn_map_targets *out);

/* Fills in targets `first` to first + n - 1 from value[n][steps]. */
syn_status syn_map_targets_fill(syn_map_targets *targets, uint32_t first, uint32_t n,
                                const double *value, int threads);

void syn_map_targets_free(syn_map_targets *targets);

/* rho[n][E_max]: correlation of each series with its prediction by E + 1 neighbours in E
   dimensions, for E = 1 to E_max; NaN where fewer than three points, or only constants,
   can be compared. */
syn_status syn_map_dimensions(const syn_map_libraries *libraries,
                              const syn_map_layout *layout,
                              const syn_map_options *options, const syn_watch *watch,
                              float *rho);

/* rho[libraries->n][targets->n]: correlation of each target with its prediction from each
   library, in the target's dimensions; NaN as above, and where the screen leaves a pair
   out. Neighbours are found once for each library and E, whatever the targets. Beyond its
   arguments it takes for each thread 8 bytes for every neighbour of a library (32 MB at
   most) and 48 for every target.

   The screen goes on with a pair whose upper bound reaches it: with r the correlation
   over the n points of the sample, tanh(atanh(r) + 3.5 / sqrt(n / 2 - 3)). It is n / 2
   points rather than n since predictions that follow each other share neighbours, and
   since in bursts few points count most; 3.5 deviations are meant to lose one pair in
   some thousands of those that just reach the screen, fewer of all. A GPU goes on with
   all targets of a tile when it does with one. */
syn_status syn_map_cross(const syn_map_targets *targets,
                         const syn_map_libraries *libraries, const syn_map_layout *layout,
                         const syn_map_options *options, const syn_watch *watch,
                         float *rho);

/* Puts NaN into rho[libraries->n][n] where the library has too few points for E[j] + 1
   neighbours; E[n] is at most the layout's E_max. Correlations of processors and GPUs go
   through this. */
void syn_map_drop_small(const syn_map_libraries *libraries, const syn_map_layout *layout,
                        const uint32_t *E, uint32_t n, float *rho);

/* Columns of a matrix of doubles. */
typedef struct syn_map_columns {
    double *value;      /* where the first row begins that is written */
    size_t rows;        /* of the whole matrix */
    const int *column;  /* which column each target has, from 1 */
    double missing;     /* instead of NaN */
} syn_map_columns;

/* Writes rho[n][targets], a row a library, into columns. */
syn_status syn_map_write(const float *rho, size_t n, uint32_t targets, int threads,
                         const syn_map_columns *to);

/* What a link must have: rho of at least least[j] for target j and, where floors[j] is
   higher, above that. own[j] is the row, from 1, of the library that is the same series;
   0 when there is none. */
typedef struct syn_map_bounds {
    const double *least, *floors;  /* [columns] */
    const int *own;                /* [columns] */
} syn_map_bounds;

/* Finds the links in a matrix, column after column, NaN where there is no value: of each
   column the `top` highest, of equal ones the first. Writes their places in it, from 1,
   to at[] unless NULL, and returns how many there are. `room` is for [rows]. */
size_t syn_map_links(const double *rho, size_t rows, size_t columns,
                     const syn_map_bounds *bounds, size_t top, double *room, double *at);

/* Correlations rho[n][targets] of libraries and targets, NaN where there is none. */
typedef struct syn_map_found {
    const float *rho;
    size_t n;
    uint32_t targets;
} syn_map_found;

/* Puts what is found at `Tp` where it is higher than what is there, and Tp into `lag`,
   which may be NULL. With `first` nothing is there yet. */
void syn_map_best(const syn_map_found *found, double Tp, int first,
                  const syn_map_columns *best, const syn_map_columns *lag);

/* Puts best - found, of small libraries, into `convergence` where the best is that of
   `Tp`; without `lag`, wherever there is one. */
void syn_map_convergence(const syn_map_found *small, double Tp,
                         const syn_map_columns *best, const syn_map_columns *lag,
                         const syn_map_columns *convergence);

/* Counts the surrogates of each target that are predicted at least as well as it: those
   of surrogate[n][m * k], column after column, the m targets of a surrogate next to each
   other. With `first` counts begin with 0. */
void syn_map_count(const double *surrogate, size_t n, uint32_t m, size_t k, int first,
                   const syn_map_columns *rho, const syn_map_columns *count);

#endif
