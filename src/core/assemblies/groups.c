/* Grows groups. The excess of a pair becomes a z value, cut at CAP so that no single pair
   decides; the evidence for a unit at a lag is the sum of what its pairs with all members
   have at the lags that follow from that, over the square root of their number. */
#include "core/assemblies/groups.h"

#include <math.h>
#include <string.h>

#include "core/base/parallel.h"

enum { MANY = 8, MOST_ROUNDS = 8 };

static const double CAP = 6, FLOOR = -2;
static const double ENOUGH = 5.5;   /* evidence for a new member, in deviations */
static const double STAY = 4;       /* evidence for one that is there */
static const double OWN = 1.3;      /* a member with this much agrees */
static const double AGREED = 0.75;  /* share of members that must */
static const double AGREED_OF_MANY = 0.5;

syn_status syn_grower_make(syn_grower *out, const syn_lagged *pairs, syn_budget *budget)
{
    size_t lags = 4 * (size_t)pairs->ladder.lags + 1, all = (size_t)pairs->threads * lags;
    *out = (syn_grower){.pairs = pairs, .lags = lags};
    SYN_TAKE(budget, out->may, all);
    SYN_TAKE(budget, out->best, pairs->units);
    return SYN_OK;
}

/* How many of so many members must agree: of a long sequence, neighbours do more than
   those far apart. */
static double agreed_of(int members)
{
    return members * (members < MANY ? AGREED : AGREED_OF_MANY);
}

/* Evidence for a unit at a lag, from members other than `but`; 0 without enough
   agreement. */
static double support(const syn_lagged *p, const syn_assembly *g, uint32_t but,
                      syn_member candidate)
{
    double sum = 0;
    int asked = 0, agreed = 0;
    for (uint32_t m = 0; m < g->size; m++) {
        int32_t lag = candidate.lag - g->member[m].lag;
        if (m == but || lag > (int32_t)p->ladder.lags || -lag > (int32_t)p->ladder.lags)
            continue;
        double z = syn_lagged_look(p, g->member[m].unit, candidate.unit, candidate.rung,
                                 lag).z;
        asked++;
        agreed += z > OWN;
        sum += z > CAP ? CAP : z < FLOOR ? FLOOR : z;
    }
    int others = (int)g->size - (but < g->size);
    if (asked == 0 || agreed < agreed_of(asked) || 2 * asked < others)
        return 0;
    return sum / sqrt(asked);
}

/* Correlation of the numbers of spikes of two members in their windows, at least 0. */
static double correlation(const syn_lagged *p, const syn_member *a, const syn_member *b)
{
    const uint32_t *first = p->timed.first;
    int32_t lag = b->lag - a->lag, lags = (int32_t)p->ladder.lags;
    if (lag > lags || lag < -lags)
        return 0;
    syn_lagged_window w = syn_lagged_look(p, a->unit, b->unit, a->rung, lag);
    const double *clumps = p->clumps + (size_t)a->rung * p->units;
    double spikes = (double)(first[a->unit + 1] - first[a->unit]) *
                    (double)(first[b->unit + 1] - first[b->unit]);
    double excess = w.count - w.expected;
    return excess > 0 ? excess / sqrt(spikes * clumps[a->unit] * clumps[b->unit]) : 0;
}

/* Standard deviation of the evidence that a unit has by chance, of members other than
   `but`: members that fire together have excess with it together. Many members are seldom
   together by chance. */
static double deviation(const syn_lagged *p, const syn_assembly *g, uint32_t but)
{
    if (g->size >= MANY)
        return 1;
    double others = (double)g->size - (but < g->size), twice = 0;
    for (uint32_t x = 0; x < g->size; x++)
        for (uint32_t y = 0; y < x; y++)
            if (x != but && y != but)
                twice += correlation(p, g->member + x, g->member + y);
    return sqrt(1 + 2 * twice / others);
}

double syn_assembly_support(const syn_lagged *pairs, const syn_assembly *group,
                            uint32_t m)
{
    return support(pairs, group, m, group->member[m]) / deviation(pairs, group, m);
}

/* The best lag of a unit on a rung, found by one of the threads. */
static double best_lag(const syn_grower *w, const syn_assembly *g, int thread,
                       syn_member *candidate)
{
    uint8_t *may = w->may + (size_t)thread * w->lags;
    const syn_ladder *l = &w->pairs->ladder;
    int32_t lags = (int32_t)l->lags, step = (int32_t)l->step[candidate->rung];
    int32_t low = 0, high = 0;
    for (uint32_t m = 0; m < g->size; m++) {
        int32_t lag = g->member[m].lag;
        low = m == 0 || lag < low ? lag : low;
        high = m == 0 || lag > high ? lag : high;
    }
    int32_t from = high - lags, n = (low + lags - from) / step + 1;
    double best = 0;
    if (n <= 0)
        return 0;
    memset(may, 0, (size_t)n);
    for (uint32_t m = 0; m < g->size; m++)
        syn_lagged_may_pass(w->pairs, g->member[m].unit, candidate->unit,
                            candidate->rung, from - g->member[m].lag, step, n, OWN, may);
    for (int32_t k = 0; k < n; k++) {
        if (may[k] < agreed_of((int)g->size))
            continue;
        syn_member here = *candidate;
        here.lag = from + k * step;
        /* Evidence for a unit at a lag that all members reach; 0 without enough
           agreement. */
        float sum = 0;
        int agreed = 0;
        for (uint32_t m = 0; m < g->size; m++) {
            double z = syn_lagged_look(w->pairs, g->member[m].unit, here.unit, here.rung,
                                       here.lag - g->member[m].lag)
                           .z;
            agreed += z > OWN;
            sum += (float)(z > CAP ? CAP : z < FLOOR ? FLOOR : z);
        }
        double evidence = agreed < agreed_of((int)g->size) ? 0 : sum / sqrt(g->size);
        if (evidence > best) {
            best = evidence;
            candidate->lag = here.lag;
        }
    }
    return best;
}

typedef struct growing {
    const syn_grower *grower;
    const syn_assembly *group;
    double enough;
} growing;

static syn_status look_at_unit(void *context, size_t item, int thread)
{
    const growing *w = context;
    const syn_assembly *g = w->group;
    uint32_t rung = g->rung, rungs = w->grower->pairs->ladder.rungs;
    syn_extension *best = w->grower->best + item;
    *best = (syn_extension){.evidence = w->enough};
    const syn_assembly *among = w->grower->among;
    if (syn_assembly_member(g, (uint32_t)item) ||
        (among && !syn_assembly_member(among, (uint32_t)item)))
        return SYN_OK;
    for (uint32_t r = rung > 0 ? rung - 1 : 0; r <= rung + 1 && r < rungs; r++) {
        syn_member candidate = {.unit = (uint32_t)item, .rung = r};
        double evidence = best_lag(w->grower, g, thread, &candidate);
        if (evidence > best->evidence)
            *best = (syn_extension){.member = candidate, .evidence = evidence};
    }
    return SYN_OK;
}

/* Adds the unit with most evidence, if any has enough. */
static syn_status add_best(const syn_grower *w, syn_assembly *g, int *added,
                           const syn_watch *watch)
{
    uint32_t unit[SYN_ASSEMBLY_MOST], units = w->pairs->units;
    growing context = {.grower = w, .group = g};
    int kept = 0;
    for (uint32_t m = 0; m < g->size; m++)
        unit[m] = g->member[m].unit;
    if (!w->among)
        SYN_TRY(syn_lagged_keep(w->pairs, unit, g->size, &kept, watch));
    context.enough = ENOUGH * deviation(w->pairs, g, g->size);
    SYN_TRY(syn_parallel_for(units, kept ? w->pairs->threads : 1, watch, "groups",
                             look_at_unit, &context));
    syn_extension best = {.evidence = context.enough};
    for (uint32_t u = 0; u < units; u++)
        if (w->best[u].evidence > best.evidence)
            best = w->best[u];
    *added = best.evidence > context.enough;
    if (*added)
        g->member[g->size++] = best.member;
    return SYN_OK;
}

/* What the pairs of a group say at a width, not cut, at the best lags within `reach` of
   those of the members. */
static double told_at(const syn_lagged *p, const syn_assembly *g, uint32_t rung,
                      int32_t reach)
{
    int32_t step = (int32_t)p->ladder.step[rung], lags = (int32_t)p->ladder.lags;
    double sum = 0;
    for (uint32_t x = 0; x < g->size; x++)
        for (uint32_t y = 0; y < x; y++) {
            int32_t lag = g->member[x].lag - g->member[y].lag;
            double best = 0;
            for (int32_t d = -(reach / step) * step; d <= reach; d += step) {
                if (lag + d > lags || lag + d < -lags)
                    continue;
                double z = syn_lagged_look(p, g->member[y].unit, g->member[x].unit, rung,
                                           lag + d).z;
                best = z > best ? z : best;
            }
            sum += best;
        }
    return sum;
}

/* Gives a group the width at which its pairs say most: the one that it was found at is
   one at which surrogates say little. */
static void choose_width(const syn_lagged *p, syn_assembly *g)
{
    int32_t reach = (int32_t)(p->ladder.half[g->rung] + p->ladder.step[g->rung]);
    double most = 0;
    uint32_t best = g->rung;
    for (uint32_t r = 0; r < p->ladder.rungs; r++) {
        double told = told_at(p, g, r, reach);
        if (told > most) {
            most = told;
            best = r;
        }
    }
    g->rung = best;
    for (uint32_t m = 0; m < g->size; m++)
        g->member[m].rung = best;
}

/* Places members one after the other, each by its pairs with those before it, at most
   `reach` bins from where it is. */
static void place_in_turn(const syn_lagged *p, syn_assembly *g, int32_t reach)
{
    int32_t step = (int32_t)p->ladder.step[g->rung], lags = (int32_t)p->ladder.lags;
    for (uint32_t m = 1; m < g->size; m++) {
        double most = 0;
        int32_t from = g->member[m].lag, best = from;
        for (int32_t d = -(reach / step) * step; d <= reach; d += step) {
            double sum = 0;
            for (uint32_t k = 0; k < m; k++) {
                int32_t lag = from + d - g->member[k].lag;
                if (lag <= lags && lag >= -lags)
                    sum += syn_lagged_look(p, g->member[k].unit, g->member[m].unit,
                                           g->rung, lag).z;
            }
            if (sum > most) {
                most = sum;
                best = from + d;
            }
        }
        g->member[m].lag = best;
    }
}

/* Moves each member to the lag, and gives it the width, that the others support best. */
static int place_anew(const syn_lagged *p, syn_assembly *g)
{
    const syn_ladder *l = &p->ladder;
    int moved = 0;
    for (uint32_t m = 0; m < g->size; m++) {
        syn_member best = g->member[m];
        double most = support(p, g, m, best);
        uint32_t seed = g->rung;
        for (uint32_t r = seed > 0 ? seed - 1 : 0; r <= seed + 1 && r < l->rungs; r++) {
            int32_t width = (int32_t)syn_ladder_width(l, r), step = (int32_t)l->step[r];
            for (int32_t d = -width; d <= width; d += step) {
                syn_member candidate = g->member[m];
                candidate.lag += d;
                candidate.rung = r;
                double evidence = support(p, g, m, candidate);
                if (evidence > most + 1e-9) {
                    most = evidence;
                    best = candidate;
                }
            }
        }
        moved |= memcmp(&best, &g->member[m], sizeof best) != 0;
        g->member[m] = best;
    }
    return moved;
}

/* Takes out the member that others support least, if that is too little. */
static int drop_worst(const syn_lagged *p, syn_assembly *g)
{
    uint32_t worst = g->size;
    double least = STAY;
    for (uint32_t m = 0; g->size > 2 && m < g->size; m++) {
        double evidence = support(p, g, m, g->member[m]);
        if (evidence < least) {
            least = evidence;
            worst = m;
        }
    }
    if (worst == g->size)
        return 0;
    memmove(g->member + worst, g->member + worst + 1,
            (g->size - worst - 1) * sizeof *g->member);
    g->size--;
    return 1;
}

void syn_assembly_tidy(syn_assembly *g)
{
    for (uint32_t m = 1; m < g->size; m++) {
        syn_member here = g->member[m];
        uint32_t at = m;
        for (; at > 0; at--) {
            const syn_member *before = g->member + at - 1;
            if (before->lag < here.lag ||
                (before->lag == here.lag && before->unit < here.unit))
                break;
            g->member[at] = *before;
        }
        g->member[at] = here;
    }
    int32_t first = g->member[0].lag;
    for (uint32_t m = 0; m < g->size; m++)
        g->member[m].lag -= first;
}

syn_status syn_assembly_grow(const syn_grower *grower, syn_assembly *group,
                             const syn_watch *watch)
{
    const syn_ladder *l = &grower->pairs->ladder;
    int32_t reach = (int32_t)(l->half[group->rung] + l->step[group->rung]);
    choose_width(grower->pairs, group);
    place_in_turn(grower->pairs, group, 2 * reach);
    for (int added = 1; added;) {
        place_anew(grower->pairs, group);
        if (group->size == SYN_ASSEMBLY_MOST)
            break;
        SYN_TRY(add_best(grower, group, &added, watch));
    }
    for (int round = 0; round < MOST_ROUNDS; round++) {
        int moved = place_anew(grower->pairs, group);
        int dropped = drop_worst(grower->pairs, group);
        if (!moved && !dropped)
            break;
    }
    syn_assembly_tidy(group);
    return SYN_OK;
}

int syn_assembly_has_pair(const syn_assembly *group, uint32_t a, uint32_t b, int32_t lag,
                          uint32_t rung, const syn_ladder *ladder)
{
    const syn_member *x = syn_assembly_member(group, a);
    const syn_member *y = syn_assembly_member(group, b);
    if (!x || !y)
        return 0;
    uint32_t widest = x->rung > y->rung ? x->rung : y->rung;
    widest = widest > rung ? widest : rung;
    int32_t off = y->lag - x->lag - lag;
    return (off < 0 ? -off : off) <= 2 * (int32_t)syn_ladder_width(ladder, widest);
}

uint64_t syn_assembly_common(const syn_assembly *a, const syn_assembly *b,
                             const syn_ladder *ladder)
{
    uint64_t best = 0;
    uint32_t most = 0;
    for (uint32_t m = 0; m < a->size; m++) {
        uint32_t here = syn_assembly_member(b, a->member[m].unit) != NULL;
        uint64_t members = (uint64_t)here << m;
        for (uint32_t n = 0; n < a->size; n++)
            if (n != m && syn_assembly_has_pair(b, a->member[m].unit, a->member[n].unit,
                                                a->member[n].lag - a->member[m].lag,
                                                a->member[n].rung, ladder)) {
                here++;
                members |= (uint64_t)1 << n;
            }
        if (here > most) {
            most = here;
            best = members;
        }
    }
    return best;
}
