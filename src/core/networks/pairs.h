/* What two series of a wiring have to do with each other: links, paths through others,
   and series that drive both. */
#ifndef SYN_NETWORKS_PAIRS_H
#define SYN_NETWORKS_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/status.h"
#include "core/base/watch.h"
#include "core/networks/links.h"

typedef struct syn_pairs_options {
    uint32_t longest;     /* most links of a path */
    const int *hidden;    /* [series] 1 for a series that is not seen */
    size_t most_pairs;    /* more pairs, or ten times as many names, are SYN_TOO_LARGE */
} syn_pairs_options;

/* One cause and one effect. Paths are those beside a direct link; `through` and `drivers`
   are how many series syn_pairs names for it. */
typedef struct syn_pair {
    int cause, effect;
    int link;             /* the number of the direct link, or -1 */
    int length;           /* links of the shortest path, or 0 */
    double delay;         /* the least sum of delays on the shortest paths */
    int through;          /* series on the shortest paths */
    int drivers;          /* series that drive both, with the fewest links */
    int hidden_path;      /* 1 if a path leads through hidden series alone */
    int hidden_driver;    /* 1 if a hidden series drives both through hidden ones alone */
} syn_pair;

/* Numbers of series: those of the first pair, in increasing order, then those of the
   second and so on. */
typedef struct syn_names {
    int *series;
    size_t n, room;
} syn_names;

/* All pairs of series that are seen, by effect and cause, which have a link, a path or a
   driver. */
typedef struct syn_pairs {
    syn_pair *pair;
    size_t n, room;
    syn_names through, drivers;
} syn_pairs;

/* Free with syn_pairs_free(), also after an error. SYN_NO_MEMORY; SYN_TOO_LARGE;
   SYN_INTERRUPTED. */
syn_status syn_pairs_find(const syn_links *links, const syn_pairs_options *options,
                          syn_pairs *out, const syn_watch *watch);

void syn_pairs_free(syn_pairs *pairs);

#endif
