/* Streams for R: a window of episodes that lives in an external pointer from one update
   to the next. */
#include "glue/glue.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/episodes/stream_tree.h"
#include "glue/episodes_given.h"
#include "glue/episodes_table.h"
#include "glue/options.h"
#include "glue/require.h"
#include "glue/watch.h"
#include "gpu/stream/stream.h"

/* ---- trees and tables ----

   What a stream has found, for R. A tree and counts are all that an update makes; tables
   are made of them when somebody looks. Most episodes of a table were in the one before:
   their names, units and bounds are vectors of R that the new table shares with the old
   one, and only rows that are new are spelt. */

/* ---- trees ---- */


/* The tree of a stream: a list of `serial` and `field`, as syn_stream_write_tree() writes
   them. */
static SEXP tree_of(const syn_stream *stream)
{
    const char *fields[] = {"serial", "field", ""};
    R_xlen_t n = (R_xlen_t)syn_stream_ids(stream);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, n));
    SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, SYN_TREE_FIELDS * n));
    syn_stream_write_tree(stream, INTEGER(VECTOR_ELT(out, 1)), REAL(VECTOR_ELT(out, 0)));
    UNPROTECT(1);
    return out;
}

/* A tree that tree_of() gave, its counts and what is frequent; R's error unless
   they fit together. They need not be sound. */
static syn_stream_shown shown_of(SEXP tree, SEXP count, SEXP min_count)
{
    SEXP serial = numbers(glue_option(tree, "serial"), REALSXP, 0, "the tree");
    R_xlen_t n = Rf_xlength(serial);
    SEXP field = numbers(glue_option(tree, "field"), INTSXP, SYN_TREE_FIELDS * n,
                         "the tree");
    require(n < INT32_MAX && Rf_xlength(numbers(count, INTSXP, n, "counts")) == n,
            "counts");
    return (syn_stream_shown){
        .tree = syn_stream_tree_of((uint32_t)n, INTEGER(field), REAL(serial)),
        .count = INTEGER(count),
        .min_count = (int)within(Rf_asReal(min_count), 1, INT32_MAX, "min_count")};
}

/* `spelling` as the core takes it; checked by glue_check_spelling() before. */
static syn_stream_names names_of(SEXP spelling, uint32_t max_size)
{
    SEXP labels = VECTOR_ELT(spelling, LABEL_RANKS);
    SEXP arrows = VECTOR_ELT(spelling, ARROW_RANKS);
    return (syn_stream_names){
        .units = (uint32_t)Rf_xlength(labels), .intervals = (uint32_t)Rf_xlength(arrows),
        .max_size = max_size, .unit_rank = INTEGER(labels),
        .interval_rank = INTEGER(arrows)};
}

/* ---- an episode ---- */

static SEXP units_of(const syn_stream_tree *t, uint32_t id, SEXP labels)
{
    SEXP out = Rf_allocVector(STRSXP, (R_xlen_t)t->size[id]);
    for (;; id = (uint32_t)t->parent[id]) {
        SET_STRING_ELT(out, t->size[id] - 1, STRING_ELT(labels, t->unit[id]));
        if (t->size[id] == 1)
            return out;
    }
}

static SEXP bounds_of(const syn_stream_tree *t, uint32_t id, SEXP bounds)
{
    SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)t->size[id] - 1);
    for (; t->size[id] > 1; id = (uint32_t)t->parent[id])
        REAL(out)[t->size[id] - 2] = REAL(bounds)[t->interval[id]];
    return out;
}

static SEXP name_of(const syn_stream_tree *t, uint32_t id, SEXP labels, SEXP arrows)
{
    const void *top = vmaxget();
    size_t length = 0;
    for (uint32_t e = id;; e = (uint32_t)t->parent[e]) {
        length += (size_t)LENGTH(STRING_ELT(labels, t->unit[e]));
        if (t->size[e] == 1)
            break;
        length += (size_t)LENGTH(STRING_ELT(arrows, t->interval[e]));
    }
    char *text = R_alloc(length + 1, 1), *begin = text + length;
    for (;; id = (uint32_t)t->parent[id]) {
        begin = glue_prepend(begin, STRING_ELT(labels, t->unit[id]));
        if (t->size[id] == 1)
            break;
        begin = glue_prepend(begin, STRING_ELT(arrows, t->interval[id]));
    }
    SEXP name = Rf_mkCharLenCE(begin, (int)length, CE_UTF8);
    vmaxset(top);
    return name;
}

/* ---- the table ---- */

enum { EPISODE, SIZE, COUNT, UNITS, BELOW, ABOVE, ID, COLUMNS };
enum { POLL_EVERY = 16384 };  /* rows */

typedef struct table {
    const syn_stream_shown *shown;
    syn_episodes episodes;
    uint32_t *id;          /* by level, as syn_stream_episodes() gives them */
    glue_rows rows;
    uint8_t least;
    size_t top;
    SEXP spelling, column[COLUMNS];
    SEXP old[COLUMNS];     /* columns of an earlier table; those that are not needed, or
                              all, NULL */
    const double *old_serial;
    int *old_row;          /* [tree.n] where an episode stands in it, from 1, or 0 */
    const syn_watch *watch;
} table;

static void release_table(void *held)
{
    table *t = held;
    syn_give_back(&t->rows.memory);
    syn_episodes_free(&t->episodes);
    SYN_FREE(t->id, t->old_row);
}

/* Finds where episodes stand in an earlier table, if there is one. */
static void read_old(table *t, SEXP old)
{
    static const char *fields[COLUMNS] = {"episode", NULL, NULL, "units", "low", "high",
                                          "id"};
    static const SEXPTYPE type[COLUMNS] = {STRSXP, NILSXP, NILSXP, VECSXP,
                                           VECSXP, VECSXP, INTSXP};
    uint32_t n = t->shown->tree.n;
    t->old_row = calloc((size_t)n + 1, sizeof *t->old_row);
    if (!t->old_row)
        glue_no_memory((double)n * sizeof *t->old_row);
    if (old == R_NilValue)
        return;
    R_xlen_t rows = Rf_xlength(glue_option(old, "id"));
    SEXP serial = numbers(glue_option(glue_option(old, "tree"), "serial"), REALSXP, 0,
                          "the last table");
    for (int c = 0; c < COLUMNS; c++)
        if (fields[c]) {
            t->old[c] = numbers(glue_option(old, fields[c]), type[c], rows,
                                "the last table");
            require(Rf_xlength(t->old[c]) == rows, "the last table");
        }
    for (R_xlen_t row = 0; row < rows; row++) {
        uint32_t id = (uint32_t)INTEGER(t->old[ID])[row];
        require((R_xlen_t)id < Rf_xlength(serial), "the last table");
        if (id < n && REAL(serial)[id] == t->shown->tree.serial[id])
            t->old_row[id] = (int)row + 1;
    }
}

/* Writes the rows of level `k`, whose numbers begin at `id`, from `row` on; the row after
   them, or -1 to stop. */
static R_xlen_t write_level(const table *t, size_t k, const uint32_t *id, R_xlen_t row)
{
    const syn_episode_level *level = &t->episodes.level[k];
    size_t left = t->top;
    for (size_t i = 0; i < level->n && left > 0; i++) {
        uint32_t at = t->rows.order[k][i], own = id[at];
        if (t->rows.flag && t->rows.flag[k][at] >= t->least)
            continue;
        left--;
        INTEGER(t->column[SIZE])[row] = (int)k + 1;
        INTEGER(t->column[COUNT])[row] = (int)level->count[at];
        INTEGER(t->column[ID])[row] = (int)own;
        if (t->old_row[own] > 0) {
            R_xlen_t from = t->old_row[own] - 1;
            SET_STRING_ELT(t->column[EPISODE], row, STRING_ELT(t->old[EPISODE], from));
            for (int c = UNITS; c <= ABOVE; c++)
                SET_VECTOR_ELT(t->column[c], row, VECTOR_ELT(t->old[c], from));
        } else {
            const syn_stream_tree *tree = &t->shown->tree;
            SEXP labels = VECTOR_ELT(t->spelling, LABELS);
            SEXP name = name_of(tree, own, labels, VECTOR_ELT(t->spelling, ARROWS));
            SET_STRING_ELT(t->column[EPISODE], row, name);
            SET_VECTOR_ELT(t->column[UNITS], row, units_of(tree, own, labels));
            SET_VECTOR_ELT(t->column[BELOW], row,
                           bounds_of(tree, own, VECTOR_ELT(t->spelling, LOW)));
            SET_VECTOR_ELT(t->column[ABOVE], row,
                           bounds_of(tree, own, VECTOR_ELT(t->spelling, HIGH)));
        }
        if (row++ % POLL_EVERY == POLL_EVERY - 1 &&
            syn_poll(t->watch, "table", (double)row, 0) != SYN_OK)
            return -1;
    }
    return row;
}

static SEXP write_table(table *t)
{
    static const char *fields[] = {"episode", "size", "count", "units", "low",
                                   "high", "id", "levels", ""};
    static const SEXPTYPE type[COLUMNS] = {STRSXP, INTSXP, INTSXP, VECSXP,
                                           VECSXP, VECSXP, INTSXP};
    R_xlen_t n = glue_table_rows(&t->episodes, &t->rows, t->least, t->top), row = 0;
    const uint32_t *id = t->id;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    for (int c = 0; c < COLUMNS; c++) {
        t->column[c] = Rf_allocVector(type[c], n);
        SET_VECTOR_ELT(out, c, t->column[c]);
    }
    for (size_t k = 0; k < t->episodes.n_levels && row >= 0; k++) {
        row = write_level(t, k, id, row);
        id += t->episodes.level[k].n;
    }
    SET_VECTOR_ELT(out, COLUMNS, glue_episodes_levels(&t->episodes, NA_REAL));
    UNPROTECT(1);
    return row >= 0 ? out : R_NilValue;
}

/* The table of the episodes in a tree: the columns episode, size, count, units, low and
   high, the numbers `id` of the episodes in the tree, and `levels`. `old`: such columns
   of an earlier table of the same stream, and its `tree`; or NULL. Options: max_size,
   least_flag and top. */
SEXP r_stream_table(glue_owner *own, SEXP tree, SEXP count, SEXP min_count, SEXP spelling,
                    SEXP old, SEXP options)
{
    syn_stream_shown shown = shown_of(tree, count, min_count);
    uint32_t max_size = (uint32_t)glue_option_int(options, "max_size", 1, INT32_MAX);
    R_xlen_t units = Rf_xlength(VECTOR_ELT(spelling, LABELS));
    glue_check_spelling(spelling, (int)units, Rf_xlength(VECTOR_ELT(spelling, LOW)));
    syn_stream_names names = names_of(spelling, max_size);
    require(syn_stream_shown_sound(&shown, names.units, names.intervals), "the tree");
    table *t = glue_hold(own, sizeof *t, release_table);
    t->shown = &shown;
    t->spelling = spelling;
    t->least = (uint8_t)glue_option_int(options, "least_flag", 1, 3);
    t->top = (size_t)glue_option_int(options, "top", 1, (int64_t)1 << 53);
    t->watch = glue_watch(own, "Writing the table");
    read_old(t, old);
    syn_status status = syn_stream_episodes(&shown, &names, &t->episodes, &t->id);
    SYN_NEXT(status,
             glue_rows_find(&t->rows, &t->episodes, spelling, t->least, 0, 1,
                            t->watch));
    SEXP out = status == SYN_OK ? write_table(t) : R_NilValue;
    if (out == R_NilValue && status == SYN_OK)
        status = SYN_INTERRUPTED;
    return glue_answer(out, status, "");
}

/* Names, sizes and units of some episodes of a tree. */
SEXP r_stream_names(SEXP tree, SEXP spelling, SEXP id)
{
    const char *fields[] = {"episode", "size", "units", ""};
    R_xlen_t n = Rf_xlength(numbers(id, INTSXP, 0, "numbers"));
    SEXP count = PROTECT(Rf_allocVector(INTSXP, Rf_xlength(glue_option(tree, "serial"))));
    for (R_xlen_t i = 0; i < Rf_xlength(count); i++)
        INTEGER(count)[i] = 0;
    SEXP one = PROTECT(Rf_ScalarReal(1));
    syn_stream_shown shown = shown_of(tree, count, one);
    SEXP labels = VECTOR_ELT(spelling, LABELS), arrows = VECTOR_ELT(spelling, ARROWS);
    glue_check_spelling(spelling, (int)Rf_xlength(labels), Rf_xlength(arrows));
    require(syn_stream_shown_sound(&shown, (uint32_t)Rf_xlength(labels),
                                   (uint32_t)Rf_xlength(arrows)), "the tree");
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SEXP name = SET_VECTOR_ELT(out, 0, Rf_allocVector(STRSXP, n));
    SEXP size = SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, n));
    SEXP units = SET_VECTOR_ELT(out, 2, Rf_allocVector(VECSXP, n));
    for (R_xlen_t i = 0; i < n; i++) {
        uint32_t own = (uint32_t)INTEGER(id)[i];
        require(own < shown.tree.n && shown.tree.size[own] > 0, "numbers");
        SET_STRING_ELT(name, i, name_of(&shown.tree, own, labels, arrows));
        INTEGER(size)[i] = shown.tree.size[own];
        SET_VECTOR_ELT(units, i, units_of(&shown.tree, own, labels));
    }
    UNPROTECT(3);
    return out;
}

/* ---- blocks ----

   What an update of a stream brings, where it is a sound recording in the usual form:
   most blocks are, and few spikes should not take longer to check than to count. */

/* The attribute `name` of `x` where it is a finite number; else NaN. */
static double number_of(SEXP x, const char *name)
{
    SEXP value = Rf_getAttrib(x, Rf_install(name));
    if (TYPEOF(value) != REALSXP || XLENGTH(value) != 1 || OBJECT(value) ||
        !isfinite(REAL(value)[0]))
        return NAN;
    return REAL(value)[0];
}

/* Whether names are the first ones of others, so that their numbers are the same. */
static int are_first(SEXP names, SEXP of)
{
    if (names == of)
        return 1;
    if (TYPEOF(names) != STRSXP || TYPEOF(of) != STRSXP || XLENGTH(names) > XLENGTH(of))
        return 0;
    for (R_xlen_t i = 0; i < XLENGTH(names); i++)
        if (STRING_ELT(names, i) != STRING_ELT(of, i))
            return 0;
    return 1;
}

static int has_columns(SEXP x)
{
    SEXP names = Rf_getAttrib(x, R_NamesSymbol);
    if (TYPEOF(x) != VECSXP || XLENGTH(x) != 2 || !Rf_inherits(x, "spike_trains") ||
        TYPEOF(names) != STRSXP || strcmp(CHAR(STRING_ELT(names, 0)), "time") != 0 ||
        strcmp(CHAR(STRING_ELT(names, 1)), "unit") != 0)
        return 0;
    SEXP time = VECTOR_ELT(x, 0), unit = VECTOR_ELT(x, 1);
    SEXP class = Rf_getAttrib(unit, R_ClassSymbol);
    R_xlen_t n = Rf_xlength(Rf_getAttrib(x, R_RowNamesSymbol));
    return TYPEOF(time) == REALSXP && ATTRIB(time) == R_NilValue &&
           TYPEOF(unit) == INTSXP && TYPEOF(class) == STRSXP && XLENGTH(class) == 1 &&
           strcmp(CHAR(STRING_ELT(class, 0)), "factor") == 0 &&
           Rf_getAttrib(unit, R_DimSymbol) == R_NilValue && XLENGTH(time) == n &&
           XLENGTH(unit) == n;
}

/* The tick of a time that is one, with no rounding; else NaN. */
static double exact_tick(double time, const syn_clock *clock)
{
    double tick = isfinite(time) ? syn_tick_of(time, clock) : NAN;
    return fabs(tick) < SYN_MOST_TICK && syn_seconds_of(tick, clock) == time ? tick : NAN;
}

/* Ticks of the spikes: whether all are ticks between two, sorted by tick and unit, none
   twice, with units below `units`. */
static int read_plain(SEXP x, const syn_clock *clock, double start, double end, int units,
                      double *tick)
{
    const double *time = REAL_RO(VECTOR_ELT(x, 0));
    const int *unit = INTEGER_RO(VECTOR_ELT(x, 1));
    R_xlen_t n = XLENGTH(VECTOR_ELT(x, 0));
    for (R_xlen_t i = 0; i < n; i++) {
        tick[i] = exact_tick(time[i], clock);
        if (!(tick[i] >= start && tick[i] <= end) || unit[i] < 1 || unit[i] > units ||
            (i > 0 && (tick[i] < tick[i - 1] ||
                       (tick[i] == tick[i - 1] && unit[i] <= unit[i - 1]))))
            return 0;
    }
    return 1;
}

/* `tick`, `code`, `start` and `now`, the end, of spike trains whose units are the first
   of `units`; NULL for all others, which must be checked, and for those with trials or on
   another clock. `clock`: ticks in a second, or NA, and seconds in a tick. */
SEXP r_plain_block(SEXP x, SEXP clock, SEXP units)
{
    const char *fields[] = {"tick", "code", "start", "now", ""};
    syn_clock c = {REAL(clock)[0], REAL(clock)[1]};
    /* Trials or a table of units take more checks. */
    if (!has_columns(x) || Rf_getAttrib(x, Rf_install("trials")) != R_NilValue ||
        Rf_getAttrib(x, Rf_install("unit_table")) != R_NilValue ||
        number_of(x, "resolution") != c.resolution)
        return R_NilValue;
    SEXP levels = Rf_getAttrib(VECTOR_ELT(x, 1), R_LevelsSymbol);
    double start = exact_tick(number_of(x, "start"), &c);
    double end = exact_tick(number_of(x, "end"), &c);
    R_xlen_t n = XLENGTH(VECTOR_ELT(x, 0));
    if (!(start <= end) || !are_first(levels, units))
        return R_NilValue;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SEXP tick = SET_VECTOR_ELT(out, 0, Rf_allocVector(REALSXP, n));
    SEXP code = SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, n));
    int sound = read_plain(x, &c, start, end, (int)XLENGTH(levels), REAL(tick));
    if (n > 0)
        memcpy(INTEGER(code), INTEGER_RO(VECTOR_ELT(x, 1)), (size_t)n * sizeof(int));
    SET_VECTOR_ELT(out, 2, Rf_ScalarReal(start));
    SET_VECTOR_ELT(out, 3, Rf_ScalarReal(end));
    UNPROTECT(1);
    return sound ? out : R_NilValue;
}

/* ---- streams ---- */

typedef struct held_stream {
    syn_stream *stream;
    uint32_t units;
    uint64_t version;  /* of the tree that R has */
} held_stream;

static void release_stream(void *held)
{
    held_stream *h = held;
    syn_stream_free(h->stream);
}

/* `bounds`: low and high in ticks. Options: units, max_size, distinct_units, events,
   occupancy, max_memory. `gpu`: a list with `gpus`, numbers from 0, of which the first
   counts; NULL for the CPU. */
SEXP r_stream_open(SEXP bounds, SEXP options, SEXP gpu)
{
    uint32_t n;
    const syn_interval *intervals = glue_bounds(bounds, &n, NULL);
    syn_stream_options o = {
        .intervals = intervals,
        .n_intervals = n,
        .units = (uint32_t)glue_option_int(options, "units", 0, INT32_MAX - 64),
        .max_size = (uint32_t)glue_option_int(options, "max_size", 1, INT32_MAX),
        .distinct_units = (int)glue_option_int(options, "distinct_units", 0, 1),
        .events = glue_option_number(options, "events", 0, INT32_MAX),
        .occupancy = glue_option_number(options, "occupancy", 0, INT32_MAX),
        .max_memory = glue_option_memory(options)};
    syn_gpu_call call = {.n = 0};
    if (gpu != R_NilValue)
        call = glue_option_gpus(gpu);
    SEXP pointer = PROTECT(glue_keep("stream", sizeof(held_stream), release_stream));
    held_stream *held = glue_kept(pointer, "stream");
    syn_stream_device device;
    if (call.n > 0) {
        syn_status status = syn_gpu_stream_open(&o, &call, &device);
        if (status != SYN_OK) {
            glue_let_go(pointer);
            UNPROTECT(1);
            return glue_status_because(status, NA_REAL, NA_REAL, call.reason);
        }
        o.device = &device;
    }
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
    double value[] = {(double)about.events, (double)about.kept, (double)about.candidates,
                      (double)about.anew,   (double)about.held, (double)about.most};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    for (int i = 0; fields[i][0]; i++)
        SET_VECTOR_ELT(out, i, Rf_ScalarReal(value[i]));
    UNPROTECT(1);
    return out;
}

/* How many episodes there are, and how many have risen, fallen, come and gone. */
static SEXP tally_of(const syn_stream_shown *before, const syn_stream_shown *now)
{
    syn_stream_tally t = syn_stream_compare(before, now);
    uint32_t value[] = {t.shown, t.risen, t.fallen, t.come, t.gone};
    return glue_integers(value, 5);
}

/* The numbers of the strongest episodes that differ. */
static SEXP strongest_of(const syn_stream_shown *shown, const syn_stream_names *names,
                         uint32_t most)
{
    uint32_t n = 0, *id = (uint32_t *)R_alloc((size_t)most + 1, sizeof *id);
    /* Variants of few chains may fill a long way from the top; a look at these is
       enough. */
    uint32_t looks = 20 * most;
    if (most > 0 && syn_stream_strongest(shown, names, most, looks, id, &n) != SYN_OK)
        glue_no_memory(12.0 * shown->tree.n);
    return glue_integers(id, n);
}

/* The window moved on: `tree` and `count` as shown_of() takes them, `tally` of
   what has changed, the numbers of the `strongest` episodes and `peak_memory`. `block`:
   ticks and unit codes; `cut`: the last tick before the window; `before`: a list of tree,
   count and min_count after the update before, or NULL. Options: min_count, follow,
   max_memory. A stream that could not be moved on is let go. */
SEXP r_stream_update(glue_owner *own, SEXP pointer, SEXP block, SEXP cut, SEXP spelling,
                     SEXP before, SEXP options)
{
    const char *fields[] = {"tree", "count", "tally", "strongest", "peak_memory", ""};
    held_stream *held = glue_kept(pointer, "stream");
    SEXP least = glue_option(options, "min_count");
    uint32_t least_count = (uint32_t)glue_option_int(options, "min_count", 1, INT32_MAX);
    uint32_t follow = (uint32_t)glue_option_int(options, "follow", 0, 1000);
    double most = (double)glue_option_memory(options);
    double from = within(Rf_asReal(cut), -SYN_MOST_TICK, SYN_MOST_TICK, "window");
    uint32_t units = (uint32_t)Rf_xlength(VECTOR_ELT(spelling, LABELS));
    require(units <= held->units, "units");
    glue_check_spelling(spelling, (int)units, Rf_xlength(VECTOR_ELT(spelling, LOW)));
    syn_stream_names names = names_of(spelling, INT32_MAX);
    syn_stream_shown old = {.count = NULL};
    if (before != R_NilValue)
        old = shown_of(glue_option(before, "tree"), glue_option(before, "count"),
                       glue_option(before, "min_count"));
    /* Ticks and units of the spikes that came. R's error unless they are in order. */
    SEXP tick = numbers(VECTOR_ELT(block, 0), REALSXP, 0, "ticks");
    R_xlen_t n = Rf_xlength(tick);
    SEXP unit = numbers(VECTOR_ELT(block, 1), INTSXP, n, "units");
    require(Rf_xlength(unit) == n, "units");
    for (R_xlen_t i = 0; i < n; i++) {
        within(INTEGER(unit)[i], 1, units, "units");
        within(REAL(tick)[i], i > 0 ? REAL(tick)[i - 1] : -SYN_MOST_TICK, SYN_MOST_TICK,
               "order of spikes");
    }
    syn_stream_block came = {(size_t)n, REAL(tick), INTEGER(unit)};
    const syn_watch *watch = glue_watch(own, "Mining the window");
    syn_status status =
        syn_stream_update(held->stream, &came, (int64_t)from, least_count, watch);
    if (status != SYN_OK) {
        char reason[SYN_STREAM_TEXT];
        snprintf(reason, sizeof reason, "%s", syn_stream_reason(held->stream));
        glue_let_go(pointer);
        return glue_status_because(status, NA_REAL, most, reason);
    }
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    int same = before != R_NilValue && held->version == syn_stream_version(held->stream);
    held->version = syn_stream_version(held->stream);
    SEXP tree = same ? glue_option(before, "tree") : tree_of(held->stream);
    SET_VECTOR_ELT(out, 0, tree);
    SET_VECTOR_ELT(
        out, 1,
        glue_integers(syn_stream_counts(held->stream), syn_stream_ids(held->stream)));
    syn_stream_shown now = shown_of(tree, VECTOR_ELT(out, 1), least);
    SET_VECTOR_ELT(out, 2, tally_of(before != R_NilValue ? &old : NULL, &now));
    SET_VECTOR_ELT(out, 3, strongest_of(&now, &names, follow));
    size_t peak = syn_stream_about(held->stream).most;
    SET_VECTOR_ELT(out, 4, Rf_ScalarReal((double)peak));
    double bytes = (GLUE_ROW_BYTES + 6.0 * sizeof(uint32_t) + GLUE_EPISODE_BYTES) *
                   (double)INTEGER(VECTOR_ELT(out, 2))[0];
    UNPROTECT(1);
    return bytes > most ? glue_status(SYN_OVER_BUDGET, bytes, most) : out;
}
