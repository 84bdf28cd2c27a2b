#include "core/patterns_store.h"

#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

/* Adds the blocks of one chain after those that `out` has, or only counts them as long as
   there is no index. */
static void add_chain(syn_pattern_store *out, const syn_pattern_chain *chain,
                      uint32_t size)
{
    for (const syn_pattern_block *b = chain->head; b; b = b->next) {
        if (b->patterns == 0)
            continue;
        if (out->block) {
            syn_stored_block *to = out->block + out->blocks;
            to->block = b;
            to->size = size;
            memcpy(to->first, out->n, sizeof to->first);
            out->n[SYN_STORED_ITEMS] += b->patterns * size;
            out->n[SYN_STORED_OCCURRENCES] += b->patterns;
            out->bytes += sizeof *b + b->room * ((size_t)size + 1) * out->patterns.width;
        }
        out->blocks++;
    }
}

static void add_all(syn_pattern_store *out, const syn_patterns *patterns)
{
    uint32_t sizes = syn_patterns_sizes(patterns, NULL);
    out->blocks = 0;
    for (uint32_t k = 0; k < sizes; k++)
        for (size_t p = 0; p < patterns->parts; p++)
            if (k < patterns->part[p].sizes)
                add_chain(out, patterns->part[p].chain + k, k + 1);
}

syn_status syn_pattern_store_make(syn_pattern_store *out, syn_patterns *patterns)
{
    memset(out, 0, sizeof *out);
    add_all(out, patterns);
    out->block = calloc(out->blocks + 1, sizeof *out->block);
    if (!out->block) {
        memset(out, 0, sizeof *out);
        return SYN_NO_MEMORY;
    }
    out->patterns = *patterns;
    memset(patterns, 0, sizeof *patterns);
    add_all(out, &out->patterns);
    memcpy(out->block[out->blocks].first, out->n, sizeof out->n);
    return SYN_OK;
}

void syn_pattern_store_free(syn_pattern_store *store)
{
    free(store->block);
    syn_patterns_free(&store->patterns);
    memset(store, 0, sizeof *store);
}

/* ---- reading ---- */

/* The block that holds number `i` of a row: the recent one, the next, or any other. */
static const syn_stored_block *block_of(const syn_pattern_store *store, syn_stored row,
                                        size_t i, size_t *recent)
{
    const syn_stored_block *block = store->block;
    size_t low = *recent, high = low + 2;
    if (i < block[low].first[row] || high > store->blocks ||
        i >= block[high].first[row]) {
        low = 0;
        high = store->blocks;
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (i < block[middle].first[row])
            high = middle;
        else
            low = middle;
    }
    *recent = low;
    return block + low;
}

/* Where number `i` of a row, counted from the first one of the block, is in its words. */
static size_t word_of(const syn_stored_block *b, syn_stored row, size_t i)
{
    size_t size = b->size;
    return row == SYN_STORED_ITEMS ? i + i / size : i * (size + 1) + size;
}

uint32_t syn_stored_at(const syn_pattern_store *store, syn_stored row, size_t i,
                       size_t *recent)
{
    const syn_stored_block *b = block_of(store, row, i, recent);
    return syn_pattern_word(b->block, store->patterns.width,
                            word_of(b, row, i - b->first[row]));
}

/* Copies numbers of one block: to be inlined for a row and a width. */
static inline void copy_block(const syn_stored_block *b, size_t width, syn_stored row,
                              size_t i, size_t n, int32_t *out)
{
    size_t word = word_of(b, row, i), size = b->size;
    size_t left = row == SYN_STORED_ITEMS ? size - i % size : 1;  /* of its pattern */
    for (size_t k = 0; k < n; k++) {
        out[k] = (int32_t)syn_pattern_word(b->block, width, word++);
        if (--left == 0) {
            left = row == SYN_STORED_ITEMS ? size : 1;
            word += row == SYN_STORED_ITEMS ? 1 : size;
        }
    }
}

void syn_stored_copy(const syn_pattern_store *store, syn_stored row, size_t i, size_t n,
                     int32_t *out, size_t *recent)
{
    int narrow = store->patterns.width == sizeof(uint16_t);
    while (n > 0) {
        const syn_stored_block *b = block_of(store, row, i, recent);
        size_t at = i - b->first[row], here = b[1].first[row] - i;
        if (here > n)
            here = n;
        if (row == SYN_STORED_ITEMS && narrow)
            copy_block(b, sizeof(uint16_t), SYN_STORED_ITEMS, at, here, out);
        else if (row == SYN_STORED_ITEMS)
            copy_block(b, sizeof(uint32_t), SYN_STORED_ITEMS, at, here, out);
        else if (narrow)
            copy_block(b, sizeof(uint16_t), SYN_STORED_OCCURRENCES, at, here, out);
        else
            copy_block(b, sizeof(uint32_t), SYN_STORED_OCCURRENCES, at, here, out);
        out += here;
        i += here;
        n -= here;
    }
}
