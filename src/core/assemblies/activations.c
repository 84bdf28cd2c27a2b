/* Finds activations by a sweep over all moments. A spike of a member speaks for the
   moments from which its window would contain it. The score of a moment is the sum, over
   members, of -log P(as many spikes or more), of a Poisson process with the member's
   rate, cut at CUT so that no member decides alone. Scores change where a spike begins or
   ceases to speak; highest moments are taken first, and none within the widest window of
   one that was taken. */
#include "core/assemblies/activations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/radix.h"
#include "core/base/random.h"
#include "core/base/seek.h"

/* ---- a clock ----

   Sets the clock and moves trains by it. The share of the variance of counts that Poisson
   counts do not have says how much of a count is rate. The rest is taken for chance, so
   that the clock of units whose rates have nothing in common runs evenly. */

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
    if (n > c->shown_room) {
        c->spikes = syn_budget_renew(c->budget, c->spikes, &c->spikes_room, n,
                                     sizeof *c->spikes);
        c->others = syn_budget_renew(c->budget, c->others, &c->others_room, n,
                                     sizeof *c->others);
        c->shown = syn_budget_renew(c->budget, c->shown, &c->shown_room, n,
                                    sizeof *c->shown);
    }
    if (!c->spikes || !c->others || !c->shown)
        return syn_budget_refusal(c->budget);
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

/* Sets the clock by the spikes of all units but those of `n` trains, with cells of `cell`
   ticks, or longer, if there are more than spikes. Its speed is the rate there over the
   mean rate, as far as rates differ by more than Poisson counts do, within bounds.
   SYN_OVER_BUDGET, SYN_NO_MEMORY. */
static syn_status pace_set(syn_pace *c, int64_t cell, const syn_train *without,
                           uint32_t n)
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

/* Moves the spikes of a train by so many ticks of the clock, around each trial:
   out[own.n], increasing, but for spikes that come to be on one tick. */
static void pace_turn(const syn_pace *c, syn_train own, int64_t by, int64_t *out)
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

enum { MOST_SPIKES = SYN_SURPRISE_SPIKES, EVENT_BITS = 7 };

static const double CUT = 6;
static const double PRIOR = 4;      /* activations that are taken for chance beforehand */
static const double FEWEST = 12;    /* above what is expected, to learn from */
static const double APART = 1.5;    /* windows that members are moved apart, at least */

static void give_memory(syn_detector *d)
{
    SYN_GIVE(d->budget, d->found, d->key, d->other, d->kept, d->moved, d->null);
}

syn_status syn_detector_make(syn_detector *d)
{
    d->pace = (syn_pace){.segments = d->segments, .budget = d->budget};
    SYN_TAKE_ZEROS(d->budget, d->worker, (size_t)d->threads);
    for (int t = 0; t < d->threads; t++)
        d->worker[t] = (syn_detector){.segments = d->segments, .ladder = d->ladder,
                                      .bin = d->bin, .locked = d->locked,
                                      .budget = d->budget};
    return SYN_OK;
}

void syn_detector_free(syn_detector *d)
{
    for (int t = 0; d->worker && t < d->threads; t++)
        give_memory(d->worker + t);
    give_memory(d);
    syn_budget_free(d->budget, d->worker);
    SYN_GIVE(d->pace.budget, d->pace.spikes, d->pace.others, d->pace.shown);
    memset(&d->pace, 0, sizeof d->pace);
    memset(d, 0, sizeof *d);
}

/* ---- trains of members ---- */

/* Spikes of a member, whose train is given, in its window at a moment. */
static uint32_t window_spikes(const syn_detector *d, syn_member m, syn_train own,
                              int64_t tick)
{
    int64_t from = tick + syn_window_start(d->ladder, d->bin, m);
    int64_t to = from + syn_window_length(d->ladder, d->bin, m);
    size_t low = 0;
    SYN_SEEK(size_t, at, low, own.n, own.tick[at] < from);
    size_t high = low;
    SYN_SEEK_NEAR(size_t, at, high, own.n, own.tick[at] < to);
    return (uint32_t)(high - low);
}

uint32_t syn_window_spikes(const syn_detector *detector, syn_member member, int64_t tick)
{
    syn_train own = syn_segments_train(detector->segments, member.unit);
    return window_spikes(detector, member, own, tick);
}

/* ---- scores ---- */

/* Spikes of a member that are expected in its window. */
static double expected_of(const syn_detector *d, syn_member m)
{
    return (double)syn_segments_train(d->segments, m.unit).n *
           (double)syn_window_length(d->ladder, d->bin, m) /
           syn_segments_recorded_ticks(d->segments);
}

void syn_surprise_before(const syn_detector *detector, const syn_assembly *group,
                         syn_surprise *out)
{
    for (uint32_t m = 0; m < group->size; m++) {
        double mean = expected_of(detector, group->member[m]);
        double term = exp(-mean), below = 0;
        for (int n = 0; n < MOST_SPIKES; n++) {
            double above = 1 - below;
            double s = above > 1e-12 ? -log(above) : CUT;
            out->of[m][n] = s < CUT ? s : CUT;
            below += term;
            term *= mean / (n + 1);
        }
    }
}

/* ---- events of the sweep ---- */

typedef struct sweep {
    syn_detector *d;
    syn_member member[SYN_ASSEMBLY_MOST];
    syn_train train[SYN_ASSEMBLY_MOST];
    uint32_t size;
    double score[SYN_ASSEMBLY_MOST][MOST_SPIKES];
    int64_t separation;  /* least ticks between activations */
    int64_t origin;
    double spread;       /* windows by which moves differ */
} sweep;

/* Two keys a spike: when it begins to speak for moments, and when it ceases. */
static syn_status list_events(sweep *s, size_t *out, int *bits)
{
    syn_detector *d = s->d;
    size_t events = 0, at = 0;
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (uint32_t m = 0; m < s->size; m++) {
        syn_train own = s->train[m];
        int64_t start = syn_window_start(d->ladder, d->bin, s->member[m]);
        int64_t length = syn_window_length(d->ladder, d->bin, s->member[m]);
        if (own.n == 0)
            continue;
        int64_t first = own.tick[0] - start - length;
        int64_t last = own.tick[own.n - 1] - start;
        least = first < least ? first : least;
        most = last > most ? last : most;
        events += 2 * own.n;
    }
    *out = events;
    s->origin = least;
    if (events == 0)
        return SYN_OK;
    if (events > d->key_room) {
        SYN_RENEW(d->budget, d->key, d->key_room, events);
        SYN_RENEW(d->budget, d->other, d->other_room, events);
    }
    for (uint32_t m = 0; m < s->size; m++) {
        syn_train own = s->train[m];
        int64_t start = syn_window_start(d->ladder, d->bin, s->member[m]);
        int64_t length = syn_window_length(d->ladder, d->bin, s->member[m]);
        for (size_t e = 0; e < own.n; e++) {
            uint64_t end = (uint64_t)(own.tick[e] - start - least);
            d->key[at++] = (end - (uint64_t)length) << EVENT_BITS | m << 1 | 1;
            d->key[at++] = end << EVENT_BITS | m << 1;
        }
    }
    *bits = syn_radix_bits((uint64_t)(most - least) + 1) + EVENT_BITS;
    return SYN_OK;
}

/* ---- highest moments ---- */

/* Each rise of the score that is followed by a fall is a candidate, when two members at
   least speak for it. */
static syn_status list_peaks(sweep *s, const uint64_t *key, size_t events)
{
    uint32_t spikes[SYN_ASSEMBLY_MOST] = {0}, present = 0;
    double score = 0;
    int64_t since = 0;
    int rising = 0;
    for (size_t i = 0; i < events; i++) {
        uint32_t m = (uint32_t)(key[i] >> 1 & (SYN_ASSEMBLY_MOST - 1));
        int64_t at = (int64_t)(key[i] >> EVENT_BITS);
        if (key[i] & 1) {
            score -= s->score[m][spikes[m] < MOST_SPIKES ? spikes[m] : MOST_SPIKES - 1];
            present += spikes[m]++ == 0;
            score += s->score[m][spikes[m] < MOST_SPIKES ? spikes[m] : MOST_SPIKES - 1];
            since = at;
            rising = 1;
            continue;
        }
        if (rising && present >= 2) {
            SYN_GROW(s->d->budget, s->d->found, s->d->room, s->d->n + 1);
            s->d->found[s->d->n++] = (syn_activation){
                .tick = s->origin + since + (at - since) / 2, .score = score};
        }
        rising = 0;
        score -= s->score[m][spikes[m] < MOST_SPIKES ? spikes[m] : MOST_SPIKES - 1];
        present -= --spikes[m] == 0;
        score += s->score[m][spikes[m] < MOST_SPIKES ? spikes[m] : MOST_SPIKES - 1];
    }
    return SYN_OK;
}

/* Takes the highest, and then none nearer to it than the separation. */
static syn_status separate(sweep *s)
{
    syn_detector *d = s->d;
    size_t n = 0;
    if (d->n > d->kept_room)
        d->kept = syn_budget_renew(d->budget, d->kept, &d->kept_room, d->n,
                                   sizeof *d->kept);
    if (!d->kept && d->n > 0)
        return syn_budget_refusal(d->budget);
    /* Numbers of candidates, the highest score first, then the earliest; they are in time
       order, and as many as there are keys at most. */
    const double fine = 1e7;  /* SYN_ASSEMBLY_MOST * CUT * fine is below 2^32 */
    for (size_t i = 0; i < d->n; i++) {
        double below = SYN_ASSEMBLY_MOST * CUT - d->found[i].score;
        d->key[i] = (uint64_t)(below * fine) << 32 | i;
    }
    const uint64_t *order = syn_radix_sort(d->key, d->other, d->n, 32, 32);
    for (size_t k = 0; k < d->n; k++) {
        size_t i = (uint32_t)order[k];
        syn_activation *here = d->found + i;
        if (here->score < 0)
            continue;
        d->kept[n++] = *here;
        for (size_t j = i; j-- > 0 && here->tick - d->found[j].tick < s->separation;)
            d->found[j].score = -1;
        for (size_t j = i + 1;
             j < d->n && d->found[j].tick - here->tick < s->separation; j++)
            d->found[j].score = -1;
    }
    memcpy(d->found, d->kept, n * sizeof *d->kept);
    d->n = n;
    return SYN_OK;
}

static syn_status run(sweep *s)
{
    size_t events;
    int bits = 0;
    s->d->n = 0;
    syn_status status = list_events(s, &events, &bits);
    if (status != SYN_OK || events == 0)
        return status;
    const uint64_t *key = syn_radix_sort(s->d->key, s->d->other, events, 0, bits);
    status = list_peaks(s, key, events);
    return status == SYN_OK ? separate(s) : status;
}

/* ---- the threshold ---- */

static void prepare(sweep *s, syn_detector *d, const syn_assembly *group, uint32_t but,
                    const syn_surprise *surprise)
{
    *s = (sweep){.d = d, .spread = 1};
    for (uint32_t m = 0; m < group->size; m++) {
        if (m == but)
            continue;
        syn_member here = group->member[m];
        int64_t length = syn_window_length(d->ladder, d->bin, here);
        memcpy(s->score[s->size], surprise->of[m], sizeof surprise->of[m]);
        s->separation = length > s->separation ? length : s->separation;
        s->train[s->size] = syn_segments_train(d->segments, here.unit);
        s->member[s->size++] = here;
    }
}

static int falling(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

/* Chooses the threshold, with the scores of all moved groups, the highest first. */
static void settle(const syn_detector *d, const double *null, size_t nulls, double moves,
                   double unsure, syn_detected *out)
{
    double best = 0;
    size_t k = 0;
    *out = (syn_detected){.n = 0};
    for (size_t n = 1; n <= d->n; n++) {
        double threshold = d->found[n - 1].score;
        if (n < d->n && d->found[n].score >= threshold - 1e-9)
            continue;
        while (k < nulls && null[k] >= threshold - 1e-9)
            k++;
        double expected = (double)k / moves;
        double off = unsure * expected;
        double standing =
            ((double)n - expected) / sqrt((double)n + expected + 1 + off * off);
        if (standing > best) {
            best = standing;
            *out = (syn_detected){.n = n, .expected = expected, .threshold = threshold};
        }
    }
}

/* Moves members apart, in the k-th way, from 1 on: they take places in random order,
   each APART to APART + `spread` of the widest windows, or one or two events, after the
   one before. */
static syn_status move_apart(sweep *s, uint32_t k)
{
    syn_detector *d = s->d;
    uint32_t order[SYN_ASSEMBLY_MOST];
    int64_t place[SYN_ASSEMBLY_MOST];
    syn_random rng;
    syn_random_start(&rng, 0, k);
    for (uint32_t m = 0; m < s->size; m++) {
        uint32_t other = (uint32_t)syn_random_below(&rng, (uint64_t)m + 1);
        double further = syn_random_uniform(&rng);
        double windows = APART + s->spread * further;
        int64_t by = d->locked ? 1 + (further < 0.5)
                               : (int64_t)(windows * (double)s->separation);
        order[m] = order[other];
        order[other] = m;
        place[m] = m == 0 ? 0 : place[m - 1] + by;
    }
    int64_t middle = place[s->size - 1] / 2;
    size_t n = 0;
    for (uint32_t m = 0; m < s->size; m++) {
        syn_train own = s->train[m];
        int64_t shift = place[order[m]] - middle;
        if (d->locked)
            SYN_TRY(syn_locked_plan(d->locked, shift));
        s->train[m].n = d->locked ? syn_locked_move(d->locked, own, NULL) : own.n;
        SYN_GROW(d->budget, d->moved, d->moved_room, n + s->train[m].n + 1);
        if (d->locked)
            syn_locked_move(d->locked, own, d->moved + n);
        else
            pace_turn(&d->pace, own, shift, d->moved + n);
        n += s->train[m].n;
    }
    for (uint32_t m = s->size; m-- > 0;) {
        n -= s->train[m].n;
        s->train[m].tick = d->moved + n;
    }
    return SYN_OK;
}

/* Finds the activations that remain after the members are moved apart in time. */
static syn_status run_apart(sweep *s, uint32_t k)
{
    SYN_TRY(move_apart(s, k));
    return run(s);
}

/* Sets the clock by the units that are not members; events need none. */
static syn_status set_clock(const sweep *s)
{
    syn_detector *d = s->d;
    int64_t cell = s->separation > d->step ? s->separation : d->step;
    return d->locked ? SYN_OK : pace_set(&d->pace, cell, s->train, s->size);
}

/* How many of those found reach a threshold. */
static size_t reach_threshold(const syn_detector *d, double threshold)
{
    size_t n = 0;
    while (n < d->n && d->found[n].score >= threshold - 1e-9)
        n++;
    return n;
}

/* A plan of moves between events is one for all. */
static int threads_of(const syn_detector *d) { return d->locked ? 1 : d->threads; }

typedef struct detecting {
    syn_detector *detector;
    const syn_assembly *group;
    uint32_t but;
    const syn_surprise *surprise;
} detecting;

/* The group as it is is item 0; in the way `item`, its members are moved apart. */
static syn_status sweep_one(void *context, size_t item, int thread)
{
    const detecting *c = context;
    syn_detector *d = item == 0 ? c->detector : c->detector->worker + thread;
    sweep s;
    prepare(&s, d, c->group, c->but, c->surprise);
    if (item == 0)
        return run(&s);
    SYN_TRY(run_apart(&s, (uint32_t)item));
    SYN_GROW(d->budget, d->null, d->null_room, d->nulls + d->n);
    for (size_t i = 0; i < d->n; i++)
        d->null[d->nulls++] = d->found[i].score;
    return SYN_OK;
}

/* Puts the scores that workers have found together, the highest first. */
static syn_status collect_nulls(syn_detector *d)
{
    d->nulls = 0;
    for (int t = 0; t < d->threads; t++) {
        const syn_detector *w = d->worker + t;
        SYN_GROW(d->budget, d->null, d->null_room, d->nulls + w->nulls);
        for (size_t i = 0; i < w->nulls; i++)
            d->null[d->nulls++] = w->null[i];
    }
    if (d->nulls > 0)
        qsort(d->null, d->nulls, sizeof *d->null, falling);
    return SYN_OK;
}

syn_status syn_detect(syn_detector *detector, const syn_assembly *group, uint32_t but,
                      const syn_surprise *surprise, uint32_t moves, double unsure,
                      syn_detected *out)
{
    sweep s;
    prepare(&s, detector, group, but, surprise);
    SYN_TRY(set_clock(&s));
    for (int t = 0; t < detector->threads; t++) {
        detector->worker[t].pace = detector->pace;
        detector->worker[t].nulls = 0;
    }
    detecting c = {detector, group, but, surprise};
    SYN_TRY(syn_parallel_for((size_t)moves + 1, threads_of(detector), NULL, "groups",
                             sweep_one, &c));
    SYN_TRY(collect_nulls(detector));
    settle(detector, detector->null, detector->nulls, moves, unsure, out);
    return SYN_OK;
}

/* ---- a threshold that is given ---- */

/* Windows by which moves differ, at most: many ways differ, and rates that are shared for
   some windows are still shared. */
static const double FAR = 2;

/* As far as members stay apart in all trials, also around their ends. */
static double far_apart(const sweep *s)
{
    const syn_segments *g = s->d->segments;
    double shortest = INFINITY;
    for (uint32_t k = 0; k < g->trials; k++)
        shortest = fmin(shortest, (double)(g->closed[k] - g->opened[k] + 1));
    double windows = shortest / (double)s->separation;
    return fmin(FAR, fmax(1, (windows - APART) / (s->size - 1.0) - APART));
}

syn_status syn_detect_at(syn_detector *detector, const syn_assembly *group,
                         const syn_surprise *surprise, double threshold, uint32_t moves,
                         uint32_t *moved, size_t *n, const syn_watch *watch)
{
    sweep s;
    prepare(&s, detector, group, group->size, surprise);
    double spread = far_apart(&s);
    SYN_TRY(set_clock(&s));
    for (uint32_t k = 1; k <= moves; k++) {
        SYN_TRY(syn_poll(watch, "activations", k, moves));
        prepare(&s, detector, group, group->size, surprise);
        s.spread = spread;
        SYN_TRY(run_apart(&s, k));
        moved[k - 1] = (uint32_t)reach_threshold(detector, threshold);
    }
    prepare(&s, detector, group, group->size, surprise);
    SYN_TRY(run(&s));
    *n = reach_threshold(detector, threshold);
    return SYN_OK;
}

/* ---- learning ---- */

/* Of each member, how many activations there are with so many of its spikes. */
typedef struct spike_counts {
    uint32_t of[SYN_ASSEMBLY_MOST][MOST_SPIKES];
} spike_counts;

/* Those of what was found with the threshold at least. */
static void count_spikes(const sweep *s, double threshold, spike_counts *out)
{
    size_t found = reach_threshold(s->d, threshold);
    for (size_t i = 0; i < found; i++)
        for (uint32_t m = 0; m < s->size; m++) {
            uint32_t n =
                window_spikes(s->d, s->member[m], s->train[m], s->d->found[i].tick);
            out->of[m][n < MOST_SPIKES ? n : MOST_SPIKES - 1]++;
        }
}

typedef struct learning {
    detecting from;
    double threshold;
    spike_counts *moved;  /* [moves] */
} learning;

static syn_status count_moved(void *context, size_t item, int thread)
{
    const learning *l = context;
    const detecting *c = &l->from;
    sweep s;
    prepare(&s, c->detector->worker + thread, c->group, c->but, c->surprise);
    SYN_TRY(run_apart(&s, (uint32_t)item + 1));
    count_spikes(&s, l->threshold, l->moved + item);
    return SYN_OK;
}

/* score[n] where `seen` activations have n spikes, of `all`, and `mean` are expected. A
   spike never speaks against an activation. */
static void learn_scores(const double *seen, double all, double mean, double *score)
{
    double term = exp(-mean), none = 0, most = 0;
    for (int n = 0; n < MOST_SPIKES; n++) {
        double chance = term > 1e-12 ? term : 1e-12, own = seen[n] > 0 ? seen[n] : 0;
        double ratio = log((own + PRIOR * chance) / (all + PRIOR) / chance);
        none = n == 0 ? ratio : none;
        most = ratio - none > most ? ratio - none : most;
        score[n] = most < CUT ? most : CUT;
        term *= mean / (n + 1);
    }
}

/* Learns from what was found, and from what is found in each of `moves` ways. */
static void learn_from(const syn_detector *d, const syn_assembly *group,
                       const syn_detected *found, const spike_counts *seen,
                       const spike_counts *moved, uint32_t moves, syn_surprise *surprise)
{
    for (uint32_t m = 0; m < group->size; m++) {
        double above[MOST_SPIKES];
        for (int n = 0; n < MOST_SPIKES; n++) {
            above[n] = seen->of[m][n];
            for (uint32_t k = 0; k < moves; k++)
                above[n] -= moved[k].of[m][n] / (double)moves;
        }
        learn_scores(above, (double)found->n - found->expected,
                     expected_of(d, group->member[m]), surprise->of[m]);
    }
}

syn_status syn_surprise_learn(syn_detector *detector, const syn_assembly *group,
                              uint32_t moves, syn_surprise *surprise)
{
    syn_detected found;
    SYN_TRY(syn_detect(detector, group, group->size, surprise, moves, 0, &found));
    if ((double)found.n - found.expected < FEWEST)
        return SYN_OK;
    sweep s;
    spike_counts seen = {0};
    prepare(&s, detector, group, group->size, surprise);
    count_spikes(&s, found.threshold, &seen);
    learning l = {{detector, group, group->size, surprise}, found.threshold, NULL};
    SYN_TAKE_ZEROS(detector->budget, l.moved, moves);
    syn_status status = syn_parallel_for(moves, threads_of(detector), NULL, "groups",
                                         count_moved, &l);
    if (status == SYN_OK)
        learn_from(detector, group, &found, &seen, l.moved, moves, surprise);
    syn_budget_free(detector->budget, l.moved);
    return status;
}
