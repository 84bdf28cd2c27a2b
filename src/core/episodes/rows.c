/* Counts rows of the next-occurrence table, 32 units at a time. For each unit, 16 bits
   say how many events from the current start on are not free yet: each end subtracts the
   events that its start has moved on, and a unit at 0 that has a next occurrence counts
   it. There are loops for AVX-512, for AVX2 and for any processor. */
#include "core/episodes/rows.h"

/* An end moves all lanes to its own start, and what it counts reaches from there. */
static uint16_t clamp(uint32_t events)
{
    return events < SYN_ROW_REACH ? (uint16_t)events : SYN_ROW_REACH;
}

/* Moves the counter to the start of `e` and counts the prefix itself. */
static inline void advance(syn_row_counter *c, const syn_end *e, uint16_t *passed,
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

static void count_rows_portable(syn_row_counter *c, const syn_end *ends, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t passed, span;
        advance(c, &ends[i], &passed, &span);
        for (unsigned b = 0; b < c->blocks; b++) {
            const uint16_t *next = c->block[b] + ends[i].row * c->stride;
            uint16_t *busy = c->busy + b * SYN_LANES, *hits = c->hits + b * SYN_LANES;
            for (unsigned l = 0; l < SYN_LANES; l++) {
                uint16_t left = busy[l] > passed ? (uint16_t)(busy[l] - passed) : 0;
                uint16_t hit = left == 0 && next[l] != 0;
                hits[l] = (uint16_t)(hits[l] + hit);
                busy[l] = hit ? (uint16_t)(next[l] + span) : left;
            }
        }
    }
}

#if defined(__GNUC__) && defined(__x86_64__)

#include <immintrin.h>

enum { AHEAD = 12 };  /* ends whose rows are fetched before they are needed */

static inline void fetch_row(const syn_row_counter *c, const syn_end *ends, size_t i,
                             size_t n)
{
    if (i + AHEAD >= n)
        return;
    for (unsigned b = 0; b < c->blocks; b++)
        __builtin_prefetch(c->block[b] + ends[i + AHEAD].row * c->stride);
}

/* ---- 512-bit registers: a block is one ---- */

#define WIDE __attribute__((target("avx512f,avx512bw")))

WIDE static inline __attribute__((always_inline)) void
score_512(const uint16_t *row, __m512i passed, __m512i span, __m512i *busy, __m512i *hits)
{
    __m512i next = _mm512_loadu_si512(row);
    __m512i left = _mm512_subs_epu16(*busy, passed);
    __mmask32 is_free = _mm512_testn_epi16_mask(left, left);
    __mmask32 hit = _mm512_mask_test_epi16_mask(is_free, next, next);
    *busy = _mm512_mask_add_epi16(left, hit, next, span);
    *hits = _mm512_mask_sub_epi16(*hits, hit, *hits, _mm512_set1_epi16(-1));
}

/* One function per number of blocks keeps all lanes in registers over the whole list. */
#define ROWS_512(BLOCKS, LOAD, SCORE, STORE)                                             \
    WIDE static void rows_512_##BLOCKS(syn_row_counter *c, const syn_end *ends,          \
                                       size_t n)                                         \
    {                                                                                    \
        LOAD                                                                             \
        for (size_t i = 0; i < n; i++) {                                                 \
            size_t row = ends[i].row * c->stride;                                        \
            uint16_t passed_events, span_events;                                         \
            advance(c, &ends[i], &passed_events, &span_events);                          \
            __m512i passed = _mm512_set1_epi16((short)passed_events);                    \
            __m512i span = _mm512_set1_epi16((short)span_events);                        \
            fetch_row(c, ends, i, n);                                                    \
            SCORE                                                                        \
        }                                                                                \
        STORE                                                                            \
    }

#define LOAD_512(B)                                                                      \
    const uint16_t *block##B = c->block[B];                                              \
    __m512i busy##B = _mm512_loadu_si512(c->busy + (B) * SYN_LANES);                     \
    __m512i hits##B = _mm512_loadu_si512(c->hits + (B) * SYN_LANES);
#define SCORE_512(B) score_512(block##B + row, passed, span, &busy##B, &hits##B);
#define STORE_512(B)                                                                     \
    _mm512_storeu_si512(c->busy + (B) * SYN_LANES, busy##B);                             \
    _mm512_storeu_si512(c->hits + (B) * SYN_LANES, hits##B);

ROWS_512(1, LOAD_512(0), SCORE_512(0), STORE_512(0))
ROWS_512(2, LOAD_512(0) LOAD_512(1), SCORE_512(0) SCORE_512(1), STORE_512(0) STORE_512(1))
ROWS_512(3, LOAD_512(0) LOAD_512(1) LOAD_512(2), SCORE_512(0) SCORE_512(1) SCORE_512(2),
         STORE_512(0) STORE_512(1) STORE_512(2))
ROWS_512(4, LOAD_512(0) LOAD_512(1) LOAD_512(2) LOAD_512(3),
         SCORE_512(0) SCORE_512(1) SCORE_512(2) SCORE_512(3),
         STORE_512(0) STORE_512(1) STORE_512(2) STORE_512(3))

static void count_rows_512(syn_row_counter *c, const syn_end *ends, size_t n)
{
    static syn_count_rows *const of_blocks[] = {rows_512_1, rows_512_2, rows_512_3,
                                                rows_512_4};
    of_blocks[c->blocks - 1](c, ends, n);
}

/* ---- 256-bit registers: a block is two, and one block is counted at a time ---- */

#define HALF_LANES (SYN_LANES / 2)
#define MEDIUM __attribute__((target("avx2")))

MEDIUM static inline __attribute__((always_inline)) void
score_256(const uint16_t *row, __m256i passed, __m256i span, __m256i *busy, __m256i *hits)
{
    __m256i zero = _mm256_setzero_si256();
    __m256i next = _mm256_loadu_si256((const __m256i *)row);
    __m256i left = _mm256_subs_epu16(*busy, passed);
    __m256i hit = _mm256_andnot_si256(_mm256_cmpeq_epi16(next, zero),
                                      _mm256_cmpeq_epi16(left, zero));
    *busy = _mm256_or_si256(left, _mm256_and_si256(hit, _mm256_add_epi16(next, span)));
    *hits = _mm256_sub_epi16(*hits, hit);
}

MEDIUM static void block_256(syn_row_counter *c, const syn_end *ends, size_t n,
                             unsigned b)
{
    uint16_t *busy = c->busy + b * SYN_LANES, *hits = c->hits + b * SYN_LANES;
    __m256i busy0 = _mm256_loadu_si256((const __m256i *)busy);
    __m256i busy1 = _mm256_loadu_si256((const __m256i *)(busy + HALF_LANES));
    __m256i hits0 = _mm256_loadu_si256((const __m256i *)hits);
    __m256i hits1 = _mm256_loadu_si256((const __m256i *)(hits + HALF_LANES));
    for (size_t i = 0; i < n; i++) {
        const uint16_t *next = c->block[b] + ends[i].row * c->stride;
        uint16_t passed_events, span_events;
        advance(c, &ends[i], &passed_events, &span_events);
        __m256i passed = _mm256_set1_epi16((short)passed_events);
        __m256i span = _mm256_set1_epi16((short)span_events);
        fetch_row(c, ends, i, n);
        score_256(next, passed, span, &busy0, &hits0);
        score_256(next + HALF_LANES, passed, span, &busy1, &hits1);
    }
    _mm256_storeu_si256((__m256i *)busy, busy0);
    _mm256_storeu_si256((__m256i *)(busy + HALF_LANES), busy1);
    _mm256_storeu_si256((__m256i *)hits, hits0);
    _mm256_storeu_si256((__m256i *)(hits + HALF_LANES), hits1);
}

static void count_rows_256(syn_row_counter *c, const syn_end *ends, size_t n)
{
    uint32_t start = c->start, busy = c->prefix_busy, hits = c->prefix_hits;
    for (unsigned b = 0; b < c->blocks; b++) {
        c->start = start;  /* each block passes the same ends */
        c->prefix_busy = busy;
        c->prefix_hits = hits;
        block_256(c, ends, n, b);
    }
}

syn_count_rows *syn_count_rows_of(syn_rows_kind kind)
{
    __builtin_cpu_init();
    if (kind == SYN_ROWS_512)
        return __builtin_cpu_supports("avx512bw") ? count_rows_512 : NULL;
    if (kind == SYN_ROWS_256)
        return __builtin_cpu_supports("avx2") ? count_rows_256 : NULL;
    return count_rows_portable;
}

#else

syn_count_rows *syn_count_rows_of(syn_rows_kind kind)
{
    return kind == SYN_ROWS_PORTABLE ? count_rows_portable : NULL;
}

#endif

syn_count_rows *syn_count_rows_fastest(void)
{
    for (int kind = SYN_ROWS_512; kind > SYN_ROWS_PORTABLE; kind--)
        if (syn_count_rows_of((syn_rows_kind)kind))
            return syn_count_rows_of((syn_rows_kind)kind);
    return count_rows_portable;
}
