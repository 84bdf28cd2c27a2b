/* Patterns as integer vectors of R whose numbers stay where the search left them. It
   is an ALTREP class. */
#include "glue/pattern_store.h"

#include <R_ext/Altrep.h>

#include "core/patterns/store.h"
#include "glue/index.h"
#include "glue/owner.h"
#include "glue/require.h"

/* A vector of this class holds one of two things:
   - a view of a store, an external pointer that keeps alive the one to the store;
   - once somebody has asked for its memory, a plain vector; R_NilValue before.
   Copies, and what is written to a file, are plain vectors, so that files can be read
   where this package is not. */
static R_altrep_class_t stored_class;

typedef struct view {
    const syn_pattern_store *store;
    syn_stored row;
    size_t recent;
} view;

typedef struct stored {
    syn_pattern_store store;
    view view[SYN_STORED_ROWS];
} stored;

/* Bytes that all stores hold, and with how many more of them garbage is collected. */
enum { MUCH = 512 << 20 };
static size_t held, held_for_good;

static void release_store(void *data)
{
    stored *s = data;
    held -= s->store.bytes;
    if (held_for_good > held)
        held_for_good = held;
    syn_pattern_store_free(&s->store);
}

void glue_pattern_store_tidy(void)
{
    if (held <= held_for_good + MUCH)
        return;
    R_gc();
    held_for_good = held;
}

/* ---- what R asks of such a vector ---- */

static view *view_of(SEXP x)
{
    return R_ExternalPtrAddr(R_altrep_data1(x));
}

static int is_plain(SEXP x)
{
    return R_altrep_data2(x) != R_NilValue;
}

static R_xlen_t stored_length(SEXP x)
{
    if (is_plain(x))
        return XLENGTH(R_altrep_data2(x));
    const view *v = view_of(x);
    return (R_xlen_t)v->store->n[v->row];
}

static int stored_elt(SEXP x, R_xlen_t i)
{
    if (is_plain(x))
        return INTEGER_ELT(R_altrep_data2(x), i);
    view *v = view_of(x);
    return (int)syn_stored_at(v->store, v->row, (size_t)i, &v->recent);
}

static R_xlen_t stored_region(SEXP x, R_xlen_t i, R_xlen_t n, int *out)
{
    if (is_plain(x))
        return INTEGER_GET_REGION(R_altrep_data2(x), i, n, out);
    view *v = view_of(x);
    R_xlen_t left = (R_xlen_t)v->store->n[v->row] - i;
    if (n > left)
        n = left;
    syn_stored_copy(v->store, v->row, (size_t)i, (size_t)n, out, &v->recent);
    return n;
}

static SEXP stored_copy(SEXP x)
{
    R_xlen_t n = stored_length(x);
    SEXP out = Rf_allocVector(INTSXP, n);
    stored_region(x, 0, n, INTEGER(out));
    return out;
}

/* Copying must not turn what is copied into a plain vector as well. */
static SEXP stored_duplicate(SEXP x, Rboolean deep)
{
    (void)deep;
    return is_plain(x) ? NULL : stored_copy(x);
}

static void *stored_dataptr(SEXP x, Rboolean writable)
{
    (void)writable;
    if (!is_plain(x)) {
        R_set_altrep_data2(x, stored_copy(x));
        R_set_altrep_data1(x, R_NilValue);
    }
    return INTEGER(R_altrep_data2(x));
}

static const void *stored_dataptr_or_null(SEXP x)
{
    return is_plain(x) ? INTEGER(R_altrep_data2(x)) : NULL;
}

static int stored_no_na(SEXP x)
{
    return !is_plain(x);
}

/* Most indices point at neighbours: the items of a pattern, or of many. */
static SEXP stored_subset(SEXP x, SEXP index, SEXP call)
{
    (void)call;
    if (is_plain(x))
        return NULL;
    R_xlen_t n = XLENGTH(index), of = stored_length(x), end;
    SEXP out = PROTECT(Rf_allocVector(INTSXP, n));
    for (R_xlen_t i = 0; i < n; i = end) {
        R_xlen_t at = index_at(index, i, of);
        end = i + 1;
        while (at >= 0 && end < n && index_at(index, end, of) == at + (end - i))
            end++;
        if (at < 0)
            INTEGER(out)[i] = NA_INTEGER;
        else
            stored_region(x, at, end - i, INTEGER(out) + i);
    }
    UNPROTECT(1);
    return out;
}

static Rboolean stored_inspect(SEXP x, int pre, int deep, int pvec,
                               void (*inspect)(SEXP, int, int, int))
{
    if (is_plain(x)) {
        Rprintf(" mined, materialised\n");
        inspect(R_altrep_data2(x), pre, deep, pvec);
    } else {
        const view *v = view_of(x);
        Rprintf(" mined %s in %.0f blocks of %d-bit words\n",
                v->row == SYN_STORED_ITEMS ? "items" : "count",
                (double)v->store->blocks, (int)(8 * v->store->patterns.width));
    }
    return TRUE;
}

void glue_pattern_store_init(DllInfo *dll)
{
    stored_class = R_make_altinteger_class("mined_patterns", "synfire", dll);
    R_set_altrep_Length_method(stored_class, stored_length);
    R_set_altrep_Duplicate_method(stored_class, stored_duplicate);
    R_set_altrep_Inspect_method(stored_class, stored_inspect);
    R_set_altvec_Dataptr_method(stored_class, stored_dataptr);
    R_set_altvec_Dataptr_or_null_method(stored_class, stored_dataptr_or_null);
    R_set_altvec_Extract_subset_method(stored_class, stored_subset);
    R_set_altinteger_Elt_method(stored_class, stored_elt);
    R_set_altinteger_Get_region_method(stored_class, stored_region);
    R_set_altinteger_No_NA_method(stored_class, stored_no_na);
}

/* ---- new ones ---- */

SEXP glue_pattern_store(syn_patterns *patterns)
{
    SEXP pointer = PROTECT(glue_keep("patterns", sizeof(stored), release_store));
    SEXP out = PROTECT(Rf_allocVector(VECSXP, SYN_STORED_ROWS));
    stored *s = glue_kept(pointer, "patterns");
    for (int row = 0; row < SYN_STORED_ROWS; row++) {
        s->view[row] = (view){&s->store, (syn_stored)row, 0};
        SEXP seen = PROTECT(R_MakeExternalPtr(s->view + row, R_NilValue, pointer));
        SET_VECTOR_ELT(out, row, R_new_altrep(stored_class, seen, R_NilValue));
        UNPROTECT(1);
    }
    if (syn_pattern_store_make(&s->store, patterns) != SYN_OK)
        glue_no_memory(NA_REAL);
    held += s->store.bytes;
    UNPROTECT(2);
    return out;
}
