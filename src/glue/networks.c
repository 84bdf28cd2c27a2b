/* Simulates series that drive each other and networks of spiking units, and sums up the
   pairs of a whole map. */
#include "glue/glue.h"

#include "core/networks/coupled.h"
#include "core/networks/spiking.h"
#include "core/networks/whole_map.h"
#include "glue/options.h"
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

/* The numbers of an element that has `n` of them. */
static const double *given(SEXP from, const char *name, R_xlen_t n)
{
    SEXP x = glue_option(from, name);
    require(TYPEOF(x) == REALSXP && Rf_xlength(x) == n, name);
    return REAL(x);
}

/* `links`: first, delay, and what `other` and `weight` are called; nodes from 0. */
static syn_links read_links(SEXP links, const char *other, const char *weight)
{
    SEXP first = glue_option(links, "first"), ends = glue_option(links, other);
    R_xlen_t nodes = Rf_xlength(first) - 1, n = Rf_xlength(ends);
    require(nodes >= 1 && nodes <= MOST_SERIES && n <= INT32_MAX, "first");
    syn_links out = {
        .nodes = (uint32_t)nodes,
        .first = whole_numbers(first, nodes + 1, 0, (int)n, "first"),
        .other = whole_numbers(ends, n, 0, (int)nodes - 1, other),
        .delay = whole_numbers(glue_option(links, "delay"), n, 1, MOST_DELAY, "delay"),
        .weight = given(links, weight, n)};
    require(out.first[0] == 0 && out.first[nodes] == n, "first");
    for (R_xlen_t j = 0; j < nodes; j++)
        require(out.first[j] <= out.first[j + 1], "first");
    return out;
}

/* A matrix steps x series. `links`: first, cause, delay and strength, by effect.
   `state`: growth and start; `options`: steps, transient. */
SEXP r_coupled_maps(glue_owner *own, SEXP links, SEXP state, SEXP options)
{
    syn_coupled maps = {
        .links = read_links(links, "cause", "strength"),
        .steps = (size_t)glue_option_int(options, "steps", 1, INT32_MAX),
        .transient = (size_t)glue_option_int(options, "transient", 0, INT32_MAX)};
    int series = (int)maps.links.nodes;
    maps.growth = given(state, "growth", series);
    maps.start = given(state, "start", series);
    const syn_watch *watch = glue_watch(own, "Simulating series");
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)maps.steps, series));
    syn_status status = syn_coupled_run(&maps, REAL(out), watch);
    UNPROTECT(1);
    return glue_answer(out, status, "");
}

/* ---- networks of spiking units ---- */

/* `shared`: swings, pace, wander and load of each input, and of bursts start, length,
   size and load, with burst_ before these names. */
static syn_spiking_inputs read_inputs(SEXP shared, uint32_t units)
{
    R_xlen_t n = Rf_xlength(glue_option(shared, "swings"));
    R_xlen_t bursts = Rf_xlength(glue_option(shared, "burst_start"));
    require(n <= MOST_SERIES && bursts <= INT32_MAX, "shared");
    return (syn_spiking_inputs){
        .n = (uint32_t)n,
        .swings = whole_numbers(glue_option(shared, "swings"), n, 0, 1, "swings"),
        .pace = given(shared, "pace", n), .wander = given(shared, "wander", n),
        .load = given(shared, "load", n * (R_xlen_t)units), .bursts = (uint32_t)bursts,
        .burst_start = given(shared, "burst_start", bursts),
        .burst_length = given(shared, "burst_length", bursts),
        .burst_size = given(shared, "burst_size", bursts),
        .burst_load = given(shared, "burst_load", units)};
}

static void release_spikes(void *held)
{
    syn_spiking_found *found = held;
    syn_budget_end(&found->budget);
}

static SEXP copied(const double *value, size_t n)
{
    SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)n);
    if (n > 0)
        memcpy(REAL(out), value, n * sizeof *value);
    return out;
}

/* A list: `time` of each spike in steps, its `unit` from 1, and the `drive` of each unit.
   `synapses`: first, to, delay and jump, by the unit they come from.
   `units`: leak, kick, target and start of each; `options`: the other parts of
   syn_spiking by their names. */
SEXP r_spiking_network(glue_owner *own, SEXP synapses, SEXP units, SEXP shared,
                       SEXP options)
{
    static const char *const names[] = {"time", "unit", "drive", ""};
    syn_spiking network = {
        .synapses = read_links(synapses, "to", "jump"),
        .keeps_excitation = glue_option_number(options, "keeps_excitation", 0, 1),
        .keeps_inhibition = glue_option_number(options, "keeps_inhibition", 0, 1),
        .keeps_adaptation = glue_option_number(options, "keeps_adaptation", 0, 1),
        .adaptation = glue_option_number(options, "adaptation", 0, R_PosInf),
        .refractory = (uint32_t)glue_option_int(options, "refractory", 0, MOST_DELAY),
        .drive = glue_option_number(options, "drive", R_NegInf, R_PosInf),
        .slope = glue_option_number(options, "slope", 0, R_PosInf),
        .early = glue_option_number(options, "early", 1, R_PosInf),
        .tuning = (size_t)glue_option_int(options, "tuning", 0, INT64_C(1) << 48),
        .steps = (size_t)glue_option_int(options, "steps", 0, INT64_C(1) << 48),
        .most_spikes = (size_t)glue_option_int(options, "most_spikes", 0, INT32_MAX),
        .key = glue_option_key(options)};
    uint32_t n = network.synapses.nodes;
    network.inputs = read_inputs(shared, n);
    network.observed = (uint32_t)glue_option_int(options, "observed", 1, n);
    network.units = (syn_spiking_units){
        .leak = given(units, "leak", n), .kick = given(units, "kick", n),
        .target = given(units, "target", n), .start = given(units, "start", n)};
    syn_spiking_found *found = glue_hold(own, sizeof *found, release_spikes);
    syn_status status =
        syn_spiking_run(&network, glue_watch(own, "Simulating a network"), found);
    if (status != SYN_OK)
        return glue_status(status, NA_REAL, (double)network.most_spikes);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **)names));
    SET_VECTOR_ELT(out, 0, copied(found->time, found->n));
    SEXP unit = SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, (R_xlen_t)found->n));
    for (size_t i = 0; i < found->n; i++)
        INTEGER(unit)[i] = found->unit[i] + 1;
    SET_VECTOR_ELT(out, 2, copied(found->drive, n));
    UNPROTECT(1);
    return out;
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
    return glue_answer(out, status, "");
}

/* The pairs above the first of two `limits`, row by row: a list of `row` and `column`,
   from 1, which are NULL where there are more pairs than the second. `options`:
   threads. */
SEXP r_whole_above(glue_owner *own, SEXP map, SEXP self, SEXP limits, SEXP options)
{
    static const char *const names[] = {"row", "column", ""};
    syn_whole_map whole = read_map(map, self);
    require(TYPEOF(limits) == REALSXP && Rf_xlength(limits) == 2, "limits");
    double above = REAL(limits)[0];
    int threads = glue_option_threads(options);
    size_t *next = glue_hold(own, (whole.rows + 1) * sizeof *next, NULL), all = 0;
    const syn_watch *watch = glue_watch(own, "Listing pairs");
    syn_status status = syn_whole_above(&whole, above, threads, watch, next, NULL);
    if (status != SYN_OK)
        return glue_status(status, NA_REAL, NA_REAL);
    for (size_t i = 0; i < whole.rows; i++) {
        size_t n = next[i];
        next[i] = all;
        all += n;
    }
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, (const char **)names));
    if ((double)all > REAL(limits)[1]) {
        UNPROTECT(1);
        return glue_answer(out, status, "");
    }
    SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, (R_xlen_t)all));
    SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, (R_xlen_t)all));
    int *row = INTEGER(VECTOR_ELT(out, 0)), *column = INTEGER(VECTOR_ELT(out, 1));
    status = syn_whole_above(&whole, above, threads, watch, next, column);
    for (size_t i = 0, k = 0; status == SYN_OK && i < whole.rows; i++)
        for (; k < next[i]; k++) {
            row[k] = (int)i + 1;
            column[k]++;
        }
    UNPROTECT(1);
    return glue_answer(out, status, "");
}
