/* The table of a stream after each update: what the table before it had is taken from
   there, so that little is new to R. */
#ifndef SYN_GLUE_STREAM_TABLE_H
#define SYN_GLUE_STREAM_TABLE_H

#include "core/episodes/stream.h"
#include "glue/episodes_table.h"

/* In which rows of the last table the episodes of a stream stand. */
typedef struct glue_stream_rows {
    uint64_t *serial;  /* [room] by number in the stream */
    int *row;          /* [room] from 1, or 0 for none */
    uint32_t room;
} glue_stream_rows;

/* Room for all numbers of the stream; SYN_NO_MEMORY. */
syn_status glue_stream_rows_room(glue_stream_rows *before, const syn_stream *stream);

void glue_stream_rows_free(glue_stream_rows *before);

/* What is to be shown of a stream. */
typedef struct glue_stream_shown {
    const syn_stream *stream;
    const syn_episodes *episodes;
    const uint32_t *id;     /* from syn_stream_episodes() */
    const glue_rows *rows;  /* from glue_rows_order() */
    uint8_t least;          /* as for glue_episodes_table() */
    size_t top;
} glue_stream_shown;

/* A list as glue_episodes_table() gives it, with all names spelt, and before `levels` one
   more column, `was`: the row that each episode had in `old`, a list with the columns
   episode, units, low and high of the last table, or NA. `old` may be NULL of R. `before`
   is of the last table, and of this one afterwards. NULL of R when the watch asked to
   stop. */
SEXP glue_stream_table(const glue_stream_shown *shown, glue_stream_rows *before, SEXP old,
                       SEXP spelling, const syn_watch *watch);

#endif
