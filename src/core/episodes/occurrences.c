/* Finds where a given episode occurs. For each position of the episode the valid ends
   are listed, each with the range of its predecessors in the list before. Following the
   newest predecessors back gives the occurrences that are counted; following all gives
   every occurrence. */
#include "core/episodes/occurrences.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arrays.h"

/* A valid end of a prefix of the episode. Its predecessors are the valid ends
   oldest .. newest of the prefix one shorter; the newest one starts latest. */
typedef struct chain_link {
    uint32_t event, start;
    uint32_t oldest, newest;
} chain_link;

/* The valid ends of every prefix of one episode. */
typedef struct chain {
    chain_link **link;   /* [size][n] */
    uint32_t *n;         /* [size] */
    uint32_t size;
    syn_arrays memory;
} chain;

static uint32_t link_first(chain_link *to, const syn_recording *r, uint32_t unit)
{
    uint32_t begin = r->first[unit], n = r->first[unit + 1] - begin;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t event = r->by_unit[begin + i];
        to[i] = (chain_link){event, r->group[event], 0, 0};
    }
    return n;
}

/* Both ends of the window only move forward, as the events of a unit come in order. */
static uint32_t link_next(chain_link *to, const syn_recording *r, uint32_t unit,
                          syn_interval lag, const chain_link *from, uint32_t n_from)
{
    uint32_t n = 0, oldest = 0, after = 0;
    for (uint32_t i = r->first[unit]; i < r->first[unit + 1]; i++) {
        uint32_t event = r->by_unit[i];
        int64_t t = r->tick[event];
        while (after < n_from && t - r->tick[from[after].event] > lag.low)
            after++;
        while (oldest < after && t - r->tick[from[oldest].event] > lag.high)
            oldest++;
        if (oldest == after)
            continue;
        to[n++] = (chain_link){event, from[after - 1].start, oldest, after - 1};
    }
    return n;
}

static syn_status chain_make(chain *c, const syn_recording *r, const syn_episode *episode)
{
    *c = (chain){.size = episode->size};
    SYN_ARRAY(&c->memory, c->link, c->size);
    SYN_ARRAY(&c->memory, c->n, c->size);
    for (uint32_t k = 0; k < c->size; k++) {
        uint32_t unit = episode->unit[k];
        SYN_ARRAY(&c->memory, c->link[k], r->first[unit + 1] - r->first[unit]);
        c->n[k] = k == 0 ? link_first(c->link[k], r, unit)
                         : link_next(c->link[k], r, unit, episode->lag[k - 1],
                                     c->link[k - 1], c->n[k - 1]);
    }
    return SYN_OK;
}

/* ---- finding ---- */

static uint32_t *add_occurrence(syn_occurrences *out, uint32_t size, size_t most,
                                syn_status *status)
{
    if (out->n == most) {
        *status = SYN_TOO_LARGE;
        return NULL;
    }
    if (out->n == out->room) {
        size_t room = 2 * out->room + 64;
        uint32_t *event = realloc(out->event, room * size * sizeof *event);
        if (!event) {
            *status = SYN_NO_MEMORY;
            return NULL;
        }
        out->event = event;
        out->room = room;
    }
    return out->event + out->n++ * size;
}

static syn_status find_nonoverlapped(const chain *c, size_t most, syn_occurrences *out)
{
    syn_status status = SYN_OK;
    uint32_t busy = 0, last = c->size - 1;
    for (uint32_t i = 0; i < c->n[last]; i++) {
        if (c->link[last][i].start < busy)
            continue;
        uint32_t *event = add_occurrence(out, c->size, most, &status);
        if (!event)
            return status;
        busy = c->link[last][i].event + 1;
        for (uint32_t k = last, at = i; ; k--) {
            event[k] = c->link[k][at].event;
            if (k == 0)
                break;
            at = c->link[k][at].newest;
        }
    }
    return SYN_OK;
}

enum { POLL_EVERY = 65536 };  /* occurrences: a few milliseconds of work */

/* Runs through all ways from one last event back to a first one; `at` is the way. */
static syn_status find_ways(const chain *c, uint32_t *at, size_t most,
                            const syn_watch *watch, syn_occurrences *out)
{
    syn_status status = SYN_OK;
    uint32_t k = c->size - 1;
    for (uint32_t j = k; j > 0; j--)
        at[j - 1] = c->link[j][at[j]].oldest;
    for (;;) {
        uint32_t *event = add_occurrence(out, c->size, most, &status);
        if (!event)
            return status;
        for (uint32_t j = 0; j < c->size; j++)
            event[j] = c->link[j][at[j]].event;
        if (out->n % POLL_EVERY == 0 && syn_poll(watch, "occurrences", (double)out->n,
                                                 (double)most) != SYN_OK)
            return SYN_INTERRUPTED;
        uint32_t step = 0;
        while (step < k && at[step] == c->link[step + 1][at[step + 1]].newest)
            step++;
        if (step == k)
            return SYN_OK;
        at[step]++;
        for (uint32_t j = step; j > 0; j--)
            at[j - 1] = c->link[j][at[j]].oldest;
    }
}

static syn_status find_all(chain *c, size_t most, const syn_watch *watch,
                           syn_occurrences *out)
{
    uint32_t *at;
    SYN_ARRAY(&c->memory, at, c->size);
    for (uint32_t i = 0; i < c->n[c->size - 1]; i++) {
        at[c->size - 1] = i;
        SYN_TRY(find_ways(c, at, most, watch, out));
    }
    return SYN_OK;
}

syn_status syn_find_occurrences(const syn_recording *recording,
                                const syn_episode *episode, syn_occurrence_kind kind,
                                size_t most, const syn_watch *watch, syn_occurrences *out)
{
    chain c;
    memset(out, 0, sizeof *out);
    syn_status status = chain_make(&c, recording, episode);
    if (status == SYN_OK && kind == SYN_NONOVERLAPPED)
        status = find_nonoverlapped(&c, most, out);
    else
        SYN_NEXT(status, find_all(&c, most, watch, out));
    syn_give_back(&c.memory);
    return status;
}

void syn_occurrences_free(syn_occurrences *occurrences)
{
    free(occurrences->event);
    memset(occurrences, 0, sizeof *occurrences);
}
