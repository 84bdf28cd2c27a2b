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
    test_spikes out = {.units = units, .trials = 2};
    spike *spikes = malloc(n * sizeof *spikes);
    out.tick = malloc(n * sizeof *out.tick);
    out.unit = malloc(n * sizeof *out.unit);
    out.trial = malloc(n * sizeof *out.trial);
    if (!spikes || !out.tick || !out.unit || !out.trial)
        abort();
    for (size_t i = 0; i < n; i++)
        spikes[i] = (spike){draw(ticks), draw(units) + 1};
    qsort(spikes, n, sizeof *spikes, spike_order);
    out.n = 0;
    for (size_t i = 0; i < n; i++) {
        /* The same unit twice on a tick is one spike. */
        if (i > 0 && spike_order(&spikes[i - 1], &spikes[i]) == 0)
            continue;
        out.tick[out.n] = spikes[i].tick;
        out.unit[out.n] = (int)spikes[i].unit;
        out.trial[out.n++] = spikes[i].tick < ticks / 2 ? 1 : 2;
    }
    out.start[1] = ticks / 2;
    out.stop[0] = out.start[1] - 1;
    out.stop[1] = ticks - 1;
    free(spikes);
    return out;
}

void spikes_free(test_spikes *spikes)
{
    free(spikes->tick);
    free(spikes->unit);
    free(spikes->trial);
}

int main(void)
{
    syn_parallel_init();
    test_parallel();
    test_simd();
    test_episodes();
    test_surrogates();
    test_patterns();
    test_edm();
    test_causal_map();
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed > 0 || passed == 0;
}
