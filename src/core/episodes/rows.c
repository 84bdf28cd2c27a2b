/* Counts rows of the next-occurrence table, 32 units at a time. For each unit, 16 bits
   say how many events from the current start on are not free yet: each end subtracts
   the events that its start has moved on, and a unit at 0 that has a next occurrence
   counts it. Compiled once for each kind of processor (see base/kinds.h). */
#include "core/episodes/rows.h"

#include <string.h>

#include "core/base/simd.h"

enum {
    AHEAD = 12,                           /* ends whose rows are fetched early */
    PARTS = SYN_LANES / SYN_U16_LANES,    /* registers of a block */
    TOGETHER = SYN_WIDTH == 512 ? SYN_ROW_BLOCKS : 1  /* blocks kept in registers */
};

/* An end moves all lanes to its own start, and what it counts reaches from there. */
static uint16_t clamp(uint32_t events)
{
    return events < SYN_ROW_REACH ? (uint16_t)events : SYN_ROW_REACH;
}

/* Moves the counter to the start of `e` and counts the prefix itself. */
static inline void move_to(syn_row_counter *c, const syn_end *e, uint16_t *passed,
                           uint16_t *span)
{
    uint32_t end = c->event[e->row];
    uint32_t free_now = e->start >= c->prefix_busy;
    *passed = clamp(e->start - c->start);
    *span = (uint16_t)(end - e->start + 1);
    c->start = e->start;
    c->prefix_hits += free_now;
    c->prefix_busy = free_now ? end + 1 : c->prefix_busy;
}

static inline void fetch_row(const syn_row_counter *c, const syn_end *ends, size_t i,
                             size_t n)
{
    if (i + AHEAD >= n)
        return;
    for (unsigned b = 0; b < c->blocks; b++)
        __builtin_prefetch(c->block[b] + ends[i + AHEAD].row * c->stride);
}

/* Counts one end for the lanes of a register, whose next occurrences are at `row`. */
SYN_INLINE void score(const uint16_t *row, syn_u16 passed, syn_u16 span, syn_u16 *busy,
                      syn_u16 *hits)
{
    syn_u16 next = syn_u16_load(row), left = syn_u16_less(*busy, passed);
#if SYN_WIDTH == 512
    __m512i from = (__m512i)left, to = (__m512i)next;
    __mmask32 is_free = _mm512_testn_epi16_mask(from, from);
    __mmask32 hit = _mm512_mask_test_epi16_mask(is_free, to, to);
    *busy = (syn_u16)_mm512_mask_add_epi16(from, hit, to, (__m512i)span);
    *hits = (syn_u16)_mm512_mask_add_epi16((__m512i)*hits, hit, (__m512i)*hits,
                                           _mm512_set1_epi16(1));
#else
    syn_u16 hit = (syn_u16)(left == 0) & (syn_u16)(next != 0);
    *busy = left | (hit & (next + span));
    *hits -= hit;
#endif
}

/* Counts in `blocks` blocks, a constant, from block `first` on. */
SYN_INLINE void count_blocks(syn_row_counter *c, const syn_end *ends, size_t n,
                             unsigned first, int blocks)
{
    enum { MOST = TOGETHER * PARTS };
    const int parts = blocks * PARTS;
    const uint16_t *next[MOST];
    uint16_t *all_busy = c->busy + first * SYN_LANES;
    uint16_t *all_hits = c->hits + first * SYN_LANES;
    syn_u16 busy[MOST], hits[MOST];
    SYN_UNROLL(4)
    for (int p = 0; p < parts; p++) {
        next[p] = c->block[first + p / PARTS] + p % PARTS * SYN_U16_LANES;
        busy[p] = syn_u16_load(all_busy + p * SYN_U16_LANES);
        hits[p] = syn_u16_load(all_hits + p * SYN_U16_LANES);
    }
    for (size_t i = 0; i < n; i++) {
        size_t row = ends[i].row * c->stride;
        uint16_t passed, span;
        move_to(c, &ends[i], &passed, &span);
        fetch_row(c, ends, i, n);
        SYN_UNROLL(4)
        for (int p = 0; p < parts; p++)
            score(next[p] + row, syn_u16_all(passed), syn_u16_all(span), &busy[p],
                  &hits[p]);
    }
    SYN_UNROLL(4)
    for (int p = 0; p < parts; p++) {
        syn_u16_store(all_busy + p * SYN_U16_LANES, busy[p]);
        syn_u16_store(all_hits + p * SYN_U16_LANES, hits[p]);
    }
}

void SYN_KIND_NAME(syn_count_rows)(syn_row_counter *c, const syn_end *ends, size_t n)
{
    uint32_t start = c->start, busy = c->prefix_busy, hits = c->prefix_hits;
    for (unsigned b = 0; b < c->blocks; b += TOGETHER) {
        c->start = start;  /* all blocks pass the same ends */
        c->prefix_busy = busy;
        c->prefix_hits = hits;
        switch (TOGETHER == 1 ? 1 : c->blocks) {
        case 1: count_blocks(c, ends, n, b, 1); break;
#if SYN_WIDTH == 512
        case 2: count_blocks(c, ends, n, b, 2); break;
        case 3: count_blocks(c, ends, n, b, 3); break;
        default: count_blocks(c, ends, n, b, 4);
#endif
        }
    }
}

/* ---- few ends ---- */

void SYN_KIND_NAME(syn_follow_rows)(syn_row_chains *c, const syn_row_end *ends, size_t n)
{
    syn_u16 free[PARTS], hits[PARTS];
    SYN_UNROLL(4)
    for (int p = 0; p < PARTS; p++) {
        free[p] = syn_u16_load(c->free + p * SYN_U16_LANES);
        hits[p] = syn_u16_load(c->hits + p * SYN_U16_LANES);
    }
    for (size_t i = 0; i < n; i++) {
        const uint16_t *row = c->block + ends[i].row * c->stride;
        syn_u16 start = syn_u16_all(ends[i].start), after = syn_u16_all(ends[i].after);
        if (i + AHEAD < n)
            __builtin_prefetch(c->block + ends[i + AHEAD].row * c->stride);
        SYN_UNROLL(4)
        for (int p = 0; p < PARTS; p++) {
            syn_u16 next = syn_u16_load(row + p * SYN_U16_LANES);
            syn_u16 hit = (syn_u16)(syn_u16_less(free[p], start) == 0) &
                          (syn_u16)(next != 0);
            free[p] = (free[p] & ~hit) | (hit & (next + after));
            hits[p] -= hit;
        }
    }
    SYN_UNROLL(4)
    for (int p = 0; p < PARTS; p++) {
        syn_u16_store(c->free + p * SYN_U16_LANES, free[p]);
        syn_u16_store(c->hits + p * SYN_U16_LANES, hits[p]);
    }
}

#if SYN_WIDTH == 0
SYN_FASTEST(syn_follow_rows, syn_follow_rows)
SYN_FASTEST(syn_count_rows, syn_count_rows)
#endif
