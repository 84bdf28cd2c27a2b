/* Looks through the windows of a lag histogram for peaks. */
#ifndef SYN_ASSEMBLIES_SCAN_H
#define SYN_ASSEMBLIES_SCAN_H

#include "core/assemblies/excess.h"
#include "core/assemblies/lanes.h"
#include "core/assemblies/peaks.h"

/* What a pair is judged by. */
typedef struct syn_scan {
    const syn_ladder *ladder;
    const syn_lanes *lanes;
    double clumps[SYN_LADDER_RUNGS];  /* of the pair */
    const double *common;  /* [places] NULL where nothing is common to pairs */
    const double *spread;  /* [places] */
    int32_t least;         /* z of a peak, in parts of SYN_PEAK_SCALE, above 0 */
    syn_lanes_windows windows;  /* room for those of a rung */
    syn_peak *peak;        /* room for one a place */
    syn_budget *budget;
} syn_scan;

/* Room for a thread's scans. The caller keeps what is pointed to for as long, and frees,
   also after an error: SYN_OVER_BUDGET, SYN_NO_MEMORY. */
syn_status syn_scan_make(syn_scan *out, const syn_ladder *ladder, const syn_lanes *lanes,
                         int32_t least, syn_budget *budget);
void syn_scan_free(syn_scan *scan);

/* Lists in scan->peak the peaks of a histogram, of which `sum` points to lag 0 of its
   running sums with the margin of the ladder on both sides. Returns how many. */
size_t syn_scan_peaks(const syn_scan *scan, const int32_t *sum);

#endif
