/* Grows groups on peaks. The strongest pairs on a rung are closed to triangles: the third
   unit has a peak with each of the two, at lags that agree. The best triangles grow: each
   peak of a unit with a member votes for a lag of the unit, a member has one vote within
   half a width, and the unit and lag with the largest sum of votes is next. All sums are
   of whole numbers, so that they are the same on every machine. */
#include "core/assemblies/candidates.h"

#include <math.h>
#include <string.h>

/* ---- votes ----

   Counts votes. Only lags near new votes are looked at again, as sums never fall. */

/* Sum of the votes from `low` on that are at most at lag `last`: the largest of each
   member. */
static int32_t sum_votes(const syn_vote *vote, size_t low, size_t votes, int32_t last,
                         int32_t *whole)
{
    int32_t most[SYN_ASSEMBLY_MOST], sum = 0;
    uint64_t voted = 0;
    *whole = 0;
    for (size_t i = low; i < votes && vote[i].lag <= last; i++) {
        uint32_t m = vote[i].member;
        int32_t before = voted >> m & 1 ? most[m] : 0;
        if (before >= vote[i].z)
            continue;
        sum += syn_hint_cut(vote[i].z) - syn_hint_cut(before);
        *whole += vote[i].z - before;
        most[m] = vote[i].z;
        voted |= (uint64_t)1 << m;
    }
    return sum;
}

/* Adds votes of a member at lag `at`: hints of the unit after it, by lag. The caller
   frees ballot->vote. SYN_OVER_BUDGET, SYN_NO_MEMORY. */
static syn_status ballot_add(syn_ballot *ballot, uint32_t member, int32_t at,
                             const syn_hint *hint, size_t n, int32_t tolerance,
                             syn_budget *budget)
{
    if (n == 0)
        return SYN_OK;
    /* The votes go among those that are there. Both are by lag: from the end. */
    size_t votes = ballot->n + n, to = votes, from = ballot->n, left = n;
    if (votes > ballot->room)
        SYN_GROW(budget, ballot->vote, ballot->room, votes);
    while (left > 0) {
        int32_t lag = at + hint[left - 1].lag;
        if (from > 0 && ballot->vote[from - 1].lag > lag)
            ballot->vote[--to] = ballot->vote[--from];
        else
            ballot->vote[--to] =
                (syn_vote){.lag = lag, .z = hint[--left].z, .member = member};
    }
    ballot->n = votes;
    /* A lag near one of the new votes may be the best now. */
    const syn_vote *vote = ballot->vote;
    size_t i = 0, low = 0;
    for (size_t k = 0; k < n; k++) {
        int32_t lag = at + hint[k].lag, whole;
        while (vote[i].lag < lag - tolerance)
            i++;
        for (; i < ballot->n && vote[i].lag <= lag + tolerance; i++) {
            while (vote[low].lag < vote[i].lag - tolerance)
                low++;
            int32_t sum =
                sum_votes(vote, low, ballot->n, vote[i].lag + tolerance, &whole);
            if (sum < ballot->sum || (sum == ballot->sum && whole <= ballot->whole))
                continue;
            ballot->lag = vote[i].lag;
            ballot->sum = sum;
            ballot->whole = whole;
        }
    }
    return SYN_OK;
}

/* ---- sizes and evidence ---- */

enum {
    LEAST_EDGE = 3 * SYN_PEAK_SCALE,  /* z of a pair that triangles are looked for with */
    EDGES_A_UNIT = 8, FEWEST_EDGES = 256,
    ALWAYS = 12,  /* members that a group gets whatever their evidence */
    NO_HINT = -2 * SYN_HINT_CAP  /* two pairs, one without, have less than any two */
};

/* Sum of votes for a further unit, over the root of the number of members. */
static const double ENOUGH = 3.5 * SYN_PEAK_SCALE;

static const uint32_t SIZE_OF[SYN_SIZES] = {3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64};

uint32_t syn_size_of_class(uint32_t size_class)
{
    return SIZE_OF[size_class];
}

double syn_candidate_evidence(const syn_candidate *candidate, uint32_t size_class)
{
    uint32_t size = SIZE_OF[size_class];
    double pairs = size * (size - 1) / 2.0;
    uint32_t own = size < candidate->group.size ? size : candidate->group.size;
    return candidate->sum[own] / (SYN_PEAK_SCALE * sqrt(pairs));
}

double syn_candidate_least(uint32_t size_class)
{
    double size = SIZE_OF[size_class];
    return (LEAST_EDGE + 2.0 * SYN_HINT_LEAST) /
           (SYN_PEAK_SCALE * sqrt(size * (size - 1) / 2));
}

double syn_candidate_whole(const syn_candidate *candidate, uint32_t size)
{
    return candidate->whole[size] / (SYN_PEAK_SCALE * sqrt(size * (size - 1) / 2.0));
}

/* ---- memory ---- */

syn_status syn_searcher_make(syn_searcher *out, const syn_ladder *ladder, uint32_t units,
                             syn_budget *budget)
{
    uint32_t edges = EDGES_A_UNIT * units;
    *out = (syn_searcher){.ladder = ladder, .budget = budget,
                          .edge_room = edges > FEWEST_EDGES ? edges : FEWEST_EDGES};
    SYN_TAKE(budget, out->start, syn_pair_count(units) + 1);
    SYN_TAKE(budget, out->strongest, (size_t)units * units + 1);
    SYN_TAKE(budget, out->third, (size_t)units + 1);
    SYN_TAKE(budget, out->edge, out->edge_room);
    SYN_TAKE_ZEROS(budget, out->ballot, units);
    return SYN_OK;
}

/* ---- hints ---- */

/* Peaks of the rung, for each pair in both orders. */
static syn_status lay_hints(syn_searcher *w)
{
    const syn_peaks *p = w->peaks;
    size_t pairs = syn_pair_count(p->units), n = 0, at = 0;
    for (size_t i = p->first[0]; i < p->first[pairs]; i++)
        n += p->peak[i].rung == w->rung && p->peak[i].z > 0;
    if (2 * n > w->hint_room || !w->hint) {
        SYN_RENEW(w->budget, w->hint, w->hint_room, 2 * n + 1);
    }
    uint32_t a = 0, b = 1;
    w->hinteds = 0;
    for (size_t q = 0; q < pairs; q++, a++) {
        if (a == b) {
            a = 0;
            b++;
        }
        w->start[q] = at;
        size_t own = 0;
        for (size_t i = p->first[q]; i < p->first[q + 1]; i++)
            if (p->peak[i].rung == w->rung && p->peak[i].z > 0)
                w->hint[at + own++] =
                    (syn_hint){.lag = p->peak[i].lag, .z = p->peak[i].z};
        for (size_t k = 0; k < own; k++) {
            syn_hint back = w->hint[at + own - 1 - k];
            w->hint[at + own + k] = (syn_hint){.lag = -back.lag, .z = back.z};
        }
        at += 2 * own;
        if (own == 0)
            continue;
        SYN_GROW(w->budget, w->hinted, w->hinted_room, w->hinteds + 1);
        w->hinted[w->hinteds++] = (struct syn_hinted){a, b};
    }
    w->start[pairs] = at;
    return SYN_OK;
}

/* Hints of b after a, by lag. */
static const syn_hint *hints_of(const syn_searcher *w, uint32_t a, uint32_t b, size_t *n)
{
    size_t p = a < b ? syn_pair_number(a, b) : syn_pair_number(b, a);
    *n = (w->start[p + 1] - w->start[p]) / 2;
    return w->hint + w->start[p] + (a < b ? 0 : *n);
}

/* Lags agree that differ by so much at most. */
static int32_t tolerance(const syn_searcher *w)
{
    int32_t half = (int32_t)w->ladder->half[w->rung];
    return half > 1 ? half : 1;
}

/* ---- the strongest pairs ---- */

/* The least z that no more pairs have than there is room for. */
static int32_t edge_bar(const syn_searcher *w)
{
    uint32_t histogram[SYN_PEAK_MOST + 2] = {0};
    size_t all = w->start[syn_pair_count(w->peaks->units)], n = 0;
    for (size_t i = 0; i < all; i++)
        histogram[w->hint[i].z]++;
    int32_t bar = SYN_PEAK_MOST + 1;
    while (bar > LEAST_EDGE && n + histogram[bar - 1] / 2 <= w->edge_room)
        n += histogram[--bar] / 2;
    return bar;
}

/* ---- triangles ---- */

/* Units b and c fire `lag_b` and `lag_c` bins after a. */
typedef struct triangle {
    uint32_t a, b, c;
    int32_t lag_b, lag_c;
    int32_t sum, whole;
} triangle;

/* The best lag of c that both of a pair agree on; sum is that of the three pairs. */
static void close_edge(const syn_searcher *w, const syn_hint *edge, uint32_t c,
                       triangle *best)
{
    size_t n, m, low = 0;
    const syn_hint *ac = hints_of(w, best->a, c, &n), *bc = hints_of(w, best->b, c, &m);
    int32_t off = tolerance(w), lag = edge->lag;
    for (size_t i = 0; i < n; i++) {
        while (low < m && bc[low].lag + lag < ac[i].lag - off)
            low++;
        for (size_t j = low; j < m && bc[j].lag + lag <= ac[i].lag + off; j++) {
            int32_t sum = syn_hint_cut(edge->z) + syn_hint_cut(ac[i].z) +
                          syn_hint_cut(bc[j].z);
            int32_t whole = edge->z + ac[i].z + bc[j].z;
            if (sum < best->sum || (sum == best->sum && whole <= best->whole))
                continue;
            best->c = c;
            best->lag_c = ac[i].z >= bc[j].z ? ac[i].lag : bc[j].lag + lag;
            best->sum = sum;
            best->whole = whole;
        }
    }
}

static int same_units(const triangle *x, const triangle *y)
{
    uint32_t x_least = x->a < x->c ? x->a : x->c, x_most = x->b > x->c ? x->b : x->c;
    uint32_t y_least = y->a < y->c ? y->a : y->c, y_most = y->b > y->c ? y->b : y->c;
    return x_least == y_least && x_most == y_most &&
           x->a + x->b + x->c == y->a + y->b + y->c;
}

/* Of triangles of the same units the best is kept. */
static void keep_triangle(triangle *kept, uint32_t *n, const triangle *t)
{
    for (uint32_t k = 0; k < *n; k++)
        if (same_units(kept + k, t)) {
            if (kept[k].sum > t->sum ||
                (kept[k].sum == t->sum && kept[k].whole >= t->whole))
                return;
            memmove(kept + k, kept + k + 1, (*n - k - 1) * sizeof *kept);
            (*n)--;
            break;
        }
    uint32_t at = *n;
    while (at > 0 && (kept[at - 1].sum < t->sum || (kept[at - 1].sum == t->sum &&
                                                   kept[at - 1].whole < t->whole)))
        at--;
    if (at == SYN_CANDIDATES)
        return;
    *n += *n < SYN_CANDIDATES;
    memmove(kept + at + 1, kept + at, (*n - at - 1) * sizeof *kept);
    kept[at] = *t;
}

/* Lists units whose strongest hints with both of a pair are `least` together. */
static uint32_t third_units(syn_searcher *w, uint32_t a, uint32_t b, int32_t least)
{
    uint32_t units = w->peaks->units, n = 0;
    const int16_t *of_a = w->strongest + (size_t)a * units;
    const int16_t *of_b = w->strongest + (size_t)b * units;
    for (uint32_t c = 0; c < units; c++) {
        w->third[n] = c;
        n += of_a[c] + of_b[c] >= least;
    }
    return n;
}

/* What has less than the last of those that are kept need not be looked for. */
static uint32_t best_triangles(syn_searcher *w, triangle *kept)
{
    uint32_t n = 0;
    for (uint32_t e = 0; e < w->edges; e++) {
        const syn_hint *edge = w->edge[e].hint;
        triangle best = {.a = w->edge[e].a, .b = w->edge[e].b, .lag_b = edge->lag};
        int32_t least = n == SYN_CANDIDATES ? kept[n - 1].sum - syn_hint_cut(edge->z) : 0;
        uint32_t units = third_units(w, best.a, best.b, least > 0 ? least : 0);
        for (uint32_t k = 0; k < units; k++)
            close_edge(w, edge, w->third[k], &best);
        if (best.sum > 0)
            keep_triangle(kept, &n, &best);
    }
    return n;
}

/* ---- growth ---- */

/* Asks the last member of a group for its votes. */
static syn_status ask(syn_searcher *w, const syn_assembly *g)
{
    uint32_t m = g->size - 1;
    for (uint32_t u = 0; u < w->peaks->units; u++) {
        size_t n;
        if (syn_assembly_member(g, u))
            continue;
        const syn_hint *hint = hints_of(w, g->member[m].unit, u, &n);
        SYN_TRY(ballot_add(w->ballot + u, m, g->member[m].lag, hint, n, tolerance(w),
                           w->budget));
    }
    return SYN_OK;
}

/* Adds a member, and asks it for its votes. */
static syn_status add(syn_searcher *w, syn_assembly *g, uint32_t unit, int32_t lag)
{
    g->member[g->size++] = (syn_member){.unit = unit, .lag = lag, .rung = w->rung};
    return ask(w, g);
}

static syn_status grow(syn_searcher *w, const triangle *t, syn_candidate *out)
{
    syn_assembly *g = &out->group;
    *out = (syn_candidate){.group = {.rung = w->rung}};
    for (uint32_t u = 0; u < w->peaks->units; u++)
        syn_ballot_empty(w->ballot + u);
    SYN_TRY(add(w, g, t->a, 0));
    SYN_TRY(add(w, g, t->b, t->lag_b));
    SYN_TRY(add(w, g, t->c, t->lag_c));
    out->sum[3] = t->sum;
    out->whole[3] = t->whole;
    while (g->size < SYN_ASSEMBLY_MOST) {
        const syn_ballot *best = NULL;
        for (uint32_t u = 0; u < w->peaks->units; u++) {
            const syn_ballot *b = w->ballot + u;
            if (!syn_assembly_member(g, u) &&
                (!best || b->sum > best->sum ||
                 (b->sum == best->sum && b->whole > best->whole)))
                best = b;
        }
        if (!best || best->sum == 0 ||
            (g->size >= ALWAYS && best->sum < ENOUGH * sqrt(g->size)))
            break;
        out->sum[g->size + 1] = out->sum[g->size] + best->sum;
        out->whole[g->size + 1] = out->whole[g->size] + best->whole;
        SYN_TRY(add(w, g, (uint32_t)(best - w->ballot), best->lag));
    }
    return SYN_OK;
}

syn_status syn_candidates_find(syn_searcher *searcher, const syn_peaks *peaks,
                               uint32_t rung, syn_candidate *out, uint32_t *n)
{
    triangle kept[SYN_CANDIDATES + 1];
    searcher->peaks = peaks;
    searcher->rung = rung;
    *n = 0;
    SYN_TRY(lay_hints(searcher));
    /* Pairs above the bar, and of those just below it as many as there is room for; and
       what is strongest of each pair. */
    size_t units = searcher->peaks->units;
    for (size_t i = 0; i < units * units; i++)
        searcher->strongest[i] = NO_HINT;
    int32_t bar = edge_bar(searcher);
    searcher->edges = 0;
    for (int32_t low = bar; low >= LEAST_EDGE && low >= bar - 1; low--) {
        int32_t high = low < bar ? low : SYN_PEAK_MOST;
        for (size_t k = 0; k < searcher->hinteds; k++) {
            uint32_t a = searcher->hinted[k].a, b = searcher->hinted[k].b;
            size_t hints;
            const syn_hint *h = hints_of(searcher, a, b, &hints);
            int32_t most = 0;
            for (size_t i = 0; i < hints; i++) {
                most = syn_hint_cut(h[i].z) > most ? syn_hint_cut(h[i].z) : most;
                if (h[i].z >= low && h[i].z <= high &&
                    searcher->edges < searcher->edge_room)
                    searcher->edge[searcher->edges++] = (struct syn_edge){h + i, a, b};
            }
            searcher->strongest[a * units + b] = (int16_t)most;
            searcher->strongest[b * units + a] = (int16_t)most;
        }
    }
    uint32_t triangles = best_triangles(searcher, kept);
    for (; *n < triangles; (*n)++)
        SYN_TRY(grow(searcher, kept + *n, out + *n));
    return SYN_OK;
}
