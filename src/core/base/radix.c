/* Sorts 64-bit keys by some of their bits. One pass over the keys counts all digits, and
   then one pass for each digit, from the lowest to the highest, moves the keys between
   two arrays.. */
#include "core/base/radix.h"

#include <string.h>

/* A digit's counts fit the nearest cache. */
enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, MOST_PASSES = 6 };

/* Counts become the places where digits begin. */
static void places(uint32_t *count, uint32_t digits)
{
    uint32_t at = 0;
    for (uint32_t d = 0; d < digits; d++) {
        uint32_t here = count[d];
        count[d] = at;
        at += here;
    }
}

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
        places(place[p], digits);
        for (size_t i = 0; i < n; i++)
            other[place[p][key[i] >> shift & (digits - 1)]++] = key[i];
        uint64_t *sorted = other;
        other = key;
        key = sorted;
    }
    return key;
}
