/* The loop that all threads share. */
#include <stdlib.h>

#include "check.h"
#include "core/base/background.h"
#include "core/base/parallel.h"
#include "core/base/workers.h"

typedef struct counting {
    int *visits;       /* [items] */
    size_t fails_at;   /* this item and those after it fail */
} counting;

static syn_status visit(void *context, size_t item, int worker)
{
    counting *c = context;
    (void)worker;
    c->visits[item]++;
    if (item >= c->fails_at)
        return SYN_TOO_LARGE;
    return c->visits[item] < 3 ? SYN_UNFINISHED : SYN_OK;
}

static int stop_at_once(void *data, const char *stage, double done, double total)
{
    (void)stage;
    CHECK(done <= total);
    *(int *)data += 1;
    return 1;
}

static syn_status never_done(void *context, size_t item, int worker)
{
    (void)context, (void)item, (void)worker;
    return SYN_UNFINISHED;
}

enum { PLACES = 40 };

static void count_place(void *context, int place)
{
    int *count = context;
    count[place]++;
}

/* In the middle of a call no other thread helps. */
static void count_within(void *context, int place)
{
    int *count = context;
    count_place(count, place);
    if (place == 1)
        syn_workers_run(PLACES, count_place, count + PLACES);
}

static void test_places(void)
{
    int count[2 * PLACES] = {0}, once = 1;
    CHECK(!syn_workers_are_here());
    syn_workers_run(PLACES, count_within, count);
    CHECK(!syn_workers_are_here());
    for (int i = 0; i < 2 * PLACES; i++)
        once = once && count[i] == 1;
    CHECK(once);
}

static syn_status count_alone(void *context, size_t item, int worker)
{
    (void)worker;
    ((int *)context)[item]++;
    return SYN_OK;
}

/* A thread besides the caller's, which asks for help at the same time. */
static syn_status loop_again(void *context, size_t item, int together,
                             const syn_watch *watch)
{
    enum { ITEMS = 64, LOOPS = 50 };
    int count[ITEMS] = {0}, *right = (int *)context + item;
    (void)together, (void)watch;
    *right = 1;
    for (int k = 1; k <= LOOPS; k++) {
        syn_status status =
            syn_parallel_for(ITEMS, TEST_THREADS, NULL, "", count_alone, count);
        for (int i = 0; i < ITEMS; i++)
            *right = *right && status == SYN_OK && count[i] == k;
    }
    return SYN_OK;
}

static void test_loops_side_by_side(void)
{
    enum { LOOPERS = 4 };
    int right[LOOPERS] = {0};
    syn_background *work = syn_background_start(LOOPERS, LOOPERS, loop_again, right);
    if (!work)
        abort();
    int own = 0;
    loop_again(&own, 0, 1, NULL);
    CHECK(own == 1);
    CHECK(syn_background_wait(work, NULL) == SYN_OK);
    syn_background_stop(work);
    for (int i = 0; i < LOOPERS; i++)
        CHECK(right[i] == 1);
}

void test_parallel(void)
{
    test_places();
    test_loops_side_by_side();
    enum { ITEMS = 5000 };
    counting c = {calloc(ITEMS, sizeof(int)), ITEMS};
    if (!c.visits)
        abort();
    CHECK(syn_parallel_for(ITEMS, TEST_THREADS, NULL, "", visit, &c) == SYN_OK);
    int thrice = 1;
    for (size_t i = 0; i < ITEMS; i++)
        thrice = thrice && c.visits[i] == 3;
    CHECK(thrice);
    for (size_t i = 0; i < ITEMS; i++)
        c.visits[i] = 0;
    c.fails_at = ITEMS / 2;
    CHECK(syn_parallel_for(ITEMS, TEST_THREADS, NULL, "", visit, &c) == SYN_TOO_LARGE);
    CHECK(c.visits[0] == 3);
    free(c.visits);

    int polls = 0;
    syn_watch watch = {stop_at_once, &polls};
    CHECK(syn_parallel_for(8, TEST_THREADS, &watch, "", never_done, NULL) ==
          SYN_INTERRUPTED);
    CHECK(polls == 1);
}
