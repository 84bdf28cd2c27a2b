/* One series as library of all targets that are known at the same steps: these share
   weights, equations and what each library point adds to a prediction, a row of the hat
   matrix. Predictions and mean coefficients are then one product of matrices. */
#ifndef SYN_EDM_SMAP_JOB_H
#define SYN_EDM_SMAP_JOB_H

#include "core/edm/smap/call.h"
#include "core/edm/smap/pairs.h"

enum {
    SYN_SMAP_BLOCK_BYTES = 3 << 20,  /* of distances, if rows are few enough */
    SYN_SMAP_MOST_ROWS = 16 * SYN_SMAP_ROWS
};

/* The stride of so many points in a job. */
static inline size_t syn_smap_job_stride(uint32_t points)
{
    return syn_smap_padded(syn_smap_stride(points), SYN_SMAP_POINTS);
}

/* Predictions are made in blocks, and the blocks of a share one after the other: how many
   there are depends on the library alone, and so do the last bits of the sums. */
typedef struct syn_smap_job {
    syn_smap_call call;
    syn_points points;
    syn_rows rows;              /* steps: both library and predictions */
    uint32_t *row;
    uint32_t *only;             /* [predictions] which of these are predicted; NULL for
                                   all */
    uint32_t predictions;
    const syn_smap_group *group;
    const syn_smap_product *product;
    const syn_smap_lanes *lanes;
    uint32_t dims;
    uint32_t block;             /* predictions of a block, one less than a multiple of
                                   SYN_SMAP_ROWS */
    uint32_t blocks, shares;
    size_t stride;              /* points, a multiple of SYN_SMAP_POINTS */
    size_t columns;             /* targets, a multiple of SYN_SMAP_COLUMNS */
    syn_smap_terms terms;
    double *value;              /* of the terms: less their centre */
    double *centre;             /* [dims + 1] of the terms, 0 the first */
    double size;                /* standard deviation of the first coordinate */
    syn_smap_same same;         /* points that differ */
    double *coordinate;         /* [dims][steps] */
    double *centred;            /* [dims][stride] of the rows, less their centre */
    const double *panels;       /* [stride / SYN_SMAP_POINTS][columns][SYN_SMAP_POINTS]
                                   targets of the rows, in the panels of the product; 0
                                   where they are missing. Or those of a library with the
                                   same rows */
    double *sum;                /* [shares][SYN_SMAP_SUMS][columns] */
    uint32_t *known, *made;     /* [shares] predictions whose target is known; all of
                                   them */
    syn_arrays memory;
} syn_smap_job;

/* What all jobs of a call have in common. */
typedef struct syn_smap_common {
    const syn_series *libraries;
    const syn_smap_pairs_options *options;
    const syn_smap_options *smap;
    const syn_smap_kind *kind;
    const syn_smap_product *product;
    const syn_smap_lanes *lanes;
    const syn_smap_group *group;
    const syn_smap_job *whole;  /* one whose rows and panels others may have, or NULL */
} syn_smap_common;

/* Makes a job of library `i`; where `i` is that of none, with all steps in place of the
   library's, so that it only has rows and panels. Free with syn_smap_job_free(), also
   after an error. A library without results has no shares. */
syn_status syn_smap_job_make(const syn_smap_common *common, uint32_t i,
                             syn_smap_job *out);

void syn_smap_job_free(syn_smap_job *job);

/* Makes a job predict these rows alone, and adds the others to its results. */
syn_status syn_smap_job_rest(syn_smap_job *job, const syn_smap_rest *rest);

/* What a worker needs for jobs of one group. */
typedef struct syn_smap_worker syn_smap_worker;

/* For jobs with so many steps and columns at most. */
syn_status syn_smap_worker_make(uint32_t steps, uint32_t dims, size_t columns,
                                syn_arrays *memory, syn_smap_worker **out);

/* Goes on with share `share`, SYN_UNFINISHED if there is more to do. */
syn_status syn_smap_job_work(syn_smap_job *job, uint32_t share, syn_smap_worker *worker);

/* rho and strength of all targets of the group, at the places of their numbers. */
void syn_smap_job_finish(syn_smap_job *job, double *rho, double *strength);

#endif
