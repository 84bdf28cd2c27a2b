/* The loop that all threads share. */
#include <stdlib.h>

#include "check.h"
#include "core/base/parallel.h"

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

void test_parallel(void)
{
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
