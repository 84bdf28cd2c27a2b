/* Links of a network, grouped by one of their ends. */
#ifndef SYN_NETWORKS_LINKS_H
#define SYN_NETWORKS_LINKS_H

#include <stdint.h>

/* Links of node i are [first[i], first[i + 1]). */
typedef struct syn_links {
    uint32_t nodes;
    const int *first;      /* [nodes + 1] */
    const int *other;      /* the node at the other end of each link */
    const int *delay;      /* in steps, at least 1 */
    const double *weight;
} syn_links;

static inline uint32_t syn_longest_delay(const syn_links *links)
{
    int longest = 1;
    for (int k = 0; k < links->first[links->nodes]; k++)
        longest = links->delay[k] > longest ? links->delay[k] : longest;
    return (uint32_t)longest;
}

#endif
