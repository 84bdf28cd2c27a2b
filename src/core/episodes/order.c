/* Sorts episodes by count and by name. Children are sorted within their parents, whose
   order is known, which gives the order of names; a stable counting sort by count then
   comes on top. */
#include "core/episodes/order.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

typedef struct ranking {
    const syn_episode_level *level;
    const uint32_t *unit, *interval;
} ranking;

static int comes_before(const ranking *by, uint32_t a, uint32_t b)
{
    uint32_t a_interval = by->interval[by->level->interval[a]];
    uint32_t b_interval = by->interval[by->level->interval[b]];
    if (a_interval != b_interval)
        return a_interval < b_interval;
    return by->unit[by->level->unit[a]] < by->unit[by->level->unit[b]];
}

/* Shell sort where siblings, which are few, are not in order already, as in most
   recordings. */
static void order_siblings(const ranking *by, uint32_t *out, uint32_t begin, uint32_t end)
{
    uint32_t n = end - begin;
    int sorted = 1;
    for (uint32_t i = 0; i < n; i++) {
        out[i] = begin + i;
        sorted &= i == 0 || !comes_before(by, begin + i, begin + i - 1);
    }
    for (uint32_t gap = sorted ? 0 : n / 2; gap > 0; gap /= 2)
        for (uint32_t j = gap; j < n; j++) {
            uint32_t node = out[j], i = j;
            for (; i >= gap && comes_before(by, node, out[i - gap]); i -= gap)
                out[i] = out[i - gap];
            out[i] = node;
        }
}

enum { POLL_EVERY = 65536 };  /* parents: some 10 ms of work */

/* Names begin with the parent's name: its order gives that of the children. */
static syn_status order_by_name(const ranking *by, const syn_episode_level *below,
                                const uint32_t *parents, const syn_watch *watch,
                                uint32_t *out)
{
    if (below == NULL) {
        order_siblings(by, out, 0, (uint32_t)by->level->n);
        return SYN_OK;
    }
    for (size_t i = 0; i < below->n; i++) {
        uint32_t begin = below->child[parents[i]], end = below->child[parents[i] + 1];
        order_siblings(by, out, begin, end);
        out += end - begin;
        if (i % POLL_EVERY == POLL_EVERY - 1 &&
            syn_poll(watch, "table", 0, 0) != SYN_OK)
            return SYN_INTERRUPTED;
    }
    return SYN_OK;
}

/* Stable, so that equal counts stay in order of their names. */
static syn_status order_by_count(const syn_episode_level *level, const uint32_t *by_name,
                                 uint32_t *out)
{
    uint32_t most = 0, least = UINT32_MAX;
    for (size_t i = 0; i < level->n; i++) {
        most = level->count[i] > most ? level->count[i] : most;
        least = level->count[i] < least ? level->count[i] : least;
    }
    if (level->n == 0)
        return SYN_OK;
    size_t *place;
    SYN_NEW_ZEROS(place, (size_t)(most - least) + 2);
    for (size_t i = 0; i < level->n; i++)
        place[most - level->count[i] + 1]++;
    for (uint32_t c = 0; c < most - least; c++)
        place[c + 1] += place[c];
    for (size_t i = 0; i < level->n; i++)
        out[place[most - level->count[by_name[i]]]++] = by_name[i];
    free(place);
    return SYN_OK;
}

syn_status syn_episodes_order(const syn_episodes *episodes, const uint32_t *unit_rank,
                              const uint32_t *interval_rank, const syn_watch *watch,
                              uint32_t ***order)
{
    uint32_t *parents = NULL;
    syn_status status = SYN_OK;
    *order = calloc(episodes->n_levels + 1, sizeof **order);
    if (!*order)
        return SYN_NO_MEMORY;
    for (size_t k = 0; k < episodes->n_levels && status == SYN_OK; k++) {
        const syn_episode_level *level = &episodes->level[k];
        ranking by = {level, unit_rank, interval_rank};
        uint32_t *by_name = malloc((level->n + 1) * sizeof *by_name);
        (*order)[k] = malloc((level->n + 1) * sizeof *by_name);
        status = SYN_NO_MEMORY;
        if (by_name && (*order)[k]) {
            status = order_by_name(&by, k > 0 ? level - 1 : NULL, parents, watch,
                                   by_name);
            SYN_NEXT(status, order_by_count(level, by_name, (*order)[k]));
        }
        free(parents);
        parents = by_name;
        SYN_NEXT(status, syn_poll(watch, "table", 0, 0));
    }
    free(parents);
    return status;
}

void syn_episodes_order_free(const syn_episodes *episodes, uint32_t **order)
{
    for (size_t k = 0; order && k < episodes->n_levels; k++)
        free(order[k]);
    free(order);
}
