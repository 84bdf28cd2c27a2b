/* Names of episodes as a vector of R that is spelt only when somebody reads it. It is
   an ALTREP class: R calls the functions below for an element, a subset or all of the
   vector. */
#include "glue/episode_names.h"

#include <string.h>

#include <R_ext/Altrep.h>

#include "glue/index.h"
#include "glue/require.h"

/* A vector of this class holds two things:
   - what its names are made from, a list as below; NULL once all are spelt;
   - the names spelt so far, a character vector with "" for the others, or NULL. R keeps
     no hold on a name that it was given, so the vector has to.
   Copies, and what is written to a file, are plain character vectors. */
enum { UNITS, INTERVALS, KEY };  /* sequences of the rows; 0 for a row that is NA */
enum { UNIT_BEFORE, UNIT_LAST, INTERVAL_BEFORE, INTERVAL_LAST, LABELS, ARROWS, KEYS };

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
                      .labels = VECTOR_ELT(key, LABELS),
                      .arrows = VECTOR_ELT(key, ARROWS)};
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

static char *prepend(char *end, SEXP text)
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
    end = prepend(end, label_of(s, unit));
    for (; interval; interval = s->interval_before[interval]) {
        unit = s->unit_before[unit];
        end = prepend(end, arrow_of(s, interval));
        end = prepend(end, label_of(s, unit));
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

SEXP glue_episode_names(SEXP units, SEXP intervals, const syn_sequences *unit,
                        const syn_sequences *interval, SEXP labels, SEXP arrows)
{
    SEXP key = PROTECT(Rf_allocVector(VECSXP, KEYS));
    SET_VECTOR_ELT(key, UNIT_BEFORE, glue_integers(unit->before, unit->n));
    SET_VECTOR_ELT(key, UNIT_LAST, glue_integers(unit->last, unit->n));
    SET_VECTOR_ELT(key, INTERVAL_BEFORE, glue_integers(interval->before, interval->n));
    SET_VECTOR_ELT(key, INTERVAL_LAST, glue_integers(interval->last, interval->n));
    SET_VECTOR_ELT(key, LABELS, labels);
    SET_VECTOR_ELT(key, ARROWS, arrows);
    SEXP out = list_of(units, intervals, key);
    UNPROTECT(1);
    return out;
}

SEXP glue_episode_names_settled(SEXP names)
{
    SEXP from = R_altrep_data1(names);
    return are_few(XLENGTH(names), VECTOR_ELT(from, KEY)) ? names_all(names) : names;
}
