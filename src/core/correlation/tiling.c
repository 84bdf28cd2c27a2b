/* Counts spikes near those of another unit. Around each spike of a unit lies a tile; the
   events under its tiles, each counted once however many tiles lie over it, are a few
   runs of neighbours in time order. */
#include "core/correlation/tiling.h"

#include <string.h>

#include "core/base/parallel.h"

enum { EVENTS_A_LOOK = 1 << 22 };

/* Where a thread is in a unit that is not finished. */
typedef struct place {
    uint32_t spike;    /* of the unit, in `by_unit` */
    uint32_t covered;  /* first event that no tile so far lies over */
    int begun;
} place;

typedef struct tiles {
    const syn_recording *r;
    uint32_t *from;  /* [events] first event under the tile of the event */
    uint32_t *to;    /* [events] first event after it */
    place *place;    /* [threads] */
    int32_t *near;
} tiles;

static syn_status lay_tiles(tiles *t, int64_t reach, int threads, syn_budget *budget,
                            const syn_watch *watch)
{
    const int64_t *tick = t->r->tick;
    uint32_t n = t->r->events, from = 0, to = 0;
    SYN_TAKE(budget, t->from, (size_t)n + 1);
    SYN_TAKE(budget, t->to, (size_t)n + 1);
    SYN_TAKE_ZEROS(budget, t->place, (size_t)threads);
    for (uint32_t i = 0; i < n; i++) {
        if (syn_spikes_poll(watch, i, n) != SYN_OK)
            return SYN_INTERRUPTED;
        while (tick[i] - tick[from] > reach)
            from++;
        while (to < n && tick[to] - tick[i] <= reach)
            to++;
        t->from[i] = from;
        t->to[i] = to;
    }
    return SYN_OK;
}

static syn_status count_unit(void *context, size_t item, int thread)
{
    const tiles *t = context;
    const syn_recording *r = t->r;
    place *p = t->place + thread;
    int32_t *near = t->near + item * r->units;
    double started = syn_seconds();
    uint64_t done = 0;
    if (!p->begun)
        *p = (place){.spike = r->first[item], .covered = 0, .begun = 1};
    for (; p->spike < r->first[item + 1]; p->spike++) {
        if (done > EVENTS_A_LOOK) {
            done = 0;
            if (syn_seconds() - started > SYN_SLICE_SECONDS)
                return SYN_UNFINISHED;
        }
        uint32_t i = r->by_unit[p->spike], to = t->to[i];
        uint32_t from = t->from[i] > p->covered ? t->from[i] : p->covered;
        for (uint32_t j = from; j < to; j++)
            near[r->unit[j]]++;
        done += to - from + 1;
        p->covered = to;
    }
    p->begun = 0;
    return SYN_OK;
}

syn_status syn_tiling_near(const syn_recording *recording, int64_t reach, int threads,
                           int32_t *near, syn_budget *budget, const syn_watch *watch)
{
    size_t units = recording->units;
    tiles t = {.r = recording, .near = near};
    memset(near, 0, units * units * sizeof *near);
    syn_status status = lay_tiles(&t, reach, threads, budget, watch);
    SYN_NEXT(status, syn_parallel_for(units, threads, watch, "units", count_unit, &t));
    SYN_GIVE(budget, t.place, t.to, t.from);
    return status;
}
