/* Trees of a stream for R, and the table of the episodes in one: what an earlier table
   had is taken from there, so that little is new to R. */
#ifndef SYN_GLUE_STREAM_TABLE_H
#define SYN_GLUE_STREAM_TABLE_H

#include "core/episodes/stream_tree.h"
#include "glue/episodes_table.h"

/* The tree of a stream: a list of `serial` and `field`, as syn_stream_write_tree() writes
   them. */
SEXP glue_stream_tree(const syn_stream *stream);

/* A tree that glue_stream_tree() gave, its counts and what is frequent; R's error unless
   they fit together. They need not be sound. */
syn_stream_shown glue_stream_shown(SEXP tree, SEXP count, SEXP min_count);

/* `spelling` as the core takes it; checked by glue_check_spelling() before. */
syn_stream_names glue_stream_names(SEXP spelling, uint32_t max_size);

#endif
