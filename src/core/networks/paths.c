/* Searches in a wiring, from link to link: all series that are one link away, then those
   that are two links away, and so on. */
#include "core/networks/paths.h"

#include <stdlib.h>
#include <string.h>

/* ---- the graph ---- */

syn_status syn_graph_make(syn_graph *graph, const syn_links *links)
{
    uint32_t n = links->series;
    size_t all = (size_t)links->first[n];
    *graph = (syn_graph){.links = links,
                         .first = calloc((size_t)n + 2, sizeof(int)),
                         .effect = malloc((all + 1) * sizeof(int)),
                         .link = malloc((all + 1) * sizeof(int))};
    if (!graph->first || !graph->effect || !graph->link)
        return SYN_NO_MEMORY;
    /* Counts stand two places later, so that filling moves them to where they belong. */
    for (size_t k = 0; k < all; k++)
        graph->first[links->cause[k] + 2]++;
    for (uint32_t i = 2; i <= n + 1; i++)
        graph->first[i] += graph->first[i - 1];
    for (uint32_t j = 0; j < n; j++) {
        for (int k = links->first[j]; k < links->first[j + 1]; k++) {
            int at = graph->first[links->cause[k] + 1]++;
            graph->effect[at] = (int)j;
            graph->link[at] = k;
        }
    }
    return SYN_OK;
}

void syn_graph_free(syn_graph *graph)
{
    free(graph->first);
    free(graph->effect);
    free(graph->link);
}

/* ---- searches ---- */

syn_status syn_paths_make(syn_paths *search, uint32_t series)
{
    *search = (syn_paths){.far = malloc((series + (size_t)1) * sizeof(int)),
                           .delay = malloc((series + (size_t)1) * sizeof(int64_t)),
                           .found = malloc((series + (size_t)1) * sizeof(uint32_t))};
    if (!search->far || !search->delay || !search->found)
        return SYN_NO_MEMORY;
    for (uint32_t i = 0; i < series; i++)
        search->far[i] = SYN_NOWHERE;
    return SYN_OK;
}

void syn_paths_free(syn_paths *search)
{
    free(search->far);
    free(search->delay);
    free(search->found);
}

void syn_paths_clear(syn_paths *search)
{
    for (uint32_t k = 0; k < search->n; k++)
        search->far[search->found[k]] = SYN_NOWHERE;
    search->n = search->open = 0;
}

void syn_paths_from(syn_paths *search, uint32_t series)
{
    if (search->far[series] != SYN_NOWHERE)
        return;
    search->far[series] = search->delay[series] = 0;
    search->found[search->n++] = series;
}

/* `next` is one link from `at`. */
static void arrive(syn_paths *search, uint32_t at, uint32_t next, int delay)
{
    int far = search->far[at] + 1;
    int64_t sum = search->delay[at] + delay;
    if (search->far[next] == SYN_NOWHERE) {
        search->far[next] = far;
        search->delay[next] = sum;
        search->found[search->n++] = next;
    } else if (search->far[next] == far && sum < search->delay[next]) {
        search->delay[next] = sum;
    }
}

static void look_around(syn_paths *search, const syn_graph *graph,
                        const syn_paths_rule *rule, int back, uint32_t at)
{
    const syn_links *links = graph->links;
    const int *first = back ? links->first : graph->first;
    for (int k = first[at]; k < first[at + 1]; k++) {
        int link = back ? k : graph->link[k];
        int next = back ? links->cause[k] : graph->effect[k];
        if (link != rule->but_link && next != rule->but_series)
            arrive(search, at, (uint32_t)next, links->delay[link]);
    }
    search->work += (size_t)(first[at + 1] - first[at]) + 1;
}

int syn_paths_layer(syn_paths *search, const syn_graph *graph,
                     const syn_paths_rule *rule, int back)
{
    uint32_t end = search->n;
    for (; search->open < end; search->open++) {
        uint32_t at = search->found[search->open];
        int far = search->far[at];
        int may = far == 0 || rule->through == NULL || rule->through[at];
        if (may && (uint32_t)far < rule->longest)
            look_around(search, graph, rule, back, at);
    }
    return search->n > end;
}

void syn_paths_all(syn_paths *search, const syn_graph *graph,
                    const syn_paths_rule *rule, int back)
{
    while (syn_paths_layer(search, graph, rule, back))
        ;
}
