/* Maps that drive each other: what each series does next depends on itself and on what
   its causes did one or more steps ago. */
#ifndef SYN_NETWORKS_COUPLED_H
#define SYN_NETWORKS_COUPLED_H

#include <stdint.h>

#include "core/base/watch.h"

/* Links by effect: those into series j are [first[j], first[j + 1]), by cause. */
typedef struct syn_links {
    uint32_t series;
    const int *first;       /* [series + 1] */
    const int *cause;       /* a number of a series for each link */
    const int *delay;       /* in steps, at least 1 */
    const double *strength; /* w */
} syn_links;

/* With f(x) = r x (1 - x): x(t + 1) = (1 - sum of w) f(x(t)) + sum of w f(cause). */
typedef struct syn_coupled {
    syn_links links;
    const double *growth;   /* r of each series */
    const double *start;    /* each series' value at step 0 and at all steps before */
    size_t transient;       /* steps that are not kept, from step 1 on */
    size_t steps;           /* steps that are kept after these */
} syn_coupled;

/* Fills out[series][steps]. The causes of a series are summed in the order of its links,
   in long double. SYN_NO_MEMORY; SYN_INTERRUPTED. */
syn_status syn_coupled_run(const syn_coupled *maps, double *out, const syn_watch *watch);

#endif
