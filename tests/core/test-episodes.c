/* Mining and counting episodes: engines and threads agree. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/episodes/found.h"
#include "core/episodes/given.h"
#include "core/episodes/mine.h"
#include "core/episodes/null/counts.h"

static const syn_interval lags[] = {{0, 5}, {5, 12}};

static syn_mine_options mining(syn_episode_engine engine, int threads)
{
    return (syn_mine_options){.intervals = lags, .n_intervals = 2, .min_count = 12,
                              .max_size = 5, .engine = engine, .threads = threads,
                              .max_memory = (size_t)1 << 30};
}

static int same_levels(const syn_episodes *a, const syn_episodes *b)
{
    if (a->n_levels != b->n_levels)
        return 0;
    for (size_t k = 0; k < a->n_levels; k++) {
        const syn_episode_level *p = &a->level[k], *q = &b->level[k];
        if (p->n != q->n || memcmp(p->count, q->count, p->n * sizeof *p->count) != 0 ||
            memcmp(p->unit, q->unit, p->n * sizeof *p->unit) != 0)
            return 0;
    }
    return 1;
}

/* The frequent pairs, counted one by one. */
static void check_pairs(const syn_recording *recording, const syn_episodes *found)
{
    const syn_episode_level *pairs = &found->level[1];
    syn_episode *episode = malloc((pairs->n + 1) * sizeof *episode);
    uint32_t *unit = malloc((2 * pairs->n + 1) * sizeof *unit);
    uint32_t *count = malloc((pairs->n + 1) * sizeof *count);
    if (!episode || !unit || !count)
        abort();
    for (size_t i = 0; i < pairs->n; i++) {
        unit[2 * i] = found->level[0].unit[pairs->parent[i]];
        unit[2 * i + 1] = pairs->unit[i];
        episode[i] = (syn_episode){2, &unit[2 * i], &lags[pairs->interval[i]]};
    }
    CHECK(syn_count_episodes(recording, episode, pairs->n, TEST_THREADS, NULL, count) ==
          SYN_OK);
    CHECK(memcmp(count, pairs->count, pairs->n * sizeof *count) == 0);
    free(episode);
    free(unit);
    free(count);
}

static void check_mining(uint32_t units)
{
    test_spikes s = spikes_draw(4000, units, 8000);
    syn_recording recording;
    CHECK(syn_recording_make(&recording, &s.all, 12, 12, 1, NULL) == SYN_OK);
    syn_mine_options options = mining(SYN_ENGINE_STATE, 1);
    syn_episodes first;
    CHECK(syn_mine_episodes(&recording, &options, NULL, &first) == SYN_OK);
    CHECK(first.n_levels >= 2 && first.level[1].n > 10);
    if (first.n_levels >= 2)
        check_pairs(&recording, &first);
    for (int engine = SYN_ENGINE_STATE; engine <= SYN_ENGINE_WINDOW; engine++) {
        options = mining((syn_episode_engine)engine, TEST_THREADS);
        syn_episodes found;
        CHECK(syn_mine_episodes(&recording, &options, NULL, &found) == SYN_OK);
        CHECK(same_levels(&first, &found));
        syn_episodes_free(&found);
    }
    syn_episodes_free(&first);
    syn_recording_free(&recording);
    spikes_free(&s);
}

/* ---- a counter ---- */

typedef struct cpu_counter {
    const syn_recording *recording;
    size_t largest;  /* candidates of a batch so far */
} cpu_counter;

/* Counts one candidate after the other, as syn_count_episodes() takes them. */
static syn_status count_batch(void *self, const syn_candidate_batch *batch,
                              const syn_watch *watch, uint32_t *count,
                              uint64_t *eliminated)
{
    cpu_counter *c = self;
    uint32_t unit[8];
    syn_interval lag[8];
    syn_episode episode = {batch->size, unit, lag};
    syn_status status = syn_poll(watch, NULL, 0, 0);
    (void)eliminated;
    c->largest = batch->n > c->largest ? batch->n : c->largest;
    for (size_t i = 0; i < batch->n; i++) {
        for (uint32_t k = 0; k < batch->size; k++)
            unit[k] = batch->unit[k * batch->n + i];
        for (uint32_t k = 0; k + 1 < batch->size; k++)
            lag[k] = lags[batch->interval[k * batch->n + i]];
        SYN_NEXT(status, syn_count_episodes(c->recording, &episode, 1, 1, NULL, &count[i]));
    }
    return status;
}

/* Mines with a counter that takes at most `most` candidates at a time; `largest` becomes
   the most that it got. */
static syn_status mine_in_batches(const syn_recording *recording, size_t most,
                                  size_t max_memory, size_t *largest, syn_episodes *out)
{
    cpu_counter self = {recording, 0};
    syn_counter counter = {count_batch, &self, most};
    syn_mine_options options = mining(SYN_ENGINE_COUNTER, 1);
    options.min_count = 3;
    options.counter = &counter;
    options.max_memory = max_memory;
    syn_status status = syn_mine_episodes(recording, &options, NULL, out);
    *largest = self.largest;
    return status;
}

/* Candidates reach a counter in batches, and come back as the state engine's. Memory that
   is short makes batches smaller, and is an error where those of one parent do not fit. */
static void check_batches(void)
{
    enum { UNITS = 4, OF_A_PARENT = 2 * UNITS };
    for (int stream = 0; stream < 40; stream++) {
        test_spikes s = spikes_draw(stream > 0 ? 60 : 200, UNITS, 80);
        syn_recording recording;
        CHECK(syn_recording_make(&recording, &s.all, 3, 12, 1, NULL) == SYN_OK);
        syn_mine_options options = mining(SYN_ENGINE_STATE, 1);
        options.min_count = 3;
        syn_episodes want, got;
        size_t most[] = {OF_A_PARENT, 40, 1000000}, largest, all = 0, few, peak = 0;
        CHECK(syn_mine_episodes(&recording, &options, NULL, &want) == SYN_OK);
        for (int k = 0; k < 3; k++) {
            CHECK(mine_in_batches(&recording, most[k], SIZE_MAX, &all, &got) == SYN_OK);
            CHECK(same_levels(&want, &got) && all <= most[k]);
            peak = got.peak_memory;
            syn_episodes_free(&got);
        }
        CHECK(stream > 0 || all > 2000);
        if (all > 2000) {
            CHECK(mine_in_batches(&recording, 1000000, peak, &few, &got) == SYN_OK);
            CHECK(same_levels(&want, &got) && few <= all);
            syn_episodes_free(&got);
            CHECK(mine_in_batches(&recording, 2, SIZE_MAX, &largest, &got) ==
                  SYN_TOO_LARGE);
            CHECK(mine_in_batches(&recording, 40, 1000, &largest, &got) ==
                  SYN_OVER_BUDGET);
        }
        syn_episodes_free(&want);
        syn_recording_free(&recording);
        spikes_free(&s);
    }
}

/* What a search leaves out on the way is what is left out of its table afterwards. */
static void check_distinct(uint32_t units)
{
    test_spikes s = spikes_draw(4000, units, 8000);
    syn_recording recording;
    CHECK(syn_recording_make(&recording, &s.all, 12, 12, 1, NULL) == SYN_OK);
    syn_mine_options options = mining(SYN_ENGINE_WINDOW, 1);
    syn_episodes sifted;
    CHECK(syn_mine_episodes(&recording, &options, NULL, &sifted) == SYN_OK);
    size_t pairs = sifted.level[1].n;
    CHECK(syn_episodes_distinct(&sifted, NULL) == SYN_OK);
    CHECK(sifted.level[1].n < pairs);
    options.distinct_units = 1;
    for (int engine = SYN_ENGINE_STATE; engine <= SYN_ENGINE_WINDOW; engine++) {
        options.engine = (syn_episode_engine)engine;
        options.threads = TEST_THREADS;
        syn_episodes found;
        CHECK(syn_mine_episodes(&recording, &options, NULL, &found) == SYN_OK);
        CHECK(same_levels(&sifted, &found));
        for (size_t k = 1; k < found.n_levels; k++) {
            const syn_episode_level *p = &sifted.level[k], *q = &found.level[k];
            CHECK(memcmp(p->parent, q->parent, p->n * sizeof *p->parent) == 0);
            CHECK(memcmp(p->suffix, q->suffix, p->n * sizeof *p->suffix) == 0);
        }
        for (size_t k = 0; k + 1 < found.n_levels; k++)
            CHECK(memcmp(sifted.level[k].child, found.level[k].child,
                         (found.level[k].n + 1) * sizeof(uint32_t)) == 0);
        syn_episodes_free(&found);
    }
    syn_episodes_free(&sifted);
    syn_recording_free(&recording);
    spikes_free(&s);
}

static void check_null(void)
{
    test_spikes s = spikes_draw(1500, 6, 6000);
    syn_trains trains;
    CHECK(syn_trains_make(&trains, &s.all, NULL) == SYN_OK);
    syn_surrogate_options dithered = {.method = SYN_SURROGATE_DITHER, .dither = 15,
                                      .bin = 1, .window = 1, .isi_bin = 1, .isi_bins = 1,
                                      .key = 7};
    syn_surrogate_plan plan;
    syn_budget budget = {.limit = SIZE_MAX};
    CHECK(syn_surrogate_plan_make(&plan, &trains, &dithered, TEST_THREADS, &budget,
                                  NULL) == SYN_OK);
    enum { EPISODES = 36, SURROGATES = 40 };
    uint32_t unit[2 * EPISODES], count[2][SURROGATES * EPISODES];
    syn_episode episode[EPISODES];
    for (uint32_t i = 0; i < EPISODES; i++) {
        unit[2 * i] = i / 6;
        unit[2 * i + 1] = i % 6;
        episode[i] = (syn_episode){2, &unit[2 * i], &lags[i % 2]};
    }
    syn_trie trie;
    syn_line_layout layout;
    CHECK(syn_trie_make(episode, EPISODES, &trie) == SYN_OK);
    CHECK(syn_line_layout_make(&plan, trie.bound, trie.bounds, &layout) == SYN_OK);
    for (int k = 0; k < 2; k++) {
        syn_null_options options = {.n = SURROGATES, .threads = k ? TEST_THREADS : 1,
                                    .max_memory = (size_t)1 << 28};
        CHECK(syn_null_counts(&layout, &trie, EPISODES, &options, NULL, count[k]) ==
              SYN_OK);
    }
    CHECK(memcmp(count[0], count[1], sizeof count[0]) == 0);
    syn_line_layout_free(&layout);
    syn_trie_free(&trie);
    syn_surrogate_plan_free(&plan);
    syn_trains_free(&trains);
    spikes_free(&s);
}

void test_episodes(void)
{
    check_mining(5);   /* the table of next occurrences */
    check_mining(40);  /* windows */
    check_batches();
    check_distinct(5);
    check_distinct(40);
    check_null();
}
