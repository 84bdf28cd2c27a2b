/* Convergent cross mapping (Sugihara et al. 2012): how well the neighbours found among
   random parts of a library predict targets, for libraries of several sizes. */
#ifndef SYN_EDM_CCM_CCM_H
#define SYN_EDM_CCM_CCM_H

#include "core/edm/model/points.h"

typedef struct syn_ccm_options {
    uint32_t k;            /* neighbours, at least 1 */
    uint32_t exclusion;    /* as for syn_find_neighbours() */
    uint32_t sizes;        /* number of library sizes */
    const uint32_t *size;  /* [sizes] rows of a library, below 2^31 */
    uint32_t samples;      /* libraries of each size, below 2^21; of all rows only one */
    uint32_t direction;    /* 0 or 1: directions draw different libraries */
    uint64_t key;          /* of the random numbers */
    int threads;
    int vector_bits;       /* as in syn_neighbour_options */
} syn_ccm_options;

/* Skill of each library, sizes in the order of the options; NaN where fewer than three
   rows, or for rho only constants, could be compared. */
typedef struct syn_ccm_skill {
    size_t n;          /* libraries */
    uint32_t targets;
    double *rho;       /* [targets][n] correlation of prediction and target */
    double *mae;       /* [targets][n] mean absolute error */
    double *rmse;      /* [targets][n] root of the mean squared error */
} syn_ccm_skill;

/* Cross-maps `targets` targets from the points of each library. target[t * rows + r] is
   what the point at row r is to predict, NaN if unknown. Libraries are drawn without
   replacement from the rows of `library`, each by a random stream of its own, so the
   number of threads changes nothing. The caller frees `out` with syn_ccm_free(), also
   after an error. */
syn_status syn_ccm(const syn_points *points, const syn_rows *library,
                   const syn_rows *prediction, const double *target, uint32_t targets,
                   const syn_ccm_options *options, const syn_watch *watch,
                   syn_ccm_skill *out);

/* A library and what it is to predict: several delays of the targets, for one, are views
   of the same points. */
typedef struct syn_ccm_view {
    syn_rows library;
    const double *target;  /* [targets][rows] */
} syn_ccm_view;

/* syn_ccm() for each view, which has as many targets as the others; the libraries of one
   come after those of the one before. A size above the rows of a view stands for all. */
syn_status syn_ccm_views(const syn_points *points, const syn_ccm_view *view,
                         uint32_t views, const syn_rows *prediction, uint32_t targets,
                         const syn_ccm_options *options, const syn_watch *watch,
                         syn_ccm_skill *out);

void syn_ccm_free(syn_ccm_skill *skill);

/* The random part of syn_ccm(): marks in chosen[n], which is all 0, the `size` of `n`
   library rows that library number `sample` of its size has. */
void syn_ccm_draw(uint32_t n, uint32_t size, uint32_t sample,
                  const syn_ccm_options *options, unsigned char *chosen);

/* Sums over rows that are kept for each library and target. Targets and predictions are
   taken from those of the library's first pair: predictions may differ by very little,
   and sums of their squares would lose that. */
enum {
    SYN_CCM_N,             /* pairs of prediction and target */
    SYN_CCM_FIRST_TARGET,
    SYN_CCM_FIRST_PREDICTION,
    SYN_CCM_TARGET,
    SYN_CCM_TARGET_SQUARE,
    SYN_CCM_PREDICTION,
    SYN_CCM_PREDICTION_SQUARE,
    SYN_CCM_PRODUCT,
    SYN_CCM_ERROR,         /* absolute */
    SYN_CCM_ERROR_SQUARE,
    SYN_CCM_SUMS
};

/* A value amid those of the target at `rows`, exactly theirs if they are all the same.
   Targets are taken from it before they are predicted. */
double syn_ccm_middle(const double *target, const syn_rows *rows);

/* Room for `n` libraries; also after an error to be freed with syn_ccm_free(). */
syn_status syn_ccm_skill_make(size_t n, uint32_t targets, syn_ccm_skill *out);

/* The skill that follows from sum[SYN_CCM_SUMS], into element `at` of each array. */
void syn_ccm_skill_put(const double *sum, syn_ccm_skill *out, size_t at);

#endif
