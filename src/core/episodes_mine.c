#include "core/episodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/episodes_engine.h"
#include "core/parallel.h"

/* ---- levels ---- */

static void level_free(syn_episode_level *level)
{
    free(level->parent);
    free(level->suffix);
    free(level->unit);
    free(level->interval);
    free(level->count);
    free(level->child);
}

static syn_status level_allocate(syn_episode_level *level, size_t n)
{
    size_t bytes = (n + 1) * sizeof(uint32_t);
    memset(level, 0, sizeof *level);
    level->n = n;
    level->parent = malloc(bytes);
    level->suffix = malloc(bytes);
    level->unit = malloc(bytes);
    level->interval = malloc(bytes);
    level->count = malloc(bytes);
    level->child = calloc(n + 1, sizeof(uint32_t));
    if (!level->parent || !level->suffix || !level->unit || !level->interval ||
        !level->count || !level->child) {
        level_free(level);
        return SYN_NO_MEMORY;
    }
    return SYN_OK;
}

void syn_episodes_free(syn_episodes *episodes)
{
    for (size_t k = 0; k < episodes->n_levels; k++)
        level_free(&episodes->level[k]);
    free(episodes->level);
    memset(episodes, 0, sizeof *episodes);
}

static syn_status append_level(syn_episodes *episodes, size_t n)
{
    size_t bytes = (episodes->n_levels + 1) * sizeof *episodes->level;
    syn_episode_level *level = realloc(episodes->level, bytes);
    if (!level)
        return SYN_NO_MEMORY;
    episodes->level = level;
    syn_status status = level_allocate(&level[episodes->n_levels], n);
    if (status == SYN_OK)
        episodes->n_levels++;
    return status;
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
    if (append_level(m->episodes, n) != SYN_OK)
        return SYN_NO_MEMORY;

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
    m->pair_unit = malloc((m->pairs + 1) * sizeof *m->pair_unit);
    m->pair_interval = malloc((m->pairs + 1) * sizeof *m->pair_interval);
    if (!m->pair_unit || !m->pair_interval)
        return SYN_NO_MEMORY;
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
        syn_candidates all = {m->pairs, m->pair_unit, m->pair_interval};
        return all;
    }
    const syn_episode_level *parents = &m->episodes->level[m->size - 2];
    const uint32_t *child = m->episodes->level[m->size - 3].child;
    uint32_t suffix = parents->suffix[parent];
    syn_candidates mirrored = {child[suffix + 1] - child[suffix],
                               parents->unit + child[suffix],
                               parents->interval + child[suffix]};
    return mirrored;
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
        uint32_t *count = realloc(f->count, n * sizeof *count);
        if (!count)
            return NULL;
        f->count = count;
        f->count_room = n;
    }
    return f->count;
}

/* Room for `n` more findings; all workers' together stay within the budget. */
static syn_status findings_make_room(const syn_miner *m, syn_findings *f, size_t n)
{
    if (f->room - f->n >= n)
        return SYN_OK;
    size_t most = m->options->max_memory / (size_t)m->options->threads / sizeof *f->found;
    size_t room = 2 * f->room + n + 1024;
    if (room > most)
        room = most;
    if (room < f->n + n)
        return SYN_OVER_BUDGET;
    syn_finding *found = realloc(f->found, room * sizeof *found);
    if (!found)
        return SYN_NO_MEMORY;
    f->found = found;
    f->room = room;
    return SYN_OK;
}

syn_status syn_miner_keep(syn_miner *m, int worker, size_t slot, size_t begin,
                          const uint32_t *count, size_t n)
{
    syn_findings *f = &m->findings[worker];
    syn_status status = findings_make_room(m, f, n);
    if (status != SYN_OK)
        return status;
    m->run[slot].worker = (uint32_t)worker;
    m->run[slot].begin = f->n;
    for (size_t j = 0; j < n; j++) {
        f->found[f->n].candidate = (uint32_t)(begin + j);
        f->found[f->n].count = count[j];
        f->n += count[j] >= m->options->min_count;
    }
    m->run[slot].n = (uint32_t)(f->n - m->run[slot].begin);
    f->candidates += n;
    return SYN_OK;
}

/* ---- one level ---- */

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
    if (m->run[slot].n == 0)
        return i;
    syn_candidates candidates = syn_miner_candidates(m, parent);
    const syn_findings *by = &m->findings[m->run[slot].worker];
    const syn_finding *found = by->found + m->run[slot].begin;
    for (uint32_t j = 0; j < m->run[slot].n; j++, i++) {
        level->parent[i] = parent;
        level->suffix[i] = candidate_suffix(m, parent, found[j].candidate);
        level->unit[i] = candidates.unit[found[j].candidate];
        level->interval[i] = candidates.interval[found[j].candidate];
        level->count[i] = found[j].count;
    }
    return i;
}

/* Bytes of an episode in its level. */
enum { EPISODE = 6 * sizeof(uint32_t) };

static size_t results_memory(const syn_miner *m)
{
    size_t bytes = 0;
    for (size_t k = 0; k < m->episodes->n_levels; k++)
        bytes += EPISODE * m->episodes->level[k].n;
    for (int w = 0; w < m->options->threads; w++)
        bytes += m->findings[w].room * sizeof(syn_finding);
    return bytes;
}

/* Turns the findings of all workers into the next level, in order of the parents. */
static syn_status gather_level(syn_miner *m)
{
    syn_episode_level *parents = &m->episodes->level[m->size - 2];
    size_t n = 0, intervals = m->options->n_intervals;
    for (int w = 0; w < m->options->threads; w++)
        n += m->findings[w].n;
    if (n >= UINT32_MAX)
        return SYN_TOO_LARGE;
    if (m->results + n * EPISODE > m->options->max_memory)
        return SYN_OVER_BUDGET;
    size_t parents_n = parents->n;
    if (append_level(m->episodes, n) != SYN_OK)
        return SYN_NO_MEMORY;

    parents = &m->episodes->level[m->size - 2];
    syn_episode_level *level = &m->episodes->level[m->size - 1];
    size_t i = 0;
    for (uint32_t p = 0; p < parents_n; p++) {
        parents->child[p] = (uint32_t)i;
        for (size_t slot = p * intervals; slot < (p + 1) * intervals; slot++)
            i = append_findings(m, level, p, slot, i);
    }
    parents->child[parents_n] = (uint32_t)i;
    for (int w = 0; w < m->options->threads; w++) {
        level->candidates += m->findings[w].candidates;
        level->eliminated += m->findings[w].eliminated;
    }
    return SYN_OK;
}

static void note_memory(syn_miner *m, const level_job *job)
{
    size_t now = results_memory(m) + job->engine->memory(job->self);
    if (now > m->episodes->peak_memory)
        m->episodes->peak_memory = now;
}

static syn_status mine_level(syn_miner *m, level_job *job)
{
    size_t parents = m->episodes->level[m->size - 2].n, items = 0;
    size_t runs = parents * m->options->n_intervals + 1;
    m->results = results_memory(m) + runs * sizeof *m->run;
    if (m->results > m->options->max_memory)
        return SYN_OVER_BUDGET;
    m->run = calloc(runs, sizeof *m->run);
    if (!m->run)
        return SYN_NO_MEMORY;
    for (int w = 0; w < m->options->threads; w++) {
        syn_findings *f = &m->findings[w];
        f->n = 0;
        f->candidates = f->eliminated = 0;
    }
    char stage[32];
    snprintf(stage, sizeof stage, "size %zu", m->size);
    syn_status status = job->engine->begin_level(job->self, &items);
    if (status == SYN_OK)
        status = syn_parallel_for(items, m->options->threads, m->watch, stage, count_item,
                                  job);
    if (status == SYN_OK)
        status = gather_level(m);
    free(m->run);
    m->run = NULL;
    note_memory(m, job);
    return status;
}

static syn_status mine_levels(syn_miner *m, level_job *job)
{
    syn_status status = SYN_OK;
    for (m->size = 2; status == SYN_OK && m->size <= m->options->max_size; m->size++) {
        if (m->episodes->level[m->size - 2].n == 0)
            break;
        status = mine_level(m, job);
    }
    return status;
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

static void miner_free(syn_miner *m)
{
    for (int w = 0; m->findings && w < m->options->threads; w++) {
        free(m->findings[w].found);
        free(m->findings[w].count);
    }
    free(m->findings);
    free(m->pair_unit);
    free(m->pair_interval);
}

/* The last level is empty when nothing of that size is frequent: it only says so. */
static void drop_empty_level(syn_episodes *episodes)
{
    size_t last = episodes->n_levels;
    if (last > 0 && episodes->level[last - 1].n == 0 &&
        episodes->level[last - 1].candidates == 0)
        level_free(&episodes->level[--episodes->n_levels]);
}

syn_status syn_mine_episodes(const syn_recording *recording,
                             const syn_mine_options *options, const syn_watch *watch,
                             syn_episodes *out)
{
    memset(out, 0, sizeof *out);
    syn_miner m = {.recording = recording, .options = options, .watch = watch,
                   .episodes = out};
    level_job job = {engine_of(options->engine), NULL};
    syn_status status = mine_units(&m);
    m.findings = calloc((size_t)options->threads, sizeof *m.findings);
    if (!m.findings)
        status = SYN_NO_MEMORY;
    if (status == SYN_OK)
        status = make_pairs(&m);
    if (status == SYN_OK)
        status = job.engine->open(&job.self, &m);
    if (status == SYN_OK)
        status = mine_levels(&m, &job);
    if (job.self)
        job.engine->close(job.self);
    miner_free(&m);
    if (status == SYN_OK)
        drop_empty_level(out);
    else
        syn_episodes_free(out);
    return status;
}
