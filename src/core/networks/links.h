/* Which series drive which others. */
#ifndef SYN_NETWORKS_LINKS_H
#define SYN_NETWORKS_LINKS_H

#include <stdint.h>

/* Links by effect: those into series j are [first[j], first[j + 1]), by cause. */
typedef struct syn_links {
    uint32_t series;
    const int *first;       /* [series + 1] */
    const int *cause;       /* a number of a series for each link */
    const int *delay;       /* in steps, at least 1 */
    const double *strength; /* what it means depends on what the series do */
} syn_links;

#endif
