/* Numbers the sequences of units, and those of intervals, that occur in episodes. Level
   by level, episodes whose prefixes have the same sequence are looked at together, and
   each new last unit (or interval) among them begins a new sequence. */
#include "core/episodes/sequences.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

/* The numbering of the sequences of one level. */
typedef struct numbering {
    const uint32_t *symbol;  /* [level's n] last unit, or interval, of each episode */
    uint32_t *of;            /* [level's n] to be filled */
    uint32_t *seen;          /* [symbols] one more than the last sequence each extended */
    uint32_t *number;        /* [symbols] what that became */
} numbering;

/* Numbers the episodes `begin` to `end`, whose prefixes have the sequence `before`. All
   episodes with such prefixes are numbered one after the other. */
static void number_siblings(const numbering *level, syn_sequences *out, uint32_t before,
                            uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin; i < end; i++) {
        uint32_t symbol = level->symbol[i];
        if (level->seen[symbol] != before + 1) {
            level->seen[symbol] = before + 1;
            level->number[symbol] = (uint32_t)out->n;
            out->before[out->n] = before;
            out->last[out->n++] = symbol;
        }
        level->of[i] = level->number[symbol];
    }
}

/* The `n` episodes of a level in order of their sequences, from `first` to below `end`.
   The caller frees them; NULL without memory. */
static uint32_t *by_sequence(const uint32_t *of, size_t n, size_t first, size_t end)
{
    uint32_t *out = malloc((n + 1) * sizeof *out);
    uint32_t *place = calloc(end - first + 1, sizeof *place);
    if (!out || !place) {
        SYN_FREE(out, place);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        place[of[i] - first + 1]++;
    for (size_t s = first; s < end; s++)
        place[s - first + 1] += place[s - first];
    for (size_t i = 0; i < n; i++)
        out[place[of[i] - first]++] = (uint32_t)i;
    free(place);
    return out;
}

enum { POLL_EVERY = 65536 };  /* parents: some 10 ms of work */

/* Numbers level `k` > 0, when the sequences of the level below begin at `first`. */
static syn_status number_level(const syn_episodes *episodes, size_t k,
                               const numbering *level, size_t first,
                               const syn_watch *watch, syn_sequences *out)
{
    const syn_episode_level *below = &episodes->level[k - 1];
    const uint32_t *of = out->of[k - 1];
    uint32_t *parent = by_sequence(of, below->n, first, out->n);
    if (!parent)
        return SYN_NO_MEMORY;
    syn_status status = SYN_OK;
    for (size_t i = 0; i < below->n && status == SYN_OK; i++) {
        number_siblings(level, out, of[parent[i]], below->child[parent[i]],
                        below->child[parent[i] + 1]);
        if (i % POLL_EVERY == POLL_EVERY - 1)
            status = syn_poll(watch, "table", 0, 0);
    }
    free(parent);
    return status;
}

static syn_status number_levels(const syn_episodes *episodes, syn_sequence_kind kind,
                                numbering *level, const syn_watch *watch,
                                syn_sequences *out)
{
    size_t most = 1;
    for (size_t k = 0; k < episodes->n_levels; k++)
        most += episodes->level[k].n;
    if (most > INT32_MAX)
        return SYN_TOO_LARGE;
    /* Far more than is used, as a rule; memory that is never written costs nothing. */
    SYN_NEW(out->before, most);
    SYN_NEW(out->last, most);
    SYN_NEW_ZEROS(out->of, episodes->n_levels + 1);
    out->before[0] = out->last[0] = 0;
    out->n = 1;
    size_t first = 0;
    syn_status status = SYN_OK;
    for (size_t k = 0; k < episodes->n_levels && status == SYN_OK; k++) {
        const syn_episode_level *nodes = &episodes->level[k];
        size_t begin = out->n;
        level->symbol = kind == SYN_UNITS ? nodes->unit : nodes->interval;
        level->of = out->of[k] = calloc(nodes->n + 1, sizeof *level->of);
        if (!level->of)
            return SYN_NO_MEMORY;
        if (k > 0)
            status = number_level(episodes, k, level, first, watch, out);
        else if (kind == SYN_UNITS)
            number_siblings(level, out, 0, 0, (uint32_t)nodes->n);
        first = k > 0 ? begin : 0;
        SYN_NEXT(status, syn_poll(watch, "table", 0, 0));
    }
    return status;
}

syn_status syn_number_sequences(const syn_episodes *episodes, syn_sequence_kind kind,
                                uint32_t symbols, const syn_watch *watch,
                                syn_sequences *out)
{
    memset(out, 0, sizeof *out);
    numbering level = {.seen = calloc((size_t)symbols + 1, sizeof *level.seen),
                       .number = malloc(((size_t)symbols + 1) * sizeof *level.number)};
    syn_status status = SYN_NO_MEMORY;
    if (level.seen && level.number)
        status = number_levels(episodes, kind, &level, watch, out);
    SYN_FREE(level.seen, level.number);
    return status;
}

void syn_sequences_free(const syn_episodes *episodes, syn_sequences *sequences)
{
    for (size_t k = 0; sequences->of && k < episodes->n_levels; k++)
        free(sequences->of[k]);
    SYN_FREE(sequences->of, sequences->before, sequences->last);
    memset(sequences, 0, sizeof *sequences);
}
