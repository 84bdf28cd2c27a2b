/* Counts rows of the next-occurrence table (table.h) in vector registers. */
#ifndef SYN_EPISODES_ROWS_H
#define SYN_EPISODES_ROWS_H

#include "core/episodes/ends.h"

enum {
    SYN_LANES = 32,       /* symbols of one block of a row: 64 bytes */
    SYN_ROW_BLOCKS = 4,   /* most blocks counted side by side */
    SYN_ROW_REACH = 65535 /* farthest a distance or a span may reach, in events */
};

/* For `blocks` blocks of the table: a lane's `busy` is how many events from the current
   start on are no longer free for it, and `hits` what it has counted. */
typedef struct syn_row_counter {
    const uint16_t *block[SYN_ROW_BLOCKS];
    unsigned blocks;
    size_t stride;          /* length of a row of the table */
    const uint32_t *event;  /* event number of a row */
    uint16_t busy[SYN_ROW_BLOCKS * SYN_LANES];
    uint16_t hits[SYN_ROW_BLOCKS * SYN_LANES];
    uint32_t start;        /* the start that `busy` counts from */
    uint32_t prefix_busy;  /* first event free for the prefix itself */
    uint32_t prefix_hits;
} syn_row_counter;

/* Counts the ends ends[0 .. n - 1]: whatever lane is free at an end's start and has a
   next occurrence scores one and stays busy up to and including that occurrence.
   At most 65,535 ends before `hits` are taken out. */
typedef void syn_count_rows(syn_row_counter *counter, const syn_end *ends, size_t n);

syn_count_rows syn_count_rows_any, syn_count_rows_256, syn_count_rows_512;

/* The fastest for this processor with registers of at most so many bits; of any width
   with 0. */
syn_count_rows *syn_count_rows_fastest(int vector_bits);

/* The same for few ends, when it matters where each lane stands afterwards: one block of
   lanes, and all events counted from one place. */
typedef struct syn_row_end {
    uint32_t row;
    uint16_t start, after;  /* the event after the end */
} syn_row_end;

typedef struct syn_row_chains {
    const uint16_t *block;
    size_t stride;
    uint16_t *free;  /* [SYN_LANES] the first event that is free */
    uint16_t *hits;  /* [SYN_LANES] counted on */
} syn_row_chains;

/* Counts the ends: a lane that is free at an end's start and has a next occurrence scores
   one, and is free again after that occurrence. */
typedef void syn_follow_rows(syn_row_chains *chains, const syn_row_end *ends, size_t n);

syn_follow_rows syn_follow_rows_any, syn_follow_rows_256, syn_follow_rows_512;

syn_follow_rows *syn_follow_rows_fastest(int vector_bits);

#endif
