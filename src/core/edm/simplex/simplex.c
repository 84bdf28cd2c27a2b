/* Simplex projection: the weighted mean of what followed the neighbours. */
#include "core/edm/simplex/simplex.h"

#include "core/edm/neighbours/neighbours.h"
#include "core/edm/simplex/weights.h"

typedef struct projection {
    const syn_targets *targets;
    uint32_t rows, predicted;
    double least;
    double *prediction, *variance;
} projection;

static void project(void *context, uint32_t i, syn_near *near, uint32_t found)
{
    projection *p = context;
    syn_weigh(near, found, p->least);
    for (uint32_t t = 0; t < p->targets->n; t++) {
        const double *value = p->targets->value + (size_t)t * p->rows;
        size_t at = (size_t)t * p->predicted + i;
        p->prediction[at] = syn_weighted_mean(near, found, value);
        p->variance[at] = syn_weighted_variance(near, found, value, p->prediction[at]);
    }
}

syn_status syn_simplex(const syn_points *points, const syn_rows *library,
                       const syn_rows *predicted, const syn_neighbour_options *options,
                       const syn_targets *targets, const syn_watch *watch,
                       double *prediction, double *variance)
{
    projection p = {targets, points->rows, predicted->n, points->least, prediction,
                    variance};
    return syn_each_neighbourhood(points, library, predicted, options, watch, project,
                                  &p);
}
