/* The largest numbers of occurrences that patterns of a raster have, size by size: all
   that is asked of a surrogate. No pattern is stored.

   Branch and bound: a set is followed only as long as enough windows hold so many items
   more that some size could reach more occurrences than it has already. */
#ifndef SYN_PATTERNS_SPECTRUM_MAXIMA_H
#define SYN_PATTERNS_SPECTRUM_MAXIMA_H

#include "core/patterns/mine.h"

enum { SYN_MAXIMA_LANES = 8 };  /* sizes that are read together */

/* need[d][z]: how many occurrences a pattern of at least z items, and of duration d (its
   largest lag) where durations are counted separately, must have to raise the maximum;
   UINT32_MAX where none can. From min_spikes on it does not increase with z. Threads may
   share it. */
typedef struct syn_maxima {
    uint32_t sizes;          /* largest size there can be */
    uint32_t durations;      /* 1, or the bins of a window */
    uint32_t least, limit;   /* min_count and max_count */
    uint32_t min_spikes;
    size_t stride;           /* words from a duration to the next */
    uint32_t *need;          /* [durations][stride] */
    syn_budget *budget;      /* what that is taken from */
} syn_maxima;

/* `options` as in patterns/mine.h, of which target may be closed or closed within, and
   engine, shares and threads mean nothing. No window holds more than `items` items. The
   caller keeps the budget for as long, and frees with syn_maxima_free(), also after an
   error: SYN_OVER_BUDGET or SYN_NO_MEMORY. */
syn_status syn_maxima_make(syn_maxima *out, const syn_pattern_options *options,
                           int by_duration, uint32_t items, syn_budget *budget);

/* Bytes of such a table. */
double syn_maxima_bytes(const syn_pattern_options *options, int by_duration,
                        uint32_t items);

/* Forgets what was found. */
void syn_maxima_clear(syn_maxima *maxima);

void syn_maxima_free(syn_maxima *maxima);

/* Raises the maxima of sizes up to `size` to `occurrences`. */
void syn_maxima_raise(syn_maxima *maxima, uint32_t duration, uint32_t size,
                      uint32_t occurrences);

/* The most occurrences of a pattern of at least `size` items, from min_spikes on; 0
   where there is none. */
uint32_t syn_maxima_most(const syn_maxima *maxima, uint32_t duration, uint32_t size);

/* The largest size with a pattern, of any duration; 0 without any. */
uint32_t syn_maxima_largest(const syn_maxima *maxima);

/* What one thread uses, for raster after raster. */
typedef struct syn_maxima_search syn_maxima_search;

/* `options` and `budget`, from which all memory is taken, must stay. NULL without
   memory. */
syn_maxima_search *syn_maxima_search_make(const syn_pattern_options *options,
                                          int by_duration, syn_budget *budget);

/* Sets out on part `part` of `parts` of the search through `raster`, which may change as
   soon as this returns; all parts go to `maxima`. */
syn_status syn_maxima_search_begin(syn_maxima_search *search, const syn_raster *raster,
                                   syn_maxima *maxima, size_t part, size_t parts);

/* Goes on with it until it is done (SYN_OK), or late (SYN_UNFINISHED; `deadline` on the
   clock of syn_seconds()). SYN_OVER_BUDGET or SYN_NO_MEMORY. */
syn_status syn_maxima_search_go_on(syn_maxima_search *search, double deadline);

void syn_maxima_search_free(syn_maxima_search *search);

#endif
