/* Causal maps: checks what R passes, searches for dimensions, and maps libraries to
   targets block by block, on the CPU or on GPUs. */
#include "glue/glue.h"

#include <math.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/pages.h"
#include "glue/edm.h"
#include "glue/options.h"
#include "glue/require.h"
#include "glue/watch.h"
#include "gpu/causal/map.h"

/* ---- what R gives ---- */

/* `options`, from map_options() in R; `screen` is R's NULL for none. */
static syn_map_options read_options(SEXP options)
{
    const int far = 1000000;
    int screened = glue_option(options, "screen") != R_NilValue;
    syn_map_options out = {
        .E_max = (uint32_t)glue_option_int(options, "E_max", 1, SYN_MAP_DIMS),
        .tau = (int32_t)glue_option_int(options, "tau", -far, far),
        .Tp = (int32_t)glue_option_int(options, "Tp", -far, far),
        .exclusion = (uint32_t)glue_option_int(options, "exclusion", 0, 1 << 30),
        .lib_size = (uint32_t)glue_option_int(options, "lib_size", 0, INT32_MAX),
        .screen = screened
                      ? (float)glue_option_number(options, "screen", R_NegInf, R_PosInf)
                      : NAN,
        .stride = (uint32_t)glue_option_int(options, "stride", 1, INT32_MAX),
        .key = glue_option_key(options), .threads = glue_option_threads(options),
        .vector_bits = glue_option_vector_bits(options)};
    require(out.tau != 0, "tau");
    return out;
}

/* ---- dimensions ---- */

typedef struct search {
    syn_map_layout layout;
    syn_map_libraries libraries;
} search;

static void release_search(void *held)
{
    search *s = held;
    syn_map_libraries_free(&s->libraries);
    syn_map_layout_free(&s->layout);
}

static syn_status find_dimensions(search *s, uint32_t n, const double *value,
                                  const syn_map_options *o, const syn_watch *watch,
                                  float *rho)
{
    uint32_t E[SYN_MAP_DIMS];
    for (uint32_t e = 0; e < o->E_max; e++)
        E[e] = e + 1;
    syn_status status = syn_map_libraries_make(n, value, 0, &s->layout, o, &s->libraries);
    SYN_NEXT(status, syn_map_dimensions(&s->libraries, &s->layout, o, watch, rho));
    if (status == SYN_OK)
        syn_map_drop_small(&s->libraries, &s->layout, E, o->E_max, rho);
    return status;
}

/* Neighbours that are kept on GPUs from the search for dimensions to the map. */
typedef struct map_tables {
    syn_gpu_tables *on_gpu;  /* NULL where they cannot be */
} map_tables;

static void release_tables(void *held)
{
    syn_gpu_tables_close(((map_tables *)held)->on_gpu);
}

/* Room for neighbours of a map with these options, which are for GPUs. Tests give `kept`:
   each GPU keeps no more than so many kilobytes. */
SEXP r_map_tables(SEXP steps, SEXP options)
{
    uint32_t length = (uint32_t)within(Rf_asReal(steps), 1, INT32_MAX, "steps");
    syn_map_options o = read_options(options);
    syn_gpu_call gpu = glue_option_gpus(options);
    require(gpu.n > 0 && o.Tp == 0 && o.tau == -1 && o.lib_size == 0, "such a map");
    SEXP pointer = PROTECT(glue_keep("tables", sizeof(map_tables), release_tables));
    map_tables *tables = glue_kept(pointer, "tables");
    int kept = glue_option_for_tests(options, "kept", INT32_MAX);
    syn_map_layout layout;
    syn_status status = syn_map_layout_make(length, &o, 0, &layout);
    SYN_NEXT(status, syn_gpu_tables_open(&layout, &o, glue_option_flag(options, "half"),
                                         kept > 0 ? 1e3 * kept : INFINITY, &gpu,
                                         &tables->on_gpu));
    syn_map_layout_free(&layout);
    if (status != SYN_OK) {
        glue_let_go(pointer);
        pointer = glue_status_because(status, NA_REAL, NA_REAL, gpu.reason);
    }
    UNPROTECT(1);
    return pointer;
}

/* What r_map_tables() has made, or R's NULL. */
static syn_gpu_tables *tables_of(SEXP pointer)
{
    if (pointer == R_NilValue)
        return NULL;
    return ((map_tables *)glue_kept(pointer, "tables"))->on_gpu;
}

/* x: double matrix, steps x series. Unless `tables` is NULL, these are libraries `first`
   (from 0) on of a map whose neighbours are kept there. Returns rho, a double matrix of
   E_max x series with NA. */
SEXP r_map_dimensions(glue_owner *own, SEXP x, SEXP options, SEXP split, SEXP tables,
                      SEXP first)
{
    syn_map_options o = read_options(options);
    syn_gpu_call gpu = glue_option_gpus(options);
    uint32_t n = glue_series(x, 1, "series").n;
    uint32_t from = (uint32_t)within(Rf_asReal(first), 0, INT32_MAX, "library");
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)o.E_max, (int)n));
    size_t values = (size_t)n * o.E_max;
    search *s = glue_hold(own, sizeof *s, release_search);
    float *rho = glue_hold(own, values * sizeof *rho, NULL);
    gpu.watch = glue_watch(own, "Finding dimensions");
    syn_status status = syn_map_layout_make((uint32_t)Rf_nrows(x), &o,
                                            Rf_asLogical(split) == 1, &s->layout);
    if (status == SYN_OK && gpu.n > 0)
        status = syn_gpu_map_dimensions(n, REAL(x), from, &s->layout, &o,
                                        tables_of(tables), &gpu, rho);
    else if (status == SYN_OK)
        status = find_dimensions(s, n, REAL(x), &o, gpu.watch, rho);
    for (size_t i = 0; i < values && status == SYN_OK; i++)
        REAL(out)[i] = isnan(rho[i]) ? NA_REAL : (double)rho[i];
    UNPROTECT(1);
    return glue_answer(out, status, gpu.reason);
}

/* Frees what r_map_tables() has made. */
SEXP r_map_close(SEXP pointer)
{
    glue_let_go(pointer);
    return R_NilValue;
}

/* ---- a map ---- */

/* Matrices of libraries x targets; a map lacks those whose values are NULL. */
enum { RHO, LAG, P_VALUE, CONVERGENCE, LAYERS };
static const char *const layer_names[LAYERS] = {"rho", "lag", "p_value", "convergence"};

/* A stretch of libraries that R keeps at once. */
typedef struct map_stretch {
    SEXP layers;
    double *value[LAYERS];    /* rows of the stretch begin at `row` */
    size_t rows, row;
    size_t first, n;          /* places among the libraries, from 0 */
} map_stretch;

/* A way to map a group of targets: one Tp, and libraries of one size. */
typedef struct map_view {
    syn_map_options options;
    int small;                /* these libraries are only compared with larger ones */
    syn_map_layout layout;
    syn_map_targets targets;  /* needed no longer once `on_gpu` is there */
    syn_gpu_map *on_gpu;
} map_view;

/* Libraries that one view maps together. */
typedef struct map_block {
    map_stretch stretch;
    size_t first;             /* place among the libraries, from 0 */
    int view;
    int ends;                 /* the stretch is mapped to all targets after this block */
    syn_map_libraries libraries;
    uint32_t n;
    float *rho;               /* [n][width of the group], with memory for `room` */
    size_t room;
} map_block;

/* Targets that are mapped together, or surrogates of targets, one surrogate of all of
   them after the other. */
typedef struct map_group {
    SEXP from;                /* a list of `columns`, from 1, and `surrogates`, or NULL */
    const int *column;
    uint32_t targets, width;  /* series: targets x surrogates */
    uint32_t *E;              /* [width] */
    int *place;               /* [width] 1, 2, ... */
    double *best;             /* [width][n] of a block of surrogates, memory for `room` */
    size_t room;
    map_view *view;
    int views;
} map_group;

typedef struct map_run {
    SEXP job;
    SEXP held;                /* HELD: what R must not collect */
    syn_map_options options;
    int half;
    syn_gpu_call gpu;         /* of no devices for the processor; its watch is also that
                                 of all the rest */
    syn_gpu_tables *tables;   /* R's, may be NULL */
    uint32_t steps;
    const int *library, *target;      /* columns of the source, from 1 */
    size_t libraries, targets;
    int together;             /* R gets all libraries at once, at the end */
    map_group group;
    map_stretch stretch;
    map_block block[2];
    map_block *at_work;       /* begun and not looked at yet, or NULL */
    double neighbours, correlations;  /* seconds of GPUs */
} map_run;

enum { HELD_SERIES, HELD_LAYERS, HELD = HELD_LAYERS + 2 };

static void close_group(map_group *group)
{
    /* GPUs stop before the memory goes that they write to. */
    for (int v = 0; v < group->views; v++) {
        syn_gpu_map_close(group->view[v].on_gpu);
        syn_map_targets_free(&group->view[v].targets);
        syn_map_layout_free(&group->view[v].layout);
    }
    free(group->view);
    free(group->E);
    free(group->place);
    free(group->best);
    *group = (map_group){.from = NULL};
}

static void release_run(void *held)
{
    map_run *run = held;
    close_group(&run->group);
    for (int i = 0; i < 2; i++) {
        syn_map_libraries_free(&run->block[i].libraries);
        free(run->block[i].rho);
    }
}

/* What the function `name` of the job gives. */
static SEXP ask_r(const map_run *run, const char *name, SEXP a, SEXP b)
{
    SEXP call = PROTECT(Rf_lang3(glue_option(run->job, name), a, b));
    SEXP out = Rf_eval(call, R_GlobalEnv);
    UNPROTECT(1);
    return out;
}

/* value[n][steps] of columns of the source, until the next call. The columns of a matrix
   that are side by side stay where they are, as a copy of many series takes as long as it
   takes to map them. `surrogate` is the number of one, or 0. */
static const double *read_series(const map_run *run, const int *column, size_t n,
                                 int surrogate)
{
    SEXP whole = glue_option(run->job, "whole");
    int in_place = surrogate == 0 && whole != R_NilValue;
    for (size_t k = 1; k < n && in_place; k++)
        in_place = column[k] == column[k - 1] + 1;
    if (in_place) {
        require(column[0] >= 1 &&
                    (uint32_t)column[n - 1] <= glue_series(whole, 1, "series").n,
                "columns");
        return REAL(whole) + (size_t)(column[0] - 1) * run->steps;
    }
    SEXP columns = PROTECT(glue_integers((const uint32_t *)column, n));
    SEXP number = PROTECT(Rf_ScalarInteger(surrogate));
    SEXP x = ask_r(run, "read", columns, number);
    SET_VECTOR_ELT(run->held, HELD_SERIES, x);
    require(glue_series(x, 1, "series").n == n && (uint32_t)Rf_nrows(x) == run->steps,
            "series");
    UNPROTECT(2);
    return REAL(x);
}

/* ---- results ---- */

/* Layers of `rows` libraries, NA in the columns of targets without dimensions. */
static void new_layers(map_run *run, size_t rows)
{
    SEXP names = glue_option(run->job, "layers");
    const int *E = INTEGER(glue_option(run->job, "E"));
    /* The block at work may still belong to the layers of before. */
    int place = VECTOR_ELT(run->held, HELD_LAYERS) == run->stretch.layers;
    SEXP layers = Rf_allocVector(VECSXP, Rf_xlength(names));
    SET_VECTOR_ELT(run->held, HELD_LAYERS + place, layers);
    Rf_setAttrib(layers, R_NamesSymbol, names);
    run->stretch = (map_stretch){.layers = layers, .rows = rows};
    for (R_xlen_t i = 0; i < Rf_xlength(names); i++) {
        int k = 0;
        while (k < LAYERS && strcmp(CHAR(STRING_ELT(names, i)), layer_names[k]) != 0)
            k++;
        require(k < LAYERS, "layers");
        SEXP matrix = Rf_allocMatrix(REALSXP, (int)rows, (int)run->targets);
        SET_VECTOR_ELT(layers, i, matrix);
        double *value = run->stretch.value[k] = REAL(matrix);
        syn_large_pages(value, rows * run->targets * sizeof *value);
        for (size_t j = 0; j < run->targets; j++)
            for (size_t r = 0; r < rows && E[j] == NA_INTEGER; r++)
                value[j * rows + r] = NA_REAL;
    }
}

/* The rows of a block in a layer; columns are the targets of its group. */
static syn_map_columns layer_of(const map_run *run, const map_block *block, int layer)
{
    const map_stretch *s = &block->stretch;
    double *value = s->value[layer];
    if (value)
        value += s->row + block->first - s->first;
    return (syn_map_columns){value, s->rows, run->group.column, NA_REAL};
}

/* Puts p values in place of counts, and NA where series have no rho or no p value. Then R
   keeps the stretch, unless it gets all of them together. */
static void finish_stretch(map_run *run, const map_stretch *s)
{
    const int *no_rho = LOGICAL(glue_option(run->job, "no_rho")) + s->first;
    const int *no_p = LOGICAL(glue_option(run->job, "no_p_value"));
    double all = glue_option_number(run->job, "n_surrogates", 0, 1e9) + 1;
    double *p = s->value[P_VALUE];
    for (size_t j = 0; p && j < run->targets; j++) {
        size_t column = j * s->rows + s->row;
        for (size_t i = column; i < column + s->n; i++)
            p[i] = no_p[j] || ISNAN(s->value[RHO][i]) ? NA_REAL : (p[i] + 1) / all;
    }
    for (size_t i = 0; i < s->n; i++)
        for (int k = 0; no_rho[i] && k < LAYERS; k++)
            for (size_t j = 0; s->value[k] && j < run->targets; j++)
                s->value[k][j * s->rows + s->row + i] = NA_REAL;
    if (run->together)
        return;
    SEXP columns =
        PROTECT(glue_integers((const uint32_t *)run->library + s->first, s->n));
    ask_r(run, "keep", columns, s->layers);
    UNPROTECT(1);
}

/* What a block of surrogates found, the best of all Tp; after the last of these, how many
   surrogates are predicted as well as their target. */
static syn_status count_surrogates(map_run *run, const map_block *block,
                                   const syn_map_found *found)
{
    map_group *group = &run->group;
    size_t values = found->n * group->width;
    if (values > group->room) {
        free(group->best);
        group->room = 0;
        SYN_NEW(group->best, values);
        group->room = values;
    }
    const syn_map_options *o = &group->view[block->view].options;
    SEXP number = glue_option(group->from, "surrogates");
    syn_map_columns best = {group->best, found->n, group->place, NA_REAL};
    syn_map_columns rho = layer_of(run, block, RHO);
    syn_map_columns count = layer_of(run, block, P_VALUE);
    syn_map_best(found, o->Tp, block->view == 0, &best, NULL);
    if (block->view == group->views - 1)
        syn_map_count(group->best, found->n, group->targets, (size_t)Rf_xlength(number),
                      INTEGER(number)[0] == 1, &rho, &count);
    return SYN_OK;
}

/* Writes what a block found where it is better than what is there. */
static syn_status take_block(map_run *run, const map_block *block)
{
    const map_group *group = &run->group;
    const map_view *view = group->view + block->view;
    syn_map_found found = {block->rho, block->n, group->width};
    syn_map_columns rho = layer_of(run, block, RHO), lag = layer_of(run, block, LAG);
    syn_map_columns convergence = layer_of(run, block, CONVERGENCE);
    const syn_map_columns *lags = lag.value ? &lag : NULL;
    syn_status status = SYN_OK;
    if (glue_option(group->from, "surrogates") != R_NilValue)
        status = count_surrogates(run, block, &found);
    else if (view->small)
        syn_map_convergence(&found, view->options.Tp, &rho, lags, &convergence);
    else if (lags)
        syn_map_best(&found, view->options.Tp, block->view == 0, &rho, lags);
    else
        status = syn_map_write(block->rho, block->n, group->width, view->options.threads,
                               &rho);
    if (status != SYN_OK || block->view < group->views - 1)
        return status;
    SEXP n = PROTECT(Rf_ScalarReal(block->n));
    ask_r(run, "bar", n, R_NilValue);
    UNPROTECT(1);
    if (block->ends)
        finish_stretch(run, &block->stretch);
    return SYN_OK;
}

/* ---- blocks ---- */

/* Makes libraries ready for a view, in the memory of a block that is done with. */
static syn_status prepare(const map_run *run, map_block *block, const double *series)
{
    const map_view *view = run->group.view + block->view;
    size_t values = (size_t)block->n * run->group.width;
    if (values > block->room) {
        free(block->rho);
        block->room = 0;
        SYN_NEW(block->rho, values);
        block->room = values;
        syn_large_pages(block->rho, values * sizeof *block->rho);
    }
    uint64_t number = (uint64_t)run->library[block->first] - 1;
    return syn_map_libraries_make(block->n, series, number, &view->layout, &view->options,
                                  &block->libraries);
}

/* The processor does not start before finish(). */
static syn_status begin(map_run *run, map_block *block)
{
    map_view *view = run->group.view + block->view;
    if (run->gpu.n == 0)
        return SYN_OK;
    syn_status status = SYN_OK;
    if (!view->on_gpu) {
        syn_gpu_tables *tables = view->options.Tp == 0 ? run->tables : NULL;
        status = syn_gpu_map_open(&view->targets, &view->layout, &view->options,
                                  run->half, tables, &run->gpu, &view->on_gpu);
        if (status == SYN_OK)
            syn_map_targets_free(&view->targets);
    }
    SYN_NEXT(status, syn_gpu_map_begin(view->on_gpu, &block->libraries,
                                       (uint32_t)run->library[block->first] - 1,
                                       block->rho, &run->gpu));
    return status;
}

static syn_status finish(map_run *run, map_block *block)
{
    map_view *view = run->group.view + block->view;
    syn_gpu_map_report report = {0};
    syn_status status =
        run->gpu.n > 0
            ? syn_gpu_map_finish(view->on_gpu, &run->gpu, &report)
            : syn_map_cross(&view->targets, &block->libraries, &view->layout,
                            &view->options, run->gpu.watch, block->rho);
    if (status == SYN_OK)
        syn_map_drop_small(&block->libraries, &view->layout, run->group.E,
                           run->group.width, block->rho);
    syn_map_libraries_free(&block->libraries);
    run->neighbours += report.neighbours;
    run->correlations += report.correlations;
    return status;
}

/* Gives the next block to the device before what it has done is looked at. The block is
   made ready while the device is at work, and the device goes on to it by itself. Only a
   block of another view, which has targets of its own on the device, is begun after that.
   `next` is NULL where no block follows. */
static syn_status advance(map_run *run, const map_block *next, const double *series)
{
    map_block *done = run->at_work, *begun = NULL;
    syn_status status = SYN_OK;
    if (next) {
        begun = &run->block[done == &run->block[0]];
        map_block made = *next;
        made.rho = begun->rho;
        made.room = begun->room;
        *begun = made;
        status = prepare(run, begun, series);
    }
    int queued = done && begun && done->view == begun->view;
    if (status == SYN_OK && queued)
        status = begin(run, begun);
    if (status == SYN_OK && done)
        status = finish(run, done);
    if (status == SYN_OK && begun && !queued)
        status = begin(run, begun);
    run->at_work = begun;
    if (status == SYN_OK && done)
        status = take_block(run, done);
    return status;
}

/* ---- groups ---- */

/* Series of a group, some at a time, for all of its views. */
static syn_status fill_group(map_run *run)
{
    map_group *group = &run->group;
    SEXP number = glue_option(group->from, "surrogates");
    uint32_t each = (uint32_t)glue_option_int(run->job, "fill", 1, INT32_MAX);
    R_xlen_t copies = number == R_NilValue ? 1 : Rf_xlength(number);
    int *column = (int *)R_alloc(group->targets, sizeof *column);
    for (uint32_t j = 0; j < group->targets; j++)
        column[j] = run->target[group->column[j] - 1];
    for (uint32_t from = 0; from < group->targets; from += each) {
        uint32_t n = group->targets - from < each ? group->targets - from : each;
        for (R_xlen_t s = 0; s < copies; s++) {
            int surrogate = number == R_NilValue ? 0 : INTEGER(number)[s];
            const double *x = read_series(run, column + from, n, surrogate);
            for (int v = 0; v < group->views; v++) {
                SYN_TRY(syn_map_targets_fill(&group->view[v].targets,
                                             (uint32_t)s * group->targets + from, n, x,
                                             run->options.threads));
            }
        }
    }
    return SYN_OK;
}

static syn_status make_views(map_run *run, uint32_t E_most)
{
    map_group *group = &run->group;
    SEXP Tp = numbers(glue_option(run->job, "Tp"), INTSXP, 1, "Tp");
    int full = (int)glue_option_int(run->job, "lib_size", 0, INT32_MAX);
    int small = (int)glue_option_int(run->job, "small", 0, INT32_MAX);
    int surrogates = glue_option(group->from, "surrogates") != R_NilValue;
    int sizes = small > 0 && !surrogates ? 2 : 1;
    int views = (int)Rf_xlength(Tp) * sizes;
    SYN_NEW_ZEROS(group->view, (size_t)views);
    for (; group->views < views; group->views++) {
        map_view *view = group->view + group->views;
        view->options = run->options;
        view->options.Tp = INTEGER(Tp)[group->views / sizes];
        view->small = group->views % sizes == 1;
        view->options.lib_size = (uint32_t)(view->small ? small : full);
        /* Libraries are drawn among points of E_max dimensions, whatever the group. */
        if (view->options.lib_size == 0)
            view->options.E_max = E_most;
        if (surrogates || view->small)
            view->options.screen = NAN;
        syn_status status =
            syn_map_layout_make(run->steps, &view->options, 0, &view->layout);
        SYN_NEXT(status, syn_map_targets_make(group->width, run->steps, group->E,
                                              run->gpu.n > 0, &view->targets));
        if (status != SYN_OK) {
            group->views++;
            return status;
        }
    }
    return SYN_OK;
}

/* Gives the targets, or surrogates, of a group to the device, once for each view. */
static syn_status open_group(map_run *run, SEXP from)
{
    map_group *group = &run->group;
    if (group->from == from)
        return SYN_OK;
    syn_status status = advance(run, NULL, NULL);
    close_group(group);
    if (status != SYN_OK)
        return status;
    SEXP columns = numbers(glue_option(from, "columns"), INTSXP, 1, "columns");
    SEXP number = glue_option(from, "surrogates"), E = glue_option(run->job, "E");
    double copies = number == R_NilValue ? 1 : (double)Rf_xlength(number);
    group->from = from;
    group->column = INTEGER(columns);
    group->targets = (uint32_t)Rf_xlength(columns);
    group->width = (uint32_t)within(copies * group->targets, 1, INT32_MAX, "surrogates");
    SYN_NEW(group->E, group->width);
    SYN_NEW(group->place, group->width);
    uint32_t most = 1;
    for (uint32_t j = 0; j < group->width; j++) {
        int target = (int)within(group->column[j % group->targets], 1,
                                 (double)run->targets, "columns");
        group->E[j] =
            (uint32_t)within(INTEGER(E)[target - 1], 1, run->options.E_max, "dimensions");
        group->place[j] = (int)j + 1;
        if (group->E[j] > most)
            most = group->E[j];
    }
    status = make_views(run, most);
    return status == SYN_OK ? fill_group(run) : status;
}

/* Maps a stretch of libraries to all groups. `blocks`: how many libraries each has. */
static syn_status map_stretch_of(map_run *run, SEXP groups, SEXP blocks)
{
    R_xlen_t n_groups = Rf_xlength(groups), n_blocks = Rf_xlength(blocks);
    syn_status status = SYN_OK;
    for (R_xlen_t g = 0; g < n_groups && status == SYN_OK; g++) {
        status = open_group(run, VECTOR_ELT(groups, g));
        size_t first = run->stretch.first;
        for (R_xlen_t b = 0; b < n_blocks && status == SYN_OK; b++) {
            map_block next = {.stretch = run->stretch, .first = first,
                              .n = (uint32_t)INTEGER(blocks)[b],
                              .ends = g == n_groups - 1 && b == n_blocks - 1};
            const double *x = read_series(run, run->library + first, next.n, 0);
            for (; next.view < run->group.views && status == SYN_OK; next.view++)
                status = advance(run, &next, x);
            first += next.n;
        }
    }
    if (n_groups == 0)
        finish_stretch(run, &run->stretch);
    /* Only with a single group is the next stretch begun before this one is kept. */
    return status == SYN_OK && n_groups > 1 ? advance(run, NULL, NULL) : status;
}

static syn_status map_all(map_run *run)
{
    SEXP stretches = glue_option(run->job, "stretches");
    SEXP groups = glue_option(run->job, "groups");
    syn_status status = SYN_OK;
    size_t first = 0;
    if (run->together)
        new_layers(run, run->libraries);
    for (R_xlen_t s = 0; s < Rf_xlength(stretches) && status == SYN_OK; s++) {
        SEXP blocks = numbers(VECTOR_ELT(stretches, s), INTSXP, 1, "blocks");
        size_t n = 0;
        for (R_xlen_t b = 0; b < Rf_xlength(blocks); b++)
            n += (size_t)within(INTEGER(blocks)[b], 1,
                                (double)(run->libraries - first - n), "blocks");
        if (!run->together && run->stretch.rows != n)
            new_layers(run, n);
        run->stretch.first = first;
        run->stretch.n = n;
        run->stretch.row = run->together ? first : 0;
        status = map_stretch_of(run, groups, blocks);
        first += n;
    }
    return status == SYN_OK ? advance(run, NULL, NULL) : status;
}

/* Maps libraries to targets. `tables`: NULL, or kept neighbours. `job`, from
   map_libraries() in R:
   - steps; libraries, targets: columns of the source, from 1; E of each target, or NA
   - Tp: integers; lib_size (0: all points) and small (0: no smaller libraries)
   - layers: names of what is asked for; no_rho, no_p_value: logical, for each library and
     each target; n_surrogates
   - groups: lists of `columns` (places among the targets) and `surrogates` (their
     numbers, or NULL); fill: how many series of a group are read at once
   - stretches: the sizes of the blocks of each stretch of libraries
   - whole: the matrix of all series, or NULL; read(columns, surrogate): a matrix of some
   - keep(columns, layers): called for each stretch, which is written anew after it; NULL
     for all layers as the result; bar(n, NULL): n more libraries are mapped to a group
   Returns `layers`, perhaps NULL, and the seconds that GPUs took: `neighbours` and
   `correlations`. */
SEXP r_map(glue_owner *own, SEXP job, SEXP options, SEXP tables)
{
    const char *fields[] = {"layers", "neighbours", "correlations", ""};
    SEXP E = glue_option(job, "E"), whole = glue_option(job, "whole");
    SEXP library = glue_option(job, "libraries"), target = glue_option(job, "targets");
    map_run *run = glue_hold(own, sizeof *run, release_run);
    run->job = job;
    run->held = PROTECT(Rf_allocVector(VECSXP, HELD));
    run->options = read_options(options);
    run->half = glue_option_flag(options, "half");
    run->gpu = glue_option_gpus(options);
    run->tables = tables_of(tables);
    run->steps = (uint32_t)glue_option_int(job, "steps", 1, INT32_MAX);
    run->library = INTEGER(numbers(library, INTSXP, 0, "libraries"));
    run->target = INTEGER(numbers(target, INTSXP, 0, "targets"));
    run->libraries = (size_t)Rf_xlength(library);
    run->targets = (size_t)Rf_xlength(target);
    require(Rf_xlength(numbers(E, INTSXP, 0, "dimensions")) == Rf_xlength(target) &&
                Rf_xlength(glue_option(job, "no_rho")) == Rf_xlength(library) &&
                Rf_xlength(glue_option(job, "no_p_value")) == Rf_xlength(target),
            "series");
    require(whole == R_NilValue || (glue_series(whole, 1, "series").n > 0 &&
                                    (uint32_t)Rf_nrows(whole) == run->steps), "series");
    run->together = glue_option(job, "keep") == R_NilValue;
    run->stretch.layers = R_NilValue;
    run->gpu.watch = glue_watch(own, "Mapping");
    syn_status status = map_all(run);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    if (run->together)
        SET_VECTOR_ELT(out, 0, run->stretch.layers);
    SET_VECTOR_ELT(out, 1, Rf_ScalarReal(run->neighbours));
    SET_VECTOR_ELT(out, 2, Rf_ScalarReal(run->correlations));
    UNPROTECT(2);
    return glue_answer(out, status, run->gpu.reason);
}

/* Places, from 1, of the links in a double matrix, a column a target: of each at most
   `top`, which may be infinite; see syn_map_links(). */
SEXP r_map_links(SEXP rho, SEXP least, SEXP floors, SEXP own, SEXP top)
{
    require(TYPEOF(rho) == REALSXP && Rf_isMatrix(rho), "rho");
    size_t rows = (size_t)Rf_nrows(rho), columns = (size_t)Rf_ncols(rho);
    R_xlen_t m = (R_xlen_t)columns;
    require(Rf_xlength(numbers(least, REALSXP, m, "least")) == m &&
                Rf_xlength(numbers(floors, REALSXP, m, "floors")) == m &&
                Rf_xlength(numbers(own, INTSXP, m, "own")) == m,
            "a number for each column");
    syn_map_bounds bounds = {REAL(least), REAL(floors), INTEGER(own)};
    double most = Rf_asReal(top);
    size_t of_each = most < (double)rows ? (size_t)within(most, 1, most, "top") : rows;
    double *room = (double *)R_alloc(rows + 1, sizeof *room);
    size_t n = syn_map_links(REAL(rho), rows, columns, &bounds, of_each, room, NULL);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)n));
    syn_map_links(REAL(rho), rows, columns, &bounds, of_each, room, REAL(out));
    UNPROTECT(1);
    return out;
}

/* Gives an object that nobody else holds more attributes, without copying it. */
SEXP r_map_dress(SEXP x, SEXP attributes)
{
    SEXP names = Rf_getAttrib(attributes, R_NamesSymbol);
    require(TYPEOF(attributes) == VECSXP && TYPEOF(names) == STRSXP, "attributes");
    require(!MAYBE_SHARED(x), "matrix, which is held elsewhere too");
    for (R_xlen_t i = 0; i < Rf_xlength(attributes); i++)
        Rf_setAttrib(x, Rf_installChar(STRING_ELT(names, i)), VECTOR_ELT(attributes, i));
    return x;
}
