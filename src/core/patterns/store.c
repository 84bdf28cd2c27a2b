/* Reads patterns where the search left them. A table of all blocks says where each
   begins, so that a number is found by bisection; what was read last is tried first.
   Numbers are stored in 16 or 32 bits. */
#include "core/patterns/store.h"

#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

/* A chain and where it was found. */
typedef struct placed_chain {
    const syn_pattern_chain *chain;
    size_t part;
} placed_chain;

static int by_size_then_part(const void *a, const void *b)
{
    const placed_chain *x = a, *y = b;
    if (x->chain->size != y->chain->size)
        return x->chain->size < y->chain->size ? -1 : 1;
    return (x->part > y->part) - (x->part < y->part);
}

/* All chains, in the order of their patterns; NULL without memory. The caller frees. */
static placed_chain *order_chains(const syn_patterns *patterns, size_t *chains)
{
    size_t n = 0;
    for (size_t p = 0; p < patterns->parts; p++)
        n += patterns->part[p].chains;
    placed_chain *all = malloc((n + 1) * sizeof *all);
    if (!all)
        return NULL;
    *chains = n;
    n = 0;
    for (size_t p = 0; p < patterns->parts; p++)
        for (uint32_t k = 0; k < patterns->part[p].chains; k++)
            all[n++] = (placed_chain){patterns->part[p].chain + k, p};
    qsort(all, n, sizeof *all, by_size_then_part);
    return all;
}

static size_t count_blocks(const placed_chain *all, size_t chains)
{
    size_t blocks = 0;
    for (size_t k = 0; k < chains; k++)
        for (const syn_pattern_block *b = all[k].chain->head; b; b = b->next)
            blocks += b->patterns > 0;
    return blocks;
}

syn_status syn_pattern_store_make(syn_pattern_store *out, syn_patterns *patterns)
{
    size_t chains = 0;
    memset(out, 0, sizeof *out);
    placed_chain *all = order_chains(patterns, &chains);
    if (all)
        out->block = calloc(count_blocks(all, chains) + 1, sizeof *out->block);
    if (!out->block) {
        free(all);
        return SYN_NO_MEMORY;
    }
    out->patterns = *patterns;
    memset(patterns, 0, sizeof *patterns);
    for (size_t k = 0; k < chains; k++) {
        /* Adds the blocks of one chain after those that `out` has. */
        for (const syn_pattern_block *b = all[k].chain->head; b; b = b->next) {
            if (b->patterns == 0)
                continue;
            syn_stored_block *to = out->block + out->blocks++;
            to->block = b;
            to->size = all[k].chain->size;
            memcpy(to->first, out->n, sizeof to->first);
            out->n[SYN_STORED_ITEMS] += b->patterns * all[k].chain->size;
            out->n[SYN_STORED_OCCURRENCES] += b->patterns;
            out->bytes += sizeof *b + b->room * ((size_t)all[k].chain->size + 1) *
                                          out->patterns.width;
        }
    }
    free(all);
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
    size_t low = *recent, end = low + 2;
    if (i < block[low].first[row] || end > store->blocks || i >= block[end].first[row]) {
        low = 0;
        end = store->blocks;
    }
    size_t next = low + 1;
    SYN_SEEK(size_t, at, next, end, block[at].first[row] <= i);
    *recent = next - 1;
    return block + *recent;
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
