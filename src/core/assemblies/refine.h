/* Corrects the members of a group by what units do at its activations. */
#ifndef SYN_ASSEMBLIES_REFINE_H
#define SYN_ASSEMBLIES_REFINE_H

#include "core/assemblies/activations.h"
#include "core/assemblies/excess.h"

enum { SYN_REFINE_RUNGS = 3 };  /* widths a member may have: around that of the seed */

#define SYN_NO_ROW UINT32_MAX

/* Memory of a thread: histograms of the spikes of units around activations, and the
   excess that other units have in common there. The range of lags includes lag 0. */
typedef struct syn_around {
    size_t activations;
    int32_t low, high;     /* bins */
    uint32_t *place;       /* [units] row of a unit, or SYN_NO_ROW */
    uint32_t rows;
    int32_t *sum;          /* [rows * (high - low + 1)] spikes around activations, */
    int32_t *moved;        /* and those of the predictor; or NULL */
    const int32_t **row;   /* [2 * units] lag 0 of both */
    double *clumps;        /* [units] */
    double *common;        /* [SYN_REFINE_RUNGS * (2 * lags + 1)] */
    double *spread;
    syn_excess_moments *moments;
    size_t sum_room, moved_room;
} syn_around;

typedef struct syn_refiner {
    syn_detector detector;
    syn_surprise surprise;  /* of the members of the group that is refined */
    const syn_lagged *pairs;
    const syn_assembly *among;  /* whose members alone may be added; NULL for all units */
    syn_around *around;     /* [threads] */
    double *none;           /* [2 * lags + 1] zeros: nothing is common */
    syn_member *place;      /* [units] where units fire most around activations, */
    double *z;              /* [units] and the z of it */
    syn_budget *budget;
} syn_refiner;

/* `segments` hold the recording of which `pairs` were counted; `step` as syn_detector has
   it. */
syn_status syn_refiner_make(syn_refiner *out, const syn_lagged *pairs,
                            const syn_segments *segments, int64_t step,
                            syn_budget *budget);

/* Lays out a group as it is now, with `moves` ways to move its members apart, two at
   least, and learns what their spikes speak for. */
syn_status syn_refiner_learn(syn_refiner *refiner, const syn_assembly *group,
                             uint32_t moves);

/* Adds units that fire at the activations of the group more than before and after them,
   and takes out members that do not at activations of the others; until nothing changes,
   or a few times. */
syn_status syn_assembly_refine(syn_refiner *refiner, syn_assembly *group,
                               const syn_watch *watch);

#endif
