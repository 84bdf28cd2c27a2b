/* Finds activations by a sweep over all moments. A spike of a member speaks for the
   moments from which its window would contain it. The score of a moment is the sum, over
   members, of -log P(as many spikes or more), of a Poisson process with the member's
   rate, cut at CUT so that no member decides alone. Scores change where a spike begins or
   ceases to speak; highest moments are taken first, and none within the widest window of
   one that was taken.

   To learn what spikes speak for, and to ask about each member what the others say, takes
   many sweeps. So these moments are put in order once for each way to move members
   apart. */
#include "core/assemblies/activations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "core/base/parallel.h"
#include "core/base/radix.h"
#include "core/base/random.h"
#include "core/base/seek.h"

enum { MOST_SPIKES = SYN_SURPRISE_SPIKES, EVENT_BITS = 7 };

static const double CUT = 6;
static const double PRIOR = 4;      /* activations that are taken for chance beforehand */
static const double FEWEST = 12;    /* above what is expected, to learn from */
static const double APART = 1.5;    /* windows that members are moved apart, at least */
static const double SPREAD = 1;     /* windows by which moves differ */

/* ---- memory ---- */

syn_status syn_detector_make(syn_detector *d)
{
    d->pace = (syn_pace){.segments = d->segments, .budget = d->budget};
    SYN_TAKE_ZEROS(d->budget, d->finder, (size_t)d->threads);
    return SYN_OK;
}

static syn_status need_ways(syn_detector *d, size_t ways)
{
    size_t before = d->ways;
    if (ways <= before)
        return SYN_OK;
    SYN_GROW(d->budget, d->way, d->ways, ways);
    memset(d->way + before, 0, (d->ways - before) * sizeof *d->way);
    return SYN_OK;
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

/* Moves the trains of `way` apart, in the k-th way, from 1 on: members take places in
   random order, each APART to APART + `spread` of the widest windows, or one or two
   events, after the one before. */
static syn_status move_apart(const syn_detector *d, uint32_t k, double spread,
                             syn_way *way)
{
    uint32_t order[SYN_ASSEMBLY_MOST], size = d->group.size;
    int64_t place[SYN_ASSEMBLY_MOST];
    syn_random rng;
    syn_random_start(&rng, 0, k);
    for (uint32_t m = 0; m < size; m++) {
        uint32_t other = (uint32_t)syn_random_below(&rng, (uint64_t)m + 1);
        double further = syn_random_uniform(&rng);
        double windows = APART + spread * further;
        int64_t by = d->locked ? 1 + (further < 0.5)
                               : (int64_t)(windows * (double)d->separation);
        order[m] = order[other];
        order[other] = m;
        place[m] = m == 0 ? 0 : place[m - 1] + by;
    }
    int64_t middle = place[size - 1] / 2;
    size_t n = 0;
    for (uint32_t m = 0; m < size; m++) {
        syn_train own = way->train[m];
        int64_t shift = place[order[m]] - middle;
        if (d->locked)
            SYN_TRY(syn_locked_plan(d->locked, shift));
        way->train[m].n = d->locked ? syn_locked_move(d->locked, own, NULL) : own.n;
        SYN_GROW(d->budget, way->moved, way->moved_room, n + way->train[m].n + 1);
        if (d->locked)
            syn_locked_move(d->locked, own, way->moved + n);
        else
            syn_pace_turn(&d->pace, own, shift, way->moved + n);
        n += way->train[m].n;
    }
    for (uint32_t m = size; m-- > 0;) {
        n -= way->train[m].n;
        way->train[m].tick = way->moved + n;
    }
    return SYN_OK;
}

/* ---- events of the sweep ---- */

/* Two keys a spike: when it begins to speak for moments, and when it ceases. */
static syn_status put_in_order(const syn_detector *d, syn_way *way)
{
    size_t events = 0, at = 0;
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (uint32_t m = 0; m < d->group.size; m++) {
        syn_train own = way->train[m];
        if (own.n == 0)
            continue;
        int64_t start = syn_window_start(d->ladder, d->bin, d->group.member[m]);
        int64_t length = syn_window_length(d->ladder, d->bin, d->group.member[m]);
        int64_t first = own.tick[0] - start - length;
        int64_t last = own.tick[own.n - 1] - start;
        least = first < least ? first : least;
        most = last > most ? last : most;
        events += 2 * own.n;
    }
    way->events = events;
    way->origin = least;
    if (events == 0)
        return SYN_OK;
    SYN_RENEW(d->budget, way->key, way->key_room, events);
    SYN_RENEW(d->budget, way->other, way->other_room, events);
    for (uint32_t m = 0; m < d->group.size; m++) {
        syn_train own = way->train[m];
        int64_t start = syn_window_start(d->ladder, d->bin, d->group.member[m]);
        int64_t length = syn_window_length(d->ladder, d->bin, d->group.member[m]);
        for (size_t e = 0; e < own.n; e++) {
            uint64_t end = (uint64_t)(own.tick[e] - start - least);
            way->key[at++] = (end - (uint64_t)length) << EVENT_BITS | m << 1 | 1;
            way->key[at++] = end << EVENT_BITS | m << 1;
        }
    }
    int bits = syn_radix_bits((uint64_t)(most - least) + 1) + EVENT_BITS;
    way->event = syn_radix_sort(way->key, way->other, events, 0, bits);
    return SYN_OK;
}

/* The k-th way; 0 for the members as they are. */
static syn_status lay_way(const syn_detector *d, uint32_t k, double spread, syn_way *way)
{
    for (uint32_t m = 0; m < d->group.size; m++)
        way->train[m] = syn_segments_train(d->segments, d->group.member[m].unit);
    if (k > 0)
        SYN_TRY(move_apart(d, k, spread, way));
    return put_in_order(d, way);
}

/* Takes over a group, and sets the clock by the units that are not members; events need
   none. */
static syn_status take_group(syn_detector *d, const syn_assembly *group)
{
    syn_train train[SYN_ASSEMBLY_MOST];
    d->group = *group;
    d->separation = 0;
    for (uint32_t m = 0; m < group->size; m++) {
        int64_t length = syn_window_length(d->ladder, d->bin, group->member[m]);
        d->separation = length > d->separation ? length : d->separation;
        train[m] = syn_segments_train(d->segments, group->member[m].unit);
    }
    int64_t cell = d->separation > d->step ? d->separation : d->step;
    return d->locked ? SYN_OK : syn_pace_set(&d->pace, cell, train, group->size);
}

static syn_status lay_item(void *context, size_t item, int thread)
{
    const syn_detector *d = context;
    (void)thread;
    return lay_way(d, (uint32_t)item, SPREAD, d->way + item);
}

syn_status syn_detector_lay(syn_detector *d, const syn_assembly *group, uint32_t moves)
{
    size_t ways = (size_t)moves + 1;
    SYN_TRY(need_ways(d, ways));
    SYN_TRY(take_group(d, group));
    /* A plan of moves between events is one for all. */
    return syn_parallel_for(ways, d->locked ? 1 : d->threads, NULL, "groups", lay_item,
                            d);
}

/* ---- scores ---- */

/* Spikes of a member that are expected in its window. */
static double expected_of(const syn_detector *d, syn_member m)
{
    return (double)syn_segments_train(d->segments, m.unit).n *
           (double)syn_window_length(d->ladder, d->bin, m) /
           syn_segments_recorded_ticks(d->segments);
}

void syn_surprise_before(const syn_detector *detector, syn_surprise *out)
{
    const syn_assembly *group = &detector->group;
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

/* ---- highest moments ---- */

/* Lists each rise of the score that is followed by a fall, when two members at least
   speak for it. */
static syn_status list_peaks(const syn_detector *d, const syn_way *way, uint32_t but,
                             const syn_surprise *surprise, syn_finder *f)
{
    uint32_t spikes[SYN_ASSEMBLY_MOST] = {0}, present = 0;
    double score = 0;
    int64_t since = 0;
    int rising = 0;
    for (size_t i = 0; i < way->events; i++) {
        uint64_t key = way->event[i];
        uint32_t m = (uint32_t)(key >> 1 & (SYN_ASSEMBLY_MOST - 1));
        int64_t at = (int64_t)(key >> EVENT_BITS);
        const double *of = surprise->of[m];
        uint32_t before = spikes[m] < MOST_SPIKES ? spikes[m] : MOST_SPIKES - 1;
        if (m == but)
            continue;
        if (!(key & 1) && rising && present >= 2) {
            SYN_GROW(d->budget, f->found, f->found_room, f->n + 1);
            f->found[f->n++] = (syn_activation){
                .tick = way->origin + since + (at - since) / 2, .score = score};
        }
        rising = (int)(key & 1);
        since = rising ? at : since;
        present += rising && spikes[m] == 0;
        spikes[m] += rising ? 1u : UINT32_MAX;
        present -= !rising && spikes[m] == 0;
        score += of[spikes[m] < MOST_SPIKES ? spikes[m] : MOST_SPIKES - 1] - of[before];
    }
    return SYN_OK;
}

/* Takes the highest, and then none nearer to it than the separation. */
static syn_status separate(const syn_detector *d, syn_finder *f)
{
    size_t n = 0;
    SYN_RENEW(d->budget, f->kept, f->kept_room, f->n);
    SYN_RENEW(d->budget, f->key, f->key_room, f->n);
    SYN_RENEW(d->budget, f->other, f->other_room, f->n);
    /* Numbers of candidates, the highest score first, then the earliest; they are in time
       order. */
    const double fine = 1e7;  /* SYN_ASSEMBLY_MOST * CUT * fine is below 2^32 */
    for (size_t i = 0; i < f->n; i++) {
        double below = SYN_ASSEMBLY_MOST * CUT - f->found[i].score;
        f->key[i] = (uint64_t)(below * fine) << 32 | i;
    }
    const uint64_t *order = syn_radix_sort(f->key, f->other, f->n, 32, 32);
    for (size_t k = 0; k < f->n; k++) {
        size_t i = (uint32_t)order[k];
        syn_activation *here = f->found + i;
        if (here->score < 0)
            continue;
        f->kept[n++] = *here;
        for (size_t j = i; j-- > 0 && here->tick - f->found[j].tick < d->separation;)
            f->found[j].score = -1;
        for (size_t j = i + 1;
             j < f->n && f->found[j].tick - here->tick < d->separation; j++)
            f->found[j].score = -1;
    }
    f->n = n;
    return SYN_OK;
}

/* Fills f->kept with the activations of a way, the highest score first. */
static syn_status sweep(const syn_detector *d, const syn_way *way, uint32_t but,
                        const syn_surprise *surprise, syn_finder *f)
{
    f->n = 0;
    SYN_TRY(list_peaks(d, way, but, surprise, f));
    return f->n > 0 ? separate(d, f) : SYN_OK;
}

/* ---- the threshold ---- */

/* Chooses the threshold, with the scores of all moved groups, the highest first. */
static void settle(const syn_finder *f, double moves, double unsure, syn_detected *out)
{
    double best = 0;
    size_t k = 0;
    *out = (syn_detected){.found = f->kept};
    for (size_t n = 1; n <= f->n; n++) {
        double threshold = f->kept[n - 1].score;
        if (n < f->n && f->kept[n].score >= threshold - 1e-9)
            continue;
        while (k < f->nulls && f->null[k] >= threshold - 1e-9)
            k++;
        double expected = (double)k / moves;
        double off = unsure * expected;
        double standing =
            ((double)n - expected) / sqrt((double)n + expected + 1 + off * off);
        if (standing > best) {
            best = standing;
            out->n = n;
            out->expected = expected;
            out->threshold = threshold;
        }
    }
}

syn_status syn_detect(const syn_detector *d, int thread, uint32_t but,
                      const syn_surprise *surprise, uint32_t moves, double unsure,
                      syn_detected *out)
{
    syn_finder *f = d->finder + thread;
    f->nulls = 0;
    for (uint32_t k = 1; k <= moves; k++) {
        SYN_TRY(sweep(d, d->way + k, but, surprise, f));
        SYN_GROW(d->budget, f->null, f->null_room, f->nulls + f->n);
        for (size_t i = 0; i < f->n; i++)
            f->null[f->nulls++] = f->kept[i].score;
    }
    if (f->nulls > 0)
        qsort(f->null, f->nulls, sizeof *f->null, syn_by_falling);
    SYN_TRY(sweep(d, d->way, but, surprise, f));
    settle(f, moves, unsure, out);
    return SYN_OK;
}

/* ---- a threshold that is given ---- */

/* How many of those found reach a threshold. */
static size_t reach_threshold(const syn_finder *f, double threshold)
{
    size_t n = 0;
    while (n < f->n && f->kept[n].score >= threshold - 1e-9)
        n++;
    return n;
}

/* Windows by which moves differ, at most: many ways differ, and rates that are shared for
   some windows are still shared. */
static const double FAR = 2;

/* As far as members stay apart in all trials, also around their ends. */
static double far_apart(const syn_detector *d)
{
    const syn_segments *g = d->segments;
    double shortest = INFINITY;
    for (uint32_t k = 0; k < g->trials; k++)
        shortest = fmin(shortest, (double)(g->closed[k] - g->opened[k] + 1));
    double windows = shortest / (double)d->separation;
    return fmin(FAR, fmax(1, (windows - APART) / (d->group.size - 1.0) - APART));
}

syn_status syn_detect_at(syn_detector *d, const syn_assembly *group,
                         const syn_surprise *surprise, double threshold, uint32_t moves,
                         uint32_t *moved, syn_detected *out, const syn_watch *watch)
{
    syn_finder *f = d->finder;
    SYN_TRY(need_ways(d, 1));
    SYN_TRY(take_group(d, group));
    double spread = far_apart(d);
    for (uint32_t k = 1; k <= moves; k++) {
        SYN_TRY(syn_poll(watch, "activations", k, moves));
        SYN_TRY(lay_way(d, k, spread, d->way));
        SYN_TRY(sweep(d, d->way, group->size, surprise, f));
        moved[k - 1] = (uint32_t)reach_threshold(f, threshold);
    }
    SYN_TRY(lay_way(d, 0, spread, d->way));
    SYN_TRY(sweep(d, d->way, group->size, surprise, f));
    *out = (syn_detected){.found = f->kept, .n = reach_threshold(f, threshold),
                          .threshold = threshold};
    for (uint32_t k = 0; k < moves; k++)
        out->expected += (double)moved[k] / moves;
    return SYN_OK;
}

/* ---- learning ---- */

/* Adds `weight` to out->of[m][k] for each of the n highest activations of a way that has
   k spikes of member m. */
static void count_spikes(const syn_detector *d, const syn_way *way, const syn_finder *f,
                         size_t n, double weight, syn_surprise *out)
{
    for (size_t i = 0; i < n; i++)
        for (uint32_t m = 0; m < d->group.size; m++) {
            uint32_t spikes = window_spikes(d, d->group.member[m], way->train[m],
                                            f->kept[i].tick);
            out->of[m][spikes < MOST_SPIKES ? spikes : MOST_SPIKES - 1] += weight;
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

syn_status syn_surprise_learn(syn_detector *d, uint32_t moves, syn_surprise *surprise)
{
    syn_detected found;
    syn_surprise above = {{{0}}};  /* counts of those that are not by chance */
    uint32_t none = d->group.size;
    syn_finder *f = d->finder;
    SYN_TRY(syn_detect(d, 0, none, surprise, moves, 0, &found));
    double more = (double)found.n - found.expected;
    if (more < FEWEST)
        return SYN_OK;
    count_spikes(d, d->way, f, found.n, 1, &above);
    for (uint32_t k = 1; k <= moves; k++) {
        SYN_TRY(sweep(d, d->way + k, none, surprise, f));
        count_spikes(d, d->way + k, f, reach_threshold(f, found.threshold),
                     -1.0 / moves, &above);
    }
    for (uint32_t m = 0; m < d->group.size; m++)
        learn_scores(above.of[m], more, expected_of(d, d->group.member[m]),
                     surprise->of[m]);
    return SYN_OK;
}
