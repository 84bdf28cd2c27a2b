/* One job of conditional forecasts with some of its candidates, or several that differ in
   theta alone: rows, what is multiplied, and what is found for each row. */
#ifndef SYN_EDM_FORECAST_JOB_H
#define SYN_EDM_FORECAST_JOB_H

#include "core/edm/forecast/forecast.h"
#include "core/edm/forecast/kind.h"
#include "core/edm/smap/fit.h"

enum {
    SYN_FORECAST_BLOCK = 12 * SYN_SMAP_ROWS, /* forecasts that are made together, */
    SYN_FORECAST_ROWS = 8 * SYN_SMAP_ROWS,   /* of so many rows at most */
    SYN_FORECAST_OCTETS = 8,                 /* most of a job: longer lists are cut */
    SYN_FORECAST_THETAS = 8                  /* most of a job */
};

/* What all jobs of a call have in common. */
typedef struct syn_forecast_call {
    const syn_series *series;
    const syn_forecast_jobs *jobs;
    const syn_forecast_options *options;
    const syn_smap_kind *smap;
    const syn_smap_product *product;
    const syn_forecast_kind *kind;
} syn_forecast_call;

typedef struct syn_forecast_job {
    size_t job;                /* its number, or that of the first, */
    size_t first;              /* and that of its first candidate here */
    uint32_t candidates, octets;
    uint32_t thetas;           /* jobs: that of slot k is job + of[k], */
    uint32_t of[SYN_FORECAST_THETAS];
    uint32_t weighed;          /* and the slots from here on have theta 0 */
    uint32_t dims;
    uint32_t n;                /* rows */
    uint32_t block, shares;    /* rows of a share, and how many shares: none where there
                                  are no results */
    uint32_t *row;             /* [n] steps, increasing */
    size_t stride;             /* of rows, a multiple of SYN_SMAP_POINTS */
    double *coordinate;        /* [dims][stride] less their centre */
    syn_smap_terms terms;      /* of the rows: 1, coordinates, effect, less centres */
    double *value;
    double *candidate;         /* [octets][stride][SYN_FORECAST_SIDE] */
    double *error;             /* [thetas][n] without a candidate */
    double *fall;              /* [thetas][octets][n][SYN_FORECAST_SIDE] of the squared
                                  error */
    double *total;             /* [products + sums of octets] over all rows; NULL where no
                                  slot takes its own sums from these */
    syn_arrays memory;
} syn_forecast_job;

/* What a thread needs. */
typedef struct syn_forecast_worker syn_forecast_worker;

/* Makes the job `out` of which `job`, `first`, `candidates` and `thetas` are given. Its
   memory is to be given back, also after an error. */
syn_status syn_forecast_job_make(const syn_forecast_call *call, syn_forecast_job *out,
                                 syn_forecast_worker *worker);

/* The doubles that such a job takes, at most. */
size_t syn_forecast_job_room(const syn_forecast_call *call, const syn_forecast_job *job);

/* Puts what all shares have found where it belongs. */
void syn_forecast_job_finish(const syn_forecast_call *call, const syn_forecast_job *job,
                             const syn_forecasts *out);

/* For jobs with so many coordinates and octets at most; whether there is memory for all
   of it, `memory` says. */
syn_forecast_worker *syn_forecast_worker_make(uint32_t steps, uint32_t dims,
                                              uint32_t octets, syn_arrays *memory);

/* Goes on with share `share`, SYN_UNFINISHED if there is more to do. */
syn_status syn_forecast_job_work(const syn_forecast_call *call, syn_forecast_job *job,
                                 uint32_t share, syn_forecast_worker *worker);

#endif
