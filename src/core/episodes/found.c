/* Prepares found episodes for a table: leaves some out, brings the others into the order
   in which they are shown, and numbers their sequences of units and of intervals. */
#include "core/episodes/found.h"

#include <string.h>

#include "core/base/hash.h"
#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/episodes/engine.h"

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
        syn_episode_children(level - 1, level);
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

typedef struct ordering {
    const syn_episodes *episodes;
    const uint32_t *unit_rank, *interval_rank;
    uint32_t **order;              /* [levels] to be filled */
    uint32_t *parents, *by_name;   /* of the level below, and of this one */
    size_t level, parent, sorted;  /* the next parent, and how many episodes are sorted */
} ordering;

/* What siblings are sorted by. */
static uint64_t name_key(const ordering *o, uint32_t episode)
{
    const syn_episode_level *level = &o->episodes->level[o->level];
    return (uint64_t)o->interval_rank[level->interval[episode]] << 32 |
           o->unit_rank[level->unit[episode]];
}

/* Shell sort where siblings, which are few, are not in order already, as in most
   recordings. */
static void order_siblings(ordering *o, uint32_t begin, uint32_t end)
{
    uint32_t n = end - begin, *out = o->by_name + o->sorted;
    uint64_t last = 0;
    int sorted = 1;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t key = name_key(o, begin + i);
        sorted &= key >= last;
        last = key;
        out[i] = begin + i;
    }
    for (uint32_t gap = sorted ? 0 : n / 2; gap > 0; gap /= 2)
        for (uint32_t j = gap; j < n; j++) {
            uint32_t node = out[j], i = j;
            uint64_t key = name_key(o, node);
            for (; i >= gap && key < name_key(o, out[i - gap]); i -= gap)
                out[i] = out[i - gap];
            out[i] = node;
        }
    o->sorted += n;
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

enum { AT_ONCE = 65536 };  /* parents or episodes: some 2 ms of work */
enum { FOR_ONE = 4096 };   /* episodes that one thread orders and numbers alone */

/* Sorts the children of some parents, and the whole level after the last of them. Names
   begin with the parent's name: its order gives that of the children. */
static syn_status order_some(ordering *o)
{
    const syn_episode_level *level = &o->episodes->level[o->level];
    if (o->level == 0) {
        order_siblings(o, 0, (uint32_t)level->n);
    } else {
        const syn_episode_level *below = level - 1;
        size_t end = o->parent + AT_ONCE < below->n ? o->parent + AT_ONCE : below->n;
        for (; o->parent < end; o->parent++) {
            uint32_t parent = o->parents[o->parent];
            order_siblings(o, below->child[parent], below->child[parent + 1]);
        }
        if (end < below->n)
            return SYN_UNFINISHED;
    }
    SYN_TRY(order_by_count(level, o->by_name, o->order[o->level]));
    uint32_t *spare = o->parents;
    o->parents = o->by_name;
    o->by_name = spare;
    o->parent = o->sorted = 0;
    return ++o->level < o->episodes->n_levels ? SYN_UNFINISHED : SYN_OK;
}

/* ---- sequences ----

   Numbers the sequences of units, and those of intervals, that occur in episodes. The
   sequence of an episode is that of its prefix and one more unit (or interval); a table
   with open addresses finds the earlier episodes of a level that have the same. */

typedef struct numbering {
    const syn_episodes *episodes;
    int intervals;    /* whether of intervals, not of units */
    syn_sequences *out;
    uint32_t *slot;   /* [slots] sequences of the level; 0 where there is none */
    size_t slots;     /* a power of two */
    size_t level, at; /* the next episode */
} numbering;

/* The sequence of `before` and one more `symbol`. */
static uint32_t number_of(numbering *by, uint32_t before, uint32_t symbol)
{
    syn_sequences *out = by->out;
    uint64_t hash = syn_hash_more(0, (uint64_t)before << 32 | symbol);
    size_t at = (size_t)(hash >> 16) & (by->slots - 1);
    for (uint32_t s; (s = by->slot[at]) != 0; at = (at + 1) & (by->slots - 1))
        if (out->before[s] == before && out->last[s] == symbol)
            return s;
    out->before[out->n] = before;
    out->last[out->n] = symbol;
    by->slot[at] = (uint32_t)out->n;
    return (uint32_t)out->n++;
}

static size_t slots_for(size_t n)
{
    size_t slots = 16;
    while (slots < 2 * n)
        slots *= 2;
    return slots;
}

static syn_status number_some(numbering *by)
{
    const syn_episode_level *level = &by->episodes->level[by->level];
    const uint32_t *symbol = by->intervals ? level->interval : level->unit;
    uint32_t **of = by->out->of + by->level;
    size_t end = by->at + AT_ONCE < level->n ? by->at + AT_ONCE : level->n;
    if (by->at == 0) {
        by->slots = slots_for(level->n);
        memset(by->slot, 0, by->slots * sizeof *by->slot);
    }
    if (by->level == 0 && by->intervals)
        by->at = end;  /* of single units, the empty sequence */
    for (; by->at < end; by->at++) {
        uint32_t before = by->level > 0 ? of[-1][level->parent[by->at]] : 0;
        of[0][by->at] = number_of(by, before, symbol[by->at]);
    }
    if (end < level->n)
        return SYN_UNFINISHED;
    by->at = 0;
    return ++by->level < by->episodes->n_levels ? SYN_UNFINISHED : SYN_OK;
}

/* ---- all of it ---- */

typedef struct listing {
    ordering order;
    numbering units, intervals;
} listing;

static syn_status list_some(void *context, size_t item, int worker)
{
    listing *l = context;
    (void)worker;
    if (item == 0)
        return order_some(&l->order);
    return number_some(item == 1 ? &l->units : &l->intervals);
}

/* An array for each level, with a number for each episode. */
static syn_status take_numbers(const syn_episodes *episodes, syn_arrays *memory,
                               uint32_t ***out)
{
    SYN_ARRAY(memory, *out, episodes->n_levels);
    for (size_t k = 0; k < episodes->n_levels; k++)
        SYN_ARRAY(memory, (*out)[k], episodes->level[k].n);
    return SYN_OK;
}

static size_t largest_level(const syn_episodes *episodes)
{
    size_t n = 0;
    for (size_t k = 0; k < episodes->n_levels; k++)
        n = episodes->level[k].n > n ? episodes->level[k].n : n;
    return n;
}

static syn_status prepare_order(ordering *o, syn_arrays *memory)
{
    size_t most = largest_level(o->episodes);
    SYN_ARRAY(memory, o->parents, most);
    SYN_ARRAY(memory, o->by_name, most);
    return take_numbers(o->episodes, memory, &o->order);
}

static syn_status prepare_numbers(numbering *by, size_t episodes, syn_arrays *memory)
{
    /* Far more than is used, as a rule; memory that is never written costs nothing. */
    SYN_ARRAY(memory, by->out->before, episodes + 1);
    SYN_ARRAY(memory, by->out->last, episodes + 1);
    SYN_ARRAY(memory, by->slot, slots_for(largest_level(by->episodes)));
    by->out->n = 1;
    return take_numbers(by->episodes, memory, &by->out->of);
}

syn_status syn_episodes_order(const syn_episodes *episodes, const uint32_t *unit_rank,
                              const uint32_t *interval_rank, int threads,
                              const syn_watch *watch, syn_arrays *memory,
                              uint32_t ***order, syn_sequences *units,
                              syn_sequences *intervals)
{
    listing l = {.order = {.episodes = episodes, .unit_rank = unit_rank,
                           .interval_rank = interval_rank},
                 .units = {.episodes = episodes, .out = units},
                 .intervals = {.episodes = episodes, .intervals = 1, .out = intervals}};
    size_t n = 0;
    for (size_t k = 0; k < episodes->n_levels; k++)
        n += episodes->level[k].n;
    if (n >= INT32_MAX)
        return SYN_TOO_LARGE;
    SYN_TRY(prepare_order(&l.order, memory));
    *order = l.order.order;
    if (units) {
        SYN_TRY(prepare_numbers(&l.units, n, memory));
        SYN_TRY(prepare_numbers(&l.intervals, n, memory));
    }
    if (n == 0)
        return SYN_OK;
    return syn_parallel_for(units ? 3 : 1, n < FOR_ONE ? 1 : threads, watch, "table",
                            list_some, &l);
}
