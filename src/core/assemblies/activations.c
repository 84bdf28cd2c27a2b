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

void syn_detector_free(syn_detector *d)
{
    SYN_GIVE(d->budget, d->found, d->key, d->other, d->kept, d->moved);
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

/* Moves members apart, in the k-th way, from 1 on: they take places in random order, each
   APART to APART + `spread` of the widest windows after the one before. */
static syn_status move_apart(sweep *s, uint32_t k)
{
    syn_detector *d = s->d;
    uint32_t order[SYN_ASSEMBLY_MOST];
    int64_t place[SYN_ASSEMBLY_MOST];
    size_t spikes = 0;
    syn_random rng;
    syn_random_start(&rng, 0, k);
    for (uint32_t m = 0; m < s->size; m++) {
        uint32_t other = (uint32_t)syn_random_below(&rng, (uint64_t)m + 1);
        double windows = APART + s->spread * syn_random_uniform(&rng);
        order[m] = order[other];
        order[other] = m;
        place[m] = m == 0 ? 0 : place[m - 1] + (int64_t)(windows * (double)s->separation);
        spikes += s->train[m].n;
    }
    if (spikes > d->moved_room)
        d->moved = syn_budget_renew(d->budget, d->moved, &d->moved_room, spikes,
                                    sizeof *d->moved);
    if (!d->moved && spikes > 0)
        return syn_budget_refusal(d->budget);
    int64_t *out = d->moved, middle = place[s->size - 1] / 2;
    for (uint32_t m = 0; m < s->size; m++) {
        syn_train *own = s->train + m;
        pace_turn(&d->pace, *own, place[order[m]] - middle, out);
        own->tick = out;
        out += own->n;
    }
    return SYN_OK;
}

/* Finds the activations that remain after the members are moved apart in time. */
static syn_status run_apart(sweep *s, uint32_t k)
{
    SYN_TRY(move_apart(s, k));
    return run(s);
}

syn_status syn_detect(syn_detector *detector, const syn_assembly *group, uint32_t but,
                      const syn_surprise *surprise, uint32_t moves, double unsure,
                      syn_detected *out)
{
    sweep s;
    double *null = NULL;
    size_t nulls = 0, room = 0;
    prepare(&s, detector, group, but, surprise);
    syn_status status = pace_set(
        &detector->pace, s.separation > detector->step ? s.separation : detector->step,
        s.train, s.size);
    for (uint32_t k = 1; k <= moves && status == SYN_OK; k++) {
        prepare(&s, detector, group, but, surprise);
        if ((status = run_apart(&s, k)) != SYN_OK)
            break;
        if (!syn_budget_grow_at(detector->budget, &null, &room, nulls + detector->n,
                                sizeof *null) &&
            detector->n > 0) {
            status = syn_budget_refusal(detector->budget);
            break;
        }
        for (size_t i = 0; i < detector->n; i++)
            null[nulls++] = detector->found[i].score;
    }
    if (status == SYN_OK) {
        if (nulls > 0)
            qsort(null, nulls, sizeof *null, falling);
        prepare(&s, detector, group, but, surprise);
        status = run(&s);
    }
    if (status == SYN_OK)
        settle(detector, null, nulls, moves, unsure, out);
    syn_budget_free(detector->budget, null);
    return status;
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

static size_t reach_threshold(const syn_detector *d, double threshold)
{
    size_t n = 0;
    while (n < d->n && d->found[n].score >= threshold - 1e-9)
        n++;
    return n;
}

syn_status syn_detect_at(syn_detector *detector, const syn_assembly *group,
                         const syn_surprise *surprise, double threshold, uint32_t moves,
                         uint32_t *moved, size_t *n, const syn_watch *watch)
{
    sweep s;
    prepare(&s, detector, group, group->size, surprise);
    double spread = far_apart(&s);
    SYN_TRY(pace_set(&detector->pace,
                     s.separation > detector->step ? s.separation : detector->step,
                     s.train, s.size));
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

/* Adds `weight` to seen[m][n] where a member m of the sweep has n spikes, for each moment
   found with the threshold at least. */
static void count_spikes(const sweep *s, double threshold, double weight,
                         double seen[][MOST_SPIKES])
{
    for (size_t i = 0; i < s->d->n && s->d->found[i].score >= threshold - 1e-9; i++)
        for (uint32_t m = 0; m < s->size; m++) {
            uint32_t n =
                window_spikes(s->d, s->member[m], s->train[m], s->d->found[i].tick);
            seen[m][n < MOST_SPIKES ? n : MOST_SPIKES - 1] += weight;
        }
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

syn_status syn_surprise_learn(syn_detector *detector, const syn_assembly *group,
                              uint32_t moves, syn_surprise *surprise)
{
    static const double none[MOST_SPIKES];
    double seen[SYN_ASSEMBLY_MOST][MOST_SPIKES];
    syn_detected found;
    sweep s;
    syn_status status =
        syn_detect(detector, group, group->size, surprise, moves, 0, &found);
    if (status != SYN_OK || (double)found.n - found.expected < FEWEST)
        return status;
    for (uint32_t m = 0; m < group->size; m++)
        memcpy(seen[m], none, sizeof none);
    prepare(&s, detector, group, group->size, surprise);
    count_spikes(&s, found.threshold, 1, seen);
    for (uint32_t k = 1; status == SYN_OK && k <= moves; k++) {
        prepare(&s, detector, group, group->size, surprise);
        status = run_apart(&s, k);
        count_spikes(&s, found.threshold, -1.0 / moves, seen);
    }
    for (uint32_t m = 0; status == SYN_OK && m < group->size; m++)
        learn_scores(seen[m], (double)found.n - found.expected,
                     expected_of(detector, group->member[m]), surprise->of[m]);
    return status;
}
