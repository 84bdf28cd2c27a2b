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
    syn_neighbours lists;
    uint32_t first;               /* prediction that the first list is of */
    double *memory;               /* [threads][room] */
    size_t room;
    char *exact;                  /* [threads][exact_room] for syn_smap_exact() */
    size_t exact_room;
} syn_smap_call;

/* The stride of arrays of so many points. */
static inline size_t syn_smap_stride(size_t points)
{
    return (points + 2 * SYN_SMAP_PADDING - 1) / SYN_SMAP_PADDING * SYN_SMAP_PADDING;
}

/* Makes `side_by_side`, which the caller frees, also after an error. */
syn_status syn_smap_gather(syn_smap_call *s);

/* Neighbours among the whole library, with `distance` ([stride]) still to be filled. */
syn_smap_near syn_smap_whole(const syn_smap_call *s, double *distance);

syn_smap_bench syn_smap_take_bench(const syn_smap_call *s, int worker);

/* The coordinates of a row. */
void syn_smap_point(const syn_smap_call *s, uint32_t row, double *point);

/* Parts the whole library, whose distances are known, into the neighbours of `row` and
   what is left out, and surveys them. */
void syn_smap_leave_out(const syn_smap_call *s, uint32_t row, syn_smap_near *near);

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

#endif
