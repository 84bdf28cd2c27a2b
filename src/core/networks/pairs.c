/* Looks at one effect after the other: at all series from which paths lead to it, and at
   all that one of these drives as well. */
#include "core/networks/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "core/networks/paths.h"

enum { OFTEN = 1 << 20 };    /* links looked at between two polls */

/* Searches, each of which is kept until the next of its kind. */
enum {
    TO,         /* back from the effect */
    AVOIDING,   /* the same without the direct link, or without the cause */
    FROM,       /* back from the cause, without the effect */
    NEAR,       /* whatever the causes of the effect drive */
    WALK,       /* along the shortest paths */
    UNSEEN,     /* back from the effect through hidden series */
    BESIDE,     /* whatever the hidden ones of these drive through hidden series */
    SEARCHES
};

typedef struct finder {
    const syn_links *links;
    const syn_pairs_options *options;
    syn_graph graph;
    syn_paths search[SEARCHES];
    int *hidden_path;   /* [series] 1 for causes with a path through hidden series */
    int *link;          /* [series] number of the link to the effect, or SYN_NOWHERE */
    int *list;          /* [series] */
    syn_pairs *out;
} finder;

/* ---- memory ---- */

static syn_status begin(finder *f)
{
    size_t n = f->links->series;
    syn_status status = syn_graph_make(&f->graph, f->links);
    for (int k = 0; k < SEARCHES; k++)
        if (syn_paths_make(&f->search[k], f->links->series) != SYN_OK)
            status = SYN_NO_MEMORY;
    f->hidden_path = calloc(n, sizeof(int));
    f->link = malloc(n * sizeof(int));
    f->list = malloc(n * sizeof(int));
    if (!f->hidden_path || !f->link || !f->list)
        return SYN_NO_MEMORY;
    for (size_t i = 0; i < n; i++)
        f->link[i] = SYN_NOWHERE;
    return status;
}

static void release(finder *f)
{
    syn_graph_free(&f->graph);
    for (int k = 0; k < SEARCHES; k++)
        syn_paths_free(&f->search[k]);
    free(f->hidden_path);
    free(f->link);
    free(f->list);
}

void syn_pairs_free(syn_pairs *pairs)
{
    free(pairs->pair);
    free(pairs->through.series);
    free(pairs->drivers.series);
}

/* How many things there is to be room for where `n` are needed. */
static size_t roomy(size_t n)
{
    return n + n / 2 + 64;
}

static syn_status add_pair(finder *f, const syn_pair *pair)
{
    syn_pairs *out = f->out;
    if (out->n >= f->options->most_pairs)
        return SYN_TOO_LARGE;
    if (out->n == out->room) {
        syn_pair *moved = realloc(out->pair, roomy(out->n) * sizeof *moved);
        if (moved == NULL)
            return SYN_NO_MEMORY;
        out->pair = moved;
        out->room = roomy(out->n);
    }
    out->pair[out->n++] = *pair;
    return SYN_OK;
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Adds the first `n` of f->list. */
static syn_status add_names(finder *f, syn_names *names, int n)
{
    size_t all = names->n + (size_t)n;
    if (all > 10 * f->options->most_pairs)
        return SYN_TOO_LARGE;
    if (all > names->room) {
        int *moved = realloc(names->series, roomy(all) * sizeof *moved);
        if (moved == NULL)
            return SYN_NO_MEMORY;
        names->series = moved;
        names->room = roomy(all);
    }
    qsort(f->list, (size_t)n, sizeof(int), by_number);
    if (n > 0)
        memcpy(names->series + names->n, f->list, (size_t)n * sizeof(int));
    names->n = all;
    return SYN_OK;
}

/* ---- paths ---- */

static syn_paths_rule rule_of(const finder *f)
{
    return (syn_paths_rule){.longest = f->options->longest,
                             .but_link = SYN_NOWHERE,
                             .but_series = SYN_NOWHERE};
}

/* The search of this kind, begun anew from a series. */
static syn_paths *begin_search(finder *f, int kind, int series)
{
    syn_paths *search = &f->search[kind];
    syn_paths_clear(search);
    syn_paths_from(search, (uint32_t)series);
    return search;
}

/* Lists the series on the shortest paths from `cause`; `to` has searched back from the
   effect. */
static int list_path(finder *f, const syn_paths *to, int cause)
{
    int n = 0;
    syn_paths *walk = begin_search(f, WALK, cause);
    for (uint32_t next = 0; next < walk->n; next++) {
        uint32_t at = walk->found[next];
        for (int k = f->graph.first[at]; k < f->graph.first[at + 1]; k++) {
            int after = f->graph.effect[k];
            int far = to->far[after];
            if (far < 1 || far != to->far[at] - 1 || walk->far[after] != SYN_NOWHERE)
                continue;
            syn_paths_from(walk, (uint32_t)after);
            f->list[n++] = after;
        }
    }
    return n;
}

/* The search back from the effect of a direct link, as far as its cause, without the
   link. */
static const syn_paths *other_paths(finder *f, const syn_pair *pair)
{
    syn_paths_rule rule = rule_of(f);
    rule.but_link = pair->link;
    syn_paths *to = begin_search(f, AVOIDING, pair->effect);
    while (to->far[pair->cause] == SYN_NOWHERE &&
           syn_paths_layer(to, &f->graph, &rule, 1))
        ;
    return to;
}

static syn_status find_paths(finder *f, syn_pair *pair)
{
    const syn_paths *to =
        pair->link == SYN_NOWHERE ? &f->search[TO] : other_paths(f, pair);
    if (to->far[pair->cause] == SYN_NOWHERE)
        return SYN_OK;
    pair->length = to->far[pair->cause];
    pair->delay = (double)to->delay[pair->cause];
    pair->through = list_path(f, to, pair->cause);
    return add_names(f, &f->out->through, pair->through);
}

/* ---- drivers ---- */

/* Lists the series that are `sum` links away from cause and effect together, and drive
   both. */
static int list_drivers(finder *f, const syn_paths *from, const syn_paths *to, int sum)
{
    int n = 0;
    for (uint32_t k = 1; k < from->n; k++) {
        uint32_t at = from->found[k];
        if (to->far[at] >= 1 && from->far[at] + to->far[at] == sum)
            f->list[n++] = (int)at;
    }
    return n;
}

/* How far the last of those that were found are. */
static int farthest(const syn_paths *search)
{
    return search->far[search->found[search->n - 1]];
}

/* Looks back from the cause without the effect and from the effect without the cause,
   both a link farther at a time, so that it ends with the nearest drivers. */
static syn_status find_drivers(finder *f, syn_pair *pair)
{
    syn_paths_rule past_effect = rule_of(f), past_cause = rule_of(f);
    past_effect.but_series = pair->effect;
    past_cause.but_series = pair->cause;
    syn_paths *from = begin_search(f, FROM, pair->cause);
    /* The search from the effect is whole where the cause is not in its way. */
    int whole = f->search[TO].far[pair->cause] == SYN_NOWHERE;
    syn_paths *to = whole ? &f->search[TO] : begin_search(f, AVOIDING, pair->effect);
    int more = 1;
    for (int sum = 2; pair->drivers == 0 && more; sum++) {
        more = syn_paths_layer(from, &f->graph, &past_effect, 1);
        if (!whole)
            more |= syn_paths_layer(to, &f->graph, &past_cause, 1);
        more |= sum < farthest(from) + farthest(to);
        pair->drivers = list_drivers(f, from, to, sum);
    }
    return add_names(f, &f->out->drivers, pair->drivers);
}

/* ---- one effect ---- */

/* Marks the causes of hidden series that drive the effect through hidden ones, or takes
   the marks away. */
static void mark_hidden(finder *f, int mark)
{
    const syn_paths *unseen = &f->search[UNSEEN];
    for (uint32_t k = 1; k < unseen->n; k++) {
        uint32_t at = unseen->found[k];
        if (!f->options->hidden[at] || (uint32_t)unseen->far[at] >= f->options->longest)
            continue;
        for (int i = f->links->first[at]; i < f->links->first[at + 1]; i++)
            f->hidden_path[f->links->cause[i]] = mark;
    }
}

static void search_unseen(finder *f, uint32_t effect)
{
    syn_paths_rule rule = rule_of(f);
    rule.through = f->options->hidden;
    syn_paths *unseen = begin_search(f, UNSEEN, (int)effect);
    syn_paths_all(unseen, &f->graph, &rule, 1);
    syn_paths *beside = &f->search[BESIDE];
    syn_paths_clear(beside);
    for (uint32_t k = 1; k < unseen->n; k++)
        if (f->options->hidden[unseen->found[k]])
            syn_paths_from(beside, unseen->found[k]);
    syn_paths_all(beside, &f->graph, &rule, 0);
}

static syn_status look_at(finder *f, uint32_t cause, uint32_t effect)
{
    syn_pair pair = {.cause = (int)cause, .effect = (int)effect, .link = f->link[cause],
                     .hidden_path = f->hidden_path[cause],
                     .hidden_driver = f->search[BESIDE].far[cause] > 0};
    syn_status status = find_paths(f, &pair);
    if (status == SYN_OK)
        status = find_drivers(f, &pair);
    if (status == SYN_OK &&
        (pair.link != SYN_NOWHERE || pair.through > 0 || pair.drivers > 0))
        status = add_pair(f, &pair);
    return status;
}

static void mark_links(finder *f, uint32_t effect, int mark)
{
    for (int k = f->links->first[effect]; k < f->links->first[effect + 1]; k++)
        f->link[f->links->cause[k]] = mark ? k : SYN_NOWHERE;
}

static size_t work_done(const finder *f)
{
    size_t sum = 0;
    for (int k = 0; k < SEARCHES; k++)
        sum += f->search[k].work;
    return sum;
}

static syn_status look_at_all(finder *f, const int *causes, uint32_t n, uint32_t effect,
                              const syn_watch *watch)
{
    size_t polled = work_done(f);
    for (uint32_t k = 0; k < n; k++) {
        if ((uint32_t)causes[k] == effect || f->options->hidden[causes[k]])
            continue;
        syn_status status = look_at(f, (uint32_t)causes[k], effect);
        if (status == SYN_OK && work_done(f) - polled > OFTEN) {
            polled = work_done(f);
            status = syn_poll(watch, "series", effect, f->links->series);
        }
        if (status != SYN_OK)
            return status;
    }
    return SYN_OK;
}

static syn_status find_causes(finder *f, uint32_t effect, const syn_watch *watch)
{
    syn_paths_rule rule = rule_of(f);
    syn_paths *to = begin_search(f, TO, (int)effect);
    syn_paths_all(to, &f->graph, &rule, 1);
    /* Whatever has a path to the effect, or a driver in common with it, is here. */
    syn_paths *near = &f->search[NEAR];
    syn_paths_clear(near);
    for (uint32_t k = 0; k < to->n; k++)
        syn_paths_from(near, to->found[k]);
    syn_paths_all(near, &f->graph, &rule, 0);
    search_unseen(f, effect);
    mark_hidden(f, 1);
    mark_links(f, effect, 1);
    qsort(near->found, near->n, sizeof(uint32_t), by_number);
    syn_status status = look_at_all(f, (const int *)near->found, near->n, effect, watch);
    mark_links(f, effect, 0);
    mark_hidden(f, 0);
    return status;
}

syn_status syn_pairs_find(const syn_links *links, const syn_pairs_options *options,
                          syn_pairs *out, const syn_watch *watch)
{
    finder f = {.links = links, .options = options, .out = out};
    memset(out, 0, sizeof *out);
    syn_status status = begin(&f);
    for (uint32_t j = 0; j < links->series && status == SYN_OK; j++) {
        if (!options->hidden[j])
            status = find_causes(&f, j, watch);
        if (status == SYN_OK && j % 256 == 255)
            status = syn_poll(watch, "series", j, links->series);
    }
    release(&f);
    return status;
}
