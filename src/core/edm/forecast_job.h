/* One job of conditional forecasts, or some of its candidates: rows, what is multiplied,
   and what is found for each row. */
#ifndef SYN_EDM_FORECAST_JOB_H
#define SYN_EDM_FORECAST_JOB_H

#include "core/edm/forecast.h"
#include "core/edm/forecast_kind.h"

enum {
    SYN_FORECAST_BLOCK = 8 * SYN_SMAP_ROWS,  /* forecasts that are made together */
    SYN_FORECAST_OCTETS = 8                  /* most of a job: longer lists are cut */
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
    size_t job;                /* its number, */
    size_t first;              /* and that of its first candidate here */
    uint32_t candidates, octets;
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
    double *error;             /* [n] without a candidate */
    double *fall;              /* [octets][n][SYN_FORECAST_SIDE] of the squared error */
} syn_forecast_job;

/* Makes the job `out` of which `job`, `first` and `candidates` are given. Free with
   syn_forecast_job_free(), also after an error. */
syn_status syn_forecast_job_make(const syn_forecast_call *call, syn_forecast_job *out);

void syn_forecast_job_free(syn_forecast_job *job);

/* The doubles that such a job takes, at most. */
size_t syn_forecast_job_room(const syn_forecast_call *call, const syn_forecast_job *job);

/* Puts what all shares have found where it belongs. */
void syn_forecast_job_finish(const syn_forecast_call *call, syn_forecast_job *job,
                             const syn_forecasts *out);

/* What a thread needs, for jobs with so many coordinates and octets at most. NULL without
   memory. */
typedef struct syn_forecast_worker syn_forecast_worker;
syn_forecast_worker *syn_forecast_worker_make(uint32_t steps, uint32_t dims,
                                              uint32_t octets);
void syn_forecast_worker_free(syn_forecast_worker *worker);

/* Goes on with share `share`, SYN_UNFINISHED if there is more to do. */
syn_status syn_forecast_job_work(const syn_forecast_call *call, syn_forecast_job *job,
                                 uint32_t share, syn_forecast_worker *worker);

/* The forecasts of a block, for rows of so many steps. */
uint32_t syn_forecast_block(uint32_t rows);

#endif
