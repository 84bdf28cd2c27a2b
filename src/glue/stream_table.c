/* Most episodes of a table were in the one before. Their names, units and bounds are
   vectors of R that the new table shares with the old one: only rows that are new are
   spelt. */
#include "glue/stream_table.h"

#include <stdlib.h>
#include <string.h>

#include "glue/require.h"

/* ---- rows of the table before ---- */

syn_status glue_stream_rows_room(glue_stream_rows *before, const syn_stream *stream)
{
    uint32_t n = syn_stream_ids(stream), room = n + n / 2;
    if (n <= before->room)
        return SYN_OK;
    uint64_t *serial = realloc(before->serial, room * sizeof *serial);
    before->serial = serial ? serial : before->serial;
    int *row = realloc(before->row, room * sizeof *row);
    before->row = row ? row : before->row;
    if (!serial || !row)
        return SYN_NO_MEMORY;
    memset(row + before->room, 0, (room - before->room) * sizeof *row);
    before->room = room;
    return SYN_OK;
}

void glue_stream_rows_free(glue_stream_rows *before)
{
    free(before->serial);
    free(before->row);
}

/* ---- rows that are new ---- */

/* An episode by its place among those of its size. */
typedef struct node {
    const syn_episodes *episodes;
    size_t level;
    uint32_t at;
} node;

static const syn_episode_level *level_of(node e) { return &e.episodes->level[e.level]; }

static uint32_t unit_of(node e) { return level_of(e)->unit[e.at]; }

static uint32_t interval_of(node e) { return level_of(e)->interval[e.at]; }

static node parent_of(node e)
{
    return (node){e.episodes, e.level - 1, level_of(e)->parent[e.at]};
}

static SEXP units_of(node e, SEXP labels)
{
    SEXP out = Rf_allocVector(STRSXP, (R_xlen_t)e.level + 1);
    for (;; e = parent_of(e)) {
        SET_STRING_ELT(out, (R_xlen_t)e.level, STRING_ELT(labels, unit_of(e)));
        if (e.level == 0)
            return out;
    }
}

static SEXP bounds_of(node e, SEXP bounds)
{
    SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)e.level);
    for (; e.level > 0; e = parent_of(e))
        REAL(out)[e.level - 1] = REAL(bounds)[interval_of(e)];
    return out;
}

static char *prepend(char *end, SEXP text)
{
    size_t length = (size_t)LENGTH(text);
    memcpy(end - length, CHAR(text), length);
    return end - length;
}

static SEXP name_of(node e, SEXP labels, SEXP arrows)
{
    const void *top = vmaxget();
    size_t length = 0;
    for (node p = e;; p = parent_of(p)) {
        length += (size_t)LENGTH(STRING_ELT(labels, unit_of(p)));
        if (p.level == 0)
            break;
        length += (size_t)LENGTH(STRING_ELT(arrows, interval_of(p)));
    }
    char *text = R_alloc(length + 1, 1), *begin = text + length;
    for (;; e = parent_of(e)) {
        begin = prepend(begin, STRING_ELT(labels, unit_of(e)));
        if (e.level == 0)
            break;
        begin = prepend(begin, STRING_ELT(arrows, interval_of(e)));
    }
    SEXP name = Rf_mkCharLenCE(begin, (int)length, CE_UTF8);
    vmaxset(top);
    return name;
}

/* ---- the table ---- */

enum { EPISODE, SIZE, COUNT, UNITS, BELOW, ABOVE, WAS, COLUMNS };
enum { OLD_EPISODE, OLD_UNITS, OLD_LOW, OLD_HIGH, OLD };
enum { POLL_EVERY = 16384 };  /* rows */

static void write_new(SEXP column[COLUMNS], R_xlen_t row, node e, SEXP spelling)
{
    SEXP labels = VECTOR_ELT(spelling, LABELS);
    SEXP name = name_of(e, labels, VECTOR_ELT(spelling, ARROWS));
    SET_STRING_ELT(column[EPISODE], row, name);
    SET_VECTOR_ELT(column[UNITS], row, units_of(e, labels));
    SET_VECTOR_ELT(column[BELOW], row, bounds_of(e, VECTOR_ELT(spelling, LOW)));
    SET_VECTOR_ELT(column[ABOVE], row, bounds_of(e, VECTOR_ELT(spelling, HIGH)));
    INTEGER(column[WAS])[row] = NA_INTEGER;
}

static void write_old(SEXP column[COLUMNS], R_xlen_t row, SEXP old, R_xlen_t from)
{
    SET_STRING_ELT(column[EPISODE], row, STRING_ELT(VECTOR_ELT(old, OLD_EPISODE), from));
    for (int c = 0; c < 3; c++)
        SET_VECTOR_ELT(column[UNITS + c], row,
                       VECTOR_ELT(VECTOR_ELT(old, OLD_UNITS + c), from));
    INTEGER(column[WAS])[row] = (int)from + 1;
}

/* Writes the rows of level `k` from `row` on; the row after them, or -1 to stop. */
static R_xlen_t write_level(const glue_stream_shown *s, size_t k, const uint32_t *id,
                            const glue_stream_rows *before, SEXP old, SEXP spelling,
                            SEXP column[COLUMNS], R_xlen_t row, const syn_watch *watch)
{
    const syn_episode_level *level = &s->episodes->level[k];
    size_t left = s->top;
    for (size_t i = 0; i < level->n && left > 0; i++, left--) {
        uint32_t at = s->rows->order[k][i], own = id[at];
        if (s->rows->flag && s->rows->flag[k][at] >= s->least) {
            left++;
            continue;
        }
        INTEGER(column[SIZE])[row] = (int)k + 1;
        INTEGER(column[COUNT])[row] = (int)level->count[at];
        int from = old == R_NilValue ? 0 : before->row[own];
        if (from > 0 && from <= Rf_xlength(VECTOR_ELT(old, OLD_EPISODE)) &&
            before->serial[own] == syn_stream_serial(s->stream, own))
            write_old(column, row, old, from - 1);
        else
            write_new(column, row, (node){s->episodes, k, at}, spelling);
        if (row++ % POLL_EVERY == POLL_EVERY - 1 &&
            syn_poll(watch, "table", (double)row, 0) != SYN_OK)
            return -1;
    }
    return row;
}

/* Notes where the episodes stand now. */
static void note_rows(const glue_stream_shown *s, glue_stream_rows *before)
{
    const uint32_t *id = s->id;
    int row = 0;
    memset(before->row, 0, before->room * sizeof *before->row);
    for (size_t k = 0; k < s->episodes->n_levels; id += s->episodes->level[k++].n) {
        size_t left = s->top;
        for (size_t i = 0; i < s->episodes->level[k].n && left > 0; i++) {
            uint32_t at = s->rows->order[k][i];
            if (s->rows->flag && s->rows->flag[k][at] >= s->least)
                continue;
            before->row[id[at]] = ++row;
            before->serial[id[at]] = syn_stream_serial(s->stream, id[at]);
            left--;
        }
    }
}

static void check_old(SEXP old)
{
    static const SEXPTYPE type[OLD] = {STRSXP, VECSXP, VECSXP, VECSXP};
    if (old == R_NilValue)
        return;
    R_xlen_t n = Rf_xlength(VECTOR_ELT(numbers(old, VECSXP, OLD, "the last table"), 0));
    for (int c = 0; c < OLD; c++)
        require((SEXPTYPE)TYPEOF(VECTOR_ELT(old, c)) == type[c] &&
                    Rf_xlength(VECTOR_ELT(old, c)) == n, "the last table");
}

SEXP glue_stream_table(const glue_stream_shown *s, glue_stream_rows *before, SEXP old,
                       SEXP spelling, const syn_watch *watch)
{
    static const char *fields[] = {"episode", "size", "count", "units", "low",
                                   "high", "was", "levels", ""};
    static const SEXPTYPE type[COLUMNS] = {STRSXP, INTSXP, INTSXP, VECSXP,
                                           VECSXP, VECSXP, INTSXP};
    R_xlen_t n = glue_table_rows(s->episodes, s->rows, s->least, s->top), row = 0;
    const uint32_t *id = s->id;
    SEXP column[COLUMNS], out = PROTECT(Rf_mkNamed(VECSXP, fields));
    check_old(old);
    for (int c = 0; c < COLUMNS; c++) {
        column[c] = Rf_allocVector(type[c], n);
        SET_VECTOR_ELT(out, c, column[c]);
    }
    for (size_t k = 0; k < s->episodes->n_levels && row >= 0; k++) {
        row = write_level(s, k, id, before, old, spelling, column, row, watch);
        id += s->episodes->level[k].n;
    }
    if (row >= 0)
        note_rows(s, before);
    UNPROTECT(1);
    return row >= 0 ? out : R_NilValue;
}
