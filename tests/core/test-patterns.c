/* Mining spike patterns, and what is done with those that were found. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/patterns/found/reduction.h"
#include "core/patterns/found/stability.h"
#include "core/patterns/mine.h"

enum { WINDOW = 6 };

static syn_pattern_options mining(syn_pattern_engine engine, int threads)
{
    return (syn_pattern_options){
        .window = WINDOW, .min_spikes = 3, .max_spikes = UINT32_MAX, .min_units = 2,
        .min_count = 5, .max_count = UINT32_MAX, .engine = engine,
        .target = SYN_PATTERNS_CLOSED, .share_end = SIZE_MAX, .threads = threads,
        .max_memory = (size_t)1 << 29};
}

/* The patterns as words: size, items and occurrences of each; *n gets how many words. */
static uint32_t *words_of(const syn_patterns *found, size_t *n)
{
    size_t room = 0, at = 0;
    uint32_t sizes = syn_patterns_sizes(found, NULL);
    for (int write = 0; write < 2; write++) {
        static uint32_t *words;
        if (write && !(words = malloc((room + 1) * sizeof *words)))
            abort();
        for (uint32_t k = 0; k < sizes; k++)
            for (size_t p = 0; p < found->parts; p++) {
                const syn_pattern_chain *chain =
                    syn_pattern_chain_of(found->part + p, k + 1);
                const syn_pattern_block *block = chain ? chain->head : NULL;
                for (; block; block = block->next)
                    for (size_t i = 0; i < block->patterns * (k + 2); i++) {
                        if (write)
                            words[at++] = syn_pattern_word(block, found->width, i);
                        else
                            room++;
                    }
            }
        if (write) {
            *n = at;
            return words;
        }
    }
    return NULL;
}

static void check_mining(const syn_raster *raster)
{
    size_t n[2];
    uint32_t *words[2];
    syn_pattern_options options = mining(SYN_PATTERNS_CLOSURE, 1);
    syn_patterns found;
    syn_budget budget = {.limit = options.max_memory};
    CHECK(syn_mine_patterns(raster, &options, NULL, &budget, NULL, &found) == SYN_OK);
    CHECK(found.n > 50);
    words[0] = words_of(&found, &n[0]);
    syn_patterns_free(&found);
    for (int engine = SYN_PATTERNS_CLOSURE; engine <= SYN_PATTERNS_FPGROWTH; engine++) {
        syn_budget own = {.limit = options.max_memory};
        options = mining((syn_pattern_engine)engine, TEST_THREADS);
        CHECK(syn_mine_patterns(raster, &options, NULL, &own, NULL, &found) == SYN_OK);
        words[1] = words_of(&found, &n[1]);
        CHECK(n[0] == n[1]);
        CHECK(n[0] == n[1] && memcmp(words[0], words[1], n[0] * sizeof *words[0]) == 0);
        free(words[1]);
        syn_patterns_free(&found);
    }
    free(words[0]);
}

enum { LISTED = 40 };

static void check_stability(const syn_raster *raster, const syn_pattern_list *list,
                            const syn_pattern_windows *windows)
{
    syn_budget budget = {.limit = SIZE_MAX};
    double share[2][2][LISTED];
    for (int k = 0; k < 2; k++) {
        syn_stability_options options = {.window = WINDOW, .subsets = 50, .key = 3,
                                         .threads = k ? TEST_THREADS : 1};
        CHECK(syn_pattern_stability(raster, list, windows, &options, &budget, NULL,
                                    share[k][0], share[k][1]) == SYN_OK);
    }
    CHECK(memcmp(share[0], share[1], sizeof share[0]) == 0);
    CHECK(budget.held == 0);
    /* With little memory, fewer threads find the same, or none does. */
    int enough = 0, refused = 0;
    for (size_t limit = 0; limit < budget.most; limit += budget.most / 23 + 1) {
        syn_stability_options options = {.window = WINDOW, .subsets = 50, .key = 3,
                                         .threads = TEST_THREADS};
        syn_budget little = {.limit = limit};
        syn_status status = syn_pattern_stability(raster, list, windows, &options, &little,
                                                  NULL, share[1][0], share[1][1]);
        CHECK(status == SYN_OK || status == SYN_OVER_BUDGET);
        CHECK(little.held == 0 && little.most <= limit);
        enough += status == SYN_OK;
        refused += status == SYN_OVER_BUDGET;
        CHECK(status != SYN_OK || memcmp(share[0], share[1], sizeof share[0]) == 0);
    }
    CHECK(enough > 0 && refused > 0);
}

static void check_reduction(const syn_raster *raster, const syn_pattern_list *list,
                            const syn_pattern_windows *windows)
{
    uint8_t keep[LISTED];
    syn_budget budget = {.limit = SIZE_MAX};
    syn_candidates all = {.list = *list, .raster = raster, .windows = windows};
    syn_reduction_options options = {.method = SYN_REDUCTION_COMBINED, .min_spikes = 2,
                                     .min_count = 1};
    CHECK(syn_reduce_patterns(&all, &options, &budget, NULL, keep) == SYN_OK);
    CHECK(budget.held == 0);
    for (size_t limit = 0; limit < budget.most; limit += budget.most / 23 + 1) {
        uint8_t none[LISTED];
        syn_budget little = {.limit = limit};
        CHECK(syn_reduce_patterns(&all, &options, &little, NULL, none) ==
              SYN_OVER_BUDGET);
        CHECK(little.held == 0 && little.most <= limit);
    }
    int kept = 0;
    for (int p = 0; p < LISTED; p++)
        kept += keep[p] == 1;
    CHECK(kept >= 1 && kept <= LISTED);
}

void test_patterns(void)
{
    test_spikes s = spikes_draw(3000, 12, 9000);
    syn_raster raster;
    CHECK(syn_raster_bin(&raster, &s.all, 5, WINDOW, NULL, NULL) == SYN_OK);
    check_mining(&raster);

    uint32_t size[LISTED], unit[2 * LISTED], lag[2 * LISTED];
    for (uint32_t p = 0; p < LISTED; p++) {
        size[p] = 2;
        unit[2 * p] = p % 12;
        unit[2 * p + 1] = (p + 1 + p / 12) % 12;
        lag[2 * p] = 0;
        lag[2 * p + 1] = p % WINDOW;
    }
    syn_pattern_list list = {LISTED, size, unit, lag};
    syn_pattern_windows windows;
    syn_budget budget = {.limit = SIZE_MAX};
    CHECK(syn_find_windows(&raster, &list, INT32_MAX, &budget, NULL, &windows) == SYN_OK);
    check_stability(&raster, &list, &windows);
    check_reduction(&raster, &list, &windows);
    syn_pattern_windows_free(&windows);
    CHECK(budget.held == 0);
    syn_raster_free(&raster);
    spikes_free(&s);
}
