/* Sorts 64-bit keys by some of their bits. One pass over the keys counts all digits, and
   then one pass for each digit, from the lowest to the highest, moves the keys between
   two arrays. */
#include "core/base/radix.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"

/* A digit's counts fit the nearest cache. */
enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, MOST_PASSES = 6 };

uint64_t *syn_radix_sort(uint64_t *key, uint64_t *other, size_t n, int low, int bits)
{
    int passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
    if (passes == 0)
        return key;
    int width = (bits + passes - 1) / passes;
    uint32_t digits = (uint32_t)1 << width, place[MOST_PASSES][DIGITS];
    memset(place, 0, (size_t)passes * sizeof *place);
    for (size_t i = 0; i < n; i++)
        for (int p = 0; p < passes; p++)
            place[p][key[i] >> (low + p * width) & (digits - 1)]++;
    for (int p = 0; p < passes; p++) {
        int shift = low + p * width;
        /* Counts become the places where digits begin. */
        uint32_t at = 0;
        for (uint32_t d = 0; d < digits; d++) {
            uint32_t here = place[p][d];
            place[p][d] = at;
            at += here;
        }
        for (size_t i = 0; i < n; i++)
            other[place[p][key[i] >> shift & (digits - 1)]++] = key[i];
        uint64_t *sorted = other;
        other = key;
        key = sorted;
    }
    return key;
}

/* ---- several threads ---- */

/* Keys of one step. Fewer digits than above, as each step writes to as many places that
   no cache holds. */
enum { RANGE = 1 << 18, SHARED_BITS = 9, SHARED_DIGITS = 1 << SHARED_BITS };

typedef struct pass {
    const uint64_t *from;
    uint64_t *to;
    size_t n;
    int shift;
    uint32_t (*place)[SHARED_DIGITS];  /* of each range */
} pass;

static size_t range_end(const pass *p, size_t range)
{
    return p->n - range * RANGE > RANGE ? (range + 1) * RANGE : p->n;
}

static syn_status count_digits(void *context, size_t range, int worker)
{
    (void)worker;
    const pass *p = context;
    uint32_t *count = p->place[range];
    memset(count, 0, sizeof p->place[range]);
    for (size_t i = range * RANGE; i < range_end(p, range); i++)
        count[p->from[i] >> p->shift & (SHARED_DIGITS - 1)]++;
    return SYN_OK;
}

/* Counts of the ranges become places; 0 if all keys have one digit. */
static int shared_places(pass *p, size_t ranges)
{
    uint32_t at = 0;
    for (size_t d = 0; d < SHARED_DIGITS; d++) {
        uint32_t first = at;
        for (size_t r = 0; r < ranges; r++) {
            uint32_t here = p->place[r][d];
            p->place[r][d] = at;
            at += here;
        }
        if (at - first == p->n)
            return 0;
    }
    return 1;
}

static syn_status move_keys(void *context, size_t range, int worker)
{
    (void)worker;
    const pass *p = context;
    uint32_t *place = p->place[range];
    for (size_t i = range * RANGE; i < range_end(p, range); i++)
        p->to[place[p->from[i] >> p->shift & (SHARED_DIGITS - 1)]++] = p->from[i];
    return SYN_OK;
}

syn_status syn_radix_sort_shared(uint64_t **key, uint64_t *other, size_t n, int bits,
                                 int threads, const syn_watch *watch)
{
    size_t ranges = n / RANGE + 1;
    pass p = {.from = *key, .to = other, .n = n};
    p.place = malloc(ranges * sizeof *p.place);
    syn_status status = p.place ? SYN_OK : SYN_NO_MEMORY;
    for (; status == SYN_OK && p.shift < bits; p.shift += SHARED_BITS) {
        status = syn_parallel_for(ranges, threads, watch, "sorting", count_digits, &p);
        if (status != SYN_OK || !shared_places(&p, ranges))
            continue;
        status = syn_parallel_for(ranges, threads, watch, "sorting", move_keys, &p);
        uint64_t *sorted = p.to;
        p.to = *key;
        p.from = *key = sorted;
    }
    free(p.place);
    return status;
}
