/* Chains of units. Two units with a peak fire together at some moments, most of them by
   chance where a group is rare. What other units do around these moments shows a third
   member: each unit is counted in windows around them, and the one that stands out most
   is next. Few of the moments remain at which it fires as well, and most of these are
   activations, so that every further member stands out by far. */
#include "core/assemblies/moments.h"

#include <math.h>
#include <string.h>

#include "core/assemblies/excess.h"
#include "core/base/seek.h"

enum {
    RUNGS = 3,          /* widths that are looked at */
    SEEDS = 16,         /* peaks of a rung that chains begin with, of units that are
                           together seldom, */
    SEEDS_OFTEN = 6,    /* and of units that are together often */
    SELDOM = 512,       /* moments that two units have together by chance at the narrowest
                           width, and a quarter of that at each next one: among more, few
                           activations do not show, */
    OFTEN = 8 * SELDOM, /* and these take long to look through */
    ROOM = 3 * OFTEN,
    LEAST = 3 * SYN_PEAK_SCALE, /* z of a peak that a chain begins with */
    MOST_BINS = 1 << 30,
    PART = 4            /* members are a quarter of the longest lag apart, at most */
};

/* ---- memory ---- */

/* Bins beside the lags of a rung: a gap and two widths. */
static int32_t beyond(const syn_ladder *l, uint32_t rung)
{
    return (int32_t)(l->half[rung] + 1 + SYN_LADDER_BESIDE * syn_ladder_width(l, rung));
}

/* Bins from the first one that is counted around a moment to the moment. */
static int32_t before(const syn_moments *w, uint32_t rung)
{
    return w->reach + beyond(&w->pairs->ladder, rung);
}

static uint32_t cells_of(const syn_moments *w, uint32_t rung)
{
    return 2 * (uint32_t)before(w, rung) / w->pairs->ladder.step[rung] + 1;
}

/* The widest rungs of which windows and sides are short beside the lags: at these, lags
   that vary by much less than the width are found as well. */
static uint32_t rungs_of(const syn_moments *w, uint32_t *first)
{
    const syn_ladder *l = &w->pairs->ladder;
    uint32_t rungs = 0;
    while (rungs < l->rungs && 2 * beyond(l, rungs) <= w->reach)
        rungs++;
    *first = rungs > RUNGS ? rungs - RUNGS : 0;
    return rungs;
}

int syn_moments_may(const syn_lagged *pairs, const syn_segments *segments)
{
    const syn_trains *t = &segments->trains;
    return !pairs->locked &&
           (t->stop[t->trials - 1] - t->start[0]) / pairs->bin < MOST_BINS;
}

syn_status syn_moments_make(syn_moments *out, const syn_lagged *pairs,
                            const syn_segments *segments, const syn_binned *binned,
                            uint64_t key, syn_budget *budget)
{
    const syn_trains *t = &segments->trains;
    *out = (syn_moments){.pairs = pairs, .binned = binned, .key = key};
    out->reach = (int32_t)(pairs->ladder.lags / PART);
    SYN_TAKE(budget, out->start, t->trials);
    for (uint32_t k = 0; k < t->trials; k++) {
        out->start[k] = (int32_t)((t->start[k] - t->start[0]) / pairs->bin);
        out->bins = out->start[k] + (int32_t)binned->n[k];
    }
    uint32_t first, rungs = rungs_of(out, &first);
    for (uint32_t r = first; r < rungs; r++) {
        uint32_t cells = cells_of(out, r);
        out->cells = cells > out->cells ? cells : out->cells;
    }
    out->block = out->reach / 4 + 1;
    SYN_TAKE(budget, out->first, (size_t)t->units + 1);
    memcpy(out->first, t->first, ((size_t)t->units + 1) * sizeof *out->first);
    SYN_TAKE(budget, out->train, (size_t)t->events + 1);
    SYN_TAKE(budget, out->spike, (size_t)t->events + 1);
    SYN_TAKE(budget, out->opens, (size_t)(out->bins / out->block) + 3);
    SYN_TAKE(budget, out->count, (size_t)t->units * out->cells + 1);
    return SYN_OK;
}

/* ---- spikes ---- */

/* Sorts the spikes into blocks, from their trains. */
static void fill_blocks(syn_moments *w)
{
    size_t blocks = (size_t)(w->bins / w->block) + 1;
    uint32_t *opens = w->opens + 1;
    memset(w->opens, 0, (blocks + 2) * sizeof *w->opens);
    for (uint32_t e = 0; e < w->first[w->binned->units]; e++)
        opens[w->train[e] / w->block + 1]++;
    for (size_t i = 1; i <= blocks; i++)
        opens[i] += opens[i - 1];
    for (uint32_t u = 0; u < w->binned->units; u++)
        for (uint32_t e = w->first[u]; e < w->first[u + 1]; e++) {
            uint32_t at = opens[w->train[e] / w->block]++;
            w->spike[at] = (syn_moment_spike){.bin = w->train[e], .unit = u};
        }
}

void syn_moments_lay(syn_moments *w, const uint64_t *surrogate)
{
    const syn_binned *b = w->binned;
    for (uint32_t u = 0; u < b->units; u++)
        for (uint32_t k = 0; k < b->segments; k++) {
            size_t at = (size_t)u * b->segments + k;
            uint32_t from = b->first[at], to = b->first[at + 1], n = b->n[k], e = from;
            if (from == to)
                continue;
            uint32_t out = from;
            uint32_t shift =
                surrogate ? syn_binned_shift(w->key, *surrogate, u, k, n) : 0;
            int32_t begin = w->start[k] + (int32_t)shift;
            /* Those that go around the end of the segment come first. */
            while (e < to && b->bin[e] + shift < n)
                e++;
            for (uint32_t i = e; i < to; i++)
                w->train[out++] = begin + (int32_t)b->bin[i] - (int32_t)n;
            for (uint32_t i = from; i < e; i++)
                w->train[out++] = begin + (int32_t)b->bin[i];
        }
    fill_blocks(w);
}

/* ---- chains ---- */

/* Where a chain is: the moments, bins of spikes of its first member. */
typedef struct chain_state {
    syn_assembly chain;
    int32_t moment[ROOM];
    uint32_t moments;
} chain_state;

/* The moments at which two units fire at a lag. Without branches, as they would go either
   way. */
static void pair_moments(const syn_moments *w, chain_state *c)
{
    const syn_member *a = c->chain.member, *b = a + 1;
    int32_t half = (int32_t)w->pairs->ladder.half[c->chain.rung], low = b->lag - half;
    uint32_t i = w->first[a->unit], last = w->first[a->unit + 1], n = 0;
    uint32_t j = w->first[b->unit], end = w->first[b->unit + 1];
    while (i < last && j < end && n < ROOM) {
        int32_t late = w->train[j] - w->train[i] - low;
        c->moment[n] = w->train[i];
        n += (uint32_t)late <= 2 * (uint32_t)half;
        i += late >= 0;
        j += late < 0;
    }
    c->moments = n;
}

/* Counts spikes of all units around the moments, in cells as long as the step of the
   rung. */
static void count_around(syn_moments *w, const chain_state *c, uint32_t cells)
{
    const syn_ladder *l = &w->pairs->ladder;
    uint32_t rung = c->chain.rung, shift = 0;
    int32_t low = -before(w, rung), span = (int32_t)(cells * l->step[rung]);
    while (1u << shift < l->step[rung])
        shift++;
    memset(w->count, 0, (size_t)w->binned->units * cells * sizeof *w->count);
    for (uint32_t i = 0; i < c->moments; i++) {
        int32_t from = c->moment[i] + low, to = from + span;
        from = from > 0 ? from : 0;
        to = to < w->bins ? to : w->bins;
        uint32_t end = w->opens[(to - 1) / w->block + 1];
        for (uint32_t e = w->opens[from / w->block]; e < end; e++) {
            uint32_t at = (uint32_t)(w->spike[e].bin - c->moment[i] - low);
            if (at < (uint32_t)span)
                w->count[(size_t)w->spike[e].unit * cells + (at >> shift)]++;
        }
    }
}

/* The window of a unit with most spikes. */
typedef struct window {
    uint32_t unit, cell, length;
    double stands_out, z;
} window;

static uint32_t sum_of(const uint16_t *count, uint32_t from, uint32_t n)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += count[from + i];
    return sum;
}

static window best_window(const syn_moments *w, const chain_state *c, uint32_t unit,
                          uint32_t cells)
{
    const syn_ladder *l = &w->pairs->ladder;
    uint32_t rung = c->chain.rung, step = l->step[rung];
    uint32_t length = syn_ladder_width(l, rung) / step;
    uint32_t side = (uint32_t)beyond(l, rung) / step;
    const uint16_t *count = w->count + (size_t)unit * cells;
    uint32_t sum = sum_of(count, side, length), most = sum, all = sum;
    window out = {.unit = unit, .cell = side, .length = length};
    for (uint32_t i = side + length; i < cells - side; i++) {
        all += count[i];
        sum += (uint32_t)count[i] - count[i - length];
        if (sum > most) {
            most = sum;
            out.cell = i + 1 - length;
        }
    }
    if (most < 2)
        return out;
    double lags = cells - 2 * side, share = length / (lags - length);
    double rate = (double)(w->first[unit + 1] - w->first[unit]) / (double)w->bins;
    double usual = rate * c->moments * length * step;
    double expected = (all - most) * share;
    expected = expected > usual ? expected : usual;
    double clumps = w->pairs->clumps[(size_t)rung * w->pairs->units + unit];
    if (most > expected)
        out.stands_out = (most * log(most / expected) - (most - expected)) / clumps;
    uint32_t gap = (length + 1) / 2, far = SYN_LADDER_BESIDE * length;
    syn_sides s = {.in = most};
    s.beside = sum_of(count, out.cell - gap - far, far) +
               sum_of(count, out.cell + length + gap, far);
    out.z = syn_excess_z(s, (syn_excess_scale){.clumps = clumps});
    return out;
}

/* Whether a unit fires in a window after a moment. */
static int fires(const syn_moments *w, uint32_t unit, int32_t from, int32_t length,
                 uint32_t *at)
{
    uint32_t next = *at, end = w->first[unit + 1];
    SYN_SEEK_NEAR(uint32_t, e, next, end, w->train[e] < from);
    *at = next;
    return next < end && w->train[next] < from + length;
}

/* Adds the unit that stands out most; 0 where none does. */
static int add_next(syn_moments *w, chain_state *c)
{
    const syn_ladder *l = &w->pairs->ladder;
    uint32_t rung = c->chain.rung, step = l->step[rung];
    uint32_t cells = cells_of(w, rung);
    window best = {0};
    count_around(w, c, cells);
    for (uint32_t u = 0; u < w->binned->units; u++) {
        if (syn_assembly_member(&c->chain, u))
            continue;
        window here = best_window(w, c, u, cells);
        if (here.stands_out > best.stands_out)
            best = here;
    }
    if (best.stands_out < (c->chain.size == 2 ? 8 : 1))
        return 0;
    int32_t low = (int32_t)(best.cell * step) - before(w, rung);
    int32_t length = (int32_t)(best.length * step);
    uint32_t n = 0, at = w->first[best.unit];
    for (uint32_t i = 0; i < c->moments; i++)
        if (fires(w, best.unit, c->moment[i] + low, length, &at))
            c->moment[n++] = c->moment[i];
    c->moments = n;
    c->chain.score += best.z / sqrt(SYN_CHAIN_MOST - 2);
    c->chain.member[c->chain.size++] = (syn_member){
        .unit = best.unit, .lag = low + length / 2, .rung = rung};
    return 1;
}

/* ---- the best ones ---- */

typedef struct seed {
    uint32_t a, b;
    int32_t lag, z;
} seed;

typedef struct seeds {
    uint32_t n, room;
    seed list[SEEDS];
} seeds;

/* Notes a peak between two units where it is among the highest. */
static void note_seed(seeds *s, uint32_t a, uint32_t b, const syn_peak *peak)
{
    if (s->n == s->room && peak->z <= s->list[s->n - 1].z)
        return;
    uint32_t at = s->n < s->room ? s->n++ : s->n - 1;
    for (; at > 0 && s->list[at - 1].z < peak->z; at--)
        s->list[at] = s->list[at - 1];
    s->list[at] = (seed){.a = a, .b = b, .lag = peak->lag, .z = peak->z};
}

/* Of peaks at short lags, the highest ones between units that are together seldom by
   chance, and between those that are together often. */
static void list_seeds(const syn_moments *w, const syn_peaks *peaks, uint32_t rung,
                       seeds *seldom, seeds *often)
{
    uint32_t first;
    rungs_of(w, &first);
    uint32_t quarters = 2 * (rung - first);
    double width = syn_ladder_width(&w->pairs->ladder, rung);
    for (uint32_t b = 1; b < peaks->units; b++)
        for (uint32_t a = 0; a < b; a++) {
            double of_a = w->first[a + 1] - w->first[a];
            double of_b = w->first[b + 1] - w->first[b];
            double together = of_a * of_b * width / (double)w->bins;
            size_t p = syn_pair_number(a, b);
            if (together > OFTEN >> quarters)
                continue;
            seeds *to = together <= SELDOM >> quarters ? seldom : often;
            for (size_t i = peaks->first[p]; i < peaks->first[p + 1]; i++) {
                const syn_peak *peak = peaks->peak + i;
                if (peak->rung == rung && peak->z >= LEAST && peak->lag <= w->reach &&
                    -peak->lag <= w->reach)
                    note_seed(to, a, b, peak);
            }
        }
}

static void keep_chain(syn_assembly *out, uint32_t *n, const syn_assembly *chain)
{
    if (*n == SYN_CHAINS && chain->score <= out[*n - 1].score)
        return;
    uint32_t at = *n < SYN_CHAINS ? (*n)++ : *n - 1;
    for (; at > 0 && out[at - 1].score < chain->score; at--)
        out[at] = out[at - 1];
    out[at] = *chain;
}

/* Grows a chain from two units, and keeps it if it is among the best. */
static void grow_chain(syn_moments *w, const seed *from, uint32_t rung,
                       syn_assembly *out, uint32_t *n)
{
    chain_state c = {.chain = {.rung = rung, .size = 2}};
    c.chain.member[0] = (syn_member){.unit = from->a, .rung = rung};
    c.chain.member[1] = (syn_member){.unit = from->b, .lag = from->lag, .rung = rung};
    pair_moments(w, &c);
    while (c.chain.size < SYN_CHAIN_MOST && add_next(w, &c)) {}
    if (c.chain.size >= SYN_CHAIN_FEWEST)
        keep_chain(out, n, &c.chain);
}

void syn_chains_find(syn_moments *w, const syn_peaks *peaks, syn_assembly *out,
                     uint32_t *n)
{
    uint32_t first, rungs = rungs_of(w, &first);
    *n = 0;
    for (uint32_t r = first; r < rungs; r++) {
        seeds seldom = {.room = SEEDS}, often = {.room = SEEDS_OFTEN};
        list_seeds(w, peaks, r, &seldom, &often);
        for (uint32_t i = 0; i < seldom.n; i++)
            grow_chain(w, seldom.list + i, r, out, n);
        for (uint32_t i = 0; i < often.n; i++)
            grow_chain(w, often.list + i, r, out, n);
    }
}
