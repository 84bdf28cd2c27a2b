/* What the parts of one call of syn_smap() share. */
#ifndef SYN_EDM_SMAP_CALL_H
#define SYN_EDM_SMAP_CALL_H

#include "core/edm/smap/smap.h"
#include "core/edm/smap/model.h"

/* One call. Neighbours are lists where few of the library are wanted; otherwise all of it
   but the rows left out, a range of them, and, if one too many remains, the farthest. */
typedef struct syn_smap_call {
    const syn_points *points;
    const syn_rows *library, *prediction;
    const double *target;
    const syn_smap_options *options;
    const syn_smap_result *out;
    const syn_smap_kind *kind;
    size_t stride;                /* of the points a fit can have */
    int missing;                  /* whether a library row has no target */
    double *side_by_side;         /* [dims + 2][stride] the library, its targets and
                                     whether they are known; or NULL for lists */
    syn_smap_bench *bench;        /* [threads] */
    syn_arrays memory;
} syn_smap_call;

/* The stride of arrays of so many points. */
static inline size_t syn_smap_stride(size_t points)
{
    return (points + 2 * SYN_SMAP_PADDING - 1) / SYN_SMAP_PADDING * SYN_SMAP_PADDING;
}

/* Room for `terms` terms of n points, which `value` points to as well. */
syn_status syn_smap_terms_make(syn_smap_terms *t, uint32_t terms, size_t n,
                               syn_arrays *memory, double **value);

/* Puts term `k` of n points, x[row + by] less a number near the mean, which it returns;
   of a constant, that number is the constant. 0 where x is missing. */
double syn_smap_terms_put(const syn_smap_terms *t, uint32_t k, const double *x,
                          const uint32_t *row, uint32_t n, int64_t by, double *value);

/* Makes `side_by_side`, in the call's memory. */
syn_status syn_smap_gather(syn_smap_call *s);

/* Puts a target, and whether it is known, at place i of their two arrays. */
void syn_smap_put_target(double *target, size_t stride, size_t i, double value);

/* Neighbours among `points`, [dims + 2][stride] like `side_by_side`, with `distance`
   ([stride]) and the parts still to be filled. */
syn_smap_near syn_smap_among(const syn_smap_call *s, const double *points,
                             double *distance);

/* Finds the neighbours of predictions of `n` rows, all of the library but what
   syn_smap_call leaves out: fills near[n]. Their distances to the whole library go to
   `distance`, those of prediction r from place r * `stride` on. `to`: [dims][n] room for
   the points of the rows. */
void syn_smap_measure(const syn_smap_call *s, const uint32_t *row, uint32_t n,
                      size_t stride, double *distance, double *to, syn_smap_near *near);

/* By how much weights fall with distance. Where all distances are 0, all neighbours weigh
   the same. */
static inline double syn_smap_rate(const syn_smap_call *s, const syn_smap_near *near,
                                   uint32_t theta)
{
    return near->mean > 0 ? s->options->theta[theta] / near->mean : 0;
}

/* What the model of the bench gives at its point. */
double syn_smap_value(const syn_smap_call *s, const syn_smap_bench *b);

/* Puts that, the variance and the rest of the model where results of prediction `at` go;
   sorts its singular values. */
void syn_smap_put(const syn_smap_call *s, const syn_smap_bench *b,
                  const syn_smap_near *near, double variance, uint32_t theta,
                  uint32_t at);

/* Fits the model of one prediction and puts it there. */
void syn_smap_predict(const syn_smap_call *s, syn_smap_bench *b,
                      const syn_smap_near *near, uint32_t theta, uint32_t at);

/* Squared errors of n points that are the same and weigh w add up to those of one point
   that weighs w sqrt(n) and has the mean of their targets, and to something that no model
   changes. So models can be made from points that all differ. */
typedef struct syn_smap_same {
    uint32_t n;          /* points that differ; 0 where so many do that it is no use */
    size_t stride;
    uint32_t *of;        /* [library] which of them each library point is */
    uint32_t *first;     /* [n] a library point */
    double *coordinate;  /* [dims][stride] */
    double *count;       /* [n] library points with a target, */
    double *sum;         /* [n] and the sum of their targets */
} syn_smap_same;

/* Sorts the points of a call's whole library. */
syn_status syn_smap_same_make(const syn_smap_call *s, syn_arrays *memory,
                              syn_smap_same *out);

/* The neighbours of a prediction as points that all differ. `room`: 3 strides. */
syn_smap_near syn_smap_same_near(const syn_smap_same *same, const syn_smap_call *s,
                                 const syn_smap_near *near, double *room);

#endif
