/* Finds assemblies for find_assemblies(). */
#include "glue/glue.h"

#include <string.h>

#include "core/assemblies/search.h"
#include "glue/options.h"
#include "glue/owner.h"
#include "glue/require.h"
#include "glue/spikes.h"
#include "glue/watch.h"

typedef struct work {
    syn_budget budget;
    syn_assembly_search search;
} work;

static void release(void *held)
{
    syn_assembly_search_free(&((work *)held)->search);
}

static syn_assembly_search_options read_options(SEXP options)
{
    return (syn_assembly_search_options){
        .bin = glue_option_int(options, "bin", 1, 1 << 30),
        .lags = (uint32_t)glue_option_int(options, "lags", 0, 1 << 24),
        .widest = (uint32_t)glue_option_int(options, "widest", 1, 1 << 24),
        .segment = glue_option_int(options, "segment", 1, (int64_t)1 << 53),
        .surrogates = (uint32_t)glue_option_int(options, "n", 1, 1 << 24),
        .exceeded = (uint32_t)glue_option_int(options, "exceeded", 0, 1 << 24),
        .key = glue_option_key(options),
        .threads = glue_option_threads(options)};
}

static SEXP group_for_r(const syn_assembly_search *s, const syn_assembly *g)
{
    const char *fields[] = {"unit", "lag", "width", "z", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    int *unit = INTEGER(SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, g->size)));
    int *lag = INTEGER(SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, g->size)));
    int *width = INTEGER(SET_VECTOR_ELT(out, 2, Rf_allocVector(INTSXP, g->size)));
    SET_VECTOR_ELT(out, 3, Rf_ScalarReal(g->score));
    for (uint32_t m = 0; m < g->size; m++) {
        unit[m] = (int)g->member[m].unit + 1;
        lag[m] = g->member[m].lag;
        width[m] = (int)syn_ladder_width(&s->pairs.ladder, g->member[m].rung);
    }
    UNPROTECT(1);
    return out;
}

SEXP r_find_assemblies(glue_owner *own, SEXP trains, SEXP options)
{
    syn_assembly_search_options o = read_options(options);
    work *w = glue_hold(own, sizeof *w, release);
    w->budget.limit = glue_option_memory(options);
    const syn_watch *watch = glue_watch(own, "Finding assemblies");
    syn_spikes spikes;
    syn_status status = glue_spikes(&spikes, trains, 1, watch);
    if (status == SYN_OK)
        status = syn_assembly_search_run(&w->search, &spikes, &o, &w->budget, watch);
    if (status != SYN_OK) {
        double limit = status == SYN_TOO_LARGE ? INT32_MAX : (double)w->budget.limit;
        return glue_status(status, NA_REAL, limit);
    }
    const char *fields[] = {"groups", "maximum", "score", "bar", "seeds", ""};
    const syn_assembly_search *s = &w->search;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SEXP groups = SET_VECTOR_ELT(out, 0, Rf_allocVector(VECSXP, (R_xlen_t)s->groups));
    for (uint32_t g = 0; g < s->groups; g++)
        SET_VECTOR_ELT(groups, (R_xlen_t)g, group_for_r(s, s->group + g));
    uint32_t rungs = s->pairs.ladder.rungs;
    SEXP maximum = SET_VECTOR_ELT(
        out, 1, Rf_allocMatrix(REALSXP, (int)rungs, (int)o.surrogates));
    memcpy(REAL(maximum), s->maximum, (size_t)rungs * o.surrogates * sizeof(double));
    SEXP score = SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, o.surrogates));
    memcpy(REAL(score), s->score, o.surrogates * sizeof(double));
    SET_VECTOR_ELT(out, 3, Rf_ScalarReal(s->bar));
    SET_VECTOR_ELT(out, 4, Rf_ScalarInteger((int)s->seeds));
    UNPROTECT(1);
    return out;
}
