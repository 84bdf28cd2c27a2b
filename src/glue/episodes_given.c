#include "glue/episodes_given.h"

#include "glue/require.h"

int64_t glue_intervals(syn_interval *interval, SEXP low, SEXP high)
{
    int64_t reach = 0;
    R_xlen_t n = Rf_xlength(numbers(low, REALSXP, 0, "intervals"));
    require(Rf_xlength(numbers(high, REALSXP, n, "intervals")) == n, "intervals");
    for (R_xlen_t k = 0; k < n; k++) {
        within(REAL(low)[k], 0, REAL(high)[k], "intervals");
        within(REAL(high)[k], 0, SYN_MOST_TICK, "intervals");
        interval[k].low = (int64_t)REAL(low)[k];
        interval[k].high = (int64_t)REAL(high)[k];
        reach = interval[k].high > reach ? interval[k].high : reach;
    }
    return reach;
}

const syn_interval *glue_bounds(SEXP bounds, uint32_t *n, int64_t *reach)
{
    *n = (uint32_t)Rf_xlength(VECTOR_ELT(bounds, 0));
    syn_interval *out = (syn_interval *)R_alloc((size_t)*n + 1, sizeof *out);
    int64_t most = glue_intervals(out, VECTOR_ELT(bounds, 0), VECTOR_ELT(bounds, 1));
    if (reach)
        *reach = most;
    return out;
}

/* An episode has an interval less than it has units. */
static void check_episode(SEXP codes, SEXP low, SEXP high)
{
    R_xlen_t size = Rf_xlength(numbers(codes, INTSXP, 1, "units of episodes"));
    R_xlen_t lags = Rf_xlength(numbers(low, REALSXP, size - 1, "lags"));
    require(lags == size - 1 && Rf_xlength(numbers(high, REALSXP, lags, "lags")) == lags,
            "lags");
}

syn_episode *glue_episodes(SEXP units, SEXP low, SEXP high, int64_t *reach)
{
    R_xlen_t n = Rf_xlength(numbers(units, VECSXP, 0, "episodes"));
    numbers(low, VECSXP, n, "lags");
    numbers(high, VECSXP, n, "lags");
    syn_episode *episode = (syn_episode *)R_alloc((size_t)n + 1, sizeof *episode);
    *reach = 0;
    for (R_xlen_t i = 0; i < n; i++) {
        SEXP codes = VECTOR_ELT(units, i);
        check_episode(codes, VECTOR_ELT(low, i), VECTOR_ELT(high, i));
        uint32_t size = (uint32_t)Rf_xlength(codes);
        uint32_t *unit = (uint32_t *)R_alloc(size, sizeof *unit);
        syn_interval *lag = (syn_interval *)R_alloc(size, sizeof *lag);
        for (uint32_t k = 0; k < size; k++)
            unit[k] = (uint32_t)within(INTEGER(codes)[k], 1, INT32_MAX,
                                       "units of episodes") - 1;
        int64_t farthest = glue_intervals(lag, VECTOR_ELT(low, i), VECTOR_ELT(high, i));
        *reach = farthest > *reach ? farthest : *reach;
        episode[i].size = size;
        episode[i].unit = unit;
        episode[i].lag = lag;
    }
    return episode;
}

void glue_check_episodes(const syn_episode *episode, R_xlen_t n, uint32_t units)
{
    for (R_xlen_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < episode[i].size; k++)
            require(episode[i].unit[k] < units, "units of episodes");
}
