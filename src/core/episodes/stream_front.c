/* The walk for events that go. Two chains of counts start at the front, one from the old
   beginning of the window and one from the new one. Once they agree on what is free, they
   are the same from there on. For most episodes a stretch not much longer than what
   goes is enough; the others are gone through again with a longer one. */
#include <string.h>

#include "core/episodes/stream_walk.h"

typedef struct front {
    uint32_t begin;  /* where the window will begin */
    uint32_t until;  /* where the stretch ends */
    int again;       /* whether only wanted episodes are gone through */
    int open;        /* whether some chains did not meet */
} front;

enum { TOLD, TFREE, BOLD, BFREE };  /* chains from the old beginning and from the new */

/* Chains of `n` candidates that have counted nothing: to the new one what starts before
   its beginning is not free. */
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

/* A start before which no end of the episode lies that the walk has not seen: ends at
   later events follow an end in the list that is still open, or one of the prefix. */
static uint32_t next_start(const syn_stream *s, const syn_stream_list *list,
                           const front *f, uint32_t of_prefix)
{
    const syn_stream_events *e = &s->events;
    if (f->until == e->end)
        return of_prefix;
    int64_t tick = syn_stream_tick(e, f->until);
    uint32_t i = list->n;
    while (i > 0 && tick - syn_stream_tick(e, list->end[i - 1].event) <= e->reach)
        i--;
    return i < list->n && list->end[i].start < of_prefix ? list->end[i].start : of_prefix;
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

/* Wants an episode and all that it begins with. */
static void want(syn_stream *s, uint32_t id)
{
    for (; id != SYN_STREAM_ROOT && !s->kept[id].wanted; id = s->kept[id].parent)
        s->kept[id].wanted = 1;
}

/* Takes from the counts of an episode's candidates what starts before the new beginning;
   the first `gone` ends of the list do. */
static syn_status uncount(syn_stream *s, uint32_t id, const syn_stream_list *list,
                          uint32_t gone, uint32_t start, front *f)
{
    uint32_t n = s->kept[id].n, begin = s->events.begin;
    syn_stream_list rest = {list->end + gone, list->n - gone};
    syn_status status = new_chains(s, n, f->begin);
    if (status != SYN_OK)
        return status;
    syn_stream_count(s, id, list, 0, begin, f->until, s->chain[TOLD], s->chain[TFREE]);
    syn_stream_count(s, id, &rest, 0, begin, f->until, s->chain[BOLD], s->chain[BFREE]);
    syn_stream_kept *k = &s->kept[id];
    int whole = f->until == s->events.end;
    k->again = !whole && !have_met(s, n, start);
    if (k->again) {
        want(s, id);
        f->open = 1;
        return SYN_OK;
    }
    syn_stream_kept_touch(s, id);
    for (uint32_t i = 0; i < n; i++)
        k->count[i] -= s->chain[TOLD][i] - s->chain[BOLD][i];
    if (whole)
        memcpy(k->free, s->chain[BFREE], n * sizeof *k->free);
    return SYN_OK;
}

static syn_status go_front(syn_stream *s, uint32_t id, uint32_t of_prefix, front *f)
{
    const syn_stream_ends *ends = syn_stream_ends_of(s, id);
    uint32_t gone = 0;
    int count = !f->again || s->kept[id].again;
    syn_status status = SYN_OK;
    s->kept[id].wanted = s->kept[id].again = 0;
    if (ends->n == ends->head || ends->start >= f->begin)
        return SYN_OK;  /* nor does anything go of what it begins */
    syn_stream_list list = syn_stream_list_of(s, id, s->events.begin, f->until);
    while (gone < list.n && list.end[gone].start < f->begin)
        gone++;
    uint32_t start = next_start(s, &list, f, of_prefix);
    if (count)
        status = uncount(s, id, &list, gone, start, f);
    for (uint32_t i = 0; i < s->kept[id].kids && status == SYN_OK; i++) {
        uint32_t kid = s->kept[id].kid[i];
        if (s->kept[kid].n > 0 && (!f->again || s->kept[kid].wanted))
            status = go_front(s, kid, start, f);
    }
    return status;
}

/* Where the stretch ends that begins at the new beginning and has at most so many events:
   in front of a silence that no lag spans, or between two ticks. */
static uint32_t stretch(const syn_stream *s, uint32_t begin, uint32_t most)
{
    const syn_stream_events *e = &s->events;
    uint32_t until = begin;
    while (until < e->end && until - begin < most) {
        until++;
        if (until < e->end &&
            syn_stream_tick(e, until) - syn_stream_tick(e, until - 1) > e->reach)
            return until;
    }
    while (until < e->end && syn_stream_group(e, until) != until)
        until++;
    return until;
}

/* Ends that start before the new beginning are none any more. */
static void forget(syn_stream *s, uint32_t begin)
{
    for (uint32_t id = 0; id < s->n_kept; id++)
        syn_stream_ends_drop(&s->kept[id].ends, begin);
}

enum { LEAST_STRETCH = 64 };  /* events */

syn_status syn_stream_walk_front(syn_stream *s, uint32_t begin)
{
    uint32_t most = LEAST_STRETCH + (begin - s->events.begin);
    front f = {.begin = begin, .open = 1};
    syn_status status = SYN_OK;
    for (; f.open && status == SYN_OK; most = most < UINT32_MAX / 8 ? 4 * most : most) {
        f.open = 0;
        f.until = stretch(s, begin, most);
        for (uint32_t i = 0; i < s->kept[SYN_STREAM_ROOT].kids && status == SYN_OK; i++) {
            uint32_t id = s->kept[SYN_STREAM_ROOT].kid[i];
            if (s->kept[id].n > 0 && (!f.again || s->kept[id].wanted))
                status = go_front(s, id, f.until, &f);
            if (status == SYN_OK)
                status = syn_stream_look_up(s);
        }
        f.again = 1;
    }
    forget(s, begin);
    return status;
}
