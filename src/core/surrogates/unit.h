/* One unit of one surrogate, in integers alone, so that host and device run the same
   lines. Spikes are numbered from the unit's first one, in the data and in `out`; a run
   is the spikes of the unit in one trial, [from, to). */
#ifndef SYN_SURROGATES_UNIT_H
#define SYN_SURROGATES_UNIT_H

#include "core/base/philox.h"
#include "core/base/seek.h"
#include "core/surrogates/surrogates.h"

/* ---- random numbers ----

   Random numbers of one unit of one surrogate: those of stream `index` at position
   unit << 32 | block, four words a block. Methods that need a fixed number of words for
   each spike take them from the spike's place in this sequence; the others draw one after
   the other. */

typedef struct syn_surrogate_draw {
    uint32_t key[2];
    uint64_t index;
    uint32_t unit;
    uint32_t block;    /* the next one */
    uint32_t left;     /* words of `word` not yet given out */
    uint32_t word[4];
} syn_surrogate_draw;

SYN_EVERYWHERE void syn_draw_start(syn_surrogate_draw *draw, uint64_t key, uint64_t index,
                                   uint32_t unit)
{
    draw->key[0] = (uint32_t)key;
    draw->key[1] = (uint32_t)(key >> 32);
    draw->index = index;
    draw->unit = unit;
    draw->block = 0;
    draw->left = 0;
}

/* The four words of a block. */
SYN_EVERYWHERE void syn_draw_block(const syn_surrogate_draw *draw, uint32_t block,
                                   uint32_t word[4])
{
    uint32_t counter[4] = {block, draw->unit, (uint32_t)draw->index,
                           (uint32_t)(draw->index >> 32)};
    syn_philox(counter, draw->key, word);
}

/* The next word. */
SYN_EVERYWHERE uint32_t syn_draw_word(syn_surrogate_draw *draw)
{
    if (draw->left == 0) {
        syn_draw_block(draw, draw->block++, draw->word);
        draw->left = 4;
    }
    return draw->word[4 - draw->left--];
}

/* A word scaled to [0, bound), bound up to 2^32; with a bias of at most bound / 2^32. */
SYN_EVERYWHERE int64_t syn_draw_scale(uint32_t word, uint64_t bound)
{
    return (int64_t)(word * bound >> 32);
}

/* Two words scaled to [0, bound), bound up to 2^63. */
SYN_EVERYWHERE int64_t syn_draw_scale_long(const uint32_t word[2], uint64_t bound)
{
    uint64_t low = (uint32_t)bound, high = bound >> 32;
    uint64_t middle = word[1] * low + (word[0] * low >> 32);
    uint64_t other = word[0] * high + (uint32_t)middle;
    return (int64_t)(word[1] * high + (middle >> 32) + (other >> 32));
}

/* The next number in [0, bound), bound >= 1, without bias (Lemire 2019). */
SYN_EVERYWHERE uint32_t syn_draw_below(syn_surrogate_draw *draw, uint32_t bound)
{
    uint64_t product = (uint64_t)syn_draw_word(draw) * bound;
    if ((uint32_t)product < bound) {
        uint32_t excess = (0 - bound) % bound;
        while ((uint32_t)product < excess)
            product = (uint64_t)syn_draw_word(draw) * bound;
    }
    return (uint32_t)(product >> 32);
}

/* ---- a unit ---- */

/* A unit with what its methods ask for again and again. */
typedef struct syn_surrogate_train {
    const syn_surrogate_plan *plan;
    const int64_t *tick;
    const uint32_t *trial;
    uint32_t n;
    uint32_t unit;
    syn_surrogate_draw draw;
} syn_surrogate_train;

SYN_EVERYWHERE syn_surrogate_train syn_surrogate_take(const syn_surrogate_plan *plan,
                                                      uint64_t index, uint32_t unit)
{
    uint32_t first = plan->trains.first[unit];
    syn_surrogate_train s;
    s.plan = plan;
    s.tick = plan->trains.tick + first;
    s.trial = plan->trains.trial + first;
    s.n = plan->trains.first[unit + 1] - first;
    s.unit = unit;
    syn_draw_start(&s.draw, plan->options.key, index, unit);
    return s;
}

SYN_EVERYWHERE int64_t syn_surrogate_start(const syn_surrogate_train *s, uint32_t j)
{
    return s->plan->trains.start[s->trial[j]];
}

SYN_EVERYWHERE int64_t syn_surrogate_stop(const syn_surrogate_train *s, uint32_t j)
{
    return s->plan->trains.stop[s->trial[j]];
}

SYN_EVERYWHERE int64_t syn_surrogate_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- spikes that move by themselves ---- */

/* `tick` moved by up to `dither` either way, mirrored at the ends of its trial. */
SYN_EVERYWHERE int64_t syn_surrogate_dithered(int64_t tick, int64_t dither, int64_t start,
                                              int64_t stop, uint32_t word)
{
    tick += syn_draw_scale(word, 2 * (uint64_t)dither + 1) - dither;
    if (tick < start)
        tick = 2 * start - tick;
    if (tick > stop)
        tick = 2 * stop - tick;
    return tick;
}

/* Dithers the four spikes that take their words from `block`, or those there are. */
SYN_EVERYWHERE void syn_surrogate_dither(const syn_surrogate_train *s, uint32_t block,
                                         int64_t *out)
{
    uint32_t word[4];
    syn_draw_block(&s->draw, block, word);
    for (uint32_t w = 0, j = 4 * block; w < 4 && j < s->n; w++, j++)
        out[j] = syn_surrogate_dithered(s->tick[j], s->plan->options.dither,
                                        syn_surrogate_start(s, j),
                                        syn_surrogate_stop(s, j), word[w]);
}

/* Places each spike anew, uniformly over its trial, or over windows that follow each
   other from the start of the trial, whose end cuts the last one. Two words a spike, as
   a trial may have more ticks than a word has values. */
SYN_EVERYWHERE void syn_surrogate_spread(const syn_surrogate_train *s, int windows,
                                         int64_t *out)
{
    uint32_t word[4];
    for (uint32_t j = 0; j < s->n; j++) {
        int64_t opens = syn_surrogate_start(s, j);
        int64_t ticks = syn_surrogate_stop(s, j) - opens + 1;
        if (j % 2 == 0)
            syn_draw_block(&s->draw, j / 2, word);
        if (windows) {
            int64_t window = s->plan->options.window;
            int64_t before = (s->tick[j] - opens) / window * window;
            opens += before;
            ticks = syn_surrogate_least(window, ticks - before);
        }
        out[j] = opens + syn_draw_scale_long(word + j % 2 * 2, (uint64_t)ticks);
    }
}

/* ---- trains and trials that move as a whole ---- */

/* Each trial has its own word, or all have the first. */
SYN_EVERYWHERE void syn_surrogate_shift(const syn_surrogate_train *s, int by_trial,
                                        uint32_t from, uint32_t to, int64_t *out)
{
    uint32_t word[4], of = by_trial ? s->trial[from] : 0;
    syn_draw_block(&s->draw, of / 4, word);
    int64_t dither = s->plan->options.dither, start = syn_surrogate_start(s, from);
    int64_t stop = syn_surrogate_stop(s, from), ticks = stop - start + 1;
    int64_t offset = syn_draw_scale(word[of % 4], 2 * (uint64_t)dither + 1) - dither;
    for (uint32_t j = from; j < to; j++) {
        int64_t tick = s->tick[j] + offset;
        out[j] = tick < start ? tick + ticks : tick > stop ? tick - ticks : tick;
    }
}

/* ---- spikes between their neighbours ---- */

/* How far spike j may move towards the spike before it, and towards the next one, in
   `out`; an end of the trial may be reached. */
SYN_EVERYWHERE void syn_surrogate_room(const syn_surrogate_train *s, const int64_t *out,
                                       uint32_t j, int64_t *left, int64_t *right)
{
    int64_t apart = s->plan->refractory[s->unit];
    int first = j == 0 || s->trial[j - 1] != s->trial[j];
    int last = j + 1 == s->n || s->trial[j + 1] != s->trial[j];
    *left = first ? out[j] - syn_surrogate_start(s, j) : out[j] - out[j - 1] - apart;
    *right = last ? syn_surrogate_stop(s, j) - out[j] : out[j + 1] - out[j] - apart;
}

/* In random order; `order` has room for the run. */
SYN_EVERYWHERE void syn_surrogate_refractory(syn_surrogate_train *s, uint32_t from,
                                             uint32_t to, int64_t *out, uint32_t *order)
{
    int64_t dither = s->plan->options.dither;
    for (uint32_t j = from; j < to; j++) {
        out[j] = s->tick[j];
        order[j - from] = j;
    }
    for (uint32_t n = to - from; n > 0; n--) {
        uint32_t at = syn_draw_below(&s->draw, n), j = order[at];
        order[at] = order[n - 1];
        int64_t left, right;
        syn_surrogate_room(s, out, j, &left, &right);
        left = syn_surrogate_least(left, dither);
        right = syn_surrogate_least(right, dither);
        out[j] += syn_draw_below(&s->draw, (uint32_t)(left + right + 1)) - left;
    }
}

/* How far to move spike j, whose neighbours in its trial are `before` and `after` it, by
   whole bins of the histogram: first intervals `low` to `high` bins long, out of `sum`,
   with the weights of the table. Zero weight gives 0 in `known`. */
SYN_EVERYWHERE int64_t syn_surrogate_by_table(const syn_surrogate_train *s,
                                              const int64_t room[2], int64_t before,
                                              int64_t after, uint32_t word, int *known)
{
    const syn_surrogate_options *o = &s->plan->options;
    int64_t first = before / o->isi_bin, sum = first + after / o->isi_bin;
    *known = 0;
    if (sum >= (int64_t)o->isi_bins)
        return 0;
    const uint32_t *weight = s->plan->table + (size_t)s->unit * s->plan->table_length +
                             (size_t)sum * (size_t)(sum + 1) / 2;
    int64_t most = o->dither / o->isi_bin;
    int64_t low = first - syn_surrogate_least(room[0] / o->isi_bin, most);
    int64_t high = first + syn_surrogate_least(room[1] / o->isi_bin, most);
    low = low < 0 ? 0 : low;
    high = syn_surrogate_least(high, sum);
    uint32_t below = low > 0 ? weight[low - 1] : 0;
    uint32_t all = weight[high] - below;
    if (all == 0)
        return 0;
    *known = 1;
    uint32_t drawn = below + (uint32_t)syn_draw_scale(word, all);
    SYN_SEEK(int64_t, at, low, high, weight[at] <= drawn);
    return (low - first) * o->isi_bin;
}

/* Moves spike j of `out` as the table says; uniformly where the table has no weight. */
SYN_EVERYWHERE void syn_surrogate_between(const syn_surrogate_train *s, uint32_t j,
                                          uint32_t word, int64_t *out)
{
    int64_t room[2], dither = s->plan->options.dither, step = 0;
    int inside = j > 0 && j + 1 < s->n && s->trial[j - 1] == s->trial[j + 1], known = 0;
    syn_surrogate_room(s, out, j, &room[0], &room[1]);
    if (inside)
        step = syn_surrogate_by_table(s, room, out[j] - out[j - 1], out[j + 1] - out[j],
                                      word, &known);
    if (!known) {
        int64_t left = syn_surrogate_least(room[0], dither);
        int64_t right = syn_surrogate_least(room[1], dither);
        step = syn_draw_scale(word, (uint64_t)(left + right + 1)) - left;
    }
    out[j] += step;
}

/* First every other spike from the second on, then those in between: the neighbours of
   one that moves stand still. */
SYN_EVERYWHERE void syn_surrogate_joint(const syn_surrogate_train *s, int64_t *out)
{
    for (uint32_t j = 0; j < s->n; j++)
        out[j] = s->tick[j];
    for (uint32_t odd = 2; odd-- > 0;)
        for (uint32_t block = 0; 4 * block + odd < s->n; block++) {
            uint32_t word[4];
            syn_draw_block(&s->draw, block, word);
            for (uint32_t w = odd; w < 4 && 4 * block + w < s->n; w += 2)
                syn_surrogate_between(s, 4 * block + w, word[w], out);
        }
}

/* ---- permutations ---- */

/* Intervals are counted from the tick before the trial, so that none is empty. */
SYN_EVERYWHERE void syn_surrogate_isi_shuffle(syn_surrogate_train *s, uint32_t from,
                                              uint32_t to, int64_t *out)
{
    int64_t before = syn_surrogate_start(s, from) - 1, at = before;
    for (uint32_t j = from; j < to; j++) {
        out[j] = s->tick[j] - before;
        before = s->tick[j];
    }
    for (uint32_t j = from; j < to; j++) {
        uint32_t other = j + syn_draw_below(&s->draw, to - j);
        int64_t interval = out[other];
        out[other] = out[j];
        out[j] = at += interval;
    }
}

/* Draws a bin of [0, n) whose bit in `taken` is not set, and sets it. */
SYN_EVERYWHERE uint32_t syn_surrogate_free_bin(syn_surrogate_train *s, uint32_t n,
                                               uint32_t *taken)
{
    uint32_t bin;
    do
        bin = syn_draw_below(&s->draw, n);
    while (taken[bin / 32] >> bin % 32 & 1);
    taken[bin / 32] |= (uint32_t)1 << bin % 32;
    return bin;
}

/* Permutes the bins of each window. Bins with spikes draw their new places; empty bins
   take the places that remain. A bin cut short by the end of the trial stays where it is.
   `taken` has a bit for each bin of a window. */
SYN_EVERYWHERE void syn_surrogate_bins(syn_surrogate_train *s, int windows, uint32_t from,
                                       uint32_t to, int64_t *out, uint32_t *taken)
{
    const syn_surrogate_options *o = &s->plan->options;
    int64_t start = syn_surrogate_start(s, from), last = -1, opens = 0, closes = 0;
    int64_t bins = (syn_surrogate_stop(s, from) - start + 1) / o->bin, target = 0;
    int64_t window = windows ? o->window / o->bin : bins;
    for (uint32_t j = from; j < to; j++) {
        int64_t bin = (s->tick[j] - start) / o->bin;
        if (bin >= bins) {
            out[j] = s->tick[j];
            continue;
        }
        if (bin >= closes) {
            opens = bin / window * window;
            closes = syn_surrogate_least(opens + window, bins);
            for (int64_t word = 0; word < (closes - opens + 31) / 32; word++)
                taken[word] = 0;
        }
        if (bin != last)
            target = opens + syn_surrogate_free_bin(s, (uint32_t)(closes - opens), taken);
        last = bin;
        out[j] = s->tick[j] + (target - bin) * o->bin;
    }
}

/* The bin of spike j. There is no spike `to`: it counts as later than all bins. */
SYN_EVERYWHERE int64_t syn_surrogate_bin(const syn_surrogate_train *s, uint32_t j,
                                         uint32_t to, int64_t start)
{
    return j < to ? (s->tick[j] - start) / s->plan->options.bin : INT64_MAX;
}

/* Moves the spikes that share the bin of spike j to `place`. */
SYN_EVERYWHERE void syn_surrogate_move_bin(const syn_surrogate_train *s, uint32_t j,
                                           uint32_t to, int64_t start, int64_t place,
                                           int64_t *out)
{
    int64_t bin = syn_surrogate_bin(s, j, to, start);
    for (; syn_surrogate_bin(s, j, to, start) == bin; j++)
        out[j] = s->tick[j] + (place - bin) * s->plan->options.bin;
}

/* Permutes the bins of one window after the other; each window opens a bin later than the
   one before. The first bin of a permuted window is final, as later windows do not hold
   it: it is drawn from all bins of the window. held[] has the first spike of each bin
   with spikes. A bin cut short by the end of the trial stays where it is. */
SYN_EVERYWHERE void syn_surrogate_slide(syn_surrogate_train *s, uint32_t from,
                                        uint32_t to, int64_t *out, uint32_t *held)
{
    const syn_surrogate_options *o = &s->plan->options;
    int64_t start = syn_surrogate_start(s, from), window = o->window / o->bin;
    int64_t bins = (syn_surrogate_stop(s, from) - start + 1) / o->bin;
    for (; to > from && syn_surrogate_bin(s, to - 1, to, start) >= bins; to--)
        out[to - 1] = s->tick[to - 1];
    int64_t place = 0, coming = syn_surrogate_bin(s, from, to, start);
    for (uint32_t next = from, n = 0; next < to || n > 0; place++) {
        if (n == 0 && coming - window >= place)
            place = coming - window + 1;
        while (next < to && coming - window < place) {
            int64_t bin = coming;
            held[n++] = next;
            while (coming == bin)
                coming = syn_surrogate_bin(s, ++next, to, start);
        }
        int64_t left = syn_surrogate_least(window, bins - place);
        uint32_t at = syn_draw_below(&s->draw, (uint32_t)left);
        if (at < n) {
            syn_surrogate_move_bin(s, held[at], to, start, place, out);
            held[at] = held[--n];
        }
    }
}

/* ---- all ---- */

SYN_EVERYWHERE void syn_surrogate_run(syn_surrogate_train *s, uint32_t from, uint32_t to,
                                      int64_t *out, uint32_t *scratch)
{
    switch (s->plan->options.method) {
    case SYN_SURROGATE_DITHER_REFRACTORY:
        syn_surrogate_refractory(s, from, to, out, scratch);
        break;
    case SYN_SURROGATE_TRAIN_SHIFT:
        syn_surrogate_shift(s, 0, from, to, out);
        break;
    case SYN_SURROGATE_TRIAL_SHIFT:
        syn_surrogate_shift(s, 1, from, to, out);
        break;
    case SYN_SURROGATE_ISI_SHUFFLE:
        syn_surrogate_isi_shuffle(s, from, to, out);
        break;
    case SYN_SURROGATE_BIN_SHUFFLE:
        syn_surrogate_bins(s, 0, from, to, out, scratch);
        break;
    case SYN_SURROGATE_SLIDING_SHUFFLE:
        syn_surrogate_slide(s, from, to, out, scratch);
        break;
    default:
        syn_surrogate_bins(s, 1, from, to, out, scratch);
    }
}

/* Spikes of unit `unit` in surrogate `index`; `out` has room for the unit's spikes and
   gets them as syn_surrogate_unit_ticks() says. */
SYN_EVERYWHERE void syn_surrogate_unit(const syn_surrogate_plan *plan, uint64_t index,
                                       uint32_t unit, int64_t *out, uint32_t *scratch)
{
    syn_surrogate_train s = syn_surrogate_take(plan, index, unit);
    switch (plan->options.method) {
    case SYN_SURROGATE_DITHER:
        for (uint32_t block = 0; 4 * block < s.n; block++)
            syn_surrogate_dither(&s, block, out);
        break;
    case SYN_SURROGATE_RANDOMISE:
    case SYN_SURROGATE_JITTER:
        syn_surrogate_spread(&s, plan->options.method == SYN_SURROGATE_JITTER, out);
        break;
    case SYN_SURROGATE_JOINT_ISI:
    case SYN_SURROGATE_ISI_DITHER:
        syn_surrogate_joint(&s, out);
        break;
    default:
        for (uint32_t from = 0, to = 1; from < s.n; from = to, to++) {
            while (to < s.n && s.trial[to] == s.trial[from])
                to++;
            syn_surrogate_run(&s, from, to, out, scratch);
        }
    }
}

#endif
