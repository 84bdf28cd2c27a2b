/* Shortest paths in a wiring. */
#ifndef SYN_NETWORKS_PATHS_H
#define SYN_NETWORKS_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/status.h"
#include "core/networks/links.h"

enum { SYN_NOWHERE = -1 };

/* A wiring that can be followed both ways. */
typedef struct syn_graph {
    const syn_links *links;
    int *first;    /* [series + 1] links out of each series, */
    int *effect;   /* [links] their effects, in increasing order, */
    int *link;     /* [links] and their numbers in `links` */
} syn_graph;

syn_status syn_graph_make(syn_graph *graph, const syn_links *links);
void syn_graph_free(syn_graph *graph);

/* How far series are from where a search began. Only those in `found` are set. */
typedef struct syn_paths {
    int *far;          /* [series] links of the shortest path, or SYN_NOWHERE */
    int *delay;        /* [series] the least sum of delays on the shortest paths */
    uint32_t *found;   /* in the order of `far` */
    uint32_t n;        /* how many were found, */
    uint32_t open;     /* and the first of them whose neighbours were not yet looked at */
    size_t work;       /* links looked at since the search was made */
} syn_paths;

syn_status syn_paths_make(syn_paths *search, uint32_t series);
void syn_paths_free(syn_paths *search);

/* Begins anew, with nothing found. */
void syn_paths_clear(syn_paths *search);

/* Adds a series to begin from. */
void syn_paths_from(syn_paths *search, uint32_t series);

/* What a search leaves out. */
typedef struct syn_paths_rule {
    uint32_t longest;     /* most links of a path */
    int64_t but_link;     /* this link, or SYN_NOWHERE */
    int64_t but_series;   /* this series, or SYN_NOWHERE */
    const int *through;   /* NULL, or [series] 1 for those that a path may lead through;
                             it may begin and end anywhere */
} syn_paths_rule;

/* Finds all series that are one link farther away than the farthest that were found: from
   effects to causes (`back`), or from causes to effects. 0 when there is none. */
int syn_paths_layer(syn_paths *search, const syn_graph *graph,
                     const syn_paths_rule *rule, int back);

/* The same until nothing is left. */
void syn_paths_all(syn_paths *search, const syn_graph *graph,
                    const syn_paths_rule *rule, int back);

#endif
