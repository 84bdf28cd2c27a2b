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

enum {
    REGISTER = 16, /* numbers in the widest one */
    WAVE = 64,    /* pairs a thread and wave */
    TASTED = 100  /* pairs whose peaks in a surrogate say how many all have */
};

static const double PART_OF_BUDGET = 0.75;
static const double SLACK = 1.3;  /* as lists that grow have more room than they need */

typedef struct worker {
    /* What a pair is judged by. */
    double clumps[SYN_LADDER_RUNGS];
    int32_t fewest[SYN_LADDER_RUNGS]; /* spikes in a window that is a peak, where nothing
                                         is common, at least */
    syn_lanes_windows windows;        /* room for those of a rung */
    syn_peak *own;          /* peaks of a histogram: room for one a place */

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
    const syn_lagged *pairs;
    const syn_lanes *lanes;
    worker *worker;      /* [threads] */
    uint64_t from;       /* the first surrogate */
    uint32_t lists;      /* surrogates, or 1: the recording */
    int surrogates;
    syn_peaks *out;      /* [lists] or NULL */
    uint32_t *found;     /* [wave * lists] peaks */
    place *place;        /* [wave] */
    size_t wave, first;  /* pairs of a wave, and the number of the first of this one */
    const syn_watch *watch;
    syn_budget own;      /* of all but `out` */
} job;

/* ---- peaks of one histogram ----

   Looks through histograms rung by rung: the windows whose z is large enough, then those
   of them that are the largest around. */

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

/* Takes over a pair of units. */
static void take_pair(const job *j, worker *w, uint32_t a, uint32_t b)
{
    const syn_lagged *p = j->pairs;
    for (uint32_t r = 0; r < p->ladder.rungs; r++) {
        const double *clumps = p->clumps + (size_t)r * p->units;
        w->clumps[r] = clumps[a] * clumps[b];
        if (j->surrogates)
            w->fewest[r] = fewest_of(w->clumps[r], j->source->least);
        else
            w->clumps[r] *= syn_lagged_unsure(p);
    }
}

/* Picks windows as syn_lanes.pick() does, where pairs have something in common. */
static uint32_t pick(const job *j, const worker *own, const syn_lanes_windows *w,
                     const int32_t *sum, uint32_t rung)
{
    const syn_lagged *p = j->pairs;
    const double *common = p->common + p->ladder.first[rung];
    const double *spread = p->spread + p->ladder.first[rung];
    const int32_t *predicted = syn_lagged_predicted(p, sum);
    int32_t reach = (int32_t)p->ladder.reach[rung], least = j->source->least;
    int32_t step = (int32_t)p->ladder.step[rung], half = (int32_t)p->ladder.half[rung];
    double low = (least - 1.0) / SYN_PEAK_SCALE;
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        int32_t lag = ((int32_t)i - reach) * step;
        if (sum[lag + half] - sum[lag - half - 1] < 2)
            continue;
        syn_sides sides = syn_sides_look(sum, half, lag);
        syn_excess_scale e = {.clumps = own->clumps[rung], .spread = spread[i]};
        e.common = syn_excess_common(common[i], predicted, half, lag);
        if (!syn_excess_may_pass(sides, e, low * low))
            continue;
        w->at[n] = i;
        w->z[n] = syn_peak_z(syn_excess_z(sides, e));
        n += w->z[n] >= least;
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

/* Notes the peaks of the histogram in w->sum. */
static syn_status look(job *j, worker *own, size_t item, uint32_t list)
{
    const syn_ladder *l = &j->pairs->ladder;
    const int32_t *sum = own->sum + l->margin;
    size_t found = 0;
    for (uint32_t rung = 0; rung < l->rungs; rung++) {
        syn_lanes_windows w = own->windows;
        int32_t reach = (int32_t)l->reach[rung], step = (int32_t)l->step[rung];
        w.n = 2 * l->reach[rung] + 1;
        uint32_t n = !j->surrogates
                         ? pick(j, own, &w, sum, rung)
                         : j->lanes->pick(&w, sum, (int32_t)l->half[rung], step,
                                          own->clumps[rung], own->fewest[rung],
                                          j->source->least);
        for (uint32_t i = 0; i < n; i++)
            if (is_peak(&w, n, i, (uint32_t)syn_peak_reach(l, rung)))
                own->own[found++] = (syn_peak){.lag = ((int32_t)w.at[i] - reach) * step,
                                               .rung = (uint16_t)rung,
                                               .z = (int16_t)w.z[i]};
    }
    j->found[item * j->lists + list] = (uint32_t)found;
    if (found == 0)
        return SYN_OK;
    SYN_GROW(&j->own, own->peak, own->room, own->found + found);
    memcpy(own->peak + own->found, own->own, found * sizeof *own->peak);
    own->found += found;
    return SYN_OK;
}

/* ---- memory ---- */

static syn_status make_worker(job *j, worker *w)
{
    const syn_ladder *l = &j->pairs->ladder;
    size_t n = 2 * (size_t)l->lags + 1;
    SYN_TAKE(&j->own, w->windows.in, n);
    SYN_TAKE(&j->own, w->windows.all, n);
    SYN_TAKE(&j->own, w->windows.at, n);
    SYN_TAKE(&j->own, w->windows.z, n);
    SYN_TAKE(&j->own, w->own, l->first[l->rungs]);
    SYN_TAKE_ZEROS(&j->own, w->sum, syn_lagged_length(j->pairs) + REGISTER);
    return j->surrogates ? syn_circular_make(&w->circular, j->source->binned, j->lanes,
                                             j->source->key, l->margin, j->lists, &j->own)
                         : SYN_OK;
}

/* The end of j->own frees all but the lists. */
static syn_status make(job *j, int threads)
{
    const syn_lagged *p = j->pairs = j->source->pairs;
    j->own = syn_budget_part(p->budget);
    j->lanes = syn_lanes_fastest(j->source->vector_bits);
    j->wave = WAVE * (size_t)threads;
    SYN_TAKE_ZEROS(&j->own, j->worker, (size_t)threads);
    SYN_TAKE(&j->own, j->found, j->wave * j->lists);
    SYN_TAKE(&j->own, j->place, j->wave);
    for (int t = 0; t < threads; t++)
        SYN_TRY(make_worker(j, j->worker + t));
    for (uint32_t i = 0; j->out && i < j->lists; i++)
        SYN_TRY(syn_peaks_make(j->out + i, p->units, p->budget));
    return SYN_OK;
}

/* ---- a pair ---- */

static syn_status look_through(job *j, worker *w, size_t item)
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
    job *j = context;
    worker *w = j->worker + thread;
    uint32_t a, b;
    if (w->counted)
        return look_through(j, w, item);
    j->place[item] = (place){.worker = thread, .at = w->found};
    if (j->source->only && !j->source->only[j->first + item]) {
        j->found[item * j->lists] = 0;
        return SYN_OK;
    }
    syn_pair_units(j->first + item, &a, &b);
    take_pair(j, w, a, b);
    if (!j->surrogates) {
        SYN_TRY(syn_lagged_sums(j->pairs, a, b, w->sum));
        return look(j, w, item, 0);
    }
    SYN_TRY(syn_circular_count(&w->circular, a, b, j->from));
    w->surrogate = 0;
    w->counted = 1;
    return look_through(j, w, item);
}

/* ---- waves ---- */

static int poll(void *data, const char *stage, double done, double total)
{
    const job *j = data;
    double pairs = (double)syn_pair_count(j->pairs->units);
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
    size_t pairs = syn_pair_count(j->pairs->units);
    syn_watch watch = {.poll = poll, .data = j};
    for (; j->first < pairs; j->first += j->wave) {
        size_t n = pairs - j->first < j->wave ? pairs - j->first : j->wave;
        for (int t = 0; t < threads; t++)
            j->worker[t].found = 0;
        SYN_TRY(syn_parallel_for(n, threads, &watch, "pairs", do_pair, j));
        SYN_TRY(put(j, n));
    }
    return SYN_OK;
}

static syn_status run(job *j)
{
    int threads = j->source->pairs->threads;
    memset(j->out, 0, j->lists * sizeof *j->out);
    syn_status status = make(j, threads);
    SYN_NEXT(status, do_pairs(j, threads));
    syn_budget_end(&j->own);
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
    size_t all = syn_pair_count(s->pairs->units), every = all / TASTED + 1, n = 0;
    job j = {.source = s, .from = from, .lists = 1, .surrogates = 1};
    syn_status status = make(&j, 1);
    for (; status == SYN_OK && j.first < all; j.first += every, n++)
        do
            status = syn_poll(watch, "pairs", 0, (double)all);
        while (status == SYN_OK && (status = do_pair(&j, 0, 0)) == SYN_UNFINISHED);
    s->expected = n > 0 ? (double)j.worker->found / (double)n * (double)all : 0;
    syn_budget_end(&j.own);
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
                            o->events.n > 0 ? &out->locked : NULL, o->threads,
                            syn_pair_count(all->units), budget));
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
