/* Sets a clock and moves trains by it. The share of the variance of counts that Poisson
   counts do not have says how much of a count is rate. The rest is taken for chance, so
   that the clock of units whose rates have nothing in common runs evenly. */
#include "core/assemblies/pace.h"

#include <math.h>
#include <string.h>

#include "core/base/seek.h"

/* Speeds are at most this, and at least one over it: trains that are moved apart by one
   and a half windows of the clock are apart by a window then, also where all units
   fire. */
static const double FASTEST = 1.5;

/* ---- cells ---- */

/* The cells of a trial. */
typedef struct dial {
    int64_t opened, closed;  /* its first and its last tick */
    size_t n;
    double each;             /* ticks */
} dial;

static dial dial_of(const syn_pace *c, size_t trial)
{
    dial d = {.opened = c->segments->opened[trial], .closed = c->segments->closed[trial]};
    int64_t length = d.closed - d.opened + 1, n = length / c->cell;
    d.n = n > 1 ? (size_t)n : 1;
    d.each = (double)length / (double)d.n;
    return d;
}

/* Where a tick is, in cells. */
static double place_of(const dial *d, int64_t tick)
{
    return (double)(tick - d->opened) / d->each;
}

static size_t cell_of(const dial *d, double place)
{
    return place < (double)d->n ? (size_t)place : d->n - 1;
}

/* Adds `sign`, 1 or -1, to the cell of each spike. */
static void count(const syn_pace *c, syn_train own, int sign, uint32_t *cells)
{
    size_t e = 0;
    for (size_t k = 0; k < c->segments->trials; k++) {
        dial d = dial_of(c, k);
        for (; e < own.n && own.tick[e] <= d.closed; e++)
            cells[cell_of(&d, place_of(&d, own.tick[e]))] += (uint32_t)sign;
        cells += d.n;
    }
}

static syn_status count_all(syn_pace *c, int64_t cell)
{
    const syn_recording *r = &c->segments->recording;
    size_t trials = c->segments->trials;
    c->cell = cell;
    c->cells = 0;
    for (size_t k = 0; k < trials; k++)
        c->cells += dial_of(c, k).n;
    size_t n = c->cells + trials;
    SYN_RENEW(c->budget, c->spikes, c->spikes_room, n);
    SYN_RENEW(c->budget, c->others, c->others_room, n);
    SYN_RENEW(c->budget, c->shown, c->shown_room, n);
    memset(c->spikes, 0, c->cells * sizeof *c->spikes);
    count(c, (syn_train){.tick = r->tick, .n = r->events}, 1, c->spikes);
    return SYN_OK;
}

/* ---- speed ---- */

/* Which share of what counts differ from their mean by is rate. */
static double share_of_rate(const syn_pace *c, double mean)
{
    double square = 0;
    for (size_t i = 0; i < c->cells; i++)
        square += ((double)c->others[i] - mean) * ((double)c->others[i] - mean);
    double variance = square / (double)c->cells;
    return variance > mean ? 1 - mean / variance : 0;
}

syn_status syn_pace_set(syn_pace *c, int64_t cell, const syn_train *without, uint32_t n)
{
    const syn_segments *g = c->segments;
    double recorded = syn_segments_recorded_ticks(g), spikes = 0;
    double least = ceil(recorded / ((double)g->recording.events + 1));
    cell = (double)cell < least ? (int64_t)least : cell;
    SYN_TRY(cell == c->cell ? SYN_OK : count_all(c, cell));
    memcpy(c->others, c->spikes, c->cells * sizeof *c->others);
    for (uint32_t m = 0; m < n; m++)
        count(c, without[m], -1, c->others);
    for (size_t i = 0; i < c->cells; i++)
        spikes += c->others[i];
    double mean = spikes / (double)c->cells, share = share_of_rate(c, mean);
    const uint32_t *others = c->others;
    double *shown = c->shown;
    for (size_t k = 0; k < g->trials; k++) {
        dial d = dial_of(c, k);
        shown[0] = 0;
        for (size_t i = 0; i < d.n; i++) {
            double speed = share > 0 ? 1 + share * ((double)others[i] / mean - 1) : 1;
            speed = fmin(FASTEST, fmax(1 / FASTEST, speed));
            shown[i + 1] = shown[i] + speed;
        }
        double scale = (double)d.n / shown[d.n];
        for (size_t i = 0; i <= d.n; i++)
            shown[i] *= scale;
        others += d.n;
        shown += d.n + 1;
    }
    return SYN_OK;
}

/* ---- to and from the clock ---- */

static double to_clock(const dial *d, const double *shown, int64_t tick)
{
    double place = place_of(d, tick);
    size_t cell = cell_of(d, place);
    return shown[cell] + (place - (double)cell) * (shown[cell + 1] - shown[cell]);
}

/* `cell` is one that the place is not before, and is moved on to that of the place. */
static int64_t from_clock(const dial *d, const double *shown, double at, size_t *cell)
{
    SYN_SEEK_NEAR(size_t, i, *cell, d->n - 1, shown[i + 1] <= at);
    double within = (at - shown[*cell]) / (shown[*cell + 1] - shown[*cell]);
    int64_t tick = d->opened + (int64_t)(((double)*cell + within) * d->each);
    return tick < d->closed ? tick : d->closed;
}

void syn_pace_turn(const syn_pace *c, syn_train own, int64_t by, int64_t *out)
{
    const double *shown = c->shown;
    size_t first = 0, end = 0;
    for (size_t k = 0; first < own.n; k++) {
        dial d = dial_of(c, k);
        double whole = (double)d.n, later = fmod((double)by / d.each, whole);
        later += later < 0 ? whole : 0;
        SYN_SEEK_NEAR(size_t, e, end, own.n, own.tick[e] <= d.closed);
        size_t around = first, cell = 0;
        SYN_SEEK(size_t, e, around, end,
                 to_clock(&d, shown, own.tick[e]) + later < whole);
        for (size_t e = around; e < end; e++)
            *out++ = from_clock(&d, shown,
                                to_clock(&d, shown, own.tick[e]) + later - whole, &cell);
        cell = 0;
        for (size_t e = first; e < around; e++)
            *out++ =
                from_clock(&d, shown, to_clock(&d, shown, own.tick[e]) + later, &cell);
        first = end;
        shown += d.n + 1;
    }
}
