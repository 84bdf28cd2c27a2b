/* Looks for groups again in parts of the recording: four fifths of its blocks each. What
   says enough in all of it by little says too little in some of these. Peaks, candidates,
   growth and refinement are as before. Some numbers are those of the whole recording:
   evidence of surrogates, what is common to pairs, and how spikes of a unit come in
   clumps. Pairs of members alone are counted, and members alone may be added: so a
   resample costs little beside surrogates.

   Halves leave too little: members that nearly every other recording of this length has
   are in few of them. Where blocks are drawn with replacement, their noise is repeated,
   and members that few other recordings have come out too often. */
#include "core/assemblies/search.h"

#include <math.h>

#include "core/base/random.h"

enum {
    BLOCKS = 40, /* in a recording without trials, at most */
    FIFTHS = 5
};

/* Streams of random numbers that no surrogate has. */
static const uint64_t STREAM = (uint64_t)1 << 63;

typedef struct block {
    uint32_t trial;      /* from 0 */
    double start, stop;  /* first and last tick */
    int kept;            /* whether it is in the resample */
} block;

typedef struct resample {
    const syn_spikes *all;
    const syn_events *all_events;
    block *block;
    uint32_t blocks;
    size_t block_room;
    uint32_t *order;     /* [blocks] */
    syn_spikes spikes;   /* of the resample: a trial for each stretch of blocks, and all
                            other spikes in none */
    syn_events events;
    double *start, *stop, *event_tick;
    int *trial, *event_kind;
    uint8_t *wanted;     /* [pairs] whether both are in one group */
    size_t pairs;        /* how many are */
    syn_budget *budget;
} resample;

/* ---- blocks ---- */

static syn_status add_block(resample *r, uint32_t trial, double start, double stop)
{
    SYN_GROW(r->budget, r->block, r->block_room, (size_t)r->blocks + 1);
    r->block[r->blocks++] = (block){.trial = trial, .start = start, .stop = stop};
    return SYN_OK;
}

/* Cuts a trial into equal blocks; or, where responses to events are known, at events, so
   that each block begins with one as each trial does. */
static syn_status cut_trial(resample *r, uint32_t trial, double length, uint32_t *event)
{
    double start = r->all->start[trial], stop = r->all->stop[trial];
    const syn_events *e = r->all_events;
    if (e->n == 0) {
        double ticks = stop - start + 1, n = fmax(1, floor(ticks / length));
        double each = floor(ticks / n);
        for (; start + 2 * each <= stop + 1; start += each)
            SYN_TRY(add_block(r, trial, start, start + each - 1));
    }
    for (; *event < e->n && e->tick[*event] <= stop; ++*event) {
        double at = e->tick[*event];
        if (at - start < length || stop + 1 - at < length)
            continue;
        SYN_TRY(add_block(r, trial, start, at - 1));
        start = at;
    }
    return add_block(r, trial, start, stop);
}

static double blocks_length(const syn_assembly_search *s)
{
    double part = syn_segments_recorded_ticks(&s->ground.segments) / BLOCKS;
    double lag = (double)s->ground.pairs.ladder.lags * (double)s->ground.pairs.bin;
    return fmax(1, fmax(part, lag));
}

/* ---- drawing ---- */

/* Blocks are put in random order for each FIFTHS resamples, which leave out one fifth of
   them each: so all blocks are left out equally often. */
static void draw(resample *r, uint64_t key, uint32_t number)
{
    uint32_t fifths = r->blocks < FIFTHS ? r->blocks : FIFTHS;
    syn_random rng;
    syn_random_start(&rng, key, STREAM + number / fifths);
    for (uint32_t k = 0; k < r->blocks; k++) {
        uint32_t other = (uint32_t)syn_random_below(&rng, (uint64_t)k + 1);
        r->order[k] = r->order[other];
        r->order[other] = k;
    }
    for (uint32_t k = 0; k < r->blocks; k++)
        r->block[r->order[k]].kept = k % fifths != number % fifths;
}

static void lay(resample *r)
{
    size_t i = 0;
    uint32_t e = 0;
    r->spikes.trials = r->events.n = 0;
    for (uint32_t k = 0; k < r->blocks; k++) {
        const block *b = r->block + k;
        if (b->kept && (k == 0 || !b[-1].kept || b[-1].trial != b->trial))
            r->start[r->spikes.trials++] = b->start;
        for (; i < r->all->n && r->all->tick[i] <= b->stop; i++)
            r->trial[i] = b->kept && r->all->trial[i] >= 1 ? (int)r->spikes.trials : 0;
        for (; e < r->all_events->n && r->all_events->tick[e] <= b->stop; e++) {
            r->event_tick[r->events.n] = r->all_events->tick[e];
            r->event_kind[r->events.n] = r->all_events->kind[e];
            r->events.n += b->kept != 0;
        }
        if (b->kept)
            r->stop[r->spikes.trials - 1] = b->stop;
    }
    for (; i < r->all->n; i++)
        r->trial[i] = 0;
}

static syn_status make_room(resample *r)
{
    size_t events = (size_t)r->all_events->n + 1;
    SYN_TAKE(r->budget, r->order, r->blocks);
    SYN_TAKE(r->budget, r->start, r->blocks);
    SYN_TAKE(r->budget, r->stop, r->blocks);
    SYN_TAKE(r->budget, r->trial, r->all->n + 1);
    SYN_TAKE(r->budget, r->event_tick, events);
    SYN_TAKE(r->budget, r->event_kind, events);
    r->spikes.trial = r->trial;
    r->spikes.start = r->start;
    r->spikes.stop = r->stop;
    r->events.tick = r->event_tick;
    r->events.kind = r->event_kind;
    return SYN_OK;
}

/* ---- groups of a resample ---- */

/* Searcher and scores are those of the whole. */
static syn_status look_again(syn_assembly_search *again, const syn_assembly_search *s,
                             const resample *r, const syn_watch *watch)
{
    syn_ground *g = &again->ground;
    syn_budget *budget = again->budget;
    const syn_lagged *pairs = &s->ground.pairs;
    SYN_TRY(syn_segments_make(&g->segments, &r->spikes, s->options.ground.segment,
                              syn_lagged_reach(&pairs->ladder, pairs->bin), budget,
                              watch));
    if (r->events.n > 0)
        SYN_TRY(syn_locked_make(&g->locked, &r->events, &g->segments, budget));
    SYN_TRY(syn_lagged_again(&g->pairs, pairs, r->pairs, &g->segments.recording,
                             r->events.n > 0 ? &g->locked : NULL, r->all, &r->spikes,
                             budget));
    g->made_by = (syn_pair_source){.pairs = &g->pairs,
                                   .only = r->wanted,
                                   .least = s->options.ground.least,
                                   .vector_bits = s->options.ground.vector_bits};
    SYN_TRY(syn_pair_source_recording(&g->made_by, &again->peaks, watch));
    SYN_TRY(syn_refiner_make(&again->refiner, &g->pairs, &g->segments, s->options.step,
                             budget));
    if (s->moments) {
        SYN_TRY(syn_binned_make(&g->binned, &g->segments.trains, pairs->bin, budget));
        SYN_TAKE_ZEROS(budget, again->moments, 1);
        SYN_TRY(syn_moments_make(again->moments, &g->pairs, &g->segments, &g->binned, 0,
                                 budget));
    }
    return syn_assembly_search_groups(again, watch);
}

/* Counts members of groups in the groups that are most like them. A group is the same of
   which half the members, at the same lags, are members. */
static void count_members(syn_assembly_search *s, const syn_assembly_search *again)
{
    const syn_ladder *ladder = &s->ground.pairs.ladder;
    for (uint32_t k = 0; k < s->groups; k++) {
        uint64_t members = 0;
        uint32_t most = 0;
        for (uint32_t a = 0; a < again->groups; a++) {
            const syn_assembly *other = again->group + a;
            uint32_t shared = syn_assembly_shared(s->group + k, other, ladder);
            if (shared > most && 2 * shared >= other->size) {
                most = shared;
                members = syn_assembly_common(s->group + k, other, ladder);
            }
        }
        for (uint32_t m = 0; m < s->group[k].size; m++)
            s->named[(size_t)k * SYN_ASSEMBLY_MOST + m] += members >> m & 1;
    }
}

static syn_status count_again(syn_assembly_search *s, const resample *r,
                              const syn_watch *watch)
{
    syn_budget part = syn_budget_part(s->budget);
    syn_assembly_search again = {.options = s->options,
                                 .searcher = s->searcher,
                                 .scores = s->scores,
                                 .among = s->group,
                                 .amongs = s->groups,
                                 .budget = &part};
    syn_status status = look_again(&again, s, r, watch);
    if (status == SYN_OK)
        count_members(s, &again);
    syn_assembly_search_free(&again);
    return status;
}

/* ---- all of it ---- */

static syn_status want_pairs(resample *r, const syn_assembly_search *s)
{
    SYN_TAKE_ZEROS(r->budget, r->wanted, syn_pair_count(r->all->units) + 1);
    for (uint32_t k = 0; k < s->groups; k++)
        for (uint32_t x = 0; x < s->group[k].size; x++)
            for (uint32_t y = 0; y < s->group[k].size; y++) {
                uint32_t a = s->group[k].member[x].unit, b = s->group[k].member[y].unit;
                if (a >= b || r->wanted[syn_pair_number(a, b)])
                    continue;
                r->wanted[syn_pair_number(a, b)] = 1;
                r->pairs++;
            }
    return SYN_OK;
}

typedef struct progress {
    const syn_watch *watch;
    uint32_t done, total;
} progress;

static int poll(void *data, const char *stage, double done, double total)
{
    const progress *p = data;
    (void)stage;
    (void)done;
    (void)total;
    return syn_poll(p->watch, "resamples", p->done, p->total) != SYN_OK;
}

syn_status syn_assembly_search_again(syn_assembly_search *s, const syn_watch *watch)
{
    resample r = {.all = &s->calm.spikes,
                  .all_events = &s->options.ground.events,
                  .spikes = s->calm.spikes,
                  .events = {.kinds = s->options.ground.events.kinds},
                  .budget = s->budget};
    progress p = {.watch = watch, .total = s->options.resamples};
    syn_watch within = {.poll = poll, .data = &p};
    uint32_t event = 0;
    SYN_TAKE_ZEROS(s->budget, s->named, (size_t)s->groups * SYN_ASSEMBLY_MOST + 1);
    if (s->groups == 0)
        return SYN_OK;
    SYN_TRY(want_pairs(&r, s));
    for (uint32_t t = 0; t < r.all->trials; t++)
        SYN_TRY(cut_trial(&r, t, blocks_length(s), &event));
    SYN_TRY(make_room(&r));
    for (; p.done < p.total; p.done++) {
        draw(&r, s->options.ground.key, p.done);
        lay(&r);
        SYN_TRY(count_again(s, &r, &within));
    }
    return SYN_OK;
}
