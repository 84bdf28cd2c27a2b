/* Turns mined episodes into the columns of a data frame. */
#ifndef SYN_GLUE_EPISODES_TABLE_H
#define SYN_GLUE_EPISODES_TABLE_H

#include "core/episodes/found.h"
#include "glue/glue.h"

/* What has to be known of all episodes before the first row is written. */
typedef struct glue_rows {
    uint8_t **flag;    /* [levels][n] from syn_episodes_contained(); NULL where all are
                          rows */
    uint32_t **order;  /* [levels][n] from syn_episodes_order() */
    syn_sequences units, intervals;
    syn_arrays memory;
} glue_rows;

/* What spelling() in R gives. */
enum { LABELS, LOW, HIGH, ARROWS, LABEL_RANKS, ARROW_RANKS, SPELLING };

/* R's error unless `spelling`, from spelling() in R, has labels of the units, low and
   high of the intervals in seconds, arrows, and the ranks of labels and of arrows from
   0. */
void glue_check_spelling(SEXP spelling, int units, R_xlen_t intervals);

/* All of `out`, which has to be all zero before; without the sequences unless `sequences`
   is 1. Episodes with a flag from `least` on will be left out. The caller gives
   out->memory back, also after an error. */
syn_status glue_rows_find(glue_rows *out, const syn_episodes *episodes, SEXP spelling,
                          uint8_t least, int sequences, int threads,
                          const syn_watch *watch);

/* Bytes that are held for each episode until the table is there, besides what the core
   holds; a row of the table comes on top. */
enum { GLUE_EPISODE_BYTES = 13, GLUE_ROW_BYTES = 3 * 8 + 4 * 4 };

/* Rows of the table below. */
R_xlen_t glue_table_rows(const syn_episodes *episodes, const glue_rows *rows,
                         uint8_t least, size_t top);

/* Bytes that the episodes and their table take. */
double glue_table_bytes(const syn_episodes *episodes, const glue_rows *rows,
                        uint8_t least, size_t top);

/* What was done at each size: candidates, eliminated and frequent, then peak_memory and
   `device_seconds`. */
SEXP glue_episodes_levels(const syn_episodes *episodes, double device_seconds);

/* A list with the columns episode, size, count, units, low and high and, last, an empty
   place for `levels`. Episodes with a flag from `least` on are left out, and so are all
   but `top` of a size. NULL of R when the watch asked to stop. */
SEXP glue_episodes_table(const syn_episodes *episodes, const glue_rows *rows,
                         SEXP spelling, uint8_t least, size_t top, int threads,
                         const syn_watch *watch);

/* Puts a text before `end`, and gives where it begins: names are spelt from their end. */
char *glue_prepend(char *end, SEXP text);

#endif
