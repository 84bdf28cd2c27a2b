/* Finds pairs of patterns that share spikes. Each item of a pattern is a set of
   spikes. Sets of one unit that share enough spikes must meet in one of a few rare
   spikes, so that only sets that meet there are compared. */
#include "core/patterns/found/overlaps.h"

#include <string.h>

#include "core/base/masks.h"

enum {
    POLL_EVERY = 1 << 22,  /* pairs of sets: some ten milliseconds */
    FOLD = 4               /* words */
};

/* An item of a pattern: a set of spikes of one unit. */
typedef struct spike_set {
    uint64_t fold[FOLD];  /* a bit for each spike; some share one */
    uint32_t rank, lag;
    uint32_t spare;  /* spikes that need not be in common */
    int32_t needed;  /* bits of the fold that have to be */
    uint32_t taken;  /* spikes met so far, the rarest ones */
} spike_set;

typedef struct search {
    const syn_ranked_pattern *pattern;
    const syn_raster *raster;
    const uint8_t *live;
    syn_overlap_found *found;
    void *context;
    const syn_watch *watch;
    syn_budget *budget;
    size_t work;

    spike_set *set;       /* sets of all units, unit after unit, by rank */
    size_t *first;        /* [units + 1] where those of a unit begin */
    spike_set *meeting;   /* [sets of a unit] those that meet in one spike */
    uint32_t *spike;      /* [spikes] of the sets, set after set, */
    uint32_t *holder;     /* [holders] and the sets of the spikes, spike after spike */
    size_t spikes, holders;
    size_t *place;        /* [spikes of a unit + 1] where the sets of a spike end */
    uint32_t *rarest;     /* [spikes of a unit] in order */
    size_t *bucket;       /* [sets of a unit + 2] to sort them */
} search;

static syn_status search_make(search *s, uint32_t n, int64_t least)
{
    /* The sets of patterns that occur often enough to meet, unit by unit. */
    const syn_ranked_pattern *p = s->pattern;
    uint32_t units = s->raster->units;
    SYN_TAKE_ZEROS(s->budget, s->first, (size_t)units + 2);
    for (uint32_t rank = 0; rank < n; rank++)
        for (uint32_t k = 0; k < p[rank].size && p[rank].occurrences >= least; k++)
            s->first[p[rank].unit[k] + 2]++;
    for (uint32_t u = 0; u < units; u++)
        s->first[u + 2] += s->first[u + 1];
    SYN_TAKE(s->budget, s->set, s->first[units + 1] + 1);
    for (uint32_t rank = 0; rank < n; rank++)
        for (uint32_t k = 0; k < p[rank].size && p[rank].occurrences >= least; k++)
            s->set[s->first[p[rank].unit[k] + 1]++] = (spike_set){
                .rank = rank, .lag = p[rank].lag[k],
                .spare = (uint32_t)(p[rank].occurrences - least)};
    size_t sets = 0, spikes = 0;
    const uint32_t *fired = s->raster->unit_first;
    for (uint32_t u = 0; u < s->raster->units; u++) {
        size_t here = s->first[u + 1] - s->first[u];
        sets = here > sets ? here : sets;
        spikes = fired[u + 1] - fired[u] > spikes ? fired[u + 1] - fired[u] : spikes;
    }
    SYN_TAKE(s->budget, s->meeting, sets + 1);
    SYN_TAKE(s->budget, s->bucket, sets + 2);
    SYN_TAKE(s->budget, s->place, spikes + 1);
    SYN_TAKE(s->budget, s->rarest, spikes + 1);
    return SYN_OK;
}

/* Orders the spikes that some set holds by how many do; returns how many there are. */
static uint32_t order_spikes(search *s, uint32_t unit)
{
    size_t sets = s->first[unit + 1] - s->first[unit];
    uint32_t fired = s->raster->unit_first[unit + 1] - s->raster->unit_first[unit];
    memset(s->bucket, 0, (sets + 2) * sizeof *s->bucket);
    for (uint32_t i = 0; i < fired; i++)
        s->bucket[s->place[i] + 1]++;
    uint32_t held = fired - (uint32_t)s->bucket[1];
    s->bucket[1] = 0;
    for (size_t k = 1; k <= sets; k++)
        s->bucket[k + 1] += s->bucket[k];
    for (uint32_t i = 0; i < fired; i++)
        if (s->place[i] > 0)
            s->rarest[s->bucket[s->place[i]]++] = i;
    return held;
}

/* Lists the sets of each spike, those of spike i up to place[i]. */
static void list_holders(search *s, uint32_t unit)
{
    uint32_t fired = s->raster->unit_first[unit + 1] - s->raster->unit_first[unit];
    size_t before = 0;
    for (uint32_t i = 0; i < fired; i++) {
        size_t here = s->place[i];
        s->place[i] = before;
        before += here;
    }
    const uint32_t *spike = s->spike;
    for (size_t e = s->first[unit]; e < s->first[unit + 1]; e++)
        for (uint32_t i = 0; i < s->pattern[s->set[e].rank].occurrences; i++)
            s->holder[s->place[*spike++]++] = (uint32_t)(e - s->first[unit]);
}

/* The sets that have not met in as many spikes as they can spare meet in this one: those
   of live patterns first. Sets `*live` to how many these are, and returns all. */
static uint32_t gather(search *s, uint32_t unit, uint32_t spike, uint32_t *live)
{
    spike_set *all = s->set + s->first[unit];
    size_t begin = spike > 0 ? s->place[spike - 1] : 0, end = s->place[spike];
    uint32_t met = 0;
    *live = 0;
    for (size_t i = begin; i < end; i++) {
        spike_set *set = &all[s->holder[i]];
        if (set->taken > set->spare)
            continue;
        set->taken++;
        if (s->live[set->rank]) {
            s->meeting[met++] = s->meeting[*live];
            s->meeting[(*live)++] = *set;
        } else {
            s->meeting[met++] = *set;
        }
    }
    return met;
}

/* Tells of a pair, if it is one of two patterns. */
static void tell(const search *s, const spike_set *a, const spike_set *b)
{
    if (a->rank > b->rank) {
        const spike_set *swap = a;
        a = b;
        b = swap;
    }
    if (a->rank < b->rank && (s->live[a->rank] || s->live[b->rank]))
        s->found(s->context, a->rank, b->rank, (int64_t)a->lag - (int64_t)b->lag);
}

static int32_t common_bits(const uint64_t *a, const uint64_t *b)
{
    uint32_t bits = 0;
    for (int word = 0; word < FOLD; word++)
        bits += syn_bits(a[word] & b[word]);
    return (int32_t)bits;
}

/* Compares the sets that meet in a spike. A bit that one fold has and the other has not
   is a spike, or more, that they have not in common. */
static syn_status compare_meeting(search *s, uint32_t unit, uint32_t met,
                                  uint32_t live)
{
    for (uint32_t i = 0; i < live; i++) {
        const spike_set *a = &s->meeting[i];
        for (uint32_t k = i + 1; k < met; k++) {
            const spike_set *b = &s->meeting[k];
            int32_t needed = a->needed > b->needed ? a->needed : b->needed;
            if (common_bits(a->fold, b->fold) >= needed)
                tell(s, a, b);
        }
        s->work += met - i;
        if (s->work >= POLL_EVERY) {
            s->work = 0;
            if (syn_poll(s->watch, "units", unit, s->raster->units) != SYN_OK)
                return SYN_INTERRUPTED;
        }
    }
    return SYN_OK;
}

static syn_status search_unit(search *s, uint32_t unit)
{
    size_t needed = 0;
    for (size_t e = s->first[unit]; e < s->first[unit + 1]; e++)
        needed += s->pattern[s->set[e].rank].occurrences;
    if (s->first[unit + 1] - s->first[unit] < 2)
        return SYN_OK;
    SYN_RENEW(s->budget, s->spike, s->spikes, needed);
    SYN_RENEW(s->budget, s->holder, s->holders, needed);
    /* Lists the spikes of each set of a unit, and counts in place[spike] how many sets
       hold each. */
    const syn_raster *r = s->raster;
    const uint32_t *bin = r->unit_bin + r->unit_first[unit];
    uint32_t fired = r->unit_first[unit + 1] - r->unit_first[unit];
    uint32_t *spike = s->spike;
    memset(s->place, 0, ((size_t)fired + 1) * sizeof *s->place);
    for (size_t e = s->first[unit]; e < s->first[unit + 1]; e++) {
        spike_set *set = &s->set[e];
        const syn_ranked_pattern *p = &s->pattern[set->rank];
        uint32_t at = 0;
        for (uint32_t i = 0; i < p->occurrences; i++) {
            at = syn_raster_seek(r, bin, at, fired, p->opens[i] + set->lag);
            *spike++ = at;
            s->place[at]++;
            set->fold[at / 64 % FOLD] |= (uint64_t)1 << at % 64;
        }
        set->needed = -(int32_t)set->spare;
        for (int word = 0; word < FOLD; word++)
            set->needed += (int32_t)syn_bits(set->fold[word]);
    }
    uint32_t held = order_spikes(s, unit);
    list_holders(s, unit);
    for (uint32_t i = 0; i < held; i++) {
        uint32_t live, met = gather(s, unit, s->rarest[i], &live);
        SYN_TRY(compare_meeting(s, unit, met, live));
    }
    return SYN_OK;
}

syn_status syn_find_overlaps(const syn_ranked_pattern *pattern, uint32_t n,
                             const syn_raster *raster, int64_t least,
                             const uint8_t *live, syn_overlap_found *found, void *context,
                             syn_budget *budget, const syn_watch *watch)
{
    search s = {.pattern = pattern, .raster = raster, .live = live, .found = found,
                .context = context, .budget = budget, .watch = watch};
    syn_status status = search_make(&s, n, least);
    for (uint32_t u = 0; u < raster->units && status == SYN_OK; u++) {
        s.work += POLL_EVERY / 16;
        status = search_unit(&s, u);
    }
    SYN_GIVE(s.budget, s.set, s.first, s.meeting, s.spike, s.holder, s.place, s.rarest,
             s.bucket);
    return status;
}
