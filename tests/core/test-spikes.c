/* Spikes: each fault is found where it is, and work on many spikes can be stopped. */
#include <math.h>

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

void test_spikes_check(void)
{
    check_fault(&sound, SYN_SPIKES_SOUND, 0);
    check_ticks();
    check_codes();
    check_bounds();
    check_watch();
}
