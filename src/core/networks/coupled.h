/* Maps that drive each other: what each series does next depends on itself and on what
   its causes did one or more steps ago. */
#ifndef SYN_NETWORKS_COUPLED_H
#define SYN_NETWORKS_COUPLED_H

#include "core/base/watch.h"
#include "core/networks/links.h"

/* With f(x) = r x (1 - x): x(t + 1) = (1 - sum of w) f(x(t)) + sum of w f(cause). */
typedef struct syn_coupled {
    syn_links links;        /* by effect, with their causes; w is their weight */
    const double *growth;   /* r of each series */
    const double *start;    /* each series' value at step 0 and at all steps before */
    size_t transient;       /* steps that are not kept, from step 1 on */
    size_t steps;           /* steps that are kept after these */
} syn_coupled;

/* Fills out[series][steps]. The causes of a series are summed in the order of its links,
   in long double. SYN_NO_MEMORY; SYN_INTERRUPTED. */
syn_status syn_coupled_run(const syn_coupled *maps, double *out, const syn_watch *watch);

#endif
