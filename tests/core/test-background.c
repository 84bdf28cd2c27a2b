/* Work in the background: every item is done once, what lacks memory is done alone, and
   work can be stopped at any time. */
#include <stdlib.h>

#include "check.h"
#include "core/base/background.h"

enum { ITEMS = 40 };

typedef struct record {
    int done[ITEMS], alone[ITEMS];
    size_t fails_at;  /* this item fails; ITEMS for none */
    int large;        /* every item so far apart lacks memory unless it is alone */
} record;

static syn_status note(void *context, size_t item, int together, const syn_watch *watch)
{
    record *r = context;
    if (syn_poll(watch, "items", 0, 0) != SYN_OK)
        return SYN_INTERRUPTED;
    if (item == r->fails_at)
        return SYN_TOO_LARGE;
    if (r->large && item % (size_t)r->large == 0 && together > 1)
        return SYN_OVER_BUDGET;
    r->done[item]++;
    r->alone[item] = together == 1;
    return SYN_OK;
}

/* Goes on until it is stopped. */
static syn_status never_done(void *context, size_t item, int together,
                             const syn_watch *watch)
{
    (void)context, (void)item, (void)together;
    while (syn_poll(watch, "items", 0, 0) == SYN_OK)
        continue;
    return SYN_INTERRUPTED;
}

static int stop_at_once(void *data, const char *stage, double done, double total)
{
    (void)data, (void)stage;
    CHECK(done <= total);
    return 1;
}

void test_background(void)
{
    for (int threads = 0; threads <= TEST_THREADS; threads += 2) {
        for (int large = 0; large <= 5; large += 5) {
            record r = {.fails_at = ITEMS, .large = large};
            syn_background *work = syn_background_start(ITEMS, threads, note, &r);
            CHECK(work && syn_background_is_here(work));
            CHECK(syn_background_wait(work, NULL) == SYN_OK);
            CHECK(syn_background_wait(work, NULL) == SYN_OK);
            for (int i = 0; i < ITEMS; i++) {
                CHECK(r.done[i] == 1);
                CHECK(!large || i % large != 0 || r.alone[i]);
            }
            syn_background_stop(work);
        }
        record r = {.fails_at = 17};
        syn_background *work = syn_background_start(ITEMS, threads, note, &r);
        CHECK(work && syn_background_wait(work, NULL) == SYN_TOO_LARGE);
        syn_background_stop(work);
    }
    syn_watch stop = {stop_at_once, NULL};
    syn_background *work = syn_background_start(ITEMS, TEST_THREADS, never_done, NULL);
    CHECK(work && syn_background_wait(work, &stop) == SYN_INTERRUPTED);
    syn_background_stop(work);
    work = syn_background_start(0, TEST_THREADS, never_done, NULL);
    CHECK(work && syn_background_wait(work, NULL) == SYN_OK);
    syn_background_stop(work);
    syn_background_stop(NULL);
}
