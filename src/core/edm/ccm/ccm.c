/* Convergent cross mapping. Rows are handed out in tiles. For each row the nearest
   library rows are put in order once; each random library then takes the first k that
   it contains, and predicts the targets from them. Libraries that are too small for
   that are searched one by one. Sums over all rows give the correlation of each
   library. */
#include "core/edm/ccm/ccm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/kinds.h"
#include "core/edm/ccm/lanes.h"
#include "core/edm/ccm/plan.h"
#include "core/edm/ccm/skill.h"
#include "core/base/parallel.h"
#include "core/edm/neighbours/neighbours.h"

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
    syn_ccm_near *near;        /* [room][width] */
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
    double *coordinate, *value, *beside;   /* what `problem` points to */
    const double *target;
    double *shift;                /* [targets] */
    syn_ccm_choice choice;        /* how to search */
    uint32_t *place;              /* [rows] which library row each is; for blocks only */
    syn_ccm_group *group;
    uint32_t *group_size;         /* [groups] which size, */
    uint32_t *group_sample;       /* and its first library */
    size_t groups;
    int threads;
    syn_ccm_space *space;         /* [threads] */
    const syn_watch *watch;
    double done, total;           /* rows, in all passes through them */
    tile tile;
} mapping;

/* ---- libraries ---- */

static uint32_t libraries_of(const mapping *m, uint32_t size)
{
    return m->options->size[size] < m->problem.n ? m->options->samples : 1;
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
        m->groups += libraries_of(m, s) / lanes + (libraries_of(m, s) % lanes > 0);
    }
    m->group = calloc(m->groups + 1, sizeof *m->group);
    m->group_size = malloc((m->groups + 1) * sizeof *m->group_size);
    m->group_sample = malloc((m->groups + 1) * sizeof *m->group_sample);
    if (!m->group || !m->group_size || !m->group_sample)
        return SYN_NO_MEMORY;
    size_t next = 0;
    for (uint32_t s = 0; s < o->sizes; s++)
        for (uint32_t from = 0, all = libraries_of(m, s), lanes = lanes_of(m, direct[s]);
             from < all; from += lanes) {
            syn_ccm_group *g = &m->group[next];
            m->group_size[next] = s;
            m->group_sample[next++] = from;
            g->n = all - from < lanes ? all - from : lanes;
            g->size = o->size[s];
            g->sum = calloc(syn_ccm_sums(g, m->problem.targets), sizeof *g->sum);
            if (direct[s])
                g->rows = malloc((size_t)g->n * g->size * sizeof *g->rows);
            else
                g->member = calloc(m->problem.n, sizeof *g->member);
            if (!(direct[s] ? (void *)g->rows : (void *)g->member) || !g->sum)
                return SYN_NO_MEMORY;
        }
    return SYN_OK;
}

/* ---- what is predicted ---- */

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
    m->coordinate = malloc(((size_t)p->n * p->dims + 1) * sizeof *m->coordinate);
    m->shift = malloc(((size_t)targets + 1) * sizeof *m->shift);
    if (!m->coordinate || !m->shift)
        return SYN_NO_MEMORY;
    p->coordinate = m->coordinate;
    for (size_t e = 0; e < p->dims; e++)
        for (uint32_t i = 0; i < p->n; i++)
            m->coordinate[e * p->n + i] = m->points->coordinate[e * rows + p->row[i]];
    for (size_t t = 0; t < targets; t++)
        m->shift[t] = syn_ccm_middle(m->target + t * rows, m->prediction);
    return syn_ccm_order_make(m->library, &p->order);
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
    if (one < m->groups)
        p->value = m->value = malloc((all + 1) * sizeof *m->value);
    if (one > 0)
        p->beside = m->beside = calloc(all + SYN_CCM_BESIDE, sizeof *m->beside);
    if ((one < m->groups && !m->value) || (one > 0 && !m->beside))
        return SYN_NO_MEMORY;
    for (size_t t = 0; t < p->targets; t++) {
        size_t first = t - t % SYN_CCM_BESIDE, left = p->targets - first;
        if (m->value)
            put_target(m, t, m->value + t * n, 1);
        if (m->beside)
            put_target(m, t, m->beside + first * n + t % SYN_CCM_BESIDE,
                       left < SYN_CCM_BESIDE ? left : SYN_CCM_BESIDE);
    }
    return SYN_OK;
}

/* Which library row each row is. */
static syn_status make_place(mapping *m)
{
    m->place = malloc(((size_t)m->points->rows + 1) * sizeof *m->place);
    if (!m->place)
        return SYN_NO_MEMORY;
    for (uint32_t i = 0; i < m->library->n; i++)
        m->place[m->library->row[i]] = i;
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
    t->list = malloc(room * sizeof *t->list);
    t->near = malloc(room * t->width * sizeof *t->near);
    t->found = malloc(room * SYN_CCM_DIRECT * sizeof *t->found);
    t->square = all ? malloc(room * p->n * sizeof *t->square) : NULL;
    t->observed = calloc(room * p->targets + SYN_CCM_BESIDE, sizeof *t->observed);
    int there = t->list && t->near && t->found && t->observed && (!all || t->square);
    return there ? SYN_OK : SYN_NO_MEMORY;
}

static syn_status make_space(mapping *m)
{
    size_t n = m->problem.n, lanes = (size_t)m->problem.k * SYN_CCM_LANES;
    /* As many rows together as the cache holds beside a target. */
    uint32_t together = 128 / m->problem.k;
    together = together < 1 ? 1 : together;
    together = together < SYN_CCM_TOGETHER ? together : SYN_CCM_TOGETHER;
    m->space = calloc((size_t)m->threads, sizeof *m->space);
    if (!m->space)
        return SYN_NO_MEMORY;
    for (int w = 0; w < m->threads; w++) {
        syn_ccm_space *s = &m->space[w];
        s->near = malloc((n + 1) * sizeof *s->near);
        s->sorted = malloc((n + 1) * sizeof *s->sorted);
        s->bucket = calloc(SYN_CCM_BUCKETS + 1, sizeof *s->bucket);
        s->tied = calloc(n / 64 + 1, sizeof *s->tied);
        s->last = malloc(n * sizeof *s->last);
        s->rows = malloc((n + 1) * sizeof *s->rows);
        s->square = malloc(n * sizeof *s->square);
        s->at = malloc(together * lanes * sizeof *s->at);
        s->distance = malloc(together * lanes * sizeof *s->distance);
        if (!s->near || !s->sorted || !s->bucket || !s->tied || !s->last || !s->rows ||
            !s->square || !s->at || !s->distance)
            return SYN_NO_MEMORY;
        s->lanes_rows = together;
        for (uint32_t r = 0; r < together; r++)
            s->lanes[r] = (syn_ccm_lanes){s->at + r * lanes, s->distance + r * lanes};
    }
    return SYN_OK;
}

/* Row `i` of the tile, before its neighbours are known. */
static void begin_list(mapping *m, uint32_t i)
{
    tile *t = &m->tile;
    size_t targets = m->problem.targets, rows = m->points->rows;
    uint32_t row = m->prediction->row[t->first + i];
    double *observed = t->observed + i * targets;
    t->list[i] = (syn_ccm_list){.near = t->near + (size_t)i * t->width, .row = row,
                                .from = syn_ccm_order_after(&m->problem.order, row),
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
    syn_status status = SYN_OK;
    while (status == SYN_OK && next_tile(m)) {
        status = syn_poll(m->watch, "rows", m->done, m->total);
        if (status == SYN_OK)
            status = syn_parallel_for((t->n + STRETCH - 1) / STRETCH, m->threads, NULL,
                                      "rows", list_rows, m);
        if (status == SYN_OK)
            status = syn_parallel_for(m->groups, m->threads, NULL, "libraries", map_group,
                                      m);
    }
    return status;
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
                      syn_ccm_near *to)
{
    for (uint32_t j = 0; j < n; j++)
        to[j] = (syn_ccm_near){sqrt(near[j].squared), near[j].rank,
                               m->place[near[j].row]};
}

static void take_list(void *context, uint32_t i, uint32_t e, syn_near *near,
                      uint32_t found)
{
    (void)e;
    const lane_search *s = context;
    syn_ccm_list *list = &s->m->tile.list[i];
    list->n = found;
    list->whole = found < s->m->choice.most;
    take_near(s->m, near, found, list->near);
}

static void take_lane(void *context, uint32_t i, uint32_t e, syn_near *near,
                      uint32_t found)
{
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
        if (status == SYN_OK)
            status = syn_parallel_for(m->groups, m->threads, NULL, "libraries", map_group,
                                      m);
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
        if (status == SYN_OK)
            status = make_search(m, &library, m->problem.k, &lane[l].search);
    }
    free(row);
    return status;
}

static void begin_lanes(mapping *m)
{
    for (uint32_t i = 0; i < m->tile.n; i++) {
        begin_list(m, i);
        m->tile.list[i].found = m->tile.found + (size_t)i * SYN_CCM_DIRECT;
    }
}

/* One group whose libraries are searched one by one. */
static syn_status map_direct(mapping *m, const syn_ccm_group *g)
{
    lane_search lane[SYN_CCM_DIRECT];
    for (uint32_t l = 0; l < SYN_CCM_DIRECT; l++)
        lane[l] = (lane_search){m, l, NULL};
    syn_status status = make_lanes(m, g, lane);
    while (status == SYN_OK && next_tile(m)) {
        begin_lanes(m);
        for (uint32_t l = 0; l < g->n && status == SYN_OK; l++)
            status = search_tile(m, &lane[l], take_lane);
        if (status == SYN_OK)
            m->kind->add_rows(&m->problem, m->tile.list, m->tile.n, g, &m->space[0]);
    }
    for (uint32_t l = 0; l < SYN_CCM_DIRECT; l++)
        syn_search_free(lane[l].search);
    return status;
}

static syn_status map_blocks(mapping *m)
{
    syn_status status = m->choice.most > 0 ? map_common(m) : SYN_OK;
    for (size_t g = 0; g < m->groups && status == SYN_OK; g++)
        if (m->group[g].rows)
            status = map_direct(m, &m->group[g]);
    return status;
}

static syn_status map_all(mapping *m)
{
    int passes = m->choice.most > 0;
    for (size_t g = 0; g < m->groups; g++)
        passes += m->choice.blocks && m->group[g].rows;
    m->total = (double)passes * m->prediction->n;
    return m->choice.blocks ? map_blocks(m) : map_tiles(m);
}

/* ---- skill ---- */

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

static void mapping_free(mapping *m)
{
    for (size_t g = 0; m->group && g < m->groups; g++) {
        free(m->group[g].member);
        free(m->group[g].rows);
        free(m->group[g].sum);
    }
    for (int w = 0; m->space && w < m->threads; w++) {
        syn_ccm_space *s = &m->space[w];
        free(s->near);
        free(s->sorted);
        free(s->bucket);
        free(s->tied);
        free(s->last);
        free(s->rows);
        free(s->square);
        free(s->at);
        free(s->distance);
    }
    free(m->group);
    free(m->group_size);
    free(m->group_sample);
    free(m->space);
    free(m->tile.list);
    free(m->tile.near);
    free(m->tile.found);
    free(m->tile.square);
    free(m->tile.observed);
    free(m->coordinate);
    syn_ccm_order_free(&m->problem.order);
    free(m->place);
    free(m->value);
    free(m->beside);
    free(m->shift);
}

static const syn_ccm_kind *fastest_kind(int vector_bits)
{
    const syn_ccm_kind *kinds[] = SYN_KINDS(&syn_ccm_kind_any, &syn_ccm_kind_256,
                                            &syn_ccm_kind_512, &syn_ccm_kind_512);
    return kinds[syn_kind_here(vector_bits)];
}

static syn_status prepare(mapping *m, uint32_t targets)
{
    syn_status status = make_problem(m, targets);
    unsigned char *direct = calloc(m->options->sizes + (size_t)1, 1);
    if (!direct)
        status = SYN_NO_MEMORY;
    if (status == SYN_OK) {
        m->choice = syn_ccm_plan(m->options, m->problem.n, m->problem.dims, direct);
        status = make_groups(m, direct);
    }
    free(direct);
    if (status == SYN_OK)
        status = make_values(m);
    if (status == SYN_OK)
        status = make_space(m);
    if (status == SYN_OK)
        status = make_tile(m);
    if (status == SYN_OK && m->choice.blocks)
        status = make_place(m);
    return status;
}

syn_status syn_ccm(const syn_points *points, const syn_rows *library,
                   const syn_rows *prediction, const double *target, uint32_t targets,
                   const syn_ccm_options *options, const syn_watch *watch,
                   syn_ccm_skill *out)
{
    mapping m = {.options = options, .points = points, .library = library,
                 .prediction = prediction, .target = target,
                 .kind = fastest_kind(options->vector_bits),
                 .threads = options->threads > 1 ? options->threads : 1,
                 .watch = watch};
    memset(out, 0, sizeof *out);
    syn_status status = prepare(&m, targets);
    if (status == SYN_OK)
        status = syn_parallel_for(m.groups, m.threads, watch, "libraries", draw_group,
                                  &m);
    if (status == SYN_OK)
        status = map_all(&m);
    if (status == SYN_OK)
        status = make_skill(&m, out);
    mapping_free(&m);
    return status;
}
