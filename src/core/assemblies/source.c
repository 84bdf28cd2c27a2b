/* Makes the peaks of the recording and of surrogates: pairs are gone through in waves,
   each of them by one thread, which notes the peaks of all its surrogates; after a wave
   these are put into the lists, in the order of pairs. */
#include "core/assemblies/source.h"

#include <math.h>
#include <string.h>

#include "core/assemblies/circular.h"
#include "core/assemblies/excess.h"
#include "core/base/parallel.h"

/* ---- lists of peaks ---- */

syn_status syn_peaks_make(syn_peaks *out, uint32_t units, syn_budget *budget)
{
    *out = (syn_peaks){.units = units, .budget = budget};
    SYN_TAKE_ZEROS(budget, out->first, syn_pair_count(units) + 1);
    return SYN_OK;
}

void syn_peaks_free(syn_peaks *peaks)
{
    SYN_GIVE(peaks->budget, peaks->first, peaks->peak);
    memset(peaks, 0, sizeof *peaks);
}

static syn_status peaks_add(syn_peaks *peaks, size_t p, const syn_peak *peak, size_t n)
{
    size_t at = peaks->first[p];
    if (n > 0) {
        SYN_GROW(peaks->budget, peaks->peak, peaks->room, at + n);
        memcpy(peaks->peak + at, peak, n * sizeof *peak);
    }
    peaks->first[p + 1] = at + n;
    return SYN_OK;
}

/* What a pair is judged by. */
typedef struct scan {
    const syn_ladder *ladder;
    const syn_lanes *lanes;
    double clumps[SYN_LADDER_RUNGS];  /* of the pair, */
    int32_t fewest[SYN_LADDER_RUNGS]; /* and the spikes in a window that is a peak, where
                                         nothing is common, at least */
    const double *common;  /* [places] NULL where nothing is common to pairs */
    const double *spread;  /* [places] */
    const int32_t *predicted;  /* lag 0 of the predictor of the pair, or NULL */
    int32_t least;         /* z of a peak, in parts of SYN_PEAK_SCALE, above 0 */
    syn_lanes_windows windows;  /* room for those of a rung */
    syn_peak *peak;        /* room for one a place */
    syn_budget *budget;
} scan;

/* ---- peaks of one histogram ----

   Scans histograms rung by rung: the windows whose z is large enough, then those of them
   that are the largest around. */

static syn_status scan_make(scan *out, const syn_ladder *ladder, const syn_lanes *lanes,
                            int32_t least, syn_budget *budget)
{
    *out = (scan){.ladder = ladder, .lanes = lanes, .least = least, .budget = budget};
    size_t n = 2 * (size_t)ladder->lags + 1;
    syn_lanes_windows *w = &out->windows;
    SYN_TAKE(budget, w->in, n);
    SYN_TAKE(budget, w->all, n);
    SYN_TAKE(budget, w->at, n);
    SYN_TAKE(budget, w->z, n);
    SYN_TAKE(budget, out->peak, ladder->first[ladder->rungs]);
    return SYN_OK;
}

/* Spikes in a window, without any beside it, whose z is enough. Of n, the deviance is at
   most 2 n log(1 + SYN_BESIDE): fewer than that asks for need not be tried. */
static int32_t fewest_of(double clumps, int32_t least)
{
    double low = (least - 1.0) / SYN_PEAK_SCALE;
    double too_few = floor(low * low * clumps / (2 * log(1 + SYN_BESIDE)));
    syn_sides s = {.in = too_few > 2 ? too_few : 2};
    syn_excess_scale e = {.clumps = clumps};
    while (syn_peak_z(syn_excess_z(s, e)) < least)
        s.in++;
    return (int32_t)s.in;
}

/* Takes over a pair of units; `unsure` as syn_lagged_unsure() has it. */
static void scan_pair(scan *s, const syn_lagged *p, uint32_t a, uint32_t b, double unsure)
{
    for (uint32_t r = 0; r < p->ladder.rungs; r++) {
        const double *clumps = p->clumps + (size_t)r * p->units;
        s->clumps[r] = clumps[a] * clumps[b] * unsure;
        s->fewest[r] = s->common ? 0 : fewest_of(s->clumps[r], s->least);
    }
}

/* Picks windows as syn_lanes.pick() does, where pairs have something in common. */
static uint32_t pick(const scan *s, const syn_lanes_windows *w, const int32_t *sum,
                     uint32_t rung)
{
    const double *common = s->common + s->ladder->first[rung];
    const double *spread = s->spread + s->ladder->first[rung];
    int32_t reach = (int32_t)s->ladder->reach[rung];
    int32_t step = (int32_t)s->ladder->step[rung], half = (int32_t)s->ladder->half[rung];
    double low = (s->least - 1.0) / SYN_PEAK_SCALE;
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        int32_t lag = ((int32_t)i - reach) * step;
        if (sum[lag + half] - sum[lag - half - 1] < 2)
            continue;
        syn_sides sides = syn_sides_look(sum, half, lag);
        syn_excess_scale e = {.clumps = s->clumps[rung], .spread = spread[i]};
        e.common = syn_excess_common(common[i], s->predicted, half, lag);
        if (!syn_excess_may_pass(sides, e, low * low))
            continue;
        w->at[n] = i;
        w->z[n] = syn_peak_z(syn_excess_z(sides, e));
        n += w->z[n] >= s->least;
    }
    return n;
}

/* Whether none of the n windows picked, within `near` places of number i, is larger. */
static int is_peak(const syn_lanes_windows *w, uint32_t n, uint32_t i, uint32_t near)
{
    for (uint32_t j = i; j-- > 0 && w->at[i] - w->at[j] <= near;)
        if (w->z[j] >= w->z[i])
            return 0;
    for (uint32_t j = i + 1; j < n && w->at[j] - w->at[i] <= near; j++)
        if (w->z[j] > w->z[i])
            return 0;
    return 1;
}

/* Lists in scan->peak the peaks of a histogram, of which `sum` points to lag 0 of its
   running sums with the margin of the ladder on both sides. Returns how many. */
static size_t scan_peaks(const scan *s, const int32_t *sum)
{
    const syn_ladder *l = s->ladder;
    size_t found = 0;
    for (uint32_t rung = 0; rung < l->rungs; rung++) {
        syn_lanes_windows w = s->windows;
        int32_t reach = (int32_t)l->reach[rung], step = (int32_t)l->step[rung];
        w.n = 2 * l->reach[rung] + 1;
        uint32_t n = s->common
                         ? pick(s, &w, sum, rung)
                         : s->lanes->pick(&w, sum, (int32_t)l->half[rung], step,
                                          s->clumps[rung], s->fewest[rung], s->least);
        for (uint32_t i = 0; i < n; i++)
            if (is_peak(&w, n, i, (uint32_t)syn_peak_reach(l, rung)))
                s->peak[found++] = (syn_peak){.lag = ((int32_t)w.at[i] - reach) * step,
                                              .rung = (uint16_t)rung,
                                              .z = (int16_t)w.z[i]};
    }
    return found;
}

enum {
    REGISTER = 16, /* numbers in the widest one */
    WAVE = 64,    /* pairs a thread and wave */
    TASTED = 100  /* pairs whose peaks in a surrogate say how many all have */
};

static const double PART_OF_BUDGET = 0.75;
static const double SLACK = 1.3;  /* as lists that grow have more room than they need */

typedef struct worker {
    scan scan;
    syn_circular circular;  /* of surrogates alone */
    int32_t *sum;           /* [syn_lagged_length()] */
    syn_peak *peak;         /* what was found in this wave, pair after pair */
    size_t found, room;
    uint32_t surrogate;     /* the next one to be looked through */
    int counted;            /* whether the histograms of a pair are ready */
} worker;

/* Where a pair's peaks are. */
typedef struct place {
    int worker;
    size_t at;
} place;

typedef struct job {
    const syn_pair_source *source;
    worker *worker;      /* [threads] */
    uint64_t from;       /* the first surrogate */
    uint32_t lists;      /* surrogates, or 1: the recording */
    int surrogates;
    syn_peaks *out;      /* [lists] or NULL */
    uint32_t *found;     /* [wave * lists] peaks */
    place *place;        /* [wave] */
    size_t wave, first;  /* pairs of a wave, and the first of this one */
    uint32_t *a, *b;     /* [wave] its pairs */
    const syn_watch *watch;
} job;

/* ---- memory ---- */

static void release(job *j, int threads)
{
    syn_budget *budget = j->source->pairs->budget;
    for (int t = 0; j->worker && t < threads; t++) {
        worker *w = j->worker + t;
        SYN_GIVE(w->scan.budget, w->scan.windows.in, w->scan.windows.all,
                 w->scan.windows.at, w->scan.windows.z, w->scan.peak);
        memset(&w->scan, 0, sizeof w->scan);
        syn_circular_free(&w->circular);
        SYN_GIVE(budget, w->sum, w->peak);
    }
    SYN_GIVE(budget, j->worker, j->found, j->place, j->a, j->b);
}

static syn_status make_worker(const job *j, worker *w)
{
    const syn_pair_source *s = j->source;
    const syn_lagged *p = s->pairs;
    const syn_lanes *lanes = syn_lanes_fastest(s->vector_bits);
    SYN_TRY(scan_make(&w->scan, &p->ladder, lanes, s->least, p->budget));
    SYN_TAKE_ZEROS(p->budget, w->sum, syn_lagged_length(p) + REGISTER);
    if (!j->surrogates) {
        w->scan.common = p->common;
        w->scan.spread = p->spread;
        w->scan.predicted = syn_lagged_predicted(p, w->sum + p->ladder.margin);
    }
    return j->surrogates ? syn_circular_make(&w->circular, s->binned, lanes, s->key,
                                             p->ladder.margin, j->lists, p->budget)
                         : SYN_OK;
}

static syn_status make(job *j, int threads)
{
    const syn_lagged *p = j->source->pairs;
    j->wave = WAVE * (size_t)threads;
    SYN_TAKE_ZEROS(p->budget, j->worker, (size_t)threads);
    SYN_TAKE(p->budget, j->found, j->wave * j->lists);
    SYN_TAKE(p->budget, j->place, j->wave);
    SYN_TAKE(p->budget, j->a, j->wave);
    SYN_TAKE(p->budget, j->b, j->wave);
    for (int t = 0; t < threads; t++)
        SYN_TRY(make_worker(j, j->worker + t));
    for (uint32_t i = 0; j->out && i < j->lists; i++)
        SYN_TRY(syn_peaks_make(j->out + i, p->units, p->budget));
    return SYN_OK;
}

/* ---- a pair ---- */

/* Notes the peaks of the histogram in w->sum. */
static syn_status look(const job *j, worker *w, size_t item, uint32_t list)
{
    const syn_lagged *p = j->source->pairs;
    size_t n = scan_peaks(&w->scan, w->sum + p->ladder.margin);
    j->found[item * j->lists + list] = (uint32_t)n;
    if (n == 0)
        return SYN_OK;
    SYN_GROW(p->budget, w->peak, w->room, w->found + n);
    memcpy(w->peak + w->found, w->scan.peak, n * sizeof *w->peak);
    w->found += n;
    return SYN_OK;
}

static syn_status look_through(const job *j, worker *w, size_t item)
{
    double started = syn_seconds();
    while (w->surrogate < j->lists) {
        SYN_TRY(syn_circular_sums(&w->circular, w->surrogate, w->sum));
        SYN_TRY(look(j, w, item, w->surrogate++));
        if (w->surrogate % 16 == 0 && syn_seconds() - started > SYN_SLICE_SECONDS)
            return SYN_UNFINISHED;
    }
    w->counted = 0;
    return SYN_OK;
}

static syn_status do_pair(void *context, size_t item, int thread)
{
    const job *j = context;
    const syn_lagged *p = j->source->pairs;
    worker *w = j->worker + thread;
    uint32_t a = j->a[item], b = j->b[item];
    if (w->counted)
        return look_through(j, w, item);
    if (j->source->only && !j->source->only[syn_pair_number(a, b)]) {
        j->found[item * j->lists] = 0;
        j->place[item] = (place){.worker = thread, .at = w->found};
        return SYN_OK;
    }
    scan_pair(&w->scan, p, a, b, j->surrogates ? 1 : syn_lagged_unsure(p));
    j->place[item] = (place){.worker = thread, .at = w->found};
    SYN_TRY(j->surrogates ? syn_circular_count(&w->circular, a, b, j->from)
                          : syn_lagged_sums(p, a, b, w->sum));
    if (!j->surrogates)
        return look(j, w, item, 0);
    w->surrogate = 0;
    w->counted = 1;
    return look_through(j, w, item);
}

/* ---- waves ---- */

static int poll(void *data, const char *stage, double done, double total)
{
    const job *j = data;
    double pairs = (double)syn_pair_count(j->source->pairs->units);
    double here = total > 0 ? done / total * (double)j->wave : 0;
    (void)stage;
    return syn_poll(j->watch, "pairs", (double)j->first + here, pairs) != SYN_OK;
}

/* Puts what was found in a wave into the lists. */
static syn_status put(job *j, size_t n)
{
    for (size_t item = 0; item < n; item++) {
        const worker *w = j->worker + j->place[item].worker;
        size_t at = j->place[item].at;
        for (uint32_t i = 0; i < j->lists; i++) {
            uint32_t found = j->found[item * j->lists + i];
            SYN_TRY(peaks_add(j->out + i, j->first + item, w->peak ? w->peak + at : NULL,
                              found));
            at += found;
        }
    }
    return SYN_OK;
}

static syn_status do_pairs(job *j, int threads)
{
    size_t pairs = syn_pair_count(j->source->pairs->units);
    syn_watch watch = {.poll = poll, .data = j};
    uint32_t a = 0, b = 1;
    syn_status status = SYN_OK;
    for (; status == SYN_OK && j->first < pairs; j->first += j->wave) {
        size_t n = pairs - j->first < j->wave ? pairs - j->first : j->wave;
        for (size_t i = 0; i < n; i++) {
            j->a[i] = a;
            j->b[i] = b;
            if (++a == b) {
                a = 0;
                b++;
            }
        }
        for (int t = 0; t < threads; t++)
            j->worker[t].found = 0;
        status = syn_parallel_for(n, threads, &watch, "pairs", do_pair, j);
        SYN_NEXT(status, put(j, n));
    }
    return status;
}

static syn_status run(job *j)
{
    int threads = j->source->pairs->threads;
    memset(j->out, 0, j->lists * sizeof *j->out);
    syn_status status = make(j, threads);
    SYN_NEXT(status, do_pairs(j, threads));
    release(j, threads);
    return status;
}

/* ---- the source ---- */

syn_status syn_pair_source_recording(void *self, syn_peaks *out, const syn_watch *watch)
{
    syn_pair_source *s = self;
    job j = {.source = s, .lists = 1, .out = out, .watch = watch};
    return run(&j);
}

/* Finds about how many peaks a surrogate has, from some pairs of one. */
static syn_status taste(syn_pair_source *s, uint64_t from, const syn_watch *watch)
{
    uint32_t units = s->pairs->units, n = 0;
    size_t all = syn_pair_count(units), every = all / TASTED + 1, pair = 0;
    job j = {.source = s, .from = from, .lists = 1, .surrogates = 1};
    syn_status status = make(&j, 1);
    for (uint32_t b = 1; status == SYN_OK && b < units; b++)
        for (; status == SYN_OK && pair < syn_pair_count(b + 1); pair += every, n++) {
            j.a[0] = (uint32_t)(pair - syn_pair_count(b));
            j.b[0] = b;
            do
                status = syn_poll(watch, "pairs", 0, (double)all);
            while (status == SYN_OK && (status = do_pair(&j, 0, 0)) == SYN_UNFINISHED);
        }
    s->expected = n > 0 ? (double)j.worker->found / n * (double)all : 0;
    release(&j, 1);
    return status;
}

/* How many surrogates there is room for. */
static uint32_t room_for(const syn_pair_source *s, uint32_t n)
{
    const syn_lagged *p = s->pairs;
    double pairs = (double)syn_pair_count(p->units) + 1, threads = p->threads;
    double each = pairs * sizeof(size_t) + s->expected * sizeof(syn_peak) * SLACK +
                  threads * (syn_circular_bytes(p->ladder.margin, 1) +
                             WAVE * (sizeof(uint32_t) +
                                     s->expected / pairs * sizeof(syn_peak)));
    double left = (double)syn_budget_left(p->budget) -
                  syn_search_bytes(s->expected, p->threads);
    double fit = PART_OF_BUDGET * left / each;
    return fit < 1 ? 1 : fit < n ? (uint32_t)fit : n;
}

/* Fewer where there was not room for so many. */
static syn_status surrogates(void *self, uint64_t from, uint32_t n, syn_peaks *out,
                             uint32_t *made, const syn_watch *watch)
{
    syn_pair_source *s = self;
    memset(out, 0, n * sizeof *out);
    SYN_TRY(s->expected > 0 ? SYN_OK : taste(s, from, watch));
    for (*made = room_for(s, n);; *made /= 2) {
        job j = {.source = s, .from = from, .lists = *made, .surrogates = 1, .out = out,
                 .watch = watch};
        syn_status status = run(&j);
        if (status != SYN_OVER_BUDGET || *made == 1)
            return status;
        for (uint32_t i = 0; i < *made; i++)
            syn_peaks_free(out + i);
    }
}

/* ---- the ground ---- */

syn_ladder syn_ladder_make(uint32_t lags, uint32_t widest)
{
    syn_ladder l = {.lags = lags};
    uint32_t half = 0;
    while (l.rungs < SYN_LADDER_RUNGS && 2 * half + 1 <= widest) {
        uint32_t r = l.rungs++;
        l.half[r] = half;
        l.step[r] = half < 2 ? 1 : half / 2;
        l.reach[r] = lags / l.step[r];
        l.first[r + 1] = l.first[r] + 2 * l.reach[r] + 1;
        half = half == 0 ? 1 : 2 * half;
    }
    uint32_t last = l.half[l.rungs - 1];
    l.margin = lags + last + (last + 1) + SYN_LADDER_BESIDE * (2 * last + 1) + 1;
    return l;
}

syn_status syn_ground_make(syn_ground *out, const syn_spikes *calm, const syn_spikes *all,
                           const syn_ground_options *o, syn_budget *budget,
                           const syn_watch *watch)
{
    syn_ladder ladder = syn_ladder_make(o->lags, o->widest);
    SYN_TRY(syn_segments_make(&out->segments, calm, o->segment,
                              syn_lagged_reach(&ladder, o->bin), budget, watch));
    if (o->events.n > 0)
        SYN_TRY(syn_locked_make(&out->locked, &o->events, &out->segments, budget));
    SYN_TRY(syn_binned_make(&out->binned, &out->segments.trains, o->bin, budget));
    SYN_TRY(syn_lagged_make(&out->pairs, &ladder, o->bin, all->units,
                            o->events.n > 0 ? &out->locked : NULL, o->threads, budget));
    out->made_by = (syn_pair_source){.pairs = &out->pairs,
                                     .binned = &out->binned,
                                     .key = o->key,
                                     .least = o->least,
                                     .vector_bits = o->vector_bits};
    /* The functions of a source; `self` and all it points to must stay. `pairs` were
       counted in the recording. A surrogate has nothing in common between pairs, and
       spikes in clumps as the recording has them. Peaks of surrogates are made as
       many as fit into three quarters of what is left of the budget beside
       syn_search_bytes(). */
    out->source = (syn_peak_source){
        .self = &out->made_by,
        .recording = syn_pair_source_recording,
        .surrogates = surrogates};
    SYN_TRY(syn_lagged_count(&out->pairs, &out->segments.recording, all, watch));
    return o->elsewhere
               ? o->elsewhere->open(o->elsewhere->self, &out->made_by, &out->source)
               : SYN_OK;
}

syn_status syn_ground_recording(syn_ground *ground, syn_peaks *out,
                                const syn_watch *watch)
{
    const syn_peak_source *s = &ground->source;
    syn_status status = s->recording(s->self, out, watch);
    if (!ground->pairs.locked || s->self == &ground->made_by)
        return status;
    syn_peaks_free(out);
    return status == SYN_OK ? syn_pair_source_recording(&ground->made_by, out, watch)
                            : status;
}

void syn_ground_free(syn_ground *ground)
{
    syn_lagged_free(&ground->pairs);
    syn_locked_free(&ground->locked);
    syn_binned_free(&ground->binned);
    syn_segments_free(&ground->segments);
}
