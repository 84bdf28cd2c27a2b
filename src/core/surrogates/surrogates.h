/* Surrogates of spike trains: what a recording could look like if only some of its
   properties were real. Spikes stay in their trial and with their unit; every method
   keeps the number of spikes of each unit in each trial. */
#ifndef SYN_SURROGATES_SURROGATES_H
#define SYN_SURROGATES_SURROGATES_H

#include "core/base/budget.h"
#include "core/spikes/trains.h"

typedef enum syn_surrogate_method {
    SYN_SURROGATE_DITHER,            /* each spike by up to `dither`, mirrored at ends */
    SYN_SURROGATE_DITHER_REFRACTORY, /* the same, in random order, past no neighbour and
                                        no end: not mirrored */
    SYN_SURROGATE_TRAIN_SHIFT,       /* a unit by one offset, around its trials */
    SYN_SURROGATE_JOINT_ISI,         /* each spike between its neighbours, by the pairs
                                        of successive intervals there are */
    SYN_SURROGATE_ISI_DITHER,        /* the same as if intervals were independent */
    SYN_SURROGATE_ISI_SHUFFLE,       /* the intervals of a unit and trial permuted */
    SYN_SURROGATE_RANDOMISE,         /* uniform over the trial */
    SYN_SURROGATE_BIN_SHUFFLE,       /* the whole bins of a trial permuted */
    SYN_SURROGATE_WINDOW_SHUFFLE,    /* the same within windows */
    SYN_SURROGATE_TRIAL_SHIFT,       /* a unit in each trial by an offset of its own */
    SYN_SURROGATE_JITTER,            /* each spike uniform over the window it lies in */
    SYN_SURROGATE_SLIDING_SHUFFLE    /* the bins of each window permuted, then those of
                                        the window that opens a bin later, and so on */
} syn_surrogate_method;

/* Lengths are in ticks. */
typedef struct syn_surrogate_options {
    syn_surrogate_method method;
    int64_t dither;      /* 1 to 2^31 - 1, and at most the shortest trial's stop - start:
                            how far a spike, train or trial moves at most */
    int64_t refractory;  /* neighbours come no closer, unless they do in the data */
    int64_t bin;         /* at least 1: what is shuffled */
    int64_t window;      /* a whole number of bins, within which they are shuffled, or
                            what a spike is jittered in */
    int64_t isi_bin;     /* at least 1: width of the bins of the histogram of intervals */
    uint32_t isi_bins;   /* how many of them, 1 to 1000 */
    double sigma;        /* of the Gaussian that smooths the histogram, in its bins */
    uint64_t key;        /* of the random numbers */
    int vector_bits;     /* of the processor's registers; 0 for the widest it has */
} syn_surrogate_options;

/* All that surrogates are made from. Flat arrays: a device takes a copy of the struct
   that points to its own copies of them. */
typedef struct syn_surrogate_plan {
    syn_trains trains;        /* the caller's arrays, to be kept for as long */
    syn_surrogate_options options;
    uint32_t scratch;         /* words that making a unit needs */
    uint32_t table_length;    /* words of `table` for each unit; 0 without tables */
    int64_t *refractory;      /* [units] the smaller of options.refractory and the unit's
                                 shortest interval within a trial */
    uint32_t *table;          /* [units * table_length] for each sum s of two intervals,
                                 in bins, from word s (s + 1) / 2 on: the cumulative
                                 weights of a first one of 0, 1, ..., s bins */
    syn_budget *budget;       /* that the two arrays are taken from */
} syn_surrogate_plan;

/* Looks at the trains once, on up to `threads` threads, fewer where the budget is too
   small for what they work in. The caller keeps the budget for as long, and frees, also
   after an error. SYN_OVER_BUDGET, SYN_NO_MEMORY, or SYN_INTERRUPTED by the watch. */
syn_status syn_surrogate_plan_make(syn_surrogate_plan *out, const syn_trains *trains,
                                   const syn_surrogate_options *options, int threads,
                                   syn_budget *budget, const syn_watch *watch);

/* Frees all but the trains. */
void syn_surrogate_plan_free(syn_surrogate_plan *plan);

/* Unit `unit` of surrogate `index`, both from 0: `tick` gets the unit's spikes, each at
   the place of a spike of the same trial in the plan; those of a trial are in no order.
   `scratch` has room for plan->scratch words. */
void syn_surrogate_unit_ticks(const syn_surrogate_plan *plan, uint64_t index,
                              uint32_t unit, int64_t *tick, uint32_t *scratch);

/* All units: `tick` [events] has the places of plan->trains.tick. */
void syn_surrogate_ticks(const syn_surrogate_plan *plan, uint64_t index, int64_t *tick,
                         uint32_t *scratch);

/* Surrogates `first` to first + n - 1, each sorted by tick and then by unit: tick[k] and
   unit[k] have room for the events of surrogate first + k; units are numbered from 1.
   What threads work in is taken from the plan's budget, so there may be fewer of them.
   SYN_OVER_BUDGET or SYN_NO_MEMORY where one is too much; SYN_TOO_LARGE when a unit and
   its place among the ticks of the recording do not fit 64 bits. */
syn_status syn_surrogate_list(const syn_surrogate_plan *plan, uint64_t first, uint32_t n,
                              double *const *tick, int *const *unit, int threads,
                              const syn_watch *watch);

#endif
