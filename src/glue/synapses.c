/* Connections between units: the scan of correlograms. */
#include "glue/glue.h"

#include "core/synapses/centre.h"
#include "core/synapses/explain.h"
#include "core/synapses/null.h"
#include "glue/options.h"
#include "glue/require.h"
#include "glue/watch.h"
#include "gpu/synapses/scan.h"

static void release(void *held)
{
    syn_scan_work *w = held;
    syn_budget_end(&w->budget);
}

/* The options of the statistic: lags, reach, width, guard, pad, rest (bins), hollow,
   folded (standard deviations in bins), mask. */
static syn_scan_options read_scan(SEXP options)
{
    syn_scan_options o = {
        .lags = (uint32_t)glue_option_int(options, "lags", 2, SYN_SCAN_MOST_LAGS),
        .width = (uint32_t)glue_option_int(options, "width", 1, 100),
        .guard = (uint32_t)glue_option_int(options, "guard", 0, 100),
        .pad = (uint32_t)glue_option_int(options, "pad", 0, 100),
        .hollow = glue_option_number(options, "hollow", 0.1, 1e4),
        .folded = glue_option_number(options, "folded", 0, 1e4),
        .mask = glue_option_number(options, "mask", 0, R_PosInf),
        .rest = (uint32_t)glue_option_int(options, "rest", 0, SYN_SCAN_MOST_LAGS)};
    o.reach = (uint32_t)glue_option_int(options, "reach", o.width, o.lags);
    return o;
}

/* Counts of count_lags(): lags x units x units. */
static syn_lag_counts read_counts(SEXP counts, uint32_t least)
{
    SEXP dim = Rf_getAttrib(counts, R_DimSymbol);
    require(TYPEOF(counts) == INTSXP && TYPEOF(dim) == INTSXP && Rf_xlength(dim) == 3 &&
                INTEGER(dim)[0] % 2 == 1 && INTEGER(dim)[1] == INTEGER(dim)[2] &&
                (uint32_t)INTEGER(dim)[0] / 2 >= least,
            "counts of lags");
    return (syn_lag_counts){.count = INTEGER(counts),
                            .units = (uint32_t)INTEGER(dim)[1],
                            .lags = (uint32_t)INTEGER(dim)[0] / 2};
}

/* Pairs of units, two vectors of their numbers from 0. */
static syn_unit_pairs read_pairs(SEXP a, SEXP b, const syn_lag_counts *counts)
{
    R_xlen_t n = Rf_xlength(a);
    numbers(a, INTSXP, n, "pairs of units");
    numbers(b, INTSXP, n, "pairs of units");
    require(Rf_xlength(b) == n, "pairs of units");
    syn_unit_pairs out = {(size_t)n, INTEGER(a), INTEGER(b)};
    int units = (int)counts->units;
    for (R_xlen_t p = 0; p < n; p++)
        require(out.a[p] >= 0 && out.b[p] >= 0 && out.a[p] < units &&
                    out.b[p] < units && out.a[p] != out.b[p],
                "pairs of units");
    return out;
}

/* A list of vectors of `n` numbers, one for each column: up_z, up_count, up_expected,
   up_noise, up_lo, and the same of down; and spread, half as long. */
static SEXP make_columns(R_xlen_t n, syn_scan_columns *out)
{
    const char *fields[] = {"up_z",       "up_count",      "up_expected", "up_noise",
                            "up_lo",      "down_z",        "down_count",  "down_expected",
                            "down_noise", "down_lo",       "spread",      ""};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, fields));
    for (int sign = 0; sign < 2; sign++) {
        double **to[] = {&out->z[sign], &out->count[sign], &out->expected[sign],
                         &out->noise[sign]};
        for (int i = 0; i < 4; i++)
            *to[i] = REAL(SET_VECTOR_ELT(list, 5 * sign + i, Rf_allocVector(REALSXP, n)));
        out->lo[sign] =
            INTEGER(SET_VECTOR_ELT(list, 5 * sign + 4, Rf_allocVector(INTSXP, n)));
    }
    out->spread = REAL(SET_VECTOR_ELT(list, 10, Rf_allocVector(REALSXP, n / 2)));
    UNPROTECT(1);
    return list;
}

/* `what` says what R is doing. */
static syn_scan_work *begin(glue_owner *own, SEXP options, const char *what)
{
    syn_scan_work *w = glue_hold(own, sizeof *w, release);
    w->budget.limit = glue_option_memory(options);
    w->watch = glue_watch(own, what);
    return w;
}

/* Reads the counts of pairs `a`, `b`, which have `least` lags on a side at least. */
static void take_pairs(syn_scan_work *w, SEXP counts, SEXP a, SEXP b, SEXP options,
                       uint32_t least)
{
    w->counts = read_counts(counts, least);
    w->pairs = read_pairs(a, b, &w->counts);
    w->threads = glue_option_threads(options);
}

static syn_status make_smoother(syn_scan_work *w, uint32_t lags, SEXP options)
{
    return syn_smoother_make(&w->smoother, lags,
                             glue_option_number(options, "smooth", 0.1, 1e4), &w->budget);
}

static SEXP finish(const syn_scan_work *w, SEXP out, syn_status status)
{
    if (status == SYN_OK)
        return out;
    return glue_status_within(status, (double)w->budget.limit, "");
}

/* The best windows of pairs `a`, `b` of units, by direction: 2 p for a to b, 2 p + 1
   for b to a. `options`: those of read_scan(), gpus, threads, max_memory. */
SEXP r_synapse_scan(glue_owner *own, SEXP counts, SEXP a, SEXP b, SEXP options)
{
    syn_scan_work *w = begin(own, options, "Looking at pairs");
    syn_scan_options o = read_scan(options);
    syn_gpu_call gpu = glue_option_gpus(options);
    take_pairs(w, counts, a, b, options, o.lags);
    SEXP out = PROTECT(make_columns(2 * (R_xlen_t)w->pairs.n, &w->out));
    gpu.watch = w->watch;
    syn_status status = syn_scan_tables_make(w, &o);
    SYN_NEXT(status, gpu.n == 0 ? syn_scan_pairs(w) : syn_gpu_scan_pairs(w, &gpu));
    UNPROTECT(1);
    return status == SYN_OK
               ? out
               : glue_status_within(status, (double)w->budget.limit, gpu.reason);
}

/* The best windows (z) of what pairs are without connections: `up` and `down`, each by
   direction of each shift of each pair. `options`: those of read_scan(), shift (bins, an
   integer vector), smooth (standard deviation in bins), threads, max_memory. */
SEXP r_synapse_null(glue_owner *own, SEXP counts, SEXP a, SEXP b, SEXP options)
{
    syn_scan_work *w = begin(own, options, "Looking at long lags");
    syn_scan_options o = read_scan(options);
    SEXP shift = numbers(glue_option(options, "shift"), INTSXP, 1, "shifts");
    uint32_t shifts = (uint32_t)Rf_xlength(shift), most = 0;
    for (uint32_t k = 0; k < shifts; k++) {
        require(INTEGER(shift)[k] >= 0 && INTEGER(shift)[k] < 1 << 20, "shifts");
        most = (uint32_t)INTEGER(shift)[k] > most ? (uint32_t)INTEGER(shift)[k] : most;
    }
    take_pairs(w, counts, a, b, options, o.lags + most);
    const char *fields[] = {"up", "down", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    R_xlen_t n = 2 * (R_xlen_t)(w->pairs.n * shifts);
    for (int sign = 0; sign < 2; sign++)
        w->out.z[sign] = REAL(SET_VECTOR_ELT(out, sign, Rf_allocVector(REALSXP, n)));
    syn_status status = syn_scan_tables_make(w, &o);
    SYN_NEXT(status, make_smoother(w, w->counts.lags, options));
    SYN_NEXT(status, syn_null_pairs(w, INTEGER(shift), shifts));
    UNPROTECT(1);
    return finish(w, out, status);
}

/* ---- links ---- */

/* A list: from, to (units from 0), lo, count, expected, z. */
static syn_scan_links read_links(SEXP links, const syn_lag_counts *counts,
                                 const syn_scan_options *o)
{
    require(TYPEOF(links) == VECSXP && Rf_xlength(links) == 6, "links");
    syn_unit_pairs ends =
        read_pairs(VECTOR_ELT(links, 0), VECTOR_ELT(links, 1), counts);
    R_xlen_t n = (R_xlen_t)ends.n;
    syn_scan_links out = {
        .n = ends.n, .from = ends.a, .to = ends.b,
        .lo = INTEGER(numbers(VECTOR_ELT(links, 2), INTSXP, n, "links")),
        .count = REAL(numbers(VECTOR_ELT(links, 3), REALSXP, n, "links")),
        .expected = REAL(numbers(VECTOR_ELT(links, 4), REALSXP, n, "links")),
        .z = REAL(numbers(VECTOR_ELT(links, 5), REALSXP, n, "links"))};
    for (R_xlen_t i = 0; i < n; i++)
        require(out.lo[i] >= 1 && (uint32_t)out.lo[i] + o->width <= o->reach + 1,
                "links");
    return out;
}

/* What r_synapse_scan() gives of what other inputs leave of pairs, and of each direction
   `via` (units from 0, or -1) and `spikes`. `spikes` has those of all units. `options`:
   those of read_scan(), smooth, before, after (bins), clear, threads, max_memory. */
SEXP r_synapse_explain(glue_owner *own, SEXP counts, SEXP spikes, SEXP links, SEXP a,
                       SEXP b, SEXP options)
{
    syn_scan_work *w = begin(own, options, "Looking at other inputs");
    syn_scan_options o = read_scan(options);
    take_pairs(w, counts, a, b, options, o.lags);
    require(w->counts.lags == o.lags, "counts of lags");
    syn_scan_links found = read_links(links, &w->counts, &o);
    syn_explain_options e = {
        .spikes = REAL(numbers(spikes, REALSXP, (R_xlen_t)w->counts.units, "spikes")),
        .reach = o.reach,
        .before = (uint32_t)glue_option_int(options, "before", 0, 100),
        .after = (uint32_t)glue_option_int(options, "after", 0, 100),
        .clear = glue_option_number(options, "clear", 0, R_PosInf)};
    R_xlen_t n = 2 * (R_xlen_t)w->pairs.n;
    const char *fields[] = {"found", "via", "spikes", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, make_columns(n, &w->out));
    syn_explained explained = {
        .via = INTEGER(SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, n))),
        .spikes = REAL(SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, n)))};
    syn_status status = syn_scan_tables_make(w, &o);
    SYN_NEXT(status, make_smoother(w, o.lags, options));
    SYN_NEXT(status, syn_explain_pairs(w, &found, &e, &explained));
    UNPROTECT(1);
    return finish(w, out, status);
}

/* ---- around lag 0 ---- */

/* By pair: z, count, expected, same, around. `options`: near, from, to, same (bins),
   threads, max_memory. */
SEXP r_synapse_centre(glue_owner *own, SEXP counts, SEXP a, SEXP b, SEXP options)
{
    syn_scan_work *w = begin(own, options, "Looking at lag 0");
    take_pairs(w, counts, a, b, options, 3);
    uint32_t lags = w->counts.lags;
    syn_centre_options o = {
        .near = (uint32_t)glue_option_int(options, "near", 0, lags),
        .same = (uint32_t)glue_option_int(options, "same", 0, lags),
        .to = (uint32_t)glue_option_int(options, "to", 2, lags - 1)};
    o.from = (uint32_t)glue_option_int(options, "from", 1, o.to - 1);
    const char *fields[] = {"z", "count", "expected", "same", "around", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    syn_centre_columns to;
    double **column[] = {&to.z, &to.count, &to.expected, &to.same, &to.around};
    R_xlen_t n = (R_xlen_t)w->pairs.n;
    for (int i = 0; i < 5; i++)
        *column[i] = REAL(SET_VECTOR_ELT(out, i, Rf_allocVector(REALSXP, n)));
    syn_status status = syn_centre_pairs(w, &o, &to);
    UNPROTECT(1);
    return finish(w, out, status);
}

/* The slow part of each column of a matrix of doubles, lags x columns. `options`: smooth
   (standard deviation in bins), max_memory. */
SEXP r_synapse_slow(glue_owner *own, SEXP counts, SEXP options)
{
    syn_scan_work *w = begin(own, options, "Smoothing");
    require(TYPEOF(counts) == REALSXP && Rf_isMatrix(counts) && Rf_nrows(counts) % 2 == 1,
            "counts of lags");
    size_t length = (size_t)Rf_nrows(counts), columns = (size_t)Rf_ncols(counts);
    syn_status status = make_smoother(w, (uint32_t)length / 2, options);
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)length, (int)columns));
    double *room = (double *)R_alloc(2 * w->smoother.stride + 1, sizeof(double));
    for (size_t i = 0; status == SYN_OK && i < columns; i++) {
        size_t middle = i * length + length / 2;
        syn_smooth(&w->smoother, REAL(counts) + middle, REAL(out) + middle, room);
        if (i % 1024 == 0)
            status = syn_poll(w->watch, "pairs", (double)i, (double)columns);
    }
    UNPROTECT(1);
    return finish(w, out, status);
}
