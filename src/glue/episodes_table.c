/* Turns mined episodes into the columns of a data frame. Rows whose episodes have the
   same units (or intervals) share one vector in the list columns, which saves most of
   the memory. */
#include "glue/episodes_table.h"

#include <R_ext/Altrep.h>
#include <Rversion.h>
#include <string.h>

#include "core/base/parallel.h"
#include "glue/index.h"
#include "glue/require.h"

/* ---- sequences of the rows ----

   What names and list columns are made from when somebody looks at them: a list with the
   sequence of each row; the `n` sequences, numbered as in syn_sequences; the text or
   numbers that they are of; and the vectors made of them so far, R's NULL for the others.
   A row that is not there has the number n, of which no vector is ever made. */

enum { OF, BEFORE, LAST, VALUES, MADE, SEQUENCES };

/* The list above as plain C. */
typedef struct sequences {
    const int *of, *before, *last;
    SEXP values, made;
    R_xlen_t n, rows;
} sequences;

static sequences sequences_of(SEXP from)
{
    return (sequences){.of = INTEGER(VECTOR_ELT(from, OF)),
                       .before = INTEGER(VECTOR_ELT(from, BEFORE)),
                       .last = INTEGER(VECTOR_ELT(from, LAST)),
                       .values = VECTOR_ELT(from, VALUES),
                       .made = VECTOR_ELT(from, MADE),
                       .n = XLENGTH(VECTOR_ELT(from, LAST)),
                       .rows = XLENGTH(VECTOR_ELT(from, OF))};
}

/* The sequences of the rows that `index` chooses, from 1. */
static SEXP chosen_rows(SEXP from, SEXP index)
{
    sequences s = sequences_of(from);
    SEXP out = PROTECT(Rf_shallow_duplicate(from));
    SEXP of = SET_VECTOR_ELT(out, OF, Rf_allocVector(INTSXP, XLENGTH(index)));
    for (R_xlen_t i = 0; i < XLENGTH(index); i++) {
        R_xlen_t at = index_at(index, i, s.rows);
        INTEGER(of)[i] = at < 0 ? (int)s.n : s.of[at];
    }
    UNPROTECT(1);
    return out;
}

/* A choice of rows as small as this is made at once: it is to be looked at. */
enum { MADE_AT_ONCE = 4096 };

/* Whether so many rows take less memory made than the sequences they would hold on to:
   about 200 bytes a row, and 8 a sequence. */
static int are_few(R_xlen_t rows, R_xlen_t sequences)
{
    return rows < sequences / 25;
}

/* ---- names ----

   A name is spelt from the sequence of units and that of intervals of its row. */

enum { UNITS, INTERVALS };

typedef struct spelling {
    sequences units, intervals;
} spelling;

static spelling spelling_of(SEXP from)
{
    return (spelling){sequences_of(VECTOR_ELT(from, UNITS)),
                      sequences_of(VECTOR_ELT(from, INTERVALS))};
}

static SEXP label_of(const spelling *s, int unit)
{
    return STRING_ELT(s->units.values, s->units.last[unit]);
}

static SEXP arrow_of(const spelling *s, int interval)
{
    return STRING_ELT(s->intervals.values, s->intervals.last[interval]);
}

static size_t name_length(const spelling *s, int unit, int interval)
{
    size_t length = (size_t)LENGTH(label_of(s, unit));
    for (; interval; interval = s->intervals.before[interval]) {
        unit = s->units.before[unit];
        length += (size_t)LENGTH(arrow_of(s, interval));
        length += (size_t)LENGTH(label_of(s, unit));
    }
    return length;
}

char *glue_prepend(char *end, SEXP text)
{
    size_t length = (size_t)LENGTH(text);
    memcpy(end - length, CHAR(text), length);
    return end - length;
}

static SEXP spell(const spelling *s, R_xlen_t row)
{
    int unit = s->units.of[row], interval = s->intervals.of[row];
    if (unit == s->units.n)
        return NA_STRING;
    char here[1024], *text = here;
    const void *top = vmaxget();
    size_t length = name_length(s, unit, interval);
    if (length > sizeof here)
        text = R_alloc(length, 1);
    /* Sequences lead from their last to their first, and so does the writing. */
    char *end = text + length;
    end = glue_prepend(end, label_of(s, unit));
    for (; interval; interval = s->intervals.before[interval]) {
        unit = s->units.before[unit];
        end = glue_prepend(end, arrow_of(s, interval));
        end = glue_prepend(end, label_of(s, unit));
    }
    SEXP name = Rf_mkCharLenCE(text, (int)length, CE_UTF8);
    vmaxset(top);
    return name;
}

/* ---- list columns ----

   The units, or the bounds, of each row. Rows with the same sequence share one vector. */

/* The elements of a sequence. As many rows share them, R copies them before it lets
   anybody change those of one row. */
static SEXP elements(const sequences *s, int sequence)
{
    R_xlen_t k = 0;
    for (int at = sequence; at; at = s->before[at])
        k++;
    SEXP out = Rf_allocVector(TYPEOF(s->values), k);
    for (; sequence; sequence = s->before[sequence]) {
        R_xlen_t at = s->last[sequence];
        if (TYPEOF(out) == STRSXP)
            SET_STRING_ELT(out, --k, STRING_ELT(s->values, at));
        else
            REAL(out)[--k] = REAL(s->values)[at];
    }
    MARK_NOT_MUTABLE(out);
    return out;
}

/* The vector of a sequence, made where it is not there. */
static SEXP vector_of(const sequences *s, int sequence)
{
    if (sequence < s->n && VECTOR_ELT(s->made, sequence) == R_NilValue)
        SET_VECTOR_ELT(s->made, sequence, elements(s, sequence));
    return VECTOR_ELT(s->made, sequence);
}

enum { POLL_EVERY = 16384 };  /* vectors or rows: some milliseconds of work */

static int stop_at(R_xlen_t i, R_xlen_t n, const syn_watch *watch)
{
    return i % POLL_EVERY == POLL_EVERY - 1 &&
           syn_poll(watch, "table", (double)i, (double)n) != SYN_OK;
}

/* Makes the vectors of all rows, in the order of the sequences: then neighbours have
   their beginning in common. 0 when the watch asked to stop. */
static int make_vectors(const sequences *s, const syn_watch *watch)
{
    const void *top = vmaxget();
    char *used = R_alloc((size_t)s->n + 1, 1);
    memset(used, 0, (size_t)s->n + 1);
    for (R_xlen_t row = 0; row < s->rows; row++)
        used[s->of[row]] = 1;
    R_xlen_t at = 0;
    for (; at < s->n && !stop_at(at, s->n, watch); at++)
        if (used[at])
            vector_of(s, (int)at);
    vmaxset(top);
    return at == s->n;
}

enum { AHEAD = 16 };  /* rows: their vectors lie all over the memory */

static int fill_rows(const sequences *s, SEXP out, const syn_watch *watch)
{
    R_xlen_t row = 0;
    for (; row < s->rows && !stop_at(row, s->rows, watch); row++) {
        if (row + AHEAD < s->rows)
            __builtin_prefetch(VECTOR_ELT(s->made, s->of[row + AHEAD]), 1);
        SET_VECTOR_ELT(out, row, VECTOR_ELT(s->made, s->of[row]));
    }
    return row == s->rows;
}

/* Plain lists in `out`, from its place `at` on: one for each of `from`, with the vectors
   of all rows. A garbage collection costs little while there are few objects, and much
   once millions of rows point to them: the rows are filled last, when nothing more is
   allocated. 0 when the watch asked to stop. */
static int plain_vectors(SEXP from, SEXP out, int at, const syn_watch *watch)
{
    enum { VECTOR = 136, MUCH = 32 << 20 };  /* bytes; of a vector, a guess */
    R_xlen_t bytes = 0;
    int done = 1;
    for (int c = 0; c < LENGTH(from); c++) {
        sequences s = sequences_of(VECTOR_ELT(from, c));
        bytes += VECTOR * (s.n < s.rows ? s.n : s.rows) + 8 * s.rows;
    }
    /* R's heap grows by a fifth at a time, with a full collection each time. Asking
       at once for much that is to come makes it grow once; the memory is never
       touched, and the next collection takes it back. */
    if (bytes > MUCH)
        Rf_allocVector(RAWSXP, bytes);
    for (int c = 0; c < LENGTH(from) && done; c++) {
        sequences s = sequences_of(VECTOR_ELT(from, c));
        SET_VECTOR_ELT(out, at + c, Rf_allocVector(VECSXP, s.rows));
        done = make_vectors(&s, watch);
    }
    for (int c = 0; c < LENGTH(from) && done; c++) {
        sequences s = sequences_of(VECTOR_ELT(from, c));
        done = fill_rows(&s, VECTOR_ELT(out, at + c), watch);
    }
    return done;
}

/* ---- vectors that are made when somebody looks at them ----

   Names and list columns are vectors of ALTREP classes: R calls the functions below for an
   element, a subset or all of such a vector, which holds two things:
   - a list of the sequences of its rows: for names those of units and those of intervals,
     for a list column one; NULL once all is made;
   - the plain vector, or NULL. Of names it has those spelt so far, "" for the others: R
     keeps no hold on a name that it was given.
   Copies, and what is written to a file, are plain vectors. */

#define LAZY_LISTS R_Version(4, 3, 0)  /* the first R with a class for lists */

static R_altrep_class_t names_class, vectors_class;

static R_xlen_t lazy_length(SEXP x)
{
    SEXP from = R_altrep_data1(x);
    return XLENGTH(from == R_NilValue ? R_altrep_data2(x)
                                      : VECTOR_ELT(VECTOR_ELT(from, 0), OF));
}

/* The names spelt so far. */
static SEXP names_kept(SEXP x)
{
    if (R_altrep_data2(x) == R_NilValue)
        R_set_altrep_data2(x, Rf_allocVector(STRSXP, lazy_length(x)));
    return R_altrep_data2(x);
}

static SEXP names_elt(SEXP x, R_xlen_t i)
{
    SEXP kept = names_kept(x), from = R_altrep_data1(x);
    if (from != R_NilValue && STRING_ELT(kept, i) == R_BlankString) {
        spelling s = spelling_of(from);
        SET_STRING_ELT(kept, i, spell(&s, i));
    }
    return STRING_ELT(kept, i);
}

static SEXP alone(SEXP x)
{
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 1));
    SET_VECTOR_ELT(out, 0, x);
    UNPROTECT(1);
    return out;
}

/* All as a plain vector, which from now on is all that `x` holds. */
static SEXP lazy_all(SEXP x)
{
    if (R_altrep_data1(x) != R_NilValue && TYPEOF(x) == STRSXP) {
        SEXP kept = names_kept(x);
        spelling s = spelling_of(R_altrep_data1(x));
        for (R_xlen_t i = 0; i < XLENGTH(kept); i++)
            if (STRING_ELT(kept, i) == R_BlankString)
                SET_STRING_ELT(kept, i, spell(&s, i));
    } else if (R_altrep_data1(x) != R_NilValue) {
        SEXP out = PROTECT(alone(R_NilValue));
        plain_vectors(R_altrep_data1(x), out, 0, NULL);
        R_set_altrep_data2(x, VECTOR_ELT(out, 0));
        UNPROTECT(1);
    }
    R_set_altrep_data1(x, R_NilValue);
    return R_altrep_data2(x);
}

static void lazy_set_elt(SEXP x, R_xlen_t i, SEXP value)
{
    if (TYPEOF(x) == STRSXP)
        SET_STRING_ELT(lazy_all(x), i, value);
    else
        SET_VECTOR_ELT(lazy_all(x), i, value);
}

static void *lazy_dataptr(SEXP x, Rboolean writable)
{
    (void)writable;
    return (void *)DATAPTR_RO(lazy_all(x));
}

static const void *lazy_dataptr_or_null(SEXP x)
{
    return R_altrep_data1(x) == R_NilValue ? lazy_dataptr(x, FALSE) : NULL;
}

/* `now`: whether all is made at once; else only where rows are few. */
static SEXP new_lazy(R_altrep_class_t class, SEXP from, int now)
{
    R_xlen_t n = 0;
    for (int c = 0; c < LENGTH(from); c++)
        n += sequences_of(VECTOR_ELT(from, c)).n;
    SEXP out = PROTECT(R_new_altrep(class, from, R_NilValue));
    if (now || are_few(lazy_length(out), n))
        out = lazy_all(out);
    UNPROTECT(1);
    return out;
}

static SEXP lazy_subset(SEXP x, SEXP index, SEXP call)
{
    (void)call;
    if (R_altrep_data1(x) == R_NilValue)
        return NULL;
    SEXP from = PROTECT(Rf_shallow_duplicate(R_altrep_data1(x)));
    for (int c = 0; c < LENGTH(from); c++)
        SET_VECTOR_ELT(from, c, chosen_rows(VECTOR_ELT(from, c), index));
    SEXP out = new_lazy(TYPEOF(x) == STRSXP ? names_class : vectors_class, from,
                        XLENGTH(index) <= MADE_AT_ONCE);
    UNPROTECT(1);
    return out;
}

static void add_methods(R_altrep_class_t class)
{
    R_set_altrep_Length_method(class, lazy_length);
    R_set_altvec_Dataptr_method(class, lazy_dataptr);
    R_set_altvec_Dataptr_or_null_method(class, lazy_dataptr_or_null);
    R_set_altvec_Extract_subset_method(class, lazy_subset);
}

#if R_VERSION >= LAZY_LISTS
static SEXP vectors_elt(SEXP x, R_xlen_t i)
{
    SEXP from = R_altrep_data1(x);
    if (from == R_NilValue)
        return VECTOR_ELT(R_altrep_data2(x), i);
    sequences s = sequences_of(VECTOR_ELT(from, 0));
    return vector_of(&s, s.of[i]);
}

/* Lists as plain_vectors() makes them, whose vectors are made when somebody looks. */
static int new_vectors(SEXP from, SEXP out, int at, const syn_watch *watch)
{
    sequences s = sequences_of(VECTOR_ELT(from, 0));
    if (are_few(s.rows, s.n))
        return plain_vectors(from, out, at, watch);
    for (int c = 0; c < LENGTH(from); c++) {
        SEXP own = PROTECT(alone(VECTOR_ELT(from, c)));
        SET_VECTOR_ELT(out, at + c, R_new_altrep(vectors_class, own, R_NilValue));
        UNPROTECT(1);
    }
    return 1;
}
#else
#define new_vectors plain_vectors
#endif

void glue_episode_columns_init(DllInfo *dll)
{
    names_class = R_make_altstring_class("episode_names", "synfire", dll);
    add_methods(names_class);
    R_set_altstring_Elt_method(names_class, names_elt);
    R_set_altstring_Set_elt_method(names_class, lazy_set_elt);
#if R_VERSION >= LAZY_LISTS
    vectors_class = R_make_altlist_class("episode_vectors", "synfire", dll);
    add_methods(vectors_class);
    R_set_altlist_Elt_method(vectors_class, vectors_elt);
    R_set_altlist_Set_elt_method(vectors_class, lazy_set_elt);
#endif
}

/* ---- before the first row ---- */

void glue_check_spelling(SEXP spelling, int units, R_xlen_t intervals)
{
    static const SEXPTYPE type[SPELLING] = {STRSXP, REALSXP, REALSXP,
                                            STRSXP, INTSXP,  INTSXP};
    require(Rf_xlength(numbers(spelling, VECSXP, SPELLING, "names")) == SPELLING,
            "names");
    for (int k = 0; k < SPELLING; k++) {
        R_xlen_t n = k == LABELS || k == LABEL_RANKS ? units : intervals;
        SEXP part = numbers(VECTOR_ELT(spelling, k), type[k], n, "names");
        require(Rf_xlength(part) == n, "names");
        for (R_xlen_t i = 0; type[k] == INTSXP && i < n; i++)
            within(INTEGER(part)[i], 0, (double)n - 1, "names");
    }
}

syn_status glue_rows_find(glue_rows *out, const syn_episodes *episodes, SEXP spelling,
                          uint8_t least, int sequences, int threads,
                          const syn_watch *watch)
{
    const int *labels = INTEGER(VECTOR_ELT(spelling, LABEL_RANKS));
    const int *arrows = INTEGER(VECTOR_ELT(spelling, ARROW_RANKS));
    if (least <= 2) {  /* no flag is greater */
        SYN_ARRAY(&out->memory, out->flag, episodes->n_levels);
        for (size_t k = 0; k < episodes->n_levels; k++) {
            SYN_ARRAY(&out->memory, out->flag[k], episodes->level[k].n);
            syn_episodes_contained(episodes, k, out->flag[k]);
            SYN_TRY(syn_poll(watch, "table", 0, 0));
        }
    }
    return syn_episodes_order(episodes, (const uint32_t *)labels,
                              (const uint32_t *)arrows, threads, watch, &out->memory,
                              &out->order, sequences ? &out->units : NULL,
                              sequences ? &out->intervals : NULL);
}

/* ---- the rows ---- */

/* Rows of one size. */
static size_t rows_of_level(const syn_episodes *episodes, const glue_rows *rows, size_t k,
                            uint8_t least, size_t top)
{
    size_t kept = rows->flag ? 0 : episodes->level[k].n;
    for (size_t i = 0; rows->flag && i < episodes->level[k].n; i++)
        kept += rows->flag[k][i] < least;
    return kept < top ? kept : top;
}

R_xlen_t glue_table_rows(const syn_episodes *episodes, const glue_rows *rows,
                         uint8_t least, size_t top)
{
    R_xlen_t n = 0;
    for (size_t k = 0; k < episodes->n_levels; k++)
        n += (R_xlen_t)rows_of_level(episodes, rows, k, least, top);
    return n;
}

double glue_table_bytes(const syn_episodes *e, const glue_rows *rows, uint8_t least,
                        size_t top)
{
    double bytes = GLUE_ROW_BYTES * (double)glue_table_rows(e, rows, least, top);
    for (size_t k = 0; k < e->n_levels; k++)
        bytes += (6.0 * sizeof(uint32_t) + GLUE_EPISODE_BYTES) * (double)e->level[k].n;
    return bytes;
}

typedef struct table {
    const syn_episodes *episodes;
    const glue_rows *rows;
    uint8_t least;
    size_t *begin;          /* [levels + 1] the first row of each size */
    int *size, *count;      /* [rows] columns */
    int *units, *intervals; /* [rows] the sequences of each row */
} table;

/* Writes the numbers of the rows of one level. */
static syn_status write_level(void *context, size_t k, int worker)
{
    const table *t = context;
    const syn_episode_level *level = &t->episodes->level[k];
    (void)worker;
    for (size_t i = 0, row = t->begin[k]; row < t->begin[k + 1]; i++) {
        uint32_t node = t->rows->order[k][i];
        if (t->rows->flag && t->rows->flag[k][node] >= t->least)
            continue;
        t->size[row] = (int)k + 1;
        t->count[row] = (int)level->count[node];
        t->units[row] = (int)t->rows->units.of[k][node];
        t->intervals[row++] = (int)t->rows->intervals.of[k][node];
    }
    return SYN_OK;
}

/* ---- the table ---- */

static SEXP new_column(SEXP out, int column, SEXPTYPE type, R_xlen_t n)
{
    return SET_VECTOR_ELT(out, column, Rf_allocVector(type, n));
}

/* The sequences of `n` rows, which are still to be written. */
static SEXP sequences_for(R_xlen_t n, const syn_sequences *of, SEXP values)
{
    SEXP out = PROTECT(Rf_allocVector(VECSXP, SEQUENCES));
    new_column(out, OF, INTSXP, n);
    SET_VECTOR_ELT(out, BEFORE, glue_integers(of->before, of->n));
    SET_VECTOR_ELT(out, LAST, glue_integers(of->last, of->n));
    SET_VECTOR_ELT(out, VALUES, values);
    UNPROTECT(1);
    return out;
}

/* The same sequences of other values, of which vectors can be made. */
static SEXP vectors_from(SEXP sequences, SEXP values)
{
    SEXP out = PROTECT(Rf_shallow_duplicate(sequences));
    SET_VECTOR_ELT(out, VALUES, values);
    new_column(out, MADE, VECSXP, XLENGTH(VECTOR_ELT(out, LAST)) + 1);
    UNPROTECT(1);
    return out;
}

SEXP glue_episodes_table(const syn_episodes *episodes, const glue_rows *rows,
                         SEXP spelling, uint8_t least, size_t top, int threads,
                         const syn_watch *watch)
{
    const char *fields[] = {"episode", "size", "count",  "units",
                            "low",     "high", "levels", ""};
    size_t levels = episodes->n_levels;
    table t = {.episodes = episodes, .rows = rows, .least = least};
    t.begin = (size_t *)R_alloc(levels + 1, sizeof *t.begin);
    t.begin[0] = 0;
    for (size_t k = 0; k < levels; k++)
        t.begin[k + 1] = t.begin[k] + rows_of_level(episodes, rows, k, least, top);
    R_xlen_t n = (R_xlen_t)t.begin[levels];
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SEXP units = PROTECT(sequences_for(n, &rows->units, VECTOR_ELT(spelling, LABELS)));
    SEXP intervals =
        PROTECT(sequences_for(n, &rows->intervals, VECTOR_ELT(spelling, ARROWS)));
    t.size = INTEGER(new_column(out, 1, INTSXP, n));
    t.count = INTEGER(new_column(out, 2, INTSXP, n));
    t.units = INTEGER(VECTOR_ELT(units, OF));
    t.intervals = INTEGER(VECTOR_ELT(intervals, OF));
    int done = syn_parallel_for(levels, n > MADE_AT_ONCE ? threads : 1, watch, "table",
                                write_level, &t) == SYN_OK;
    if (done) {
        SEXP names = PROTECT(Rf_allocVector(VECSXP, 2));
        SET_VECTOR_ELT(names, UNITS, units);
        SET_VECTOR_ELT(names, INTERVALS, intervals);
        SET_VECTOR_ELT(out, 0, new_lazy(names_class, names, 0));
        SEXP from = PROTECT(Rf_allocVector(VECSXP, 3));
        for (int c = 0; c < 3; c++)
            SET_VECTOR_ELT(from, c, vectors_from(c == 0 ? units : intervals,
                                                 VECTOR_ELT(spelling, LABELS + c)));
        done = new_vectors(from, out, 3, watch);
        UNPROTECT(2);
    }
    UNPROTECT(3);
    return done ? out : R_NilValue;
}

/* ---- what was done at each size ---- */

SEXP glue_episodes_levels(const syn_episodes *e, double device_seconds)
{
    const char *fields[] = {"candidates",  "eliminated",     "frequent",
                            "peak_memory", "device_seconds", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    for (int f = 0; f < 3; f++)
        SET_VECTOR_ELT(out, f, Rf_allocVector(REALSXP, (R_xlen_t)e->n_levels));
    for (size_t k = 0; k < e->n_levels; k++) {
        REAL(VECTOR_ELT(out, 0))[k] = (double)e->level[k].candidates;
        REAL(VECTOR_ELT(out, 1))[k] = (double)e->level[k].eliminated;
        REAL(VECTOR_ELT(out, 2))[k] = (double)e->level[k].n;
    }
    SET_VECTOR_ELT(out, 3, Rf_ScalarReal((double)e->peak_memory));
    SET_VECTOR_ELT(out, 4, Rf_ScalarReal(device_seconds));
    UNPROTECT(1);
    return out;
}
