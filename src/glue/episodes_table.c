/* Turns mined episodes into the columns of a data frame. Rows whose episodes have the
   same units (or intervals) share one vector in the list columns, which saves most of
   the memory. */
#include "glue/episodes_table.h"

#include <R_ext/Altrep.h>
#include <string.h>

#include "core/base/memory.h"
#include "glue/index.h"
#include "glue/require.h"

/* ---- names ----

   Names of episodes as a vector of R that is spelt only when somebody reads it. It is
   an ALTREP class: R calls the functions below for an element, a subset or all of the
   vector. */

/* A vector of this class holds two things:
   - what its names are made from, a list as below; NULL once all are spelt;
   - the names spelt so far, a character vector with "" for the others, or NULL. R keeps
     no hold on a name that it was given, so the vector has to.
   Copies, and what is written to a file, are plain character vectors. */
enum { UNITS, INTERVALS, KEY };  /* sequences of the rows; 0 for a row that is NA */
enum {
    UNIT_BEFORE, UNIT_LAST, INTERVAL_BEFORE, INTERVAL_LAST, KEY_LABELS, KEY_ARROWS, KEYS
};

/* A subset as small as this is spelt at once. */
enum { SPELT_AT_ONCE = 4096 };

static R_altrep_class_t names_class;

/* The list above as plain C. */
typedef struct spelling {
    const int *units, *intervals;
    const int *unit_before, *unit_last, *interval_before, *interval_last;
    SEXP labels, arrows;
} spelling;

static spelling spelling_of(SEXP from)
{
    SEXP key = VECTOR_ELT(from, KEY);
    return (spelling){.units = INTEGER(VECTOR_ELT(from, UNITS)),
                      .intervals = INTEGER(VECTOR_ELT(from, INTERVALS)),
                      .unit_before = INTEGER(VECTOR_ELT(key, UNIT_BEFORE)),
                      .unit_last = INTEGER(VECTOR_ELT(key, UNIT_LAST)),
                      .interval_before = INTEGER(VECTOR_ELT(key, INTERVAL_BEFORE)),
                      .interval_last = INTEGER(VECTOR_ELT(key, INTERVAL_LAST)),
                      .labels = VECTOR_ELT(key, KEY_LABELS),
                      .arrows = VECTOR_ELT(key, KEY_ARROWS)};
}

static SEXP label_of(const spelling *s, int unit)
{
    return STRING_ELT(s->labels, s->unit_last[unit]);
}

static SEXP arrow_of(const spelling *s, int interval)
{
    return STRING_ELT(s->arrows, s->interval_last[interval]);
}

static size_t name_length(const spelling *s, int unit, int interval)
{
    size_t length = (size_t)LENGTH(label_of(s, unit));
    for (; interval; interval = s->interval_before[interval]) {
        unit = s->unit_before[unit];
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
    int unit = s->units[row], interval = s->intervals[row];
    if (unit == 0)
        return NA_STRING;
    char here[1024], *text = here;
    const void *top = vmaxget();
    size_t length = name_length(s, unit, interval);
    if (length > sizeof here)
        text = R_alloc(length, 1);
    /* Sequences lead from their last to their first, and so does the writing. */
    char *end = text + length;
    end = glue_prepend(end, label_of(s, unit));
    for (; interval; interval = s->interval_before[interval]) {
        unit = s->unit_before[unit];
        end = glue_prepend(end, arrow_of(s, interval));
        end = glue_prepend(end, label_of(s, unit));
    }
    SEXP name = Rf_mkCharLenCE(text, (int)length, CE_UTF8);
    vmaxset(top);
    return name;
}

static SEXP list_of(SEXP units, SEXP intervals, SEXP key)
{
    SEXP from = PROTECT(Rf_allocVector(VECSXP, 3));
    SET_VECTOR_ELT(from, UNITS, units);
    SET_VECTOR_ELT(from, INTERVALS, intervals);
    SET_VECTOR_ELT(from, KEY, key);
    SEXP out = R_new_altrep(names_class, from, R_NilValue);
    UNPROTECT(1);
    return out;
}

/* ---- what R asks of such a vector ---- */

static R_xlen_t names_length(SEXP x)
{
    SEXP from = R_altrep_data1(x);
    return from == R_NilValue ? XLENGTH(R_altrep_data2(x))
                              : XLENGTH(VECTOR_ELT(from, UNITS));
}

/* The names spelt so far. */
static SEXP names_kept(SEXP x)
{
    if (R_altrep_data2(x) == R_NilValue)
        R_set_altrep_data2(x, Rf_allocVector(STRSXP, names_length(x)));
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

/* All names as a plain vector, which from now on is all that `x` holds. */
static SEXP names_all(SEXP x)
{
    SEXP kept = names_kept(x), from = R_altrep_data1(x);
    if (from == R_NilValue)
        return kept;
    spelling s = spelling_of(from);
    for (R_xlen_t i = 0; i < XLENGTH(kept); i++)
        if (STRING_ELT(kept, i) == R_BlankString)
            SET_STRING_ELT(kept, i, spell(&s, i));
    R_set_altrep_data1(x, R_NilValue);
    return kept;
}

/* Whether `n` names take less memory than the sequences they would hold on to: about 200
   bytes a name, and 8 a sequence. */
static int are_few(R_xlen_t n, SEXP key)
{
    R_xlen_t sequences = XLENGTH(VECTOR_ELT(key, UNIT_LAST)) +
                         XLENGTH(VECTOR_ELT(key, INTERVAL_LAST));
    return n < sequences / 25;
}

static void names_set_elt(SEXP x, R_xlen_t i, SEXP value)
{
    SET_STRING_ELT(names_all(x), i, value);
}

static void *names_dataptr(SEXP x, Rboolean writable)
{
    (void)writable;
    return (void *)STRING_PTR_RO(names_all(x));
}

static const void *names_dataptr_or_null(SEXP x)
{
    return R_altrep_data1(x) == R_NilValue ? names_dataptr(x, FALSE) : NULL;
}

/* Few are spelt; of many, only their sequences are taken. */
static SEXP names_subset(SEXP x, SEXP index, SEXP call)
{
    (void)call;
    SEXP from = R_altrep_data1(x);
    if (from == R_NilValue)
        return NULL;
    R_xlen_t n = XLENGTH(index), of = names_length(x);
    spelling s = spelling_of(from);
    if (n <= SPELT_AT_ONCE || are_few(n, VECTOR_ELT(from, KEY))) {
        SEXP out = PROTECT(Rf_allocVector(STRSXP, n));
        for (R_xlen_t i = 0; i < n; i++) {
            R_xlen_t at = index_at(index, i, of);
            SET_STRING_ELT(out, i, at < 0 ? NA_STRING : spell(&s, at));
        }
        UNPROTECT(1);
        return out;
    }
    SEXP units = PROTECT(Rf_allocVector(INTSXP, n));
    SEXP intervals = PROTECT(Rf_allocVector(INTSXP, n));
    for (R_xlen_t i = 0; i < n; i++) {
        R_xlen_t at = index_at(index, i, of);
        INTEGER(units)[i] = at < 0 ? 0 : s.units[at];
        INTEGER(intervals)[i] = at < 0 ? 0 : s.intervals[at];
    }
    SEXP out = list_of(units, intervals, VECTOR_ELT(from, KEY));
    UNPROTECT(2);
    return out;
}

void glue_episode_names_init(DllInfo *dll)
{
    names_class = R_make_altstring_class("episode_names", "synfire", dll);
    R_set_altrep_Length_method(names_class, names_length);
    R_set_altvec_Dataptr_method(names_class, names_dataptr);
    R_set_altvec_Dataptr_or_null_method(names_class, names_dataptr_or_null);
    R_set_altvec_Extract_subset_method(names_class, names_subset);
    R_set_altstring_Elt_method(names_class, names_elt);
    R_set_altstring_Set_elt_method(names_class, names_set_elt);
}

/* ---- a new one ---- */

/* A character vector with a name for each row. The integer vectors `units` and
   `intervals` hold the rows' sequences, numbered as in `unit` and `interval`, which are
   copied. labels[u] names unit u, arrows[i] is the text for interval i. The SEXPs are
   kept, not copied: fill them before anybody reads a name. */
static SEXP lazy_names(SEXP units, SEXP intervals, const syn_sequences *unit,
                       const syn_sequences *interval, SEXP labels, SEXP arrows)
{
    SEXP key = PROTECT(Rf_allocVector(VECSXP, KEYS));
    SET_VECTOR_ELT(key, UNIT_BEFORE, glue_integers(unit->before, unit->n));
    SET_VECTOR_ELT(key, UNIT_LAST, glue_integers(unit->last, unit->n));
    SET_VECTOR_ELT(key, INTERVAL_BEFORE, glue_integers(interval->before, interval->n));
    SET_VECTOR_ELT(key, INTERVAL_LAST, glue_integers(interval->last, interval->n));
    SET_VECTOR_ELT(key, KEY_LABELS, labels);
    SET_VECTOR_ELT(key, KEY_ARROWS, arrows);
    SEXP out = list_of(units, intervals, key);
    UNPROTECT(1);
    return out;
}

/* The same names, as a plain vector where a few rows would hold on to many sequences. */
static SEXP settled_names(SEXP names)
{
    SEXP from = R_altrep_data1(names);
    return are_few(XLENGTH(names), VECTOR_ELT(from, KEY)) ? names_all(names) : names;
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

syn_status glue_rows_order(glue_rows *out, const syn_episodes *episodes, SEXP spelling,
                           uint8_t least, const syn_watch *watch)
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
                              (const uint32_t *)arrows, watch, &out->memory,
                              &out->order);
}

syn_status glue_rows_find(glue_rows *out, const syn_episodes *episodes, SEXP spelling,
                          uint8_t least, const syn_watch *watch)
{
    SEXP labels = VECTOR_ELT(spelling, LABEL_RANKS);
    SEXP arrows = VECTOR_ELT(spelling, ARROW_RANKS);
    SYN_TRY(glue_rows_order(out, episodes, spelling, least, watch));
    SYN_TRY(syn_number_sequences(episodes, SYN_UNITS, (uint32_t)XLENGTH(labels), watch,
                                 &out->memory, &out->units));
    return syn_number_sequences(episodes, SYN_INTERVALS, (uint32_t)XLENGTH(arrows), watch,
                                &out->memory, &out->intervals);
}

/* ---- the rows ---- */

typedef struct table {
    const syn_episodes *episodes;
    const glue_rows *rows;
    uint8_t least;
    size_t top;
    R_xlen_t n;             /* rows */
    int *size, *count;      /* [n] columns */
    int *units, *intervals; /* [n] the sequences of each row */
    const syn_watch *watch;
    double steps, total;    /* rows and vectors written */
} table;

enum { POLL_EVERY = 16384 };  /* rows: some 10 ms of work */

/* Whether to stop after one more step. */
static int stop_at(table *t, R_xlen_t row)
{
    t->steps++;
    return row % POLL_EVERY == POLL_EVERY - 1 &&
           syn_poll(t->watch, "table", t->steps, t->total) != SYN_OK;
}

R_xlen_t glue_table_rows(const syn_episodes *episodes, const glue_rows *rows,
                         uint8_t least, size_t top)
{
    R_xlen_t n = 0;
    for (size_t k = 0; k < episodes->n_levels; k++) {
        size_t kept = rows->flag ? 0 : episodes->level[k].n;
        for (size_t i = 0; rows->flag && i < episodes->level[k].n; i++)
            kept += rows->flag[k][i] < least;
        n += (R_xlen_t)(kept < top ? kept : top);
    }
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

/* Writes the numbers of the rows of one level, from `row` on. The row after them; -1 to
   stop. */
static R_xlen_t write_level(table *t, size_t k, R_xlen_t row)
{
    const syn_episode_level *level = &t->episodes->level[k];
    size_t left = t->top;
    for (size_t i = 0; i < level->n && left > 0; i++) {
        uint32_t node = t->rows->order[k][i];
        if (t->rows->flag && t->rows->flag[k][node] >= t->least)
            continue;
        t->size[row] = (int)k + 1;
        t->count[row] = (int)level->count[node];
        t->units[row] = (int)t->rows->units.of[k][node];
        t->intervals[row] = (int)t->rows->intervals.of[k][node];
        left--;
        if (stop_at(t, row++))
            return -1;
    }
    return row;
}

static int write_numbers(table *t)
{
    R_xlen_t row = 0;
    for (size_t k = 0; k < t->episodes->n_levels && row >= 0; k++)
        row = write_level(t, k, row);
    return row >= 0;
}

/* ---- columns whose elements many rows share ---- */

static size_t length_of(const syn_sequences *sequences, uint32_t sequence)
{
    size_t length = 0;
    for (; sequence; sequence = sequences->before[sequence])
        length++;
    return length;
}

/* The elements of `from`, text or numbers, that a sequence stands for. */
static SEXP element_of(SEXP from, const syn_sequences *sequences, uint32_t sequence)
{
    R_xlen_t k = (R_xlen_t)length_of(sequences, sequence);
    SEXP out = Rf_allocVector(TYPEOF(from), k);
    for (; sequence; sequence = sequences->before[sequence]) {
        R_xlen_t at = (R_xlen_t)sequences->last[sequence];
        if (TYPEOF(from) == STRSXP)
            SET_STRING_ELT(out, --k, STRING_ELT(from, at));
        else
            REAL(out)[--k] = REAL(from)[at];
    }
    return out;
}

/* A list column with a vector for each row: rows with the same sequence share one, which
   R copies before it lets anybody change it. */
typedef struct shared {
    SEXP column, made;  /* the column; the vectors by sequence */
    SEXP from;          /* what sequences are of: text or numbers */
    const int *sequence_of;  /* [rows] */
    const syn_sequences *sequences;
} shared;

enum { SHARED = 3 };  /* such columns: units, low and high */

#if defined(__GNUC__)
#define FETCH(address) __builtin_prefetch(address, 1)
#else
#define FETCH(address) ((void)0)
#endif

enum { AHEAD = 16 };  /* rows: their vectors lie all over the memory */

static int share_elements(table *t, const shared *column)
{
    for (R_xlen_t row = 0; row < t->n; row++) {
        if (row + AHEAD < t->n)
            FETCH(VECTOR_ELT(column->made, column->sequence_of[row + AHEAD]));
        SET_VECTOR_ELT(column->column, row,
                       VECTOR_ELT(column->made, column->sequence_of[row]));
        if (stop_at(t, row))
            return 0;
    }
    return 1;
}

/* A garbage collection costs little while there are few objects, and much once millions
   of rows point to them: the rows are filled last, when nothing more is allocated. */
static int write_shared(table *t, const shared column[SHARED])
{
    int done = 1;
    for (int c = 0; c < SHARED && done; c++) {
        /* Makes the vectors of the sequences that rows have, in the order of the
           sequences: then neighbours have their beginning in common. */
        size_t n = column[c].sequences->n;
        const void *top = vmaxget();
        char *used = R_alloc(n, 1);
        memset(used, 0, n);
        for (R_xlen_t row = 0; row < t->n; row++)
            used[column[c].sequence_of[row]] = 1;
        for (uint32_t sequence = 0; sequence < n && done; sequence++) {
            if (used[sequence])
                SET_VECTOR_ELT(column[c].made, sequence,
                               element_of(column[c].from, column[c].sequences, sequence));
            done = !stop_at(t, sequence);
        }
        vmaxset(top);
    }
    for (int c = 0; c < SHARED && done; c++)
        done = share_elements(t, &column[c]);
    return done;
}

/* ---- the table ---- */

enum { VECTOR = 8 + 128 };  /* bytes, a guess */

static R_xlen_t most_vectors(const table *t, const syn_sequences *sequences)
{
    return (R_xlen_t)sequences->n < t->n ? (R_xlen_t)sequences->n : t->n;
}

static SEXP new_column(SEXP out, int column, SEXPTYPE type, R_xlen_t n)
{
    SET_VECTOR_ELT(out, column, Rf_allocVector(type, n));
    return VECTOR_ELT(out, column);
}

SEXP glue_episodes_table(const syn_episodes *episodes, const glue_rows *rows,
                         SEXP spelling, uint8_t least, size_t top, const syn_watch *watch)
{
    const char *fields[] = {"episode", "size", "count",  "units",
                            "low",     "high", "levels", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SEXP made = PROTECT(Rf_allocVector(VECSXP, SHARED));
    table t = {.episodes = episodes, .rows = rows, .least = least, .top = top,
               .watch = watch};
    shared column[SHARED];
    t.n = glue_table_rows(episodes, rows, least, top);
    t.total = (1 + SHARED) * (double)t.n + (double)rows->units.n +
              2 * (double)rows->intervals.n;
    /* R's heap grows by a fifth at a time, with a full collection each time. Asking
       at once for all that is to come makes it grow once; the memory is never
       touched, and the next collection takes it back. */
    Rf_allocVector(RAWSXP, GLUE_ROW_BYTES * t.n +
                               VECTOR * most_vectors(&t, &t.rows->units) +
                               2 * VECTOR * most_vectors(&t, &t.rows->intervals));
    SEXP units = PROTECT(Rf_allocVector(INTSXP, t.n));
    SEXP intervals = PROTECT(Rf_allocVector(INTSXP, t.n));
    SEXP names =
        PROTECT(lazy_names(units, intervals, &rows->units, &rows->intervals,
                           VECTOR_ELT(spelling, LABELS), VECTOR_ELT(spelling, ARROWS)));
    t.size = INTEGER(new_column(out, 1, INTSXP, t.n));
    t.count = INTEGER(new_column(out, 2, INTSXP, t.n));
    t.units = INTEGER(units);
    t.intervals = INTEGER(intervals);
    for (int c = 0; c < SHARED; c++) {
        column[c].sequence_of = c == 0 ? t.units : t.intervals;
        column[c].sequences = c == 0 ? &t.rows->units : &t.rows->intervals;
        column[c].from = VECTOR_ELT(spelling, LABELS + c);
        column[c].column = new_column(out, 3 + c, VECSXP, t.n);
        column[c].made = new_column(made, c, VECSXP, (R_xlen_t)column[c].sequences->n);
    }
    int done = write_numbers(&t) && write_shared(&t, column);
    if (done)
        SET_VECTOR_ELT(out, 0, settled_names(names));
    UNPROTECT(5);
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
