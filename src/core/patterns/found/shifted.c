/* Finds patterns that are the end of another pattern. All patterns go into a hash
   table; then each pattern's ends, shifted so that they begin at lag 0, are looked up. */
#include "core/patterns/found/shifted.h"

#include <string.h>

#include "core/base/arrays.h"
#include "core/base/hash.h"

enum { POLL_EVERY = 1 << 14 };  /* patterns */

/* Patterns by their items and occurrences: open addressing. */
typedef struct table {
    const syn_pattern_runs *patterns;
    size_t mask;
    uint32_t *slot;     /* [mask + 1] number of a pattern from 1, 0 where there is none */
    size_t *word;       /* [largest size + 1] where the items of a size begin, */
    uint32_t *pattern;  /* [largest size + 2] and its patterns, up to the next size's */
    int32_t largest;
    syn_arrays memory;
} table;

static size_t hash_of(const int32_t *item, int32_t size, int32_t less, int32_t occ)
{
    uint64_t hash = syn_hash_more((uint32_t)size, (uint32_t)occ);
    for (int32_t k = 0; k < size; k++)
        hash = syn_hash_more(hash, (uint32_t)(item[k] - less));
    return (size_t)(hash ^ hash >> 32);
}

/* The slot of the pattern of these items less `less`, or the free one for it. */
static size_t slot_of(const table *t, const int32_t *item, int32_t size, int32_t less,
                      int32_t occ)
{
    uint32_t low = t->pattern[size], high = t->pattern[size + 1];
    size_t at = hash_of(item, size, less, occ) & t->mask;
    for (; t->slot[at] != 0; at = (at + 1) & t->mask) {
        uint32_t p = t->slot[at] - 1;
        if (p < low || p >= high || t->patterns->occurrences[p] != occ)
            continue;
        const int32_t *own = t->patterns->item + t->word[size] + (size_t)(p - low) * size;
        int32_t k = 0;
        while (k < size && own[k] == item[k] - less)
            k++;
        if (k == size)
            break;
    }
    return at;
}

/* Goes through all patterns: enters them, or marks their ends unless `drop` is NULL. */
static syn_status each_pattern(table *t, const syn_watch *watch, double done,
                               uint8_t *drop)
{
    const syn_pattern_runs *p = t->patterns;
    double total = 2.0 * t->pattern[t->largest + 1];
    const int32_t *item = p->item;
    uint32_t pattern = 0;
    for (size_t r = 0; r < p->runs; r++)
        for (size_t i = 0; i < (size_t)p->n[r]; i++, pattern++, item += p->size[r]) {
            if (pattern % POLL_EVERY == 0 &&
                syn_poll(watch, "patterns", done + pattern, total) != SYN_OK)
                return SYN_INTERRUPTED;
            if (drop) {
                /* Looks for the ends of a pattern, from each of its lags on but 0, and
                   marks them. */
                int32_t units = t->patterns->units,
                        occ = t->patterns->occurrences[pattern];
                for (int32_t k = 1; k < p->size[r]; k++) {
                    int32_t lag = item[k] / units;
                    if (lag == item[k - 1] / units)
                        continue;
                    uint32_t found =
                        t->slot[slot_of(t, item + k, p->size[r] - k, lag * units, occ)];
                    if (found != 0)
                        drop[found - 1] = 1;
                }
            } else {
                t->slot[slot_of(t, item, p->size[r], 0,
                                t->patterns->occurrences[pattern])] = pattern + 1;
            }
        }
    return SYN_OK;
}

static syn_status find_shifted(table *t, const syn_watch *watch, uint8_t *drop)
{
    /* An empty table with room for all patterns. */
    const syn_pattern_runs *patterns = t->patterns;
    size_t total = 0, room = 16, words = 0;
    for (size_t r = 0; r < patterns->runs; r++)
        total += (size_t)patterns->n[r];
    if (total > INT32_MAX)
        return SYN_TOO_LARGE;
    while (room < 2 * total)
        room *= 2;
    t->mask = room - 1;
    t->largest = patterns->runs > 0 ? patterns->size[patterns->runs - 1] : 0;
    SYN_ARRAY(&t->memory, t->slot, room);
    SYN_ARRAY(&t->memory, t->word, (size_t)t->largest + 1);
    SYN_ARRAY(&t->memory, t->pattern, (size_t)t->largest + 2);
    int32_t size = 1;
    uint32_t before = 0;
    for (size_t r = 0; r < patterns->runs; r++) {
        for (; size <= patterns->size[r]; size++) {
            t->word[size] = words;
            t->pattern[size] = before;
        }
        before += (uint32_t)patterns->n[r];
        words += (size_t)patterns->size[r] * (size_t)patterns->n[r];
    }
    t->pattern[t->largest + 1] = before;
    memset(drop, 0, before);
    SYN_TRY(each_pattern(t, watch, 0, NULL));
    return each_pattern(t, watch, before, drop);
}

syn_status syn_patterns_shifted(const syn_pattern_runs *patterns, const syn_watch *watch,
                                uint8_t *drop)
{
    table t = {.patterns = patterns};
    syn_status status = find_shifted(&t, watch, drop);
    syn_give_back(&t.memory);
    return status;
}
