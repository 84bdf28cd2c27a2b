/* Simulates series that drive each other. */
#include "glue/glue.h"

#include "core/networks/coupled.h"
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

/* A matrix steps x series. `state`: growth and start; `options`: steps, transient. */
SEXP r_coupled_maps(glue_owner *own, SEXP links, SEXP state, SEXP options)
{
    syn_coupled maps = {
        .links = read_links(links),
        .steps = (size_t)glue_option_int(options, "steps", 1, INT32_MAX),
        .transient = (size_t)glue_option_int(options, "transient", 0, INT32_MAX)};
    int series = (int)maps.links.series;
    maps.growth = doubles(glue_option(state, "growth"), series, "growth");
    maps.start = doubles(glue_option(state, "start"), series, "start");
    const syn_watch *watch = glue_watch(own, "Simulating series");
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)maps.steps, series));
    syn_status status = syn_coupled_run(&maps, REAL(out), watch);
    UNPROTECT(1);
    return status == SYN_OK ? out : glue_status(status, NA_REAL, NA_REAL);
}
