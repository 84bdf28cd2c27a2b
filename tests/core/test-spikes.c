/* Spikes: each fault is found where it is, and work on many spikes can be stopped. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/spikes/raster.h"
#include "core/spikes/recording.h"
#include "core/spikes/trains.h"

enum { SPIKES = 6 };

typedef struct example {
    double tick[SPIKES], start[2], stop[2];
    int unit[SPIKES], trial[SPIKES];
} example;

/* Two trials, and a spike outside of both. */
static const example sound = {{0, 4, 4, 10, 12, 20}, {0, 12}, {9, 20},
                              {1, 1, 2, 2, 1, 2}, {1, 1, 1, 0, 2, 2}};

static void check_fault(const example *x, syn_spikes_fault fault, size_t at)
{
    syn_spikes spikes = {SPIKES, x->tick, x->unit, x->trial, 2, 2, x->start, x->stop};
    syn_spikes_verdict found;
    CHECK(syn_spikes_check(&spikes, NULL, 1, NULL, &found) == SYN_OK);
    CHECK(found.fault == fault && (fault == SYN_SPIKES_SOUND || found.at == at));
}

static void check_ticks(void)
{
    const struct {
        size_t at;
        double tick;
        syn_spikes_fault fault;
    } wrong[] = {{1, 4.5, SYN_SPIKES_OFF_CLOCK}, {1, NAN, SYN_SPIKES_NOT_FINITE},
                 {5, SYN_MOST_TICK, SYN_SPIKES_FAR}, {2, 3, SYN_SPIKES_UNSORTED},
                 {0, -1, SYN_SPIKES_OUTSIDE}, {5, 21, SYN_SPIKES_OUTSIDE},
                 {3, 11, SYN_SPIKES_SOUND}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        example x = sound;
        x.tick[wrong[k].at] = wrong[k].tick;
        check_fault(&x, wrong[k].fault, wrong[k].at);
    }
}

static void check_codes(void)
{
    example x = sound;
    x.unit[2] = 1;
    check_fault(&x, SYN_SPIKES_TWICE, 2);
    x.tick[0] = -1;
    check_fault(&x, SYN_SPIKES_OUTSIDE, 0);
    x.unit[3] = 3;
    check_fault(&x, SYN_SPIKES_UNIT, 3);
    x.unit[2] = 0;
    check_fault(&x, SYN_SPIKES_UNIT, 2);
    x = sound;
    x.unit[1] = 2, x.unit[2] = 1;
    check_fault(&x, SYN_SPIKES_UNSORTED, 2);
    x = sound;
    x.trial[4] = 3;
    check_fault(&x, SYN_SPIKES_TRIAL, 4);
    x.trial[4] = 1;
    check_fault(&x, SYN_SPIKES_OUTSIDE, 4);
}

static void check_bounds(void)
{
    example x = sound;
    x.stop[0] = 12;
    check_fault(&x, SYN_SPIKES_BOUNDS, 1);
    x.stop[0] = -1;
    check_fault(&x, SYN_SPIKES_BOUNDS, 0);
    x.stop[0] = INFINITY;
    check_fault(&x, SYN_SPIKES_BOUNDS, 0);
}

static int stop_at_once(void *data, const char *stage, double done, double total)
{
    (void)data, (void)stage, (void)done, (void)total;
    return 1;
}

static void check_watch(void)
{
    const syn_watch stop = {stop_at_once, NULL};
    test_spikes s = spikes_draw(100, 3, 1000);
    syn_spikes_verdict found;
    syn_recording recording;
    syn_raster raster;
    syn_trains trains;
    CHECK(syn_spikes_check(&s.all, NULL, 1, &stop, &found) == SYN_INTERRUPTED);
    CHECK(syn_recording_make(&recording, &s.all, 1, 5, 1, &stop) == SYN_INTERRUPTED);
    CHECK(syn_raster_bin(&raster, &s.all, 5, 3, NULL, &stop) == SYN_INTERRUPTED);
    CHECK(syn_trains_make(&trains, &s.all, &stop) == SYN_INTERRUPTED);
    syn_recording_free(&recording);
    syn_raster_free(&raster);
    syn_trains_free(&trains);
    spikes_free(&s);
}

enum { MANY = 640000 };  /* spikes that threads share */

/* One spike after the other, as the parts of all threads have to be together. */
static void check_events(const test_spikes *s, const syn_recording *r, uint32_t min_count)
{
    uint32_t *count = calloc(s->all.units, sizeof *count), e = 0;
    int same = 1;
    for (size_t i = 0; i < s->all.n; i++)
        count[s->unit[i] - 1] += s->trial[i] >= 1;
    for (size_t i = 0; i < s->all.n; i++) {
        uint32_t unit = (uint32_t)s->unit[i] - 1;
        if (s->trial[i] < 1 || count[unit] < min_count)
            continue;
        same &= e < r->events && r->unit[e] == unit && r->source[e] == i;
        e++;
    }
    CHECK(same && e == r->events && e > 0 && e < s->all.n);
    free(count);
}

static void check_threads(void)
{
    const uint32_t min_count = MANY / 50, reach = 7;
    test_spikes s = spikes_draw(MANY, 50, 4 * MANY);
    syn_recording one, more;
    syn_spikes_verdict found;
    size_t first = 0, last = 0;
    s.trial[100] = 0;
    CHECK(syn_recording_make(&one, &s.all, min_count, reach, 1, NULL) == SYN_OK);
    CHECK(syn_recording_make(&more, &s.all, min_count, reach, TEST_THREADS, NULL) ==
          SYN_OK);
    check_events(&s, &one, min_count);
    check_events(&s, &more, min_count);
    for (uint32_t e = 0; e < one.events; e++) {
        size_t i = one.source[e];
        last = s.trial[i] == 1 ? e : last;
        first = s.trial[i] == 2 && first == 0 ? e : first;
    }
    CHECK(one.tick[first] - one.tick[last] > reach);
    CHECK(one.tick[last] - one.tick[0] == s.tick[one.source[last]] - s.tick[one.source[0]]);
    CHECK(memcmp(one.tick, more.tick, one.events * sizeof *one.tick) == 0);
    CHECK(memcmp(one.first, more.first, 51 * sizeof *one.first) == 0);
    s.unit[s.all.n - 1] = 51;
    s.unit[s.all.n / 2] = 0;
    CHECK(syn_spikes_check(&s.all, NULL, TEST_THREADS, NULL, &found) == SYN_OK);
    CHECK(found.fault == SYN_SPIKES_UNIT && found.at == s.all.n / 2);
    syn_recording_free(&one);
    syn_recording_free(&more);
    spikes_free(&s);
}

void test_spikes_check(void)
{
    check_fault(&sound, SYN_SPIKES_SOUND, 0);
    check_ticks();
    check_codes();
    check_bounds();
    check_watch();
    check_threads();
}
