/* What a stream has found, for R. A tree and counts are all that an update makes; tables
   are made of them when somebody looks. Most episodes of a table were in the one before:
   their names, units and bounds are vectors of R that the new table shares with the old
   one, and only rows that are new are spelt. */
#include "glue/stream_table.h"

#include <stdlib.h>
#include <string.h>

#include "glue/options.h"
#include "glue/owner.h"
#include "glue/require.h"
#include "glue/watch.h"
#include "core/base/memory.h"

/* ---- trees ---- */

SEXP glue_stream_tree(const syn_stream *stream)
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

syn_stream_shown glue_stream_shown(SEXP tree, SEXP count, SEXP min_count)
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

syn_stream_names glue_stream_names(SEXP spelling, uint32_t max_size)
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

static char *prepend(char *end, SEXP text)
{
    size_t length = (size_t)LENGTH(text);
    memcpy(end - length, CHAR(text), length);
    return end - length;
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
        begin = prepend(begin, STRING_ELT(labels, t->unit[id]));
        if (t->size[id] == 1)
            break;
        begin = prepend(begin, STRING_ELT(arrows, t->interval[id]));
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
    glue_rows_free(&t->episodes, &t->rows);
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
    syn_stream_shown shown = glue_stream_shown(tree, count, min_count);
    uint32_t max_size = (uint32_t)glue_option_int(options, "max_size", 1, INT32_MAX);
    R_xlen_t units = Rf_xlength(VECTOR_ELT(spelling, LABELS));
    glue_check_spelling(spelling, (int)units, Rf_xlength(VECTOR_ELT(spelling, LOW)));
    syn_stream_names names = glue_stream_names(spelling, max_size);
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
             glue_rows_order(&t->rows, &t->episodes, spelling, t->least, t->watch));
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
    syn_stream_shown shown = glue_stream_shown(tree, count, one);
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
