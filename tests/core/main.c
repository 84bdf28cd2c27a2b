/* Runs the tests of the core. The last line holds the totals alone. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "core/base/parallel.h"

static int passed, failed;

void check_that(int ok, const char *what, const char *file, int line)
{
    if (ok) {
        passed++;
        return;
    }
    failed++;
    printf("FAILED: %s:%d: %s\n", file, line, what);
}

static uint64_t state = 20260101;

/* The generator of Marsaglia (2003) with shifts 13, 7 and 17. */
static uint64_t draw_word(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

uint32_t draw(uint32_t below) { return (uint32_t)(draw_word() >> 33) % below; }

double draw_share(void) { return (double)(draw_word() >> 11) / 9007199254740992.0; }

typedef struct spike {
    uint32_t tick, unit;
} spike;

static int spike_order(const void *a, const void *b)
{
    const spike *p = a, *q = b;
    if (p->tick != q->tick)
        return p->tick < q->tick ? -1 : 1;
    return p->unit < q->unit ? -1 : p->unit > q->unit;
}

test_spikes spikes_draw(size_t n, uint32_t units, uint32_t ticks)
{
    test_spikes out = {.tick = malloc(n * sizeof *out.tick),
                       .bounds = malloc(4 * sizeof *out.bounds),
                       .unit = malloc(n * sizeof *out.unit),
                       .trial = malloc(n * sizeof *out.trial)};
    spike *spikes = malloc(n * sizeof *spikes);
    if (!spikes || !out.tick || !out.bounds || !out.unit || !out.trial)
        abort();
    for (size_t i = 0; i < n; i++)
        spikes[i] = (spike){draw(ticks), draw(units) + 1};
    qsort(spikes, n, sizeof *spikes, spike_order);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        /* The same unit twice on a tick is one spike. */
        if (i > 0 && spike_order(&spikes[i - 1], &spikes[i]) == 0)
            continue;
        out.tick[kept] = spikes[i].tick;
        out.unit[kept] = (int)spikes[i].unit;
        out.trial[kept++] = spikes[i].tick < ticks / 2 ? 1 : 2;
    }
    free(spikes);
    out.bounds[0] = 0;
    out.bounds[1] = ticks / 2;
    out.bounds[2] = ticks / 2 - 1;
    out.bounds[3] = ticks - 1;
    out.all = (syn_spikes){.n = kept, .tick = out.tick, .unit = out.unit,
                           .trial = out.trial, .units = units, .trials = 2,
                           .start = out.bounds, .stop = out.bounds + 2};
    return out;
}

void spikes_free(test_spikes *spikes)
{
    free(spikes->tick);
    free(spikes->bounds);
    free(spikes->unit);
    free(spikes->trial);
}

int main(void)
{
    syn_parallel_init();
    test_parallel();
    test_background();
    test_simd();
    test_spikes_check();
    test_episodes();
    test_surrogates();
    test_patterns();
    test_edm();
    test_neighbours();
    test_smap();
    test_forecast();
    test_causal_map();
    test_networks();
    syn_parallel_end();
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed > 0 || passed == 0;
}
