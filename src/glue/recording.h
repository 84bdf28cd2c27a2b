/* Turns spike trains that R passes into a recording that the core can mine. */
#ifndef SYN_GLUE_RECORDING_H
#define SYN_GLUE_RECORDING_H

#include "glue/glue.h"

#include "core/episodes/mine.h"
#include "core/episodes/occurrences.h"
#include "core/spikes/recording.h"

/* `events` is a list: tick (whole doubles, sorted), unit (integer codes from 1), trial
   (integer from 1, NA outside all trials; NULL without any) and units (how many there
   are). R's error, before anything is allocated, when they are not that. */
syn_status glue_recording(syn_recording *out, SEXP events, uint32_t min_count,
                          int64_t reach);

/* The same as syn_recording_read() makes it. */
syn_status glue_recording_read(syn_recording *out, SEXP events, uint32_t min_count,
                               int64_t reach);

/* Spikes with the trials they are in, as arrays of R. */
typedef struct glue_spikes {
    R_xlen_t n, trials;
    const double *tick;   /* [n] increasing */
    const int *unit;      /* [n] from 1; what is below is left out, NA too */
    const int *trial;     /* [n] the same; NULL when all are in one */
    double units;
    const double *start;  /* [trials] first ticks */
} glue_spikes;

#define GLUE_MOST_TICK 9007199254740992.0  /* 2^53 */

/* The spikes of a list: tick, unit, trial and units as above, then starts (double, one a
   trial). R's error when these are not of their kinds and lengths. */
glue_spikes glue_read_spikes(SEXP events);

/* R's error unless ticks increase, trials do, and spikes lie within their trials, which
   end at stop[trials], or anywhere when that is NULL. */
void glue_check_spikes(const glue_spikes *spikes, const double *stop);

/* Bounds in ticks as whole doubles; `interval` has room for Rf_xlength(low). Returns the
   largest upper bound. R's error when they are not 0 <= low < high. */
int64_t glue_intervals(syn_interval *interval, SEXP low, SEXP high);

/* Episodes as lists of unit codes, from 1, and of bounds in ticks, one less than units;
   R_alloc'd. `*reach` is the largest bound of all. R's error when they are not what they
   must be. */
syn_episode *glue_episodes(SEXP units, SEXP low, SEXP high, int64_t *reach);

/* R's error when episodes have units beyond the `units` that there are. */
void glue_check_episodes(const syn_episode *episode, R_xlen_t n, uint32_t units);

#endif
