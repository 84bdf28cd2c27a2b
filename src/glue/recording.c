/* Turns events, intervals and episodes as R passes them into those of the core. */
#include "glue/recording.h"

#include <math.h>

#include "core/spikes/check.h"
#include "glue/require.h"

/* The first four elements of a list of events. */
static glue_spikes read_events(SEXP events)
{
    require(TYPEOF(events) == VECSXP && Rf_xlength(events) >= 5, "events");
    SEXP tick = numbers(VECTOR_ELT(events, 0), REALSXP, 0, "ticks");
    SEXP trial = VECTOR_ELT(events, 2);
    R_xlen_t n = Rf_xlength(tick);
    SEXP unit = numbers(VECTOR_ELT(events, 1), INTSXP, n, "units");
    require(Rf_xlength(unit) == n, "units");
    if (trial != R_NilValue)
        require(Rf_xlength(numbers(trial, INTSXP, n, "trials")) == n, "trials");
    glue_spikes out = {
        .n = n, .trials = INT32_MAX, .tick = REAL(tick), .unit = INTEGER(unit),
        .trial = trial == R_NilValue ? NULL : INTEGER(trial),
        .units = within(Rf_asReal(VECTOR_ELT(events, 3)), 0, INT32_MAX, "units")};
    return out;
}

/* The events of one tick have increasing units, as repeats must be found. */
static void check_order(const glue_spikes *x)
{
    double tick = -INFINITY;
    int unit = 0, trial = 0;
    for (R_xlen_t i = 0; i < x->n; i++) {
        int u = x->unit[i], t = x->trial ? x->trial[i] : 1;
        if (u < 1 || t < 1)
            continue;
        require(tick < x->tick[i] || unit <= u || trial < t, "order of spikes");
        tick = x->tick[i];
        unit = u;
        trial = t;
    }
}

/* Whether the two checks would find nothing, as nearly always. */
static int are_in_order(const glue_spikes *x)
{
    if (x->trial || x->n == 0)
        return 0;
    return syn_spikes_in_order((size_t)x->n, x->tick, x->unit, (int)x->units, 1) &&
           x->tick[0] >= -GLUE_MOST_TICK && x->tick[x->n - 1] <= GLUE_MOST_TICK;
}

static glue_spikes checked_events(SEXP events)
{
    glue_spikes x = read_events(events);
    if (!are_in_order(&x)) {
        glue_check_spikes(&x, NULL);
        check_order(&x);
    }
    return x;
}

/* R counts from 1, and its NA is below that. */
syn_status glue_recording(syn_recording *out, SEXP events, uint32_t min_count,
                          int64_t reach)
{
    glue_spikes x = checked_events(events);
    return syn_recording_make(out, (size_t)x.n, x.tick, x.unit, x.trial, 1,
                              (uint32_t)x.units, min_count, reach);
}

syn_status glue_recording_read(syn_recording *out, SEXP events, uint32_t min_count,
                               int64_t reach)
{
    glue_spikes x = checked_events(events);
    return syn_recording_read(out, (size_t)x.n, x.tick, x.unit, x.trial, 1,
                              (uint32_t)x.units, min_count, reach);
}

glue_spikes glue_read_spikes(SEXP events)
{
    glue_spikes out = read_events(events);
    SEXP start = numbers(VECTOR_ELT(events, 4), REALSXP, 1, "starts");
    out.trials = Rf_xlength(start);
    out.start = REAL(start);
    return out;
}

void glue_check_spikes(const glue_spikes *spikes, const double *stop)
{
    double last = -GLUE_MOST_TICK;
    int now = 1;
    for (R_xlen_t i = 0; i < spikes->n; i++) {
        int t = spikes->trial ? spikes->trial[i] : 1;
        double tick = spikes->tick[i];
        if (spikes->unit[i] < 1 || t < 1)
            continue;
        require(spikes->unit[i] <= spikes->units, "units");
        require(t >= now && t <= spikes->trials, "trials");
        require(tick >= last && (!spikes->start || tick >= spikes->start[t - 1]) &&
                    tick <= (stop ? stop[t - 1] : GLUE_MOST_TICK),
                "ticks");
        last = tick;
        now = t;
    }
}

int64_t glue_intervals(syn_interval *interval, SEXP low, SEXP high)
{
    int64_t reach = 0;
    R_xlen_t n = Rf_xlength(numbers(low, REALSXP, 0, "intervals"));
    require(Rf_xlength(numbers(high, REALSXP, n, "intervals")) == n, "intervals");
    for (R_xlen_t k = 0; k < n; k++) {
        within(REAL(low)[k], 0, REAL(high)[k], "intervals");
        within(REAL(high)[k], 0, GLUE_MOST_TICK, "intervals");
        interval[k].low = (int64_t)REAL(low)[k];
        interval[k].high = (int64_t)REAL(high)[k];
        reach = interval[k].high > reach ? interval[k].high : reach;
    }
    return reach;
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
