/* Streams for R: a window of episodes that lives in an external pointer from one update
   to the next. */
#include "glue/glue.h"

#include <stdlib.h>

#include "core/episodes/stream.h"
#include "core/spikes/clock.h"
#include "glue/episodes_given.h"
#include "glue/episodes_table.h"
#include "glue/options.h"
#include "glue/owner.h"
#include "glue/require.h"
#include "glue/stream_table.h"
#include "glue/watch.h"

typedef struct held_stream {
    syn_stream *stream;
    uint32_t units;
    glue_stream_rows before;
} held_stream;

static void release_stream(void *held)
{
    held_stream *h = held;
    syn_stream_free(h->stream);
    glue_stream_rows_free(&h->before);
}

/* `bounds`: low and high in ticks. Options: units, max_size, distinct_units, events,
   occupancy, max_memory. */
SEXP r_stream_open(SEXP bounds, SEXP options)
{
    R_xlen_t n = Rf_xlength(VECTOR_ELT(bounds, 0));
    syn_interval *intervals = (syn_interval *)R_alloc((size_t)n + 1, sizeof *intervals);
    glue_intervals(intervals, VECTOR_ELT(bounds, 0), VECTOR_ELT(bounds, 1));
    syn_stream_options o = {
        .intervals = intervals, .n_intervals = (uint32_t)n,
        .units = (uint32_t)glue_option_int(options, "units", 0, INT32_MAX - 64),
        .max_size = (uint32_t)glue_option_int(options, "max_size", 1, INT32_MAX),
        .distinct_units = (int)glue_option_int(options, "distinct_units", 0, 1),
        .events = glue_option_number(options, "events", 0, INT32_MAX),
        .occupancy = glue_option_number(options, "occupancy", 0, INT32_MAX),
        .max_memory = glue_option_memory(options)};
    SEXP pointer = PROTECT(glue_keep("stream", sizeof(held_stream), release_stream));
    held_stream *held = glue_kept(pointer, "stream");
    held->stream = syn_stream_open(&o);
    held->units = o.units;
    if (!held->stream) {
        glue_let_go(pointer);
        pointer = glue_status(SYN_OVER_BUDGET, NA_REAL, (double)o.max_memory);
    }
    UNPROTECT(1);
    return pointer;
}

/* What a stream holds: events, kept, candidates, anew, held and most; NULL for a pointer
   whose stream is gone, as after it was written to a file. */
SEXP r_stream_about(SEXP pointer)
{
    const char *fields[] = {"events", "kept", "candidates", "anew", "held", "most", ""};
    if (TYPEOF(pointer) != EXTPTRSXP || R_ExternalPtrAddr(pointer) == NULL)
        return R_NilValue;
    const held_stream *held = glue_kept(pointer, "stream");
    syn_stream_report about = syn_stream_about(held->stream);
    double value[] = {(double)about.events, (double)about.kept,
                      (double)about.candidates, (double)about.anew, (double)about.held,
                      (double)about.most};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    for (int i = 0; fields[i][0]; i++)
        SET_VECTOR_ELT(out, i, Rf_ScalarReal(value[i]));
    UNPROTECT(1);
    return out;
}

/* Ticks and units of the spikes that came. R's error unless they are in order. */
static syn_stream_block read_block(SEXP block, uint32_t units)
{
    SEXP tick = numbers(VECTOR_ELT(block, 0), REALSXP, 0, "ticks");
    R_xlen_t n = Rf_xlength(tick);
    SEXP unit = numbers(VECTOR_ELT(block, 1), INTSXP, n, "units");
    require(Rf_xlength(unit) == n, "units");
    for (R_xlen_t i = 0; i < n; i++) {
        within(INTEGER(unit)[i], 1, units, "units");
        within(REAL(tick)[i], i > 0 ? REAL(tick)[i - 1] : -SYN_MOST_TICK, SYN_MOST_TICK,
               "order of spikes");
    }
    return (syn_stream_block){(size_t)n, REAL(tick), INTEGER(unit)};
}

typedef struct found {
    syn_episodes episodes;
    uint32_t *id;
    glue_rows rows;
} found;

static void release_found(void *held)
{
    found *f = held;
    glue_rows_free(&f->episodes, &f->rows);
    syn_episodes_free(&f->episodes);
    free(f->id);
}

/* The window moved on and its table, as glue_stream_table() gives it. `block`: ticks and
   unit codes; `cut`: the last tick before the window; `old`: columns of the table that
   the last call gave, or NULL. Options: min_count, least_flag, top, max_memory. A stream
   that could not be moved on is let go. */
SEXP r_stream_update(glue_owner *own, SEXP pointer, SEXP block, SEXP cut, SEXP spelling,
                     SEXP old, SEXP options)
{
    held_stream *held = glue_kept(pointer, "stream");
    uint32_t units = (uint32_t)Rf_xlength(VECTOR_ELT(spelling, 0));
    uint32_t least_count = (uint32_t)glue_option_int(options, "min_count", 1, INT32_MAX);
    uint8_t least = (uint8_t)glue_option_int(options, "least_flag", 1, 3);
    size_t top = (size_t)glue_option_int(options, "top", 1, (int64_t)1 << 53);
    double most = (double)glue_option_memory(options), bytes = NA_REAL;
    double from = within(Rf_asReal(cut), -SYN_MOST_TICK, SYN_MOST_TICK, "window");
    require(units <= held->units, "units");
    glue_check_spelling(spelling, (int)units, Rf_xlength(VECTOR_ELT(spelling, 1)));
    syn_stream_block came = read_block(block, units);
    found *f = glue_hold(own, sizeof *f, release_found);
    const syn_watch *watch = glue_watch(own, "Mining the window");
    syn_status status =
        syn_stream_update(held->stream, &came, (int64_t)from, least_count, watch);
    if (status != SYN_OK)
        glue_let_go(pointer);
    if (status == SYN_OK)
        status = syn_stream_episodes(held->stream, units, &f->episodes, &f->id);
    if (status == SYN_OK)
        status = glue_rows_order(&f->rows, &f->episodes, spelling, least, watch);
    if (status == SYN_OK)
        status = glue_stream_rows_room(&held->before, held->stream);
    if (status == SYN_OK) {
        bytes = glue_table_bytes(&f->episodes, &f->rows, least, top);
        status = bytes > most ? SYN_OVER_BUDGET : SYN_OK;
    }
    SEXP out = R_NilValue;
    if (status == SYN_OK) {
        glue_stream_shown shown = {.stream = held->stream, .episodes = &f->episodes,
                                   .id = f->id, .rows = &f->rows, .least = least,
                                   .top = top};
        out = glue_stream_table(&shown, &held->before, old, spelling, watch);
        status = out == R_NilValue ? SYN_INTERRUPTED : SYN_OK;
    }
    if (status != SYN_OK)
        return glue_status(status, bytes, most);
    PROTECT(out);
    SET_VECTOR_ELT(out, XLENGTH(out) - 1, glue_episodes_levels(&f->episodes, NA_REAL));
    UNPROTECT(1);
    return out;
}
