/* Prepares found episodes for a table: leaves some out, brings the others into the order
   in which they are shown, and numbers their sequences of units and of intervals. */
#include "core/episodes/found.h"

#include <string.h>

#include "core/base/memory.h"

/* ---- distinct units ----

   Leaves out the episodes in which a unit comes twice, of a table that has them. What
   episodes of different units begin and end with has different units too, so that those
   that stay are a table of their own. */

#define GONE UINT32_MAX

/* What is known of the episodes of a level: the unit each begins with, and its number
   among those that stay, or GONE. */
typedef struct sieve {
    uint32_t *first, *number;
    syn_arrays memory;
} sieve;

static syn_status sieve_make(sieve *s, size_t n)
{
    SYN_ARRAY(&s->memory, s->first, n);
    SYN_ARRAY(&s->memory, s->number, n);
    return SYN_OK;
}

/* Where the children of each episode of `below` begin in `level`. */
static void find_children(syn_episode_level *below, const syn_episode_level *level)
{
    uint32_t i = 0;
    for (uint32_t p = 0; p < below->n; p++) {
        below->child[p] = i;
        while (i < level->n && level->parent[i] == p)
            i++;
    }
    below->child[below->n] = i;
}

/* A search ends with the first size that has no episode. */
static void end_after_empty(syn_episodes *episodes)
{
    size_t k = 0;
    while (k < episodes->n_levels && episodes->level[k].n > 0)
        k++;
    while (episodes->n_levels > k + 1)
        syn_episode_level_free(&episodes->level[--episodes->n_levels]);
}

syn_status syn_episodes_distinct(syn_episodes *episodes, const syn_watch *watch)
{
    sieve below = {0}, here = {0};
    if (episodes->n_levels == 0)
        return SYN_OK;
    syn_status status = sieve_make(&below, episodes->level[0].n);
    if (status == SYN_OK) {
        /* Every unit stays. */
        for (size_t i = 0; i < episodes->level[0].n; i++) {
            below.first[i] = episodes->level[0].unit[i];
            below.number[i] = (uint32_t)i;
        }
    }
    for (size_t k = 1; status == SYN_OK && k < episodes->n_levels; k++) {
        status = syn_poll(watch, "table", (double)k, (double)episodes->n_levels);
        SYN_NEXT(status, sieve_make(&here, episodes->level[k].n));
        if (status != SYN_OK)
            break;
        /* The episodes of the level that stay move to its front. */
        syn_episode_level *level = &episodes->level[k];
        uint32_t left = 0;
        for (size_t i = 0; i < level->n; i++) {
            uint32_t parent = level->parent[i], suffix = level->suffix[i];
            here.first[i] = below.first[parent];
            int stays = below.number[parent] != GONE && below.number[suffix] != GONE &&
                        level->unit[i] != here.first[i];
            here.number[i] = stays ? left : GONE;
            if (!stays)
                continue;
            level->parent[left] = below.number[parent];
            level->suffix[left] = below.number[suffix];
            level->unit[left] = level->unit[i];
            level->interval[left] = level->interval[i];
            level->count[left++] = level->count[i];
        }
        level->n = left;
        find_children(level - 1, level);
        syn_give_back(&below.memory);
        below = here;
        here = (sieve){0};
    }
    syn_give_back(&below.memory);
    syn_give_back(&here.memory);
    if (status == SYN_OK)
        end_after_empty(episodes);
    return status;
}

/* ---- order ----

   Sorts episodes by count and by name. Children are sorted within their parents, whose
   order is known, which gives the order of names; a stable counting sort by count then
   comes on top. */

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
        if (i % POLL_EVERY == POLL_EVERY - 1 && syn_poll(watch, "table", 0, 0) != SYN_OK)
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
                              syn_arrays *memory, uint32_t ***order)
{
    uint32_t *parents = NULL;
    syn_status status = SYN_OK;
    SYN_ARRAY(memory, *order, episodes->n_levels);
    for (size_t k = 0; k < episodes->n_levels; k++)
        SYN_ARRAY(memory, (*order)[k], episodes->level[k].n);
    for (size_t k = 0; k < episodes->n_levels && status == SYN_OK; k++) {
        const syn_episode_level *level = &episodes->level[k];
        ranking by = {level, unit_rank, interval_rank};
        uint32_t *by_name = malloc((level->n + 1) * sizeof *by_name);
        status = by_name ? order_by_name(&by, k > 0 ? level - 1 : NULL, parents, watch,
                                         by_name)
                         : SYN_NO_MEMORY;
        SYN_NEXT(status, order_by_count(level, by_name, (*order)[k]));
        free(parents);
        parents = by_name;
        SYN_NEXT(status, syn_poll(watch, "table", 0, 0));
    }
    free(parents);
    return status;
}

/* ---- sequences ----

   Numbers the sequences of units, and those of intervals, that occur in episodes. Level
   by level, episodes whose prefixes have the same sequence are looked at together, and
   each new last unit (or interval) among them begins a new sequence. */

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

syn_status syn_number_sequences(const syn_episodes *episodes, syn_sequence_kind kind,
                                uint32_t symbols, const syn_watch *watch,
                                syn_arrays *memory, syn_sequences *out)
{
    numbering level;
    size_t most = 1;
    for (size_t k = 0; k < episodes->n_levels; k++)
        most += episodes->level[k].n;
    if (most > INT32_MAX)
        return SYN_TOO_LARGE;
    /* Far more than is used, as a rule; memory that is never written costs nothing. */
    SYN_ARRAY(memory, out->before, most);
    SYN_ARRAY(memory, out->last, most);
    SYN_ARRAY(memory, out->of, episodes->n_levels);
    SYN_ARRAY(memory, level.seen, symbols);
    SYN_ARRAY(memory, level.number, symbols);
    out->n = 1;
    size_t first = 0;
    for (size_t k = 0; k < episodes->n_levels; k++) {
        const syn_episode_level *nodes = &episodes->level[k];
        size_t begin = out->n;
        level.symbol = kind == SYN_UNITS ? nodes->unit : nodes->interval;
        SYN_ARRAY(memory, level.of, nodes->n);
        out->of[k] = level.of;
        if (k > 0)
            SYN_TRY(number_level(episodes, k, &level, first, watch, out));
        else if (kind == SYN_UNITS)
            number_siblings(&level, out, 0, 0, (uint32_t)nodes->n);
        first = k > 0 ? begin : 0;
        SYN_TRY(syn_poll(watch, "table", 0, 0));
    }
    return SYN_OK;
}
