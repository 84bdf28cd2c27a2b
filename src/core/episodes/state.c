/* The published CPU algorithm: a state machine per episode that reads all events of its
   units (Algorithm 1 of Cao et al. 2011, with waiting lists of time stamps, repaired for
   equal time stamps), alone or after the paper's PreElim upper bound. */
#include <string.h>

#include "core/episodes/engine.h"
#include "core/base/masks.h"
#include "core/base/parallel.h"

/* Earlier than any event, and yet a difference from it does not overflow. */
#define BEFORE_ALL (INT64_MIN / 4)
#define NO_BOUND (INT64_MAX / 2)

/* What the machine knows at one position of the episode. Times that wait for its event
   stand in `waiting`, those before `head` being too old; at position 0 that is the end of
   the last occurrence. */
typedef struct position {
    int64_t low, high;  /* the lag before the event; anything before the first */
    int64_t *waiting;
    uint32_t head, tail;
    int64_t latest;     /* the upper bound keeps a single time instead */
    uint32_t next;      /* the position before with the same unit + 1, or 0 */
} position;

/* One worker's state machine. */
typedef struct machine {
    uint32_t *unit, *interval;  /* the episode */
    position *at;               /* one more than the episode has events */
    size_t room;                /* of the three */
    uint32_t *last;             /* [units] last position of a unit + 1, 0 for none */
    uint64_t *parents_events;   /* a bit per event: whether its unit is in the parent */
    uint64_t *events;           /* the same for the candidate: what the machine reads */
    size_t counted;             /* candidates of the item that are done already */
} machine;

typedef struct state_engine {
    syn_miner *miner;
    machine *machines;
    uint32_t longest;  /* most events of one unit: what a list may have to hold */
    int bound_first;
} state_engine;

/* ---- the episode in a machine ---- */

/* Room for an episode of `room` - 1 events. */
static syn_status machine_make_room(machine *m, syn_budget *budget, size_t room,
                                    uint32_t longest)
{
    if (room <= m->room)
        return SYN_OK;
    SYN_GIVE(budget, m->unit, m->interval);
    m->unit = m->interval = NULL;
    position *at;
    SYN_TAKE(budget, m->unit, room);
    SYN_TAKE(budget, m->interval, room);
    SYN_TAKE(budget, at, room);
    if (m->room > 0)
        memcpy(at, m->at, m->room * sizeof *at);
    syn_budget_free(budget, m->at);
    m->at = at;
    for (; m->room < room; m->room++) {
        SYN_TAKE(budget, at[m->room].waiting, (size_t)longest + 2);
    }
    return SYN_OK;
}

static size_t words_of(const syn_recording *r)
{
    return ((size_t)r->events + 63) / 64;
}

static void mark_events(uint64_t *events, const syn_recording *r, uint32_t unit)
{
    for (uint32_t i = r->first[unit]; i < r->first[unit + 1]; i++)
        events[r->by_unit[i] / 64] |= UINT64_C(1) << (r->by_unit[i] % 64);
}

/* ---- the exact count ---- */

typedef void start_machine(machine *m, size_t size, int64_t last_end);
typedef int step_machine(machine *m, uint32_t unit, int64_t t, size_t size);

/* Nothing waits, and the next occurrence has to start after `last_end`. */
static void start_over(machine *m, size_t size, int64_t last_end)
{
    for (size_t k = 0; k <= size; k++)
        m->at[k].head = m->at[k].tail = 0;
    m->at[0].waiting[0] = last_end;
    m->at[0].tail = 1;
}

/* Tells whether the event of a unit at `t` completes an occurrence. Whether the event can
   follow a waiting one is hard for a processor to predict. The event is therefore always
   stored, and the end of the queue moves only if it follows. */
static int step_exactly(machine *m, uint32_t unit, int64_t t, size_t size)
{
    for (uint32_t k = m->last[unit]; k != 0; k = m->at[k - 1].next) {
        position *here = &m->at[k - 1], *after = here + 1;
        while (here->head < here->tail && t - here->waiting[here->head] > here->high)
            here->head++;
        /* the oldest left is within `high`, and has waited longest */
        unsigned follows = (here->head < here->tail) &
                           (t - here->waiting[here->head] > here->low);
        after->waiting[after->tail] = t;
        after->tail += follows;
        if (follows & (k == size))
            return 1;
    }
    return 0;
}

/* ---- the upper bound ---- */

static void forget_latest(machine *m, size_t size, int64_t last_end)
{
    (void)last_end;
    m->at[0].latest = 0;
    for (size_t k = 1; k <= size; k++)
        m->at[k].latest = BEFORE_ALL;
}

/* PreElim: one time stamp per position and no lower bounds. */
static int step_at_most(machine *m, uint32_t unit, int64_t t, size_t size)
{
    for (uint32_t k = m->last[unit]; k != 0; k = m->at[k - 1].next) {
        position *here = &m->at[k - 1], *after = here + 1;
        int follows = t - here->latest <= here->high;
        after->latest = follows ? t : after->latest;
        if (follows & (k == size))
            return 1;
    }
    return 0;
}

/* ---- one pass over the events ---- */

/* Counts as one of the two kinds of steps does; inlined, so that no step is a call. */
static inline uint32_t count_by(machine *m, const syn_recording *r, size_t size,
                                start_machine *start, step_machine *step)
{
    uint32_t count = 0;
    start(m, size, BEFORE_ALL);
    for (size_t word = 0; word < words_of(r); word++) {
        for (uint64_t left = m->events[word]; left != 0; left &= left - 1) {
            size_t i = 64 * word + syn_low_bit(left);
            if (!step(m, r->unit[i], r->tick[i], size))
                continue;
            count++;
            start(m, size, r->tick[i]);
        }
    }
    return count;
}

/* ---- the engine ---- */

static uint32_t count_candidate(state_engine *e, machine *m, size_t size, int worker)
{
    const syn_recording *r = e->miner->recording;
    uint32_t count;
    memcpy(m->events, m->parents_events, words_of(r) * sizeof *m->events);
    mark_events(m->events, r, m->unit[size - 1]);
    /* Chains the positions of each unit from the last to the first, so that one event
       never serves two positions of the same occurrence. */
    for (size_t k = 0; k < size; k++) {
        m->at[k].next = m->last[m->unit[k]];
        m->last[m->unit[k]] = (uint32_t)k + 1;
    }
    if (e->bound_first && count_by(m, r, size, forget_latest, step_at_most) <
                              e->miner->options->min_count) {
        e->miner->findings[worker].eliminated++;
        count = 0;
    } else {
        count = count_by(m, r, size, start_over, step_exactly);
    }
    for (size_t k = 0; k < size; k++)
        m->last[m->unit[k]] = 0;
    return count;
}

/* An item is a parent and one interval after it. */
static syn_status state_begin_level(void *self, size_t *items)
{
    const state_engine *e = self;
    const syn_miner *miner = e->miner;
    *items = miner->episodes->level[miner->size - 2].n * miner->options->n_intervals;
    return SYN_OK;
}

static syn_status state_count(void *self, size_t item, int worker)
{
    state_engine *e = self;
    syn_miner *miner = e->miner;
    machine *m = &e->machines[worker];
    uint32_t parent = (uint32_t)(item / miner->options->n_intervals);
    uint32_t interval = (uint32_t)(item % miner->options->n_intervals);
    syn_candidates c = syn_miner_candidates(miner, parent);
    size_t begin = 0, end;
    while (begin < c.n && c.interval[begin] < interval)
        begin++;
    for (end = begin; end < c.n && c.interval[end] == interval; end++)
        ;
    if (begin == end)
        return SYN_OK;
    uint32_t *count = syn_miner_counts(miner, worker, end - begin);
    if (!count)
        return syn_budget_refusal(&miner->budget);
    SYN_TRY(machine_make_room(m, &miner->budget, miner->size + 1, e->longest));

    double begun = syn_seconds();
    /* Puts the parent into the machine; its candidates only differ in the last unit. */
    const syn_interval *intervals = miner->options->intervals;
    size_t edges = miner->size - 1;
    syn_episode_spell(miner->episodes, edges - 1, parent, m->unit, m->interval);
    memset(m->parents_events, 0, words_of(miner->recording) * sizeof *m->parents_events);
    for (size_t k = 0; k < edges; k++)
        mark_events(m->parents_events, miner->recording, m->unit[k]);
    m->interval[edges - 1] = interval;
    m->at[0].low = 0;
    m->at[0].high = NO_BOUND;
    for (size_t k = 0; k < edges; k++) {
        m->at[k + 1].low = intervals[m->interval[k]].low;
        m->at[k + 1].high = intervals[m->interval[k]].high;
    }
    while (m->counted < end - begin) {
        m->unit[miner->size - 1] = c.unit[begin + m->counted];
        count[m->counted++] = count_candidate(e, m, miner->size, worker);
        if (m->counted < end - begin && syn_seconds() - begun > SYN_SLICE_SECONDS)
            return SYN_UNFINISHED;
    }
    m->counted = 0;
    return syn_miner_keep(miner, worker, item, begin, count, end - begin);
}

static void state_close(void *self)
{
    state_engine *e = self;
    syn_budget *budget = &e->miner->budget;
    for (int w = 0; e->machines && w < e->miner->workers; w++) {
        machine *m = &e->machines[w];
        for (size_t k = 0; k < m->room; k++)
            syn_budget_free(budget, m->at[k].waiting);
        SYN_GIVE(budget, m->at, m->unit, m->interval, m->last, m->parents_events,
                 m->events);
    }
    SYN_GIVE(budget, e->machines, e);
}

static syn_status open_machines(state_engine *e)
{
    const syn_recording *r = e->miner->recording;
    syn_budget *budget = &e->miner->budget;
    SYN_TAKE_ZEROS(budget, e->machines, (size_t)e->miner->workers);
    for (int w = 0; w < e->miner->workers; w++) {
        machine *m = &e->machines[w];
        size_t words = words_of(r) + 1;
        SYN_TAKE_ZEROS(budget, m->last, (size_t)r->units + 1);
        SYN_TAKE(budget, m->parents_events, words);
        SYN_TAKE(budget, m->events, words);
    }
    return SYN_OK;
}

static syn_status open_engine(void **self, syn_miner *miner, int bound_first)
{
    const syn_recording *r = miner->recording;
    state_engine *e = syn_budget_zeros(&miner->budget, 1, sizeof *e);
    *self = e;
    if (!e)
        return syn_budget_refusal(&miner->budget);
    e->miner = miner;
    e->bound_first = bound_first;
    for (uint32_t u = 0; u < r->units; u++)
        if (r->first[u + 1] - r->first[u] > e->longest)
            e->longest = r->first[u + 1] - r->first[u];
    return open_machines(e);
}

static syn_status state_open(void **self, syn_miner *miner)
{
    return open_engine(self, miner, 0);
}

static syn_status two_pass_open(void **self, syn_miner *miner)
{
    return open_engine(self, miner, 1);
}

const syn_engine syn_engine_state = {state_open, state_begin_level, state_count,
                                     state_close, 1, 0};

const syn_engine syn_engine_two_pass = {two_pass_open, state_begin_level, state_count,
                                        state_close, 1, 0};
