/* The walk for events that go. Two chains of counts start at the front, one from the old
   beginning of the window and one from the new one. Once they agree on what is free, they
   are the same from there on: for most episodes that is soon after what goes. */
#include <string.h>

#include "core/episodes/stream_walk.h"

/* Where the window will begin, and the first event that events to come may follow: what
   ends there will be gone through again. */
typedef struct front {
    uint32_t begin, pending;
} front;

/* ---- from the table ---- */

/* Two chains of the candidates whose lanes stand in one block. */
typedef struct pair {
    syn_row_pair rows;
    uint32_t free[2][SYN_LANES];  /* as numbers of events */
    uint32_t more[SYN_LANES];     /* what the old chain counted more */
} pair;

/* A new pair; whether any candidate has a lane from `first` on. */
static int new_pair(const syn_stream *s, const syn_stream_kept *k, uint32_t first,
                    uint32_t begin, pair *p)
{
    const uint32_t *slot = s->kept[k->suffix].slot;
    int any = 0;
    memset(p, 0, sizeof *p);
    for (uint32_t i = 0; i < k->n; i++)
        if (slot[i] - first < SYN_LANES) {
            p->rows.lane[slot[i] - first] = UINT16_MAX;
            any = 1;
        }
    for (uint32_t lane = 0; lane < SYN_LANES; lane++)
        p->free[1][lane] = begin;  /* to the new one nothing before is free */
    return any;
}

/* A start as chunk `c` has it. What is beyond 16 bits is after all that can be free. */
static uint16_t start_in(const syn_stream_chunk *c, uint32_t start)
{
    uint32_t after = start > c->base ? start - c->base : 0;
    return after < UINT16_MAX ? (uint16_t)after : UINT16_MAX - 1;
}

/* Runs both through a chunk of ends, until they meet. As meet_rows(). What is free beyond
   16 bits is as good as free nowhere in the chunk. */
static ptrdiff_t run_pair(const syn_stream *s, const syn_stream_chunk *c, uint32_t first,
                          pair *p)
{
    uint16_t was[2][SYN_LANES];
    p->rows.block = c->row + first;
    p->rows.stride = s->events.stride;
    for (int chain = 0; chain < 2; chain++)
        for (uint32_t lane = 0; lane < SYN_LANES; lane++) {
            uint32_t free = p->free[chain][lane];
            free = free > c->base ? free - c->base : 0;
            was[chain][lane] = free < UINT16_MAX ? (uint16_t)free : UINT16_MAX;
        }
    memcpy(p->rows.free, was, sizeof was);
    ptrdiff_t ran = s->meet_rows(&p->rows, c->end, c->n);
    for (uint32_t lane = 0; lane < SYN_LANES; lane++) {
        for (int chain = 0; chain < 2; chain++)
            if (p->rows.free[chain][lane] != was[chain][lane])
                p->free[chain][lane] = c->base + p->rows.free[chain][lane];
        p->more[lane] += (uint32_t)(int16_t)p->rows.more[lane];
    }
    return ran;
}

enum { FIRST_ENDS = 32 };  /* in which most chains meet */

/* The start of the first end in the list that events to come may follow. Ends before
   number `i` only are of interest: UINT32_MAX where it is none of them. */
static uint32_t pending_start(const syn_stream_list *list, uint32_t i, uint32_t pending)
{
    uint32_t start = UINT32_MAX;
    while (i > 0 && list->end[i - 1].event >= pending)
        start = list->end[--i].start;
    return start;
}

/* Takes from the counts of the candidates of one block what the old chain counts more. */
static void uncount_block(const syn_stream *s, syn_stream_kept *k,
                          const syn_stream_list *list, uint32_t first, front f)
{
    const uint32_t *slot = s->kept[k->suffix].slot;
    syn_stream_chunk c;
    pair p;
    int whole = 0;
    if (!new_pair(s, k, first, f.begin, &p))
        return;
    for (uint32_t i = 0, most = FIRST_ENDS; i < list->n; most = SYN_STREAM_CHUNK) {
        syn_stream_take_chunk(s, list, i, most, &c);
        /* Chains that agree from the base of a chunk on may differ at pending ends before
           it. */
        p.rows.all = pending_start(list, i, f.pending) != UINT32_MAX;
        i += c.n;
        c.end[c.n].start = i < list->n ? start_in(&c, list->end[i].start) : UINT16_MAX;
        p.rows.pending = start_in(&c, pending_start(list, i, f.pending));
        ptrdiff_t ran = run_pair(s, &c, first, &p);
        whole = i == list->n && (ran > 0 || -ran == (ptrdiff_t)c.n);
        if (ran < 0)
            break;
    }
    for (uint32_t i = 0; i < k->n; i++) {
        uint32_t lane = slot[i] - first;
        if (lane >= SYN_LANES)
            continue;
        k->count[i] -= p.more[lane];
        if (whole && p.free[0][lane] != p.free[1][lane])
            k->free[i] = p.free[1][lane];
    }
}

/* ---- by visits ---- */

enum { TOLD, TFREE, BOLD, BFREE };  /* chains from the old beginning and from the new */

/* Chains of `n` candidates that have counted nothing. */
static syn_status new_chains(syn_stream *s, uint32_t n, uint32_t begin)
{
    for (int c = 0; c < 4; c++) {
        s->chain[c] = syn_budget_grow(&s->budget, s->chain[c], &s->chain_room[c], n,
                                      sizeof **s->chain);
        if (!s->chain[c])
            return syn_budget_refusal(&s->budget);
        memset(s->chain[c], 0, n * sizeof **s->chain);
    }
    for (uint32_t i = 0; i < n; i++)
        s->chain[BFREE][i] = begin;
    return SYN_OK;
}

/* Whether the chains are the same for whatever starts from `start` on. */
static int have_met(const syn_stream *s, uint32_t n, uint32_t start)
{
    const uint32_t *a = s->chain[TFREE], *b = s->chain[BFREE];
    int apart = 0;
    for (uint32_t i = 0; i < n; i++)
        apart |= a[i] != b[i] && (a[i] > start || b[i] > start);
    return !apart;
}

static syn_status uncount_by_visits(syn_stream *s, uint32_t id,
                                    const syn_stream_list *list, front f)
{
    syn_stream_kept *k = &s->kept[id];
    uint32_t i = 0, since = s->events.begin, until = s->events.end;
    syn_status status = new_chains(s, k->n, f.begin);
    if (status != SYN_OK)
        return status;
    for (uint32_t most = FIRST_ENDS; i < list->n; most *= 2) {
        syn_stream_list some = {list->end + i, list->n - i, 0};
        if (some.n > most)
            some = (syn_stream_list){some.end, most, some.n - most};
        syn_stream_count(s, id, &some, 0, since, until, s->chain[TOLD], s->chain[TFREE]);
        syn_stream_count(s, id, &some, 0, since, until, s->chain[BOLD], s->chain[BFREE]);
        i += some.n;
        uint32_t start = pending_start(list, i, f.pending);
        if (i < list->n && list->end[i].start < start)
            start = list->end[i].start;
        if (i < list->n && have_met(s, k->n, start))
            break;
    }
    for (uint32_t c = 0; c < k->n; c++)
        k->count[c] -= s->chain[TOLD][c] - s->chain[BOLD][c];
    if (i == list->n)
        memcpy(k->free, s->chain[BFREE], k->n * sizeof *k->free);
    return SYN_OK;
}

/* ---- the walk ---- */

static syn_status go_front(syn_stream *s, uint32_t id, front f)
{
    const syn_stream_ends *ends = syn_stream_ends_of(s, id);
    syn_status status = SYN_OK;
    if (ends->n == ends->head || ends->start >= f.begin)
        return SYN_OK;  /* nor does anything go of what it begins */
    syn_stream_list list = {ends->end + ends->head, ends->n - ends->head, 0};
    syn_stream_kept_touch(s, id);
    if (syn_stream_has_rows(s))
        for (uint32_t first = 0; first < s->events.stride; first += SYN_LANES)
            uncount_block(s, &s->kept[id], &list, first, f);
    else
        status = uncount_by_visits(s, id, &list, f);
    for (uint32_t i = 0; i < s->kept[id].kids && status == SYN_OK; i++) {
        uint32_t kid = s->kept[id].kid[i];
        if (s->kept[kid].n > 0)
            status = go_front(s, kid, f);
    }
    return status;
}

/* Ends that start before the new beginning are none any more. */
static void forget(syn_stream *s, uint32_t begin)
{
    for (uint32_t i = 0; i < s->n_touched; i++)
        syn_stream_ends_drop(&s->kept[s->touched[i]].ends, begin);
}

syn_status syn_stream_walk_front(syn_stream *s, uint32_t begin)
{
    const syn_stream_kept *root = &s->kept[SYN_STREAM_ROOT];
    front f = {begin, syn_stream_pending(&s->events, s->events.end - 1)};
    syn_status status = SYN_OK;
    for (uint32_t i = 0; i < root->kids && status == SYN_OK; i++) {
        if (s->kept[root->kid[i]].n > 0)
            status = go_front(s, root->kid[i], f);
        if (status == SYN_OK)
            status = syn_stream_look_up(s);
    }
    forget(s, begin);
    return status;
}
