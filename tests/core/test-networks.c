/* Networks of spiking units: a spike comes as late as the delay says, the key decides all,
   and a run can be stopped. */
#include <string.h>

#include "check.h"
#include "core/networks/spiking.h"

enum { UNITS = 11, STEPS = 40000, DELAY = 9 };

static const int first[UNITS + 1] = {0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
static const int to[] = {10, 0}, delay[] = {DELAY, 3};

/* Unit 0 fires by itself, excites unit 10 and is inhibited by unit 1, which is silent. */
typedef struct parts {
    double jump[2], leak[UNITS], kick[UNITS], target[UNITS], start[UNITS], load[UNITS];
    syn_spiking network;
} parts;

static void make(parts *p, double noise)
{
    memset(p, 0, sizeof *p);
    p->jump[0] = 30;
    p->jump[1] = -5;
    for (int i = 0; i < UNITS; i++) {
        p->leak[i] = 0.02;
        p->kick[i] = noise;
        p->target[i] = 0.01;
    }
    p->start[0] = 0.9;
    p->network = (syn_spiking){
        .synapses = {UNITS, first, to, delay, p->jump},
        .units = {p->leak, p->kick, p->target, p->start},
        .inputs = {.burst_load = p->load},
        .keeps_excitation = 0.9, .keeps_inhibition = 0.95, .keeps_adaptation = 0.99,
        .refractory = 8, .slope = 1.5, .early = 100, .steps = STEPS, .observed = UNITS,
        .most_spikes = 1000000, .key = 7};
}

static void run_of(const parts *p, syn_spiking_found *found)
{
    CHECK(syn_spiking_run(&p->network, NULL, found) == SYN_OK);
}

/* Without noise, a potential that begins above the threshold fires once. */
static void check_delay(void)
{
    parts p;
    make(&p, 0);
    p.start[0] = 1.1;
    syn_spiking_found found;
    run_of(&p, &found);
    CHECK(found.n >= 2 && found.unit[0] == 0 && found.unit[1] == 10);
    if (found.n >= 2) {
        int fired = (int)found.time[0], came = (int)found.time[1];
        CHECK(fired == 0);
        /* The current takes some steps to lift the potential to the threshold. */
        CHECK(came >= DELAY && came <= DELAY + 3);
    }
    syn_budget_end(&found.budget);
}

static void check_tuning(void)
{
    parts p;
    make(&p, 0.07);
    p.network.drive = 0.5;
    p.network.tuning = STEPS;
    p.network.observed = 3;
    syn_spiking_found found, again;
    run_of(&p, &found);
    run_of(&p, &again);
    CHECK(found.n > 0 && found.n == again.n);
    CHECK(memcmp(found.time, again.time, found.n * sizeof *found.time) == 0);
    size_t fired[3] = {0};
    for (size_t k = 0; k < found.n; k++)
        fired[found.unit[k]]++;
    for (int i = 0; i < 3; i++)
        CHECK(fired[i] > 300 && fired[i] < 500);
    syn_budget_end(&again.budget);
    p.network.key = 8;
    run_of(&p, &again);
    CHECK(again.n != found.n || memcmp(found.time, again.time,
                                       found.n * sizeof *found.time) != 0);
    syn_budget_end(&again.budget);
    p.network.most_spikes = found.n - 1;
    p.network.key = 7;
    syn_budget_end(&found.budget);
    CHECK(syn_spiking_run(&p.network, NULL, &found) == SYN_TOO_LARGE);
    syn_budget_end(&found.budget);
}

static int stop(void *polls, const char *stage, double done, double total)
{
    (void)stage;
    CHECK(done <= total);
    return ++*(int *)polls == 2;
}

static void check_interrupt(void)
{
    parts p;
    make(&p, 0.07);
    p.network.steps = 100000000;
    int polls = 0;
    syn_watch watch = {stop, &polls};
    syn_spiking_found found = {0};
    CHECK(syn_spiking_run(&p.network, &watch, &found) == SYN_INTERRUPTED);
    CHECK(polls == 2);
    syn_budget_end(&found.budget);
}

void test_networks(void)
{
    check_delay();
    check_tuning();
    check_interrupt();
}
