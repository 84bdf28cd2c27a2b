/* Maps that drive each other: what each series does next depends on itself and on what
   its causes did one or more steps ago. */
#ifndef SYN_NETWORKS_COUPLED_H
#define SYN_NETWORKS_COUPLED_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/status.h"
#include "core/base/watch.h"
#include "core/networks/links.h"

typedef enum syn_coupled_kind {
    /* With f(x) = r x (1 - x): x(t + 1) = (1 - sum of w) f(x(t)) + sum of w f(cause). */
    SYN_LOGISTIC,
    /* x(t + 1) = x(t) exp(r (1 - x(t)) - sum of w (cause - 1)). */
    SYN_RICKER,
    SYN_COUPLED_KINDS
} syn_coupled_kind;

typedef struct syn_coupled {
    syn_coupled_kind kind;
    syn_links links;        /* with the strengths w */
    const double *growth;   /* r of each series */
    const double *start;    /* each series' value at step 0 and at all steps before */
    size_t transient;       /* steps that are not kept, from step 1 on */
    size_t steps;           /* steps that are kept after these */
    const int *kept;        /* numbers of the series that are kept, */
    uint32_t n_kept;        /* and how many they are */
} syn_coupled;

/* Fills out[n_kept][steps]. The causes of a series are summed in the order of its links,
   in long double. SYN_NO_MEMORY; SYN_INTERRUPTED. */
syn_status syn_coupled_run(const syn_coupled *maps, double *out, const syn_watch *watch);

#endif
