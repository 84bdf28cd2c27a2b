/* Surrogates of all methods: threads change nothing, and spikes stay in their trial. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/patterns/spectrum/spectrum.h"
#include "core/surrogates/raster.h"
#include "core/surrogates/surrogates.h"

enum { SURROGATES = 8 };

static syn_surrogate_options surrogate(int method)
{
    return (syn_surrogate_options){
        .method = (syn_surrogate_method)method, .dither = 20, .refractory = 3, .bin = 4,
        .window = 40, .isi_bin = 2, .isi_bins = 50, .sigma = 2, .key = 11};
}

/* The ticks of all surrogates, one after the other. */
static double *made_by(const syn_surrogate_plan *plan, int threads)
{
    size_t n = plan->trains.events;
    double *ticks = malloc((SURROGATES * n + 1) * sizeof *ticks);
    int *units = malloc((SURROGATES * n + 1) * sizeof *units);
    double *tick[SURROGATES];
    int *unit[SURROGATES];
    if (!ticks || !units)
        abort();
    for (size_t k = 0; k < SURROGATES; k++) {
        tick[k] = ticks + k * n;
        unit[k] = units + k * n;
    }
    CHECK(syn_surrogate_list(plan, 0, SURROGATES, tick, unit, threads, NULL) == SYN_OK);
    free(units);
    return ticks;
}

static void check_maxima(const syn_surrogate_plan *plan)
{
    syn_pattern_options patterns = {
        .window = 5, .min_spikes = 2, .max_spikes = UINT32_MAX, .min_units = 2,
        .min_count = 2, .max_count = UINT32_MAX, .target = SYN_PATTERNS_CLOSED,
        .share_end = SIZE_MAX, .threads = 1, .max_memory = (size_t)1 << 28};
    syn_spectrum_options options = {.plan = plan, .width = 4, .patterns = &patterns,
                                    .n = SURROGATES};
    syn_spectrum one, many;
    CHECK(syn_spectrum_make(&options, NULL, &one) == SYN_OK);
    patterns.threads = TEST_THREADS;
    CHECK(syn_spectrum_make(&options, NULL, &many) == SYN_OK);
    for (uint32_t i = 0; i < SURROGATES; i++) {
        CHECK(one.row[i].sizes > 0 && one.row[i].sizes == many.row[i].sizes);
        CHECK(memcmp(one.row[i].most, many.row[i].most,
                     one.row[i].sizes * sizeof *one.row[i].most) == 0);
    }
    syn_spectrum_free(&one);
    syn_spectrum_free(&many);
}

static int same_rasters(const syn_raster *a, const syn_raster *b)
{
    size_t bins = a->bins, events = a->events, units = (size_t)a->units + 1;
    return a->bins == b->bins && a->events == b->events && a->units == b->units &&
           memcmp(a->number, b->number, bins * sizeof *a->number) == 0 &&
           memcmp(a->opens, b->opens, bins * sizeof *a->opens) == 0 &&
           memcmp(a->first, b->first, (bins + 1) * sizeof *a->first) == 0 &&
           memcmp(a->unit, b->unit, events * sizeof *a->unit) == 0 &&
           memcmp(a->unit_first, b->unit_first, units * sizeof *a->unit_first) == 0 &&
           memcmp(a->unit_bin, b->unit_bin, events * sizeof *a->unit_bin) == 0;
}

/* The trial of each spike of a surrogate, from 1; spikes that have come to the tick of
   another one of their unit are taken out. */
static syn_spikes spikes_of(const test_spikes *s, double *tick, int *unit, int *trial,
                            size_t n)
{
    syn_spikes out = s->all;
    out.n = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && tick[i] == tick[i - 1] && unit[i] == unit[i - 1])
            continue;
        tick[out.n] = tick[i];
        unit[out.n] = unit[i];
        trial[out.n++] = tick[i] > s->all.stop[0] ? 2 : 1;
    }
    out.tick = tick;
    out.unit = unit;
    out.trial = trial;
    return out;
}

/* Binning a surrogate is binning its spikes; memory is used again for the next one. */
static void check_rasters(const test_spikes *s, const syn_surrogate_plan *plan,
                          syn_budget *budget)
{
    static const int64_t width[] = {1, 7, 500};
    enum { WINDOW = 4 };
    size_t n = plan->trains.events;
    double *tick = malloc((n + 1) * sizeof *tick);
    int *unit = malloc(2 * (n + 1) * sizeof *unit), *trial = unit + n + 1;
    int64_t *ticks = malloc((n + 1) * sizeof *ticks);
    uint32_t *scratch = malloc(((size_t)plan->scratch + 1) * sizeof *scratch);
    if (!tick || !unit || !ticks || !scratch)
        abort();
    for (int w = 0; w < 3; w++) {
        syn_surrogate_binner binner;
        CHECK(syn_surrogate_binner_make(&binner, &plan->trains, width[w], WINDOW,
                                        budget) == SYN_OK);
        for (uint64_t k = 0; k < 2; k++) {
            CHECK(syn_surrogate_list(plan, k, 1, &tick, &unit, 1, NULL) == SYN_OK);
            syn_spikes spikes = spikes_of(s, tick, unit, trial, n);
            syn_raster raster;
            CHECK(syn_raster_bin(&raster, &spikes, width[w], WINDOW, NULL, NULL) ==
                  SYN_OK);
            syn_surrogate_ticks(plan, k, ticks, scratch);
            syn_surrogate_raster(&binner, ticks);
            CHECK(same_rasters(&binner.raster, &raster));
            syn_raster_free(&raster);
        }
        syn_surrogate_binner_free(&binner);
    }
    free(tick);
    free(unit);
    free(ticks);
    free(scratch);
}

void test_surrogates(void)
{
    test_spikes s = spikes_draw(1200, 9, 6000);
    syn_trains trains;
    CHECK(syn_trains_make(&trains, &s.all, NULL) == SYN_OK);
    for (int method = 0; method <= SYN_SURROGATE_TRIAL_SHIFT; method++) {
        syn_surrogate_options options = surrogate(method);
        syn_surrogate_plan plan;
        syn_budget budget = {.limit = (size_t)1 << 28};
        CHECK(syn_surrogate_plan_make(&plan, &trains, &options, TEST_THREADS, &budget,
                                      NULL) == SYN_OK);
        double *one = made_by(&plan, 1), *many = made_by(&plan, TEST_THREADS);
        CHECK(memcmp(one, many, SURROGATES * trains.events * sizeof *one) == 0);
        for (size_t i = 0; i < SURROGATES * (size_t)trains.events; i++)
            if (one[i] < s.bounds[0] || one[i] > s.bounds[3]) {
                CHECK(!"a spike has left the recording");
                break;
            }
        free(one);
        free(many);
        check_maxima(&plan);
        check_rasters(&s, &plan, &budget);
        syn_surrogate_plan_free(&plan);
    }
    syn_trains_free(&trains);
    spikes_free(&s);
}
