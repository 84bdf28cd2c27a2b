/* The smoothed histogram of pairs of successive intervals of a unit, from which joint-ISI
   dithering draws (Gerstein 2004; Louis et al. 2010). */
#ifndef SYN_SURROGATES_ISI_H
#define SYN_SURROGATES_ISI_H

#include "core/surrogates/surrogates.h"

/* Makes tables, one unit after the other, in memory that it keeps. One a thread. */
typedef struct syn_isi_maker {
    const syn_trains *trains;
    const syn_surrogate_options *options;
    double *joint;     /* [bins][bins] weights of pairs: first interval, then second */
    double *alone;     /* [bins] of single intervals, for SYN_SURROGATE_ISI_DITHER */
    double *line;      /* [3 * bins][lanes] what is smoothed, and its mirror images */
    double *weight;    /* [bins + 1] of the Gaussian, from its middle on */
    uint32_t radius;   /* its last weight */
    uint32_t unit;     /* the one under way */
    uint32_t from;     /* its first bin with any weight */
    uint32_t smoothed; /* rows, and then columns, that are done */
    int busy;          /* whether a unit is under way */
} syn_isi_maker;

/* Words of the table of a unit with `bins` bins. */
uint32_t syn_isi_table_length(uint32_t bins);

/* Bytes that a maker holds. */
double syn_isi_maker_bytes(const syn_surrogate_options *options);

/* The first two arguments are to be kept for as long. The end of the budget frees what is
   taken, also after SYN_OVER_BUDGET or SYN_NO_MEMORY. */
syn_status syn_isi_maker_make(syn_isi_maker *out, const syn_trains *trains,
                              const syn_surrogate_options *options, syn_budget *budget);

/* Sets out on the table of `unit`, from its intervals within trials that are shorter than
   isi_bins * isi_bin, with no weight below the bin of `refractory`. With
   SYN_SURROGATE_ISI_DITHER a pair has the product of the weights of its intervals. */
void syn_isi_begin(syn_isi_maker *maker, uint32_t unit, int64_t refractory);

/* Goes on with it until `table`, zero before, is as syn_surrogate_plan has it (SYN_OK),
   or until it is late (SYN_UNFINISHED; `deadline` on the clock of syn_seconds()). */
syn_status syn_isi_go_on(syn_isi_maker *maker, double deadline, uint32_t *table);

#endif
