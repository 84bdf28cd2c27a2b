/* Lag histograms of all pairs of units.

   Each pair of spikes is counted once, from the earlier one: the lags of b after a make
   the right half of one histogram, and the left half of the other, turned round. What
   costs is one increment a pair, so these must hit the nearest cache. Units are therefore
   cut into blocks whose histograms with one other unit fit there, and the spikes of each
   block are listed in time order. For a unit and a block, the spikes of the unit are gone
   through, and for each those of the block within reach. References are taken in chunks,
   so that what they meet stays in the second cache.

   The bin of a lag needs no division. Where twice a tick is q * 2 bin + phase, the bin
   from one tick to another is the difference of their q, or one less where the later
   phase is the smaller one. All of this is done modulo 2^32: true differences are
   small. */
#include "core/correlation/lags.h"

#include <string.h>

#include "core/base/kinds.h"
#include "core/base/parallel.h"

enum {
    CHUNK = 1 << 20,         /* references taken together */
    NEAR_COUNTERS = 8192,    /* 32 kB of histograms */
    MOST_BLOCKS = 16,        /* more would cost more in going through references */
    PAIRS_A_LOOK = 1 << 22,  /* pairs from one look at the clock to the next */
    PART = 256               /* places worked out at a time */
};

/* Where the events of a block that a reference meets begin and end. */
typedef struct span {
    uint32_t from, to;
} span;

/* Ticks on the clock of bins. */
typedef struct moment {
    uint32_t bin;   /* modulo 2^32 */
    int32_t phase;  /* from 0 to 2 * bin - 1 half ticks */
} moment;

/* One thread's histograms of a unit with those of a block, and how far it is. */
typedef struct worker {
    uint32_t *histogram;  /* [block * width] */
    uint64_t pairs;       /* counted in it since it was emptied */
    uint32_t at;          /* next reference of an unfinished unit, in the chunk */
    int begun;            /* whether `at` is set */
} worker;

typedef struct sweep {
    const syn_recording *r;
    syn_lag_options o;
    uint32_t width;        /* bins from 0 to `lags` */
    uint32_t block;        /* units of a block */
    uint32_t blocks;
    int32_t *count;
    /* events block after block, in time order */
    uint32_t *block_first; /* [blocks + 1] */
    uint32_t *place;       /* counter for a lag from moment 0, modulo 2^32 */
    int32_t *phase;
    /* the chunk: references from `first` to below `last` */
    uint32_t first, last;
    uint32_t *row;         /* its place among the references, unit after unit */
    uint32_t *unit_first;  /* [units + 1] */
    uint32_t *beyond;      /* first event out of its reach */
    moment *moment;        /* by row */
    span *span;            /* by row: what it meets in the block */
    uint32_t *passed;      /* [blocks] events of the block before the chunk */
    uint32_t now;          /* number of the block */
    worker *worker;
    const syn_watch *watch;
} sweep;

static moment moment_of(const sweep *s, int64_t half_ticks)
{
    int64_t width = 2 * s->o.bin, bin = half_ticks / width, phase = half_ticks % width;
    if (phase < 0) {
        phase += width;
        bin--;
    }
    return (moment){.bin = (uint32_t)(uint64_t)bin, .phase = (int32_t)phase};
}

/* ---- events of blocks ---- */

static syn_status list_blocks(sweep *s, const syn_watch *watch)
{
    const syn_recording *r = s->r;
    for (uint32_t b = 0; b <= s->blocks; b++) {
        uint64_t unit = (uint64_t)b * s->block;
        s->block_first[b] = r->first[unit < r->units ? unit : r->units];
    }
    memcpy(s->passed, s->block_first, s->blocks * sizeof *s->passed);
    for (uint32_t i = 0; i < r->events; i++) {
        if (syn_spikes_poll(watch, i, r->events) != SYN_OK)
            return SYN_INTERRUPTED;
        uint32_t block = r->unit[i] / s->block, at = s->passed[block]++;
        moment m = moment_of(s, 2 * r->tick[i]);
        s->place[at] = (r->unit[i] - block * s->block) * s->width + m.bin;
        s->phase[at] = m.phase;
    }
    memcpy(s->passed, s->block_first, s->blocks * sizeof *s->passed);
    return SYN_OK;
}

/* ---- references of a chunk ---- */

/* Lists the references unit after unit. A lag of 0 is in the middle of bin 0, so bins
   are counted from half a bin before the reference. */
static void take_chunk(sweep *s, uint32_t first)
{
    const syn_recording *r = s->r;
    uint32_t n = r->events, end = first, *next = s->unit_first + 1;
    int64_t reach = syn_lag_reach(&s->o);
    s->first = first;
    s->last = n - first > CHUNK ? first + CHUNK : n;
    memset(s->unit_first, 0, ((size_t)r->units + 2) * sizeof *s->unit_first);
    for (uint32_t i = first; i < s->last; i++)
        next[r->unit[i] + 1]++;
    for (uint32_t u = 0; u < r->units; u++)
        next[u + 1] += next[u];
    for (uint32_t i = first; i < s->last; i++) {
        uint32_t row = next[r->unit[i]]++;
        s->row[i - first] = row;
        s->moment[row] = moment_of(s, 2 * r->tick[i] - s->o.bin);
        while (end < n && r->tick[end] - r->tick[i] < reach)
            end++;
        s->beyond[i - first] = end;
    }
}

/* What the references meet in the block: events after them, within reach. */
static void find_spans(sweep *s)
{
    const uint32_t *unit = s->r->unit;
    uint32_t low = s->now * s->block, size = s->block;
    uint32_t from = s->passed[s->now], to = from, end = s->first;
    for (uint32_t i = s->first; i < s->last; i++) {
        from += unit[i] - low < size;
        for (uint32_t beyond = s->beyond[i - s->first]; end < beyond; end++)
            to += unit[end] - low < size;
        s->span[s->row[i - s->first]] = (span){.from = from, .to = to};
    }
    s->passed[s->now] = from;
}

/* ---- counting ---- */

static void count_span(const sweep *s, uint32_t *histogram, uint32_t row)
{
    uint32_t at[PART], bin = s->moment[row].bin;
    int32_t phase = s->moment[row].phase;
    for (uint32_t from = s->span[row].from, to = s->span[row].to; from < to;) {
        uint32_t n = to - from < PART ? to - from : PART;
        const uint32_t *place = s->place + from;
        const int32_t *after = s->phase + from;
        SYN_SIMD()
        for (uint32_t j = 0; j < n; j++)
            at[j] = place[j] - bin - (after[j] < phase);
        for (uint32_t j = 0; j < n; j++)
            histogram[at[j]]++;
        from += n;
    }
}

/* Adds to the counts of unit `a` with the block, and empties the histograms. */
static syn_status empty(const sweep *s, worker *w, uint32_t a)
{
    uint32_t units = s->r->units, low = s->now * s->block;
    uint32_t lags = s->o.lags, width = s->width;
    uint32_t n = units - low < s->block ? units - low : s->block;
    uint64_t most = 0;
    for (uint32_t u = 0; w->pairs > 0 && u < n; u++) {
        int32_t *to = s->count + ((size_t)a * units + low + u) * (2 * lags + 1) + lags;
        uint32_t *from = w->histogram + (size_t)u * width;
        for (uint32_t k = 0; k < width; k++) {
            uint64_t sum = (uint64_t)(uint32_t)to[k] + from[k];
            most = sum > most ? sum : most;
            to[k] = (int32_t)sum;
        }
        memset(from, 0, width * sizeof *from);
    }
    w->pairs = 0;
    return most > INT32_MAX ? SYN_TOO_LARGE : SYN_OK;
}

/* Counts the pairs of one unit's references with the spikes of the block. */
static syn_status count_unit(void *context, size_t item, int thread)
{
    const sweep *s = context;
    worker *w = s->worker + thread;
    uint32_t a = (uint32_t)item, end = s->unit_first[a + 1];
    uint64_t look = PAIRS_A_LOOK, done = 0;
    double started = 0;
    if (!w->begun)
        w->at = s->unit_first[a];
    w->begun = 1;
    for (; w->at < end; w->at++) {
        uint64_t pairs = s->span[w->at].to - s->span[w->at].from;
        /* So no counter of a histogram passes 2^32 - 1. */
        if (w->pairs + pairs > UINT32_MAX && empty(s, w, a) != SYN_OK)
            return SYN_TOO_LARGE;
        count_span(s, w->histogram, w->at);
        w->pairs += pairs;
        done += pairs;
        if (done < look)
            continue;
        look = done + PAIRS_A_LOOK;
        double now = syn_seconds();
        started = started > 0 ? started : now;
        if (now - started > SYN_SLICE_SECONDS) {
            w->at++;
            return SYN_UNFINISHED;
        }
    }
    w->begun = 0;
    return empty(s, w, a);
}

/* Tells the watch how much of all references is done. */
static int poll(void *data, const char *stage, double done, double total)
{
    (void)stage;
    const sweep *s = data;
    double blocks = s->now + (total > 0 ? done / total : 0);
    double references = s->first + (double)(s->last - s->first) * blocks / s->blocks;
    return syn_poll(s->watch, "spikes", references, s->r->events) != SYN_OK;
}

static syn_status count_chunk(sweep *s)
{
    syn_watch watch = {.poll = poll, .data = s};
    for (s->now = 0; s->now < s->blocks; s->now++) {
        find_spans(s);
        SYN_TRY(
            syn_parallel_for(s->r->units, s->o.threads, &watch, "units", count_unit, s));
    }
    return SYN_OK;
}

/* ---- both halves ---- */

/* What was counted of b after a, to the right of the middle, goes to the left of it, and
   to the right of it in what belongs to b. */
static syn_status turn_unit(void *context, size_t item, int thread)
{
    (void)thread;
    const sweep *s = context;
    size_t a = item, units = s->r->units, lags = s->o.lags, length = 2 * lags + 1;
    for (size_t b = a; b < units; b++) {
        int32_t *x = s->count + (a * units + b) * length + lags;
        int32_t *y = s->count + (b * units + a) * length + lags;
        int64_t middle = (int64_t)x[0] + y[0];
        if (middle > INT32_MAX)
            return SYN_TOO_LARGE;
        x[0] = y[0] = (int32_t)middle;
        for (size_t k = 1; k <= lags; k++) {
            int32_t after = x[k], before = y[k];
            x[k] = *(y - k) = before;
            y[k] = *(x - k) = after;
        }
    }
    return SYN_OK;
}

/* ---- all of it ---- */

static syn_status allocate(sweep *s, syn_budget *budget)
{
    size_t n = s->r->events, units = s->r->units, blocks = s->blocks;
    size_t chunk = n < CHUNK ? n : CHUNK;
    SYN_TAKE_ZEROS(budget, s->block_first, blocks + 1);
    SYN_TAKE_ZEROS(budget, s->passed, blocks + 1);
    SYN_TAKE(budget, s->place, n + 1);
    SYN_TAKE(budget, s->phase, n + 1);
    SYN_TAKE(budget, s->row, chunk + 1);
    SYN_TAKE_ZEROS(budget, s->unit_first, units + 2);
    SYN_TAKE(budget, s->beyond, chunk + 1);
    SYN_TAKE(budget, s->moment, chunk + 1);
    SYN_TAKE(budget, s->span, chunk + 1);
    SYN_TAKE_ZEROS(budget, s->worker, (size_t)s->o.threads);
    for (int t = 0; t < s->o.threads; t++)
        SYN_TAKE_ZEROS(budget, s->worker[t].histogram, (size_t)s->block * s->width);
    return SYN_OK;
}

syn_status syn_lag_histograms(const syn_recording *recording, const syn_lag_options *o,
                              int32_t *count, syn_budget *budget, const syn_watch *watch)
{
    uint32_t units = recording->units, width = o->lags + 1;
    uint32_t near = NEAR_COUNTERS / width, least = units / MOST_BLOCKS + 1;
    sweep s = {.r = recording, .o = *o, .width = width, .count = count, .watch = watch,
               .block = near > least ? near : least};
    s.blocks = units / s.block + (units % s.block > 0);
    /* To wake a thread takes as long as to count the pairs of some hundred spikes. */
    int worth = 1 + (int)(recording->events / 512);
    s.o.threads = o->threads < worth ? o->threads : worth;
    memset(count, 0, (size_t)units * units * (2 * (size_t)o->lags + 1) * sizeof *count);
    syn_status status = allocate(&s, budget);
    SYN_NEXT(status, list_blocks(&s, watch));
    for (uint32_t i = 0; status == SYN_OK && i < recording->events; i = s.last) {
        take_chunk(&s, i);
        status = count_chunk(&s);
    }
    SYN_NEXT(status, syn_parallel_for(units, s.o.threads, watch, "units", turn_unit, &s));
    for (int t = 0; s.worker && t < s.o.threads; t++)
        syn_budget_free(budget, s.worker[t].histogram);
    SYN_GIVE(budget, s.worker, s.span, s.moment, s.beyond, s.unit_first, s.row, s.phase,
             s.place, s.passed, s.block_first);
    return status;
}
