/* Mines frequent episodes level by level. The candidates of a size extend each frequent
   episode by what extends its suffix; an engine (engine.h) counts them, each worker
   notes the frequent ones, and these become the next level. When memory is short, the
   engine is opened again with less of it, and then on fewer threads. */
#include "core/episodes/engine.h"

#include <stdio.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/parallel.h"

/* ---- levels ---- */

void syn_episode_level_free(syn_episode_level *level)
{
    SYN_FREE(level->parent, level->suffix, level->unit, level->interval, level->count,
             level->child);
}

syn_status syn_episode_level_make(syn_episode_level *level, size_t n)
{
    size_t bytes = (n + 1) * sizeof(uint32_t);
    *level = (syn_episode_level){.n = n, .parent = malloc(bytes), .suffix = malloc(bytes),
                                 .unit = malloc(bytes), .interval = malloc(bytes),
                                 .count = malloc(bytes),
                                 .child = calloc(n + 1, sizeof(uint32_t))};
    if (!level->parent || !level->suffix || !level->unit || !level->interval ||
        !level->count || !level->child) {
        syn_episode_level_free(level);
        return SYN_NO_MEMORY;
    }
    return SYN_OK;
}

void syn_episodes_free(syn_episodes *episodes)
{
    for (size_t k = 0; k < episodes->n_levels; k++)
        syn_episode_level_free(&episodes->level[k]);
    free(episodes->level);
    memset(episodes, 0, sizeof *episodes);
}

syn_status syn_episodes_append(syn_episodes *episodes, size_t n)
{
    size_t bytes = (episodes->n_levels + 1) * sizeof *episodes->level;
    syn_episode_level *level = realloc(episodes->level, bytes);
    if (!level)
        return SYN_NO_MEMORY;
    episodes->level = level;
    syn_status status = syn_episode_level_make(&level[episodes->n_levels], n);
    episodes->n_levels += status == SYN_OK;
    return status;
}

void syn_episodes_end(syn_episodes *episodes)
{
    size_t last = episodes->n_levels - 1;
    if (episodes->n_levels > 0 && episodes->level[last].n == 0 &&
        episodes->level[last].candidates == 0)
        syn_episode_level_free(&episodes->level[--episodes->n_levels]);
}

/* Bytes of an episode in its level. */
enum { EPISODE = 6 * sizeof(uint32_t) };

/* Appends a level of `n` episodes, which the budget counts with what the caller will hold
   of each. */
static syn_status append_level(syn_miner *m, size_t n)
{
    size_t of_episode = EPISODE + m->options->of_episode;
    if (n > SIZE_MAX / of_episode || !syn_budget_take(&m->budget, n * of_episode))
        return SYN_OVER_BUDGET;
    syn_status status = syn_episodes_append(m->episodes, n);
    if (status != SYN_OK)
        syn_budget_give(&m->budget, n * of_episode);
    return status;
}

void syn_episode_children(syn_episode_level *below, const syn_episode_level *level)
{
    uint32_t i = 0;
    for (uint32_t p = 0; p < below->n; p++) {
        below->child[p] = i;
        while (i < level->n && level->parent[i] == p)
            i++;
    }
    below->child[below->n] = i;
}

void syn_episode_spell(const syn_episodes *episodes, size_t level, uint32_t node,
                       uint32_t *unit, uint32_t *interval)
{
    for (size_t k = level; ; k--) {
        unit[k] = episodes->level[k].unit[node];
        if (k == 0)
            return;
        interval[k - 1] = episodes->level[k].interval[node];
        node = episodes->level[k].parent[node];
    }
}

void syn_episodes_contained(const syn_episodes *episodes, size_t k, uint8_t *flag)
{
    const syn_episode_level *level = &episodes->level[k];
    memset(flag, 0, level->n);
    if (k + 1 == episodes->n_levels)
        return;
    const syn_episode_level *above = &episodes->level[k + 1];
    for (size_t i = 0; i < above->n; i++) {
        uint32_t inner[2] = {above->parent[i], above->suffix[i]};
        for (int side = 0; side < 2; side++) {
            uint8_t mark = above->count[i] == level->count[inner[side]] ? 2 : 1;
            if (flag[inner[side]] < mark)
                flag[inner[side]] = mark;
        }
    }
}

/* ---- single units and their pairs ---- */

static syn_status mine_units(syn_miner *m)
{
    const syn_recording *r = m->recording;
    size_t n = 0;
    for (uint32_t u = 0; u < r->units; u++)
        n += r->first[u + 1] - r->first[u] >= m->options->min_count;
    SYN_TRY(append_level(m, n));
    syn_episode_level *level = &m->episodes->level[0];
    level->candidates = r->units;
    size_t i = 0;
    for (uint32_t u = 0; u < r->units; u++) {
        uint32_t count = r->first[u + 1] - r->first[u];
        if (count < m->options->min_count)
            continue;
        level->parent[i] = level->suffix[i] = level->interval[i] = 0;
        level->unit[i] = u;
        level->count[i++] = count;
    }
    return SYN_OK;
}

/* At size 2 every frequent unit may follow every other, in every interval. */
static syn_status make_pairs(syn_miner *m)
{
    const syn_episode_level *units = &m->episodes->level[0];
    m->pairs = units->n * m->options->n_intervals;
    SYN_TAKE(&m->budget, m->pair_unit, m->pairs + 1);
    SYN_TAKE(&m->budget, m->pair_interval, m->pairs + 1);
    for (size_t j = 0; j < m->pairs; j++) {
        m->pair_unit[j] = units->unit[j % units->n];
        m->pair_interval[j] = (uint32_t)(j / units->n);
    }
    return SYN_OK;
}

/* ---- candidates ---- */

syn_candidates syn_miner_candidates(const syn_miner *m, uint32_t parent)
{
    if (m->size == 2) {
        return (syn_candidates){m->pairs, m->pair_unit, m->pair_interval};
    }
    const syn_episode_level *parents = &m->episodes->level[m->size - 2];
    const uint32_t *child = m->episodes->level[m->size - 3].child;
    uint32_t suffix = parents->suffix[parent];
    return (syn_candidates){child[suffix + 1] - child[suffix],
                            parents->unit + child[suffix],
                            parents->interval + child[suffix]};
}

/* The suffix of the episode that is `parent` and its candidate number `j`. */
static uint32_t candidate_suffix(const syn_miner *m, uint32_t parent, uint32_t j)
{
    if (m->size == 2)
        return j % (uint32_t)m->episodes->level[0].n;
    uint32_t suffix = m->episodes->level[m->size - 2].suffix[parent];
    return m->episodes->level[m->size - 3].child[suffix] + j;
}

uint32_t *syn_miner_counts(syn_miner *m, int worker, size_t n)
{
    syn_findings *f = &m->findings[worker];
    if (n > f->count_room) {
        syn_budget_free(&m->budget, f->count);
        f->count = syn_budget_alloc(&m->budget, n, sizeof *f->count);
        f->count_room = f->count ? n : 0;
    }
    return f->count;
}

/* Counts as 0 the candidates that end with the unit they begin with: a unit that comes
   twice in what is longer comes so in one of these, or in what they begin or end with. */
static void refuse_returns(const syn_miner *m, uint32_t parent, size_t begin,
                           uint32_t *count, size_t n)
{
    syn_candidates candidates = syn_miner_candidates(m, parent);
    const syn_episode_level *level = m->episodes->level;
    for (size_t k = m->size - 2; k > 0; k--)
        parent = level[k].parent[parent];
    uint32_t first = level[0].unit[parent];
    for (size_t j = 0; j < n; j++)
        if (candidates.unit[begin + j] == first)
            count[j] = 0;
}

syn_status syn_miner_keep(syn_miner *m, int worker, size_t slot, size_t begin,
                          uint32_t *count, size_t n)
{
    syn_findings *f = &m->findings[worker];
    uint32_t kept = 0;
    if (m->options->distinct_units)
        refuse_returns(m, (uint32_t)(slot / m->options->n_intervals), begin, count, n);
    for (size_t j = 0; j < n; j++)
        kept += count[j] >= m->options->min_count;
    f->candidates += n;
    if (kept == 0)
        return SYN_OK;
    syn_finding *found;
    SYN_ARENA(&f->found, found, kept);
    m->run[slot].found = found;
    m->run[slot].n = kept;
    f->n += kept;
    /* Without a branch on the count, which is hard to foresee. */
    uint32_t k = 0;
    for (size_t j = 0; k < kept; j++) {
        found[k].candidate = (uint32_t)(begin + j);
        found[k].count = count[j];
        k += count[j] >= m->options->min_count;
    }
    return SYN_OK;
}

/* ---- one level ---- */

enum { FEW_ENDS = 1 << 16 };  /* times 32 units: half a millisecond on one thread */

/* An episode has no more ends than its last unit has events. What an end takes grows with
   the units that may come next. */
int syn_miner_threads(const syn_miner *m, const syn_episode_level *level)
{
    const uint32_t *first = m->recording->first;
    double ends = 0, each = m->options->n_intervals;
    each *= m->episodes->level[0].n / 32 + 1;
    for (uint32_t i = 0; i < level->n && ends * each < FEW_ENDS; i++)
        ends += first[level->unit[i] + 1] - first[level->unit[i]];
    return ends * each < FEW_ENDS ? 1 : m->workers;
}

typedef struct level_job {
    const syn_engine *engine;
    void *self;
} level_job;

static syn_status count_item(void *context, size_t item, int worker)
{
    const level_job *job = context;
    return job->engine->count(job->self, item, worker);
}

/* Appends the findings of one slot to `level`, whose first `i` episodes are set. */
static size_t append_findings(const syn_miner *m, syn_episode_level *level,
                              uint32_t parent, size_t slot, size_t i)
{
    const syn_run *run = &m->run[slot];
    if (run->n == 0)
        return i;
    syn_candidates candidates = syn_miner_candidates(m, parent);
    for (uint32_t j = 0; j < run->n; j++, i++) {
        const syn_finding *found = &run->found[j];
        level->parent[i] = parent;
        level->suffix[i] = candidate_suffix(m, parent, found->candidate);
        level->unit[i] = candidates.unit[found->candidate];
        level->interval[i] = candidates.interval[found->candidate];
        level->count[i] = found->count;
    }
    return i;
}

enum { POLL_EVERY = 65536 };  /* slots gathered between two polls */

/* Turns the findings of all workers into the next level, in order of the parents. */
static syn_status gather_level(syn_miner *m)
{
    size_t n = 0, intervals = m->options->n_intervals;
    for (int w = 0; w < m->workers; w++)
        n += m->findings[w].n;
    if (n >= UINT32_MAX)
        return SYN_TOO_LARGE;
    SYN_TRY(append_level(m, n));

    syn_episode_level *parents = &m->episodes->level[m->size - 2];
    syn_episode_level *level = &m->episodes->level[m->size - 1];
    size_t i = 0;
    for (uint32_t p = 0; p < parents->n; p++) {
        parents->child[p] = (uint32_t)i;
        for (size_t slot = p * intervals; slot < (p + 1) * intervals; slot++)
            i = append_findings(m, level, p, slot, i);
        if (p % POLL_EVERY == POLL_EVERY - 1 &&
            syn_poll(m->watch, "table", 0, 0) != SYN_OK)
            return SYN_INTERRUPTED;
    }
    parents->child[parents->n] = (uint32_t)i;
    for (int w = 0; w < m->workers; w++) {
        level->candidates += m->findings[w].candidates;
        level->eliminated += m->findings[w].eliminated;
    }
    return SYN_OK;
}

static void free_findings(syn_miner *m)
{
    for (int w = 0; m->findings && w < m->options->threads; w++) {
        syn_findings *f = &m->findings[w];
        syn_arena_free(&f->found);
        syn_budget_free(&m->budget, f->count);
        memset(f, 0, sizeof *f);
        f->found.budget = &m->budget;
    }
    syn_budget_free(&m->budget, m->run);
    m->run = NULL;
}

/* Counts a level with the engine as it is. */
static syn_status count_level(syn_miner *m, const level_job *job)
{
    size_t items = 0, parents = m->episodes->level[m->size - 2].n;
    char stage[32];
    snprintf(stage, sizeof stage, "size %zu", m->size);
    free_findings(m);
    SYN_TAKE_ZEROS(&m->budget, m->run, parents * m->options->n_intervals + 1);
    syn_status status = job->engine->begin_level(job->self, &items);
    int threads = m->workers;
    if (job->engine->by_ends)
        threads = syn_miner_threads(m, &m->episodes->level[m->size - 2]);
    SYN_NEXT(status,
             syn_parallel_for(items, threads, m->watch, stage, count_item, (void *)job));
    return status == SYN_OK ? gather_level(m) : status;
}

static void close_engine(level_job *job)
{
    if (job->self)
        job->engine->close(job->self);
    job->self = NULL;
}

/* Whether the episodes that are known already take more than the budget. */
static int is_hopeless(const syn_miner *m)
{
    size_t found = 0, of_episode = EPISODE + m->options->of_episode;
    double bytes = 0;
    for (size_t k = 0; k < m->episodes->n_levels; k++)
        bytes += (double)m->episodes->level[k].n * (double)of_episode;
    for (int w = 0; w < m->workers; w++)
        found += m->findings[w].n;
    bytes += (double)found * (double)(of_episode + sizeof(syn_finding));
    return bytes > (double)m->budget.limit;
}

/* Closes the engine so that it starts anew with less memory than before; 0 when there is
   nothing left to do without. */
static int do_with_less(syn_miner *m, level_job *job)
{
    if (!job->engine->shrinks || (m->frugal && m->workers == 1) || is_hopeless(m))
        return 0;
    close_engine(job);
    if (m->frugal)
        m->workers /= 2;
    m->frugal = 1;
    return 1;
}

static syn_status mine_level(syn_miner *m, level_job *job)
{
    for (;;) {
        syn_status status = job->self ? SYN_OK : job->engine->open(&job->self, m);
        SYN_NEXT(status, count_level(m, job));
        int short_of_memory = status == SYN_OVER_BUDGET || status == SYN_NO_MEMORY;
        int again = short_of_memory && do_with_less(m, job);
        free_findings(m);
        if (!again)
            return status;
    }
}

static syn_status mine_levels(syn_miner *m, level_job *job)
{
    for (m->size = 2; m->size <= m->options->max_size; m->size++) {
        if (m->episodes->level[m->size - 2].n == 0)
            break;
        SYN_TRY(mine_level(m, job));
    }
    return SYN_OK;
}

/* ---- the whole ---- */

static const syn_engine *engine_of(syn_episode_engine engine)
{
    switch (engine) {
    case SYN_ENGINE_STATE: return &syn_engine_state;
    case SYN_ENGINE_TWO_PASS: return &syn_engine_two_pass;
    case SYN_ENGINE_COUNTER: return &syn_engine_batch;
    default: return &syn_engine_window;
    }
}

syn_status syn_mine_episodes(const syn_recording *recording,
                             const syn_mine_options *options, const syn_watch *watch,
                             syn_episodes *out)
{
    memset(out, 0, sizeof *out);
    syn_miner m = {.recording = recording, .options = options, .watch = watch,
                   .episodes = out, .workers = options->threads,
                   .budget = {.limit = options->max_memory}};
    level_job job = {engine_of(options->engine), NULL};
    /* Not counted, so that the budget is the same for any number of threads. */
    m.findings = calloc((size_t)options->threads, sizeof *m.findings);
    syn_status status = m.findings ? mine_units(&m) : SYN_NO_MEMORY;
    if (status == SYN_OK && options->max_size >= 2)
        status = make_pairs(&m);
    SYN_NEXT(status, mine_levels(&m, &job));
    close_engine(&job);
    free_findings(&m);
    free(m.findings);
    SYN_GIVE(&m.budget, m.pair_unit, m.pair_interval);
    out->peak_memory = m.budget.most;
    if (status == SYN_OK)
        syn_episodes_end(out);
    else
        syn_episodes_free(out);
    return status;
}
