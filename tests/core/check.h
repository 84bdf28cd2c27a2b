/* What the tests of the core share: one macro, and random input.

   Each test runs the same work on one thread and on four and compares the results, so
   that a thread checker sees every parallel loop, and a wrong answer is seen without it. */
#ifndef SYN_TEST_CHECK_H
#define SYN_TEST_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "core/spikes/spikes.h"

enum { TEST_THREADS = 4 };

#define CHECK(ok) check_that((ok) != 0, #ok, __FILE__, __LINE__)

/* Counts a check, and prints one that fails. */
void check_that(int ok, const char *what, const char *file, int line);

/* Random numbers of a fixed seed: a whole number below `below`, and one in [0, 1). */
uint32_t draw(uint32_t below);
double draw_share(void);

/* Spikes, and the arrays that they point to. */
typedef struct test_spikes {
    syn_spikes all;
    double *tick, *bounds;
    int *unit, *trial;
} test_spikes;

/* About `n` spikes of `units` units in two trials, many of them on the same tick. Free
   with spikes_free(). */
test_spikes spikes_draw(size_t n, uint32_t units, uint32_t ticks);
void spikes_free(test_spikes *spikes);

/* One function for each subject of the core. */
void test_parallel(void);
void test_background(void);
void test_simd(void);
void test_spikes_check(void);
void test_episodes(void);
void test_surrogates(void);
void test_patterns(void);
void test_edm(void);
void test_neighbours(void);
void test_smap(void);
void test_forecast(void);
void test_causal_map(void);
void test_networks(void);

#endif
