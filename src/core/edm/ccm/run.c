/* Convergent cross mapping. Rows are handed out in tiles. For each row the nearest
   library rows are put in order once; each random library then takes the first k that
   it contains, and predicts the targets from them. Libraries that are too small for
   that are searched one by one. Sums over all rows give the correlation of each
   library. */
#include "core/edm/ccm/ccm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arrays.h"
#include "core/base/memory.h"
#include "core/base/order.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/rank.h"
#include "core/edm/ccm/lanes.h"
#include "core/edm/neighbours/neighbours.h"

/* ---- which way to search ----

   Chooses between ways to find neighbours in random libraries, by the time that each is
   expected to take: going down the order of the nearest rows of the whole library, or
   searching each library by itself; and computing all distances, or passing over blocks
   of rows that are too far away. */

typedef struct ccm_choice {
    int blocks;     /* whether to search blocks of rows that lie near each other, see
                       neighbours.h, and not to compute the distances to all rows */
    uint32_t most;  /* how many of the nearest rows of the data to put in order for each
                       row; 0 if no library takes its neighbours from that order */
} ccm_choice;

/* Nanoseconds, measured on a processor of 2022. */
#define TO_ORDER 12.0   /* one more neighbour of a row */
#define TO_LOOK 2.5     /* at one neighbour, for 64 libraries at once */
#define TO_SEARCH 1.2   /* one row of a library */
#define TO_GATHER 1.0   /* one row of the data, into the library of a lane */
#define TO_MEASURE 0.12 /* one term of a squared distance */
#define TO_COLLECT 0.8  /* one distance, among those that may be near */
#define TO_BOX 0.2      /* one coordinate of a box */
#define TO_VISIT 20.0   /* a block, beside its distances */
#define TO_KEEP 60.0    /* one more neighbour in order, from blocks */

/* The ways that are compared. */
typedef struct way {
    const syn_ccm_options *options;
    uint32_t n, dims;
    int blocks;
} way;

/* Searching the blocks of `n` rows for the nearest k. With points that fill their space
   evenly, a cube with the volume of 64 points stands for a block, and those that a ball
   with k points meets are searched. */
static double search(const way *w, double n, double k)
{
    enum { BLOCK = 64 };
    double dims = w->dims, blocks = n / BLOCK + 1, ball = w->dims % 2 ? 2 : 1;
    for (uint32_t d = w->dims % 2 + 2; d <= w->dims; d += 2)
        ball *= 6.283185307179586 / d;
    double visits = pow(1 + 2 * pow(k / (BLOCK * ball), 1 / dims), dims);
    visits = visits < blocks ? visits : blocks;
    return TO_BOX * dims * blocks + visits * (TO_VISIT + TO_MEASURE * dims * BLOCK) +
           TO_KEEP * k;
}

/* The probability that fewer than k of the `most` nearest are in a library that has the
   share `f` of all rows. */
static double short_of(uint32_t k, uint32_t most, double f)
{
    if (f >= 1)
        return most < k;
    double term = most * log1p(-f), ratio = log(f) - log1p(-f), sum = 0;
    for (uint32_t i = 0; i < k && i <= most; i++) {
        sum += exp(term);
        term += log((double)(most - i) / (i + 1.0)) + ratio;
    }
    return sum < 1 ? sum : 1;
}

/* What one row takes in one library of `size` rows, going down an order of `most`. */
static double down(const way *w, uint32_t size, uint32_t most)
{
    double n = w->n, f = size / n, k = w->options->k;
    double depth = (k + 3 * sqrt(k) + 3) / f;  /* where the last of 64 is likely done */
    double missed = most < w->n ? short_of(w->options->k, most, f) : 0;
    double looks = TO_LOOK * (depth < most ? depth : most) / 64;
    double measure = w->blocks ? n * w->dims * TO_MEASURE : 0;
    return looks + missed * (measure + n * TO_GATHER + size * TO_SEARCH);
}

/* What one row takes in all libraries, if `most` are put in order. */
static double cost(const way *w, uint32_t most, unsigned char *direct)
{
    const syn_ccm_options *o = w->options;
    double sum = 0;
    if (!w->blocks)
        sum = TO_ORDER * most + w->n * (w->dims * TO_MEASURE + TO_COLLECT);
    else if (most > 0)
        sum = search(w, w->n, most);
    for (uint32_t s = 0; s < o->sizes; s++) {
        double one = down(w, o->size[s], most);
        /* The same if the library is searched by itself. */
        double other = w->blocks ? search(w, o->size[s], o->k) : TO_SEARCH * o->size[s];
        direct[s] = most == 0 || other < one;
        sum += (o->size[s] < w->n ? o->samples : 1) * (direct[s] ? other : one);
    }
    return sum;
}

/* How many to put in order, by one way. */
static uint32_t best_most(const way *w, unsigned char *direct)
{
    uint32_t best = w->options->k < w->n ? w->options->k : w->n;
    double least = cost(w, best, direct);
    if (w->blocks && cost(w, 0, direct) < least) {
        best = 0;
        least = cost(w, 0, direct);
    }
    for (uint32_t most = w->options->k; most < w->n;) {
        most = most < w->n / 2 ? most * 2 : w->n;
        double now = cost(w, most, direct);
        if (now < least) {
            least = now;
            best = most;
        }
    }
    return best;
}

/* Whether all libraries have all rows. */
static int all_rows(const syn_ccm_options *o, uint32_t n)
{
    for (uint32_t s = 0; s < o->sizes; s++)
        if (o->size[s] < n)
            return 0;
    return 1;
}

/* Chooses for libraries of `n` rows in `dims` dimensions; direct[s] becomes 1 where
   libraries of size s are better searched one by one than by going down that order. */
static ccm_choice ccm_plan(const syn_ccm_options *options, uint32_t n, uint32_t dims,
                           unsigned char *direct)
{
    way all = {options, n, dims, 0}, blocks = {options, n, dims, 1};
    if (all_rows(options, n))
        return (ccm_choice){1, options->k};
    uint32_t most_all = best_most(&all, direct), most = best_most(&blocks, direct);
    double with_all = cost(&all, most_all, direct), with = cost(&blocks, most, direct);
    if (with < with_all)
        return (ccm_choice){1, most};
    cost(&all, most_all, direct);
    return (ccm_choice){0, most_all};
}

enum {
    TILE_ROWS = 256,            /* rows whose lists are held at a time, */
    TILE_SEARCHED = 1024,       /* and with blocks: threads wait after each tile */
    TILE_BYTES = 8 << 20,       /* of distances or lists, unless a row takes more */
    TILE_PREDICTIONS = 1 << 24, /* some 50 ms of work */
    STRETCH = 8                 /* rows that a worker takes one after the other */
};

typedef struct tile {
    uint32_t first, n, room;   /* prediction rows, and how many there can be */
    syn_ccm_list *list;        /* [room] */
    uint32_t width;            /* entries of `near` for each row */
    syn_near *near;        /* [room][width] */
    uint32_t *found;           /* [room][SYN_CCM_DIRECT] */
    double *square;            /* [room][library rows]; without blocks only */
    double *observed;          /* [room][targets] */
} tile;

typedef struct mapping {
    const syn_ccm_options *options;
    const syn_points *points;
    const syn_rows *library, *prediction;
    const syn_ccm_kind *kind;
    syn_ccm_problem problem;
    const double *target;
    double *shift;                /* [targets] */
    ccm_choice choice;        /* how to search */
    uint32_t *place;              /* [rows] which library row each is; for blocks only */
    syn_ccm_group *group;
    uint32_t *group_sample;       /* [groups] the first library of each */
    size_t groups;
    int threads;
    syn_ccm_space *space;         /* [threads] */
    const syn_watch *watch;
    double done, total;           /* rows, in all passes through them */
    tile tile;
    syn_arrays memory;
} mapping;

/* ---- libraries ---- */

void syn_ccm_draw(uint32_t n, uint32_t size, uint32_t sample,
                  const syn_ccm_options *options, unsigned char *chosen)
{
    syn_random rng;
    uint64_t stream = (uint64_t)options->direction << 52 | (uint64_t)size << 21 | sample;
    syn_random_start(&rng, options->key, stream);
    /* Of more than half it is sooner said who is not in. */
    int inverted = size > n / 2;
    if (inverted)
        memset(chosen, 1, n);
    for (uint32_t left = inverted ? n - size : size; left > 0;) {
        uint32_t at = (uint32_t)syn_random_below(&rng, n);
        left -= chosen[at] == inverted;
        chosen[at] = (unsigned char)!inverted;
    }
}

/* How many libraries of size `s` are drawn from n rows. */
static uint32_t libraries_of(const syn_ccm_options *options, uint32_t s, uint32_t n)
{
    return options->size[s] < n ? options->samples : 1;
}

static syn_status draw_group(void *context, size_t item, int worker)
{
    mapping *m = context;
    syn_ccm_group *g = &m->group[item];
    uint32_t n = m->problem.n;
    /* The list of a worker is free until rows are searched. */
    unsigned char *chosen = (unsigned char *)m->space[worker].near;
    for (uint32_t lane = 0; lane < g->n; lane++) {
        memset(chosen, 0, n);
        syn_ccm_draw(n, g->size, m->group_sample[item] + lane, m->options, chosen);
        uint32_t *row = g->rows ? g->rows + (size_t)lane * g->size : NULL;
        for (uint32_t i = 0; i < n; i++) {
            if (!row)
                g->member[i] |= (uint64_t)chosen[i] << lane;
            else if (chosen[i])
                *row++ = i;
        }
    }
    return SYN_OK;
}

/* How many libraries make a group. */
static uint32_t lanes_of(const mapping *m, int direct)
{
    return direct && m->choice.blocks ? SYN_CCM_DIRECT : SYN_CCM_LANES;
}

/* Groups of libraries of one size, without their rows. */
static syn_status make_groups(mapping *m, const unsigned char *direct)
{
    const syn_ccm_options *o = m->options;
    for (uint32_t s = 0; s < o->sizes; s++) {
        uint32_t lanes = lanes_of(m, direct[s]);
        m->groups += (libraries_of(o, s, m->problem.n) + lanes - 1) / lanes;
    }
    SYN_ARRAY(&m->memory, m->group, m->groups);
    SYN_ARRAY(&m->memory, m->group_sample, m->groups);
    size_t next = 0;
    for (uint32_t s = 0; s < o->sizes; s++)
        for (uint32_t from = 0, all = libraries_of(o, s, m->problem.n),
                      lanes = lanes_of(m, direct[s]);
             from < all; from += lanes) {
            syn_ccm_group *g = &m->group[next];
            m->group_sample[next++] = from;
            g->n = all - from < lanes ? all - from : lanes;
            g->size = o->size[s];
            size_t sums = syn_ccm_sums(g, m->problem.targets);
            SYN_ARRAY(&m->memory, g->sum, sums);
            if (direct[s])
                SYN_ARRAY(&m->memory, g->rows, (size_t)g->n * g->size);
            else
                SYN_ARRAY(&m->memory, g->member, m->problem.n);
        }
    return SYN_OK;
}

/* ---- what is predicted ---- */

/* Puts library rows in the order of ties: sorts the places that they have in the shuffle
   of all rows, each together with the number of its row. */
static syn_status make_order(mapping *m, syn_ccm_order *out)
{
    size_t n = out->n = m->library->n;
    uint64_t *both;
    SYN_ARRAY(&m->memory, both, n);
    SYN_ARRAY(&m->memory, out->rank, n);
    SYN_ARRAY(&m->memory, out->ranked, n);
    SYN_ARRAY(&m->memory, out->shuffled, n);
    for (uint32_t i = 0; i < n; i++)
        both[i] = (uint64_t)syn_row_rank(m->library->row[i]) << 32 | i;
    qsort(both, n, sizeof *both, syn_by_key);
    for (uint32_t i = 0; i < n; i++) {
        out->shuffled[i] = (uint32_t)(both[i] >> 32);
        out->ranked[i] = (uint32_t)both[i];
        out->rank[out->ranked[i]] = i;
    }
    return SYN_OK;
}

static syn_status make_problem(mapping *m, uint32_t targets)
{
    syn_ccm_problem *p = &m->problem;
    size_t rows = m->points->rows;
    p->n = m->library->n;
    p->dims = m->points->dims;
    p->targets = targets;
    p->k = m->options->k;
    p->exclusion = m->options->exclusion;
    p->row = m->library->row;
    p->stride = rows;
    p->least = m->points->least;
    double *coordinate;
    SYN_ARRAY(&m->memory, coordinate, (size_t)p->n * p->dims);
    SYN_ARRAY(&m->memory, m->shift, targets);
    p->coordinate = coordinate;
    for (size_t e = 0; e < p->dims; e++)
        for (uint32_t i = 0; i < p->n; i++)
            coordinate[e * p->n + i] = m->points->coordinate[e * rows + p->row[i]];
    for (size_t t = 0; t < targets; t++)
        m->shift[t] = syn_ccm_middle(m->target + t * rows, m->prediction);
    return make_order(m, &p->order);
}

/* Puts target `t` of each library row at to[0], to[step] and so on. */
static void put_target(const mapping *m, size_t t, double *to, size_t step)
{
    const double *from = m->target + t * m->points->rows;
    for (uint32_t i = 0; i < m->problem.n; i++)
        to[i * step] = from[m->problem.row[i]] - m->shift[t];
}

/* The targets in the order in which the groups, which have been made, take them. */
static syn_status make_values(mapping *m)
{
    syn_ccm_problem *p = &m->problem;
    size_t n = p->n, all = n * p->targets, one = 0;
    for (size_t g = 0; g < m->groups; g++)
        one += m->group[g].n == 1;
    double *value = NULL, *beside = NULL;
    if (one < m->groups)
        SYN_ARRAY(&m->memory, value, all);
    if (one > 0)
        SYN_ARRAY(&m->memory, beside, all + SYN_CCM_BESIDE);
    p->value = value;
    p->beside = beside;
    for (size_t t = 0; t < p->targets; t++) {
        size_t first = t - t % SYN_CCM_BESIDE, left = p->targets - first;
        if (value)
            put_target(m, t, value + t * n, 1);
        if (beside)
            put_target(m, t, beside + first * n + t % SYN_CCM_BESIDE,
                       left < SYN_CCM_BESIDE ? left : SYN_CCM_BESIDE);
    }
    return SYN_OK;
}

/* ---- rows, a tile at a time ---- */

static syn_status make_tile(mapping *m)
{
    const syn_ccm_problem *p = &m->problem;
    tile *t = &m->tile;
    int all = !m->choice.blocks;
    size_t direct = (size_t)SYN_CCM_DIRECT * p->k, libraries = 0;
    t->width = all || m->choice.most > direct ? m->choice.most : (uint32_t)direct;
    size_t room = TILE_BYTES / (all ? sizeof *t->square * p->n
                                    : sizeof *t->near * t->width);
    for (size_t g = 0; g < m->groups; g++)
        libraries += m->group[g].n;
    size_t quick = TILE_PREDICTIONS / (libraries * (p->targets + (size_t)p->k)) + 1;
    room = room > quick ? quick : room;
    size_t most = all ? TILE_ROWS : TILE_SEARCHED;
    room = room < 1 ? 1 : room > most ? most : room;
    t->room = (uint32_t)room;
    SYN_ARRAY(&m->memory, t->list, room);
    SYN_ARRAY(&m->memory, t->near, room * t->width);
    SYN_ARRAY(&m->memory, t->found, room * SYN_CCM_DIRECT);
    if (all)
        SYN_ARRAY(&m->memory, t->square, room * p->n);
    SYN_ARRAY(&m->memory, t->observed, room * p->targets + SYN_CCM_BESIDE);
    return SYN_OK;
}

static syn_status make_space(mapping *m)
{
    size_t n = m->problem.n, lanes = (size_t)m->problem.k * SYN_CCM_LANES;
    /* As many rows together as the cache holds beside a target. */
    uint32_t together = 128 / m->problem.k;
    together = together < 1 ? 1 : together;
    together = together < SYN_CCM_TOGETHER ? together : SYN_CCM_TOGETHER;
    SYN_ARRAY(&m->memory, m->space, (size_t)m->threads);
    for (int w = 0; w < m->threads; w++) {
        syn_ccm_space *s = &m->space[w];
        SYN_ARRAY(&m->memory, s->near, n + 1);
        SYN_ARRAY(&m->memory, s->sorted, n + 1);
        SYN_ARRAY(&m->memory, s->bucket, SYN_CCM_BUCKETS + 1);
        SYN_ARRAY(&m->memory, s->tied, n / 64 + 1);
        SYN_ARRAY(&m->memory, s->last, n);
        SYN_ARRAY(&m->memory, s->rows, n + 1);
        SYN_ARRAY(&m->memory, s->square, n);
        s->lanes_rows = together;
        for (uint32_t r = 0; r < together; r++) {
            SYN_ARRAY(&m->memory, s->lanes[r].at, lanes);
            SYN_ARRAY(&m->memory, s->lanes[r].distance, lanes);
        }
    }
    return SYN_OK;
}

/* Row `i` of the tile, before its neighbours are known. */
static void begin_list(mapping *m, uint32_t i)
{
    tile *t = &m->tile;
    size_t targets = m->problem.targets, rows = m->points->rows;
    const syn_ccm_order *order = &m->problem.order;
    uint32_t row = m->prediction->row[t->first + i];
    double *observed = t->observed + i * targets;
    t->list[i] = (syn_ccm_list){.near = t->near + (size_t)i * t->width, .row = row,
                                .from = syn_first_row_from(order->shuffled, order->n,
                                                           syn_row_rank(row)),
                                .point = m->points->coordinate + row,
                                .observed = observed};
    for (size_t k = 0; k < targets; k++)
        observed[k] = m->target[k * rows + row] - m->shift[k];
}

static syn_status list_rows(void *context, size_t item, int worker)
{
    mapping *m = context;
    tile *t = &m->tile;
    uint32_t from = (uint32_t)item * STRETCH;
    uint32_t end = t->n - from < STRETCH ? t->n : from + STRETCH;
    for (uint32_t i = from; i < end; i++) {
        begin_list(m, i);
        m->kind->nearest(&m->problem, m->choice.most,
                         t->square + (size_t)i * m->problem.n, &m->space[worker],
                         &t->list[i]);
    }
    return SYN_OK;
}

static syn_status map_group(void *context, size_t item, int worker)
{
    mapping *m = context;
    if (m->group[item].member || !m->choice.blocks)
        m->kind->add_rows(&m->problem, m->tile.list, m->tile.n, &m->group[item],
                          &m->space[worker]);
    return SYN_OK;
}

/* The next rows of a pass through all; returns whether there are any. */
static int next_tile(mapping *m)
{
    tile *t = &m->tile;
    uint32_t all = m->prediction->n;
    m->done += t->n;
    t->first += t->n;
    t->n = all - t->first < t->room ? all - t->first : t->room;
    if (t->n > 0)
        return 1;
    t->first = 0;
    return 0;
}

/* By the distances to all rows. The watch is polled between tiles, which take some
   milliseconds. */
static syn_status map_tiles(mapping *m)
{
    tile *t = &m->tile;
    while (next_tile(m)) {
        SYN_TRY(syn_poll(m->watch, "rows", m->done, m->total));
        SYN_TRY(syn_parallel_for((t->n + STRETCH - 1) / STRETCH, m->threads, NULL, "rows",
                                 list_rows, m));
        SYN_TRY(syn_parallel_for(m->groups, m->threads, NULL, "libraries", map_group, m));
    }
    return SYN_OK;
}

/* ---- the same by blocks of rows ---- */

/* A search in one library, or for what all take their neighbours from. */
typedef struct lane_search {
    mapping *m;
    uint32_t lane;
    syn_search *search;
} lane_search;

/* What a search of one tile has done, in terms of all tiles. */
static int poll_tile(void *data, const char *stage, double done, double total)
{
    const mapping *m = data;
    (void)stage;
    double share = total > 0 ? done / total : 0;
    return m->watch->poll(m->watch->data, "rows", m->done + share * m->tile.n, m->total);
}

static void take_near(const mapping *m, const syn_near *near, uint32_t n,
                      syn_near *to)
{
    for (uint32_t j = 0; j < n; j++)
        to[j] = (syn_near){sqrt(near[j].squared), near[j].rank,
                               m->place[near[j].row]};
}

static void take_list(void *context, int worker, uint32_t i, uint32_t e, syn_near *near,
                      uint32_t found)
{
    (void)worker;
    (void)e;
    const lane_search *s = context;
    syn_ccm_list *list = &s->m->tile.list[i];
    list->n = found;
    list->whole = found < s->m->choice.most;
    take_near(s->m, near, found, list->near);
}

static void take_lane(void *context, int worker, uint32_t i, uint32_t e, syn_near *near,
                      uint32_t found)
{
    (void)worker;
    (void)e;
    const lane_search *s = context;
    syn_ccm_list *list = &s->m->tile.list[i];
    list->found[s->lane] = found;
    take_near(s->m, near, found, list->near + (size_t)s->lane * s->m->problem.k);
}

static syn_status search_tile(mapping *m, lane_search *lane, syn_near_body *body)
{
    const tile *t = &m->tile;
    syn_reach rows = {{t->n, m->prediction->row + t->first}, NULL};
    syn_watch watch = {poll_tile, m};
    return syn_search_rows(lane->search, &rows, m->watch ? &watch : NULL, body, lane);
}

static syn_status make_search(mapping *m, const syn_rows *library, uint32_t k,
                              syn_search **out)
{
    syn_neighbour_options options = {.k = k, .exclusion = m->options->exclusion,
                                     .threads = m->threads,
                                     .vector_bits = m->options->vector_bits};
    syn_reach from = {*library, NULL};
    return syn_search_make(m->points, &from, m->points->dims, &options, out);
}

/* All groups that go down a common order. */
static syn_status map_common(mapping *m)
{
    tile *t = &m->tile;
    lane_search lane = {m, 0, NULL};
    syn_status status = make_search(m, m->library, m->choice.most, &lane.search);
    while (status == SYN_OK && next_tile(m)) {
        for (uint32_t i = 0; i < t->n; i++)
            begin_list(m, i);
        status = search_tile(m, &lane, take_list);
        SYN_NEXT(status, syn_parallel_for(m->groups, m->threads, NULL, "libraries",
                                          map_group, m));
    }
    syn_search_free(lane.search);
    return status;
}

/* The libraries of a group, ready to be searched. */
static syn_status make_lanes(mapping *m, const syn_ccm_group *g, lane_search *lane)
{
    uint32_t *row = malloc(((size_t)g->size + 1) * sizeof *row);
    syn_status status = row ? SYN_OK : SYN_NO_MEMORY;
    for (uint32_t l = 0; l < g->n && status == SYN_OK; l++) {
        for (uint32_t i = 0; i < g->size; i++)
            row[i] = m->problem.row[g->rows[(size_t)l * g->size + i]];
        syn_rows library = {g->size, row};
        status = syn_poll(m->watch, "rows", m->done, m->total);
        SYN_NEXT(status, make_search(m, &library, m->problem.k, &lane[l].search));
    }
    free(row);
    return status;
}

/* One group whose libraries are searched one by one. */
static syn_status map_direct(mapping *m, const syn_ccm_group *g)
{
    lane_search lane[SYN_CCM_DIRECT];
    for (uint32_t l = 0; l < SYN_CCM_DIRECT; l++)
        lane[l] = (lane_search){m, l, NULL};
    syn_status status = make_lanes(m, g, lane);
    while (status == SYN_OK && next_tile(m)) {
        for (uint32_t i = 0; i < m->tile.n; i++) {
            begin_list(m, i);
            m->tile.list[i].found = m->tile.found + (size_t)i * SYN_CCM_DIRECT;
        }
        for (uint32_t l = 0; l < g->n && status == SYN_OK; l++)
            status = search_tile(m, &lane[l], take_lane);
        if (status == SYN_OK)
            m->kind->add_rows(&m->problem, m->tile.list, m->tile.n, g, &m->space[0]);
    }
    for (uint32_t l = 0; l < SYN_CCM_DIRECT; l++)
        syn_search_free(lane[l].search);
    return status;
}

static syn_status map_all(mapping *m)
{
    int common = m->choice.most > 0, passes = common;
    for (size_t g = 0; g < m->groups; g++)
        passes += m->choice.blocks && m->group[g].rows;
    m->total = (double)passes * m->prediction->n;
    if (!m->choice.blocks)
        return map_tiles(m);
    syn_status status = common ? map_common(m) : SYN_OK;
    for (size_t g = 0; g < m->groups && status == SYN_OK; g++)
        if (m->group[g].rows)
            status = map_direct(m, &m->group[g]);
    return status;
}

/* ---- skill ----

   The skill of one library and target from sums over the predicted rows. */

double syn_ccm_middle(const double *target, const syn_rows *rows)
{
    double least = INFINITY, most = -INFINITY;
    for (uint32_t i = 0; i < rows->n; i++) {
        double y = target[rows->row[i]];
        least = y < least ? y : least;
        most = y > most ? y : most;
    }
    if (!(least <= most))
        return 0;
    return least < most ? least / 2 + most / 2 : least;
}

/* n times the variance of n values, from sums of their differences to the first of them;
   0 where they differ from each other by rounding alone. */
static double spread(double n, double first, double sum, double square)
{
    double out = square - sum * sum / n;
    /* The sum of the squares of the values themselves. */
    double size = square + first * (2 * sum + n * first);
    return out > 1e-24 * size ? out : 0;
}

void syn_ccm_skill_put(const double *s, syn_ccm_skill *out, size_t at)
{
    double n = s[SYN_CCM_N];
    out->rho[at] = out->mae[at] = out->rmse[at] = NAN;
    if (n < 3)
        return;
    out->mae[at] = s[SYN_CCM_ERROR] / n;
    out->rmse[at] = sqrt(s[SYN_CCM_ERROR_SQUARE] / n);
    double both = spread(n, s[SYN_CCM_FIRST_TARGET], s[SYN_CCM_TARGET],
                         s[SYN_CCM_TARGET_SQUARE]) *
                  spread(n, s[SYN_CCM_FIRST_PREDICTION], s[SYN_CCM_PREDICTION],
                         s[SYN_CCM_PREDICTION_SQUARE]);
    double product = s[SYN_CCM_PRODUCT] - s[SYN_CCM_TARGET] * s[SYN_CCM_PREDICTION] / n;
    if (both > 0)
        out->rho[at] = fmax(-1, fmin(1, product / sqrt(both)));
}

syn_status syn_ccm_skill_make(size_t n, uint32_t targets, syn_ccm_skill *out)
{
    *out = (syn_ccm_skill){.n = n, .targets = targets};
    SYN_NEW(out->rho, n * targets + 1);
    SYN_NEW(out->mae, n * targets + 1);
    SYN_NEW(out->rmse, n * targets + 1);
    return SYN_OK;
}

void syn_ccm_free(syn_ccm_skill *skill)
{
    SYN_FREE(skill->rho, skill->mae, skill->rmse);
    memset(skill, 0, sizeof *skill);
}

/* The skill of the libraries of a group for target `t`, from element `at` on. */
static void put_group(const syn_ccm_group *g, size_t t, size_t at, syn_ccm_skill *out)
{
    for (uint32_t lane = 0; lane < g->n; lane++) {
        double sum[SYN_CCM_SUMS];
        for (int s = 0; s < SYN_CCM_SUMS; s++)
            sum[s] = g->sum[syn_ccm_sum_at(g, lane, t, s)];
        syn_ccm_skill_put(sum, out, t * out->n + at + lane);
    }
}

static syn_status make_skill(const mapping *m, syn_ccm_skill *out)
{
    size_t n = 0, at = 0;
    for (size_t g = 0; g < m->groups; g++)
        n += m->group[g].n;
    syn_status status = syn_ccm_skill_make(n, m->problem.targets, out);
    for (size_t g = 0; g < m->groups && status == SYN_OK; at += m->group[g++].n)
        for (size_t t = 0; t < out->targets; t++)
            put_group(&m->group[g], t, at, out);
    return status;
}

/* ---- all of it ---- */

static syn_status prepare(mapping *m, uint32_t targets)
{
    unsigned char *direct;
    SYN_TRY(make_problem(m, targets));
    SYN_ARRAY(&m->memory, direct, m->options->sizes);
    m->choice = ccm_plan(m->options, m->problem.n, m->problem.dims, direct);
    SYN_TRY(make_groups(m, direct));
    SYN_TRY(make_values(m));
    SYN_TRY(make_space(m));
    SYN_TRY(make_tile(m));
    if (!m->choice.blocks)
        return SYN_OK;
    SYN_ARRAY(&m->memory, m->place, m->points->rows);
    for (uint32_t i = 0; i < m->library->n; i++)
        m->place[m->library->row[i]] = i;
    return SYN_OK;
}

syn_status syn_ccm(const syn_points *points, const syn_rows *library,
                   const syn_rows *prediction, const double *target, uint32_t targets,
                   const syn_ccm_options *options, const syn_watch *watch,
                   syn_ccm_skill *out)
{
    mapping m = {.options = options, .points = points, .library = library,
                 .prediction = prediction, .target = target,
                 .kind = syn_ccm_kind_fastest(options->vector_bits),
                 .threads = options->threads > 1 ? options->threads : 1,
                 .watch = watch};
    memset(out, 0, sizeof *out);
    syn_status status = prepare(&m, targets);
    SYN_NEXT(status,
             syn_parallel_for(m.groups, m.threads, watch, "libraries", draw_group, &m));
    SYN_NEXT(status, map_all(&m));
    SYN_NEXT(status, make_skill(&m, out));
    syn_give_back(&m.memory);
    return status;
}

/* ---- several views ---- */

syn_status syn_ccm_views(const syn_points *points, const syn_ccm_view *view,
                         uint32_t views, const syn_rows *prediction, uint32_t targets,
                         const syn_ccm_options *options, const syn_watch *watch,
                         syn_ccm_skill *out)
{
    size_t n = 0, at = 0;
    for (uint32_t v = 0; v < views; v++)
        for (uint32_t s = 0; s < options->sizes; s++)
            n += libraries_of(options, s, view[v].library.n);
    uint32_t *size = malloc((options->sizes + (size_t)1) * sizeof *size);
    syn_status status = syn_ccm_skill_make(n, targets, out);
    if (!size)
        status = SYN_NO_MEMORY;
    for (uint32_t v = 0; v < views && status == SYN_OK; v++) {
        syn_ccm_options fitting = *options;
        syn_ccm_skill one;
        uint32_t rows = view[v].library.n;
        for (uint32_t s = 0; s < options->sizes; s++)
            size[s] = options->size[s] < rows ? options->size[s] : rows;
        fitting.size = size;
        status = syn_ccm(points, &view[v].library, prediction, view[v].target, targets,
                         &fitting, watch, &one);
        if (status == SYN_OK) {
            /* Puts the skill of one view among that of all, from library `at` on. */
            size_t bytes = one.n * sizeof *one.rho;
            for (size_t t = 0; t < out->targets; t++) {
                memcpy(out->rho + t * out->n + at, one.rho + t * one.n, bytes);
                memcpy(out->mae + t * out->n + at, one.mae + t * one.n, bytes);
                memcpy(out->rmse + t * out->n + at, one.rmse + t * one.n, bytes);
            }
        }
        at += one.n;
        syn_ccm_free(&one);
    }
    free(size);
    return status;
}
