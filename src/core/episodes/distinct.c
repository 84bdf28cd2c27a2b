/* Leaves out the episodes in which a unit comes twice, of a table that has them. What
   episodes of different units begin and end with has different units too, so that those
   that stay are a table of their own. */
#include "core/episodes/distinct.h"

#include <string.h>

#include "core/base/memory.h"

#define GONE UINT32_MAX

/* What is known of the episodes of a level: the unit each begins with, and its number
   among those that stay, or GONE. */
typedef struct sieve {
    uint32_t *first, *number;
} sieve;

static void sieve_free(sieve *s)
{
    SYN_FREE(s->first, s->number);
    memset(s, 0, sizeof *s);
}

static syn_status sieve_make(sieve *s, size_t n)
{
    SYN_NEW(s->first, n + 1);
    SYN_NEW(s->number, n + 1);
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
    sieve below = {NULL, NULL}, here = {NULL, NULL};
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
        sieve_free(&below);
        below = here;
        memset(&here, 0, sizeof here);
    }
    sieve_free(&below);
    sieve_free(&here);
    if (status == SYN_OK)
        end_after_empty(episodes);
    return status;
}
