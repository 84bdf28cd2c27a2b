/* Simulates series that drive each other, and says what pairs of them have to do with
   each other. */
#include "glue/glue.h"

#include <string.h>

#include "core/networks/coupled.h"
#include "core/networks/pairs.h"
#include "core/networks/whole_map.h"
#include "glue/options.h"
#include "glue/owner.h"
#include "glue/require.h"
#include "glue/watch.h"

enum { MOST_SERIES = 1 << 24, MOST_DELAY = 1 << 20 };

/* Whole numbers from `low` to `high`. */
static const int *whole_numbers(SEXP x, R_xlen_t n, int low, int high, const char *what)
{
    require(TYPEOF(x) == INTSXP && Rf_xlength(x) == n, what);
    const int *v = INTEGER(x);
    for (R_xlen_t i = 0; i < n; i++)
        require(v[i] >= low && v[i] <= high, what);
    return v;
}

static const double *doubles(SEXP x, R_xlen_t n, const char *what)
{
    require(TYPEOF(x) == REALSXP && Rf_xlength(x) == n, what);
    return REAL(x);
}

/* `links`: first, cause (both from 0), delay and strength, by effect. */
static syn_links read_links(SEXP links)
{
    SEXP first = glue_option(links, "first"), cause = glue_option(links, "cause");
    R_xlen_t series = Rf_xlength(first) - 1, n = Rf_xlength(cause);
    require(series >= 1 && series <= MOST_SERIES && n <= INT32_MAX, "first");
    syn_links out = {
        .series = (uint32_t)series,
        .first = whole_numbers(first, series + 1, 0, (int)n, "first"),
        .cause = whole_numbers(cause, n, 0, (int)series - 1, "cause"),
        .delay = whole_numbers(glue_option(links, "delay"), n, 1, MOST_DELAY, "delay"),
        .strength = doubles(glue_option(links, "strength"), n, "strength")};
    require(out.first[0] == 0 && out.first[series] == n, "first");
    for (R_xlen_t j = 0; j < series; j++)
        require(out.first[j] <= out.first[j + 1], "first");
    return out;
}

/* A matrix steps x kept series. `state`: growth, start, and kept (from 0); `options`:
   kind, steps, transient. */
SEXP r_coupled_maps(glue_owner *own, SEXP links, SEXP state, SEXP options)
{
    int64_t kind = glue_option_int(options, "kind", 0, SYN_COUPLED_KINDS - 1);
    syn_coupled maps = {
        .kind = (syn_coupled_kind)kind,
        .links = read_links(links),
        .steps = (size_t)glue_option_int(options, "steps", 1, INT32_MAX),
        .transient = (size_t)glue_option_int(options, "transient", 0, INT32_MAX)};
    int series = (int)maps.links.series;
    SEXP kept = glue_option(state, "kept");
    maps.growth = doubles(glue_option(state, "growth"), series, "growth");
    maps.start = doubles(glue_option(state, "start"), series, "start");
    maps.kept = whole_numbers(kept, Rf_xlength(kept), 0, series - 1, "kept");
    maps.n_kept = (uint32_t)Rf_xlength(kept);
    const syn_watch *watch = glue_watch(own, "Simulating series");
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)maps.steps, (int)maps.n_kept));
    syn_status status = syn_coupled_run(&maps, REAL(out), watch);
    UNPROTECT(1);
    return status == SYN_OK ? out : glue_status(status, NA_REAL, NA_REAL);
}

/* ---- pairs ---- */

static void release_pairs(void *held)
{
    syn_pairs_free(held);
}

/* One whole number of each pair, as R's integers; `offset` is added. */
static SEXP column(const syn_pairs *pairs, size_t place, int offset)
{
    SEXP out = Rf_allocVector(INTSXP, (R_xlen_t)pairs->n);
    for (size_t k = 0; k < pairs->n; k++) {
        int value;
        memcpy(&value, (const char *)&pairs->pair[k] + place, sizeof value);
        INTEGER(out)[k] = value + offset;
    }
    return out;
}

static SEXP delays(const syn_pairs *pairs)
{
    SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)pairs->n);
    for (size_t k = 0; k < pairs->n; k++)
        REAL(out)[k] = pairs->pair[k].delay;
    return out;
}

/* Numbers of series from 1. */
static SEXP named(const syn_names *names)
{
    SEXP out = Rf_allocVector(INTSXP, (R_xlen_t)names->n);
    for (size_t k = 0; k < names->n; k++)
        INTEGER(out)[k] = names->series[k] + 1;
    return out;
}

static SEXP pair_columns(const syn_pairs *pairs)
{
    static const char *const names[] = {"cause", "effect", "link", "length", "delay",
                                        "n_through", "n_drivers", "hidden_path",
                                        "hidden_driver", "through", "drivers", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **)names));
    SET_VECTOR_ELT(out, 0, column(pairs, offsetof(syn_pair, cause), 1));
    SET_VECTOR_ELT(out, 1, column(pairs, offsetof(syn_pair, effect), 1));
    SET_VECTOR_ELT(out, 2, column(pairs, offsetof(syn_pair, link), 1));
    SET_VECTOR_ELT(out, 3, column(pairs, offsetof(syn_pair, length), 0));
    SET_VECTOR_ELT(out, 4, delays(pairs));
    SET_VECTOR_ELT(out, 5, column(pairs, offsetof(syn_pair, through), 0));
    SET_VECTOR_ELT(out, 6, column(pairs, offsetof(syn_pair, drivers), 0));
    SET_VECTOR_ELT(out, 7, column(pairs, offsetof(syn_pair, hidden_path), 0));
    SET_VECTOR_ELT(out, 8, column(pairs, offsetof(syn_pair, hidden_driver), 0));
    SET_VECTOR_ELT(out, 9, named(&pairs->through));
    SET_VECTOR_ELT(out, 10, named(&pairs->drivers));
    UNPROTECT(1);
    return out;
}

/* Columns of a table with a row for each pair, and the lists `through` and `drivers`, of
   which each pair has as many as `n_through` and `n_drivers` say. `link` is 0 where there
   is none. `options`: hidden, longest, most_pairs. */
SEXP r_wired_pairs(glue_owner *own, SEXP links, SEXP options)
{
    syn_links given = read_links(links);
    syn_pairs_options o = {
        .longest = (uint32_t)glue_option_int(options, "longest", 1, INT32_MAX),
        .hidden = whole_numbers(glue_option(options, "hidden"), given.series, 0, 1,
                                "hidden"),
        .most_pairs = (size_t)glue_option_int(options, "most_pairs", 1, INT32_MAX / 10)};
    syn_pairs *pairs = glue_hold(own, sizeof *pairs, release_pairs);
    syn_status status = syn_pairs_find(&given, &o, pairs,
                                       glue_watch(own, "Following links"));
    if (status != SYN_OK)
        return glue_status(status, NA_REAL, (double)o.most_pairs);
    return pair_columns(pairs);
}

/* ---- what a whole map, or some rows of one, says of all its pairs ---- */

/* `map`: a double matrix; `self`: for each row its own column from 0, or -1. */
static syn_whole_map read_map(SEXP map, SEXP self)
{
    require(TYPEOF(map) == REALSXP && Rf_isMatrix(map), "map");
    int rows = Rf_nrows(map), columns = Rf_ncols(map);
    require(TYPEOF(self) == INTSXP && Rf_xlength(self) == rows, "self");
    for (int i = 0; i < rows; i++)
        require(INTEGER(self)[i] >= -1 && INTEGER(self)[i] < columns, "self");
    return (syn_whole_map){REAL(map), (size_t)rows, (size_t)columns, INTEGER(self)};
}

/* A list: `row_sum`, `row_known`, `column_sum`, `column_known`, `counts` of the
   histogram, and `range`. `options`: threads. */
SEXP r_whole_sums(glue_owner *own, SEXP map, SEXP self, SEXP options)
{
    static const char *const names[] = {"row_sum", "row_known", "column_sum",
                                        "column_known", "counts", "range", ""};
    syn_whole_map whole = read_map(map, self);
    int threads = glue_option_threads(options);
    const R_xlen_t length[] = {(R_xlen_t)whole.rows, (R_xlen_t)whole.rows,
                               (R_xlen_t)whole.columns, (R_xlen_t)whole.columns,
                               SYN_WHOLE_CELLS, 2};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **)names));
    double *to[6];
    for (int k = 0; k < 6; k++) {
        SET_VECTOR_ELT(out, k, Rf_allocVector(REALSXP, length[k]));
        to[k] = REAL(VECTOR_ELT(out, k));
    }
    syn_whole_sums sums = {to[0], to[1], to[2], to[3], to[4], NA_REAL, NA_REAL};
    syn_status status =
        syn_whole_sums_make(&whole, threads, glue_watch(own, "Summing pairs"), &sums);
    to[5][0] = ISNAN(sums.least) ? NA_REAL : sums.least;
    to[5][1] = ISNAN(sums.most) ? NA_REAL : sums.most;
    UNPROTECT(1);
    return status == SYN_OK ? out : glue_status(status, NA_REAL, NA_REAL);
}

/* The pairs above `bound`, row by row: a list of `row` and `column`, from 1. `options`:
   threads. */
SEXP r_whole_above(glue_owner *own, SEXP map, SEXP self, SEXP bound, SEXP options)
{
    static const char *const names[] = {"row", "column", ""};
    syn_whole_map whole = read_map(map, self);
    require(TYPEOF(bound) == REALSXP && Rf_xlength(bound) == 1, "bound");
    double above = REAL(bound)[0];
    int threads = glue_option_threads(options);
    size_t *begin = glue_hold(own, (whole.rows + 1) * sizeof *begin, NULL), all = 0;
    const syn_watch *watch = glue_watch(own, "Listing pairs");
    syn_status status = syn_whole_count(&whole, above, threads, watch, begin);
    if (status != SYN_OK)
        return glue_status(status, NA_REAL, NA_REAL);
    for (size_t i = 0; i < whole.rows; i++) {
        size_t n = begin[i];
        begin[i] = all;
        all += n;
    }
    begin[whole.rows] = all;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **)names));
    SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, (R_xlen_t)all));
    SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, (R_xlen_t)all));
    int *row = INTEGER(VECTOR_ELT(out, 0)), *column = INTEGER(VECTOR_ELT(out, 1));
    status = syn_whole_list(&whole, above, begin, threads, watch, column);
    for (size_t i = 0; i < whole.rows; i++)
        for (size_t k = begin[i]; k < begin[i + 1]; k++)
            row[k] = (int)i + 1;
    for (size_t k = 0; k < all && status == SYN_OK; k++)
        column[k]++;
    UNPROTECT(1);
    return status == SYN_OK ? out : glue_status(status, NA_REAL, NA_REAL);
}
