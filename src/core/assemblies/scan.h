/* Looks through the windows of a lag histogram for peaks. */
#ifndef SYN_ASSEMBLIES_SCAN_H
#define SYN_ASSEMBLIES_SCAN_H

#include "core/assemblies/excess.h"
#include "core/assemblies/peaks.h"

/* What a pair is judged by. */
typedef struct syn_scan {
    const syn_ladder *ladder;
    double clumps[SYN_LADDER_RUNGS];  /* of the pair */
    const double *common;  /* [places] NULL where nothing is common to pairs */
    const double *spread;  /* [places] */
    int32_t least;         /* z of a peak, in parts of SYN_PEAK_SCALE, above 0 */
} syn_scan;

/* Lists the peaks of a histogram, of which `sum` points to lag 0 of its running sums with
   the margin of the ladder on both sides; `out` has room for one a place. Returns how
   many. */
size_t syn_scan_peaks(const syn_scan *scan, const int32_t *sum, syn_peak *out);

#endif
