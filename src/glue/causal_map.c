/* Causal maps: checks what R passes, keeps libraries and results in memory that R
   frees, and runs the map on the CPU or on GPUs. */
#include "glue/glue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/pages.h"
#include "core/causal/best.h"
#include "core/causal/map.h"
#include "glue/options.h"
#include "glue/owner.h"
#include "glue/require.h"
#include "glue/watch.h"
#include "gpu/causal/map.h"

enum { BEGUN = 2 };  /* blocks that GPUs may have in hand */

/* What predicted series are kept as; on GPUs, `targets` are needed no longer once `on_gpu`
   is there. */
typedef struct map_work {
    syn_map_options options;
    syn_map_layout layout;
    syn_map_targets targets;
    uint32_t n_targets, steps;
    uint32_t *E;              /* [n_targets] */
    int *gpu, gpus, half;
    syn_gpu_tables *tables;   /* what is kept on the GPUs; R's, may be NULL */
    syn_gpu_map *on_gpu;
    struct map_block *begun[BEGUN];  /* what the GPUs work on, the oldest first */
} map_work;

/* Libraries and what they predict. R may collect a map and its block in any order, so
   either tells the other that it has gone. */
typedef struct map_block {
    syn_map_libraries libraries;
    uint32_t first, n, targets;
    int threads;
    float *rho;               /* [n][targets] */
    map_work *works;          /* the map whose GPUs write here, else NULL */
} map_block;

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

/* Columns of a matrix of steps x series; `steps` 0 for any number of them. */
static uint32_t series_of(SEXP x, uint32_t steps)
{
    require(TYPEOF(x) == REALSXP && Rf_isMatrix(x), "series");
    require(Rf_nrows(x) > 0 && (steps == 0 || (uint32_t)Rf_nrows(x) == steps), "series");
    return (uint32_t)Rf_ncols(x);
}

/* Series that R holds: value[n][steps]. */
typedef struct given_series {
    const double *value;
    uint32_t n;
} given_series;

/* The columns of x that `run` tells, from the first (from 0) to before the last; all: NULL. */
static given_series run_of(SEXP x, SEXP run, uint32_t steps)
{
    given_series out = {REAL(x), series_of(x, steps)};
    if (run == R_NilValue)
        return out;
    require(Rf_xlength(numbers(run, REALSXP, 2, "columns")) == 2, "columns");
    uint32_t from = (uint32_t)within(REAL(run)[0], 0, out.n, "column");
    uint32_t to = (uint32_t)within(REAL(run)[1], from, out.n, "column");
    out.value += (size_t)from * (size_t)Rf_nrows(x);
    out.n = to - from;
    return out;
}

/* ---- dimensions ---- */

static SEXP report_of(const syn_gpu_map_report *report)
{
    SEXP out = Rf_allocVector(REALSXP, 3);
    REAL(out)[0] = report->seconds;
    REAL(out)[1] = report->neighbours;
    REAL(out)[2] = report->correlations;
    return out;
}

static void floats_to_r(const float *value, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = isnan(value[i]) ? NA_REAL : (double)value[i];
}

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
    if (status == SYN_OK)
        status = syn_map_dimensions(&s->libraries, &s->layout, o, watch, rho);
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
    int gpus;
    const int *gpu = glue_option_gpus(options, &gpus);
    require(gpus > 0 && o.Tp == 0 && o.tau == -1 && o.lib_size == 0, "such a map");
    SEXP pointer = PROTECT(glue_keep("tables", sizeof(map_tables), release_tables));
    map_tables *tables = glue_kept(pointer, "tables");
    char reason[SYN_GPU_TEXT] = "";
    int kept = glue_option_for_tests(options, "kept", INT32_MAX);
    syn_map_layout layout;
    syn_status status = syn_map_layout_make(length, &o, 0, &layout);
    if (status == SYN_OK)
        status = syn_gpu_tables_open(&layout, &o, glue_option_flag(options, "half"),
                                     kept > 0 ? 1e3 * kept : INFINITY, gpu, gpus,
                                     &tables->on_gpu, reason);
    syn_map_layout_free(&layout);
    if (status != SYN_OK) {
        glue_let_go(pointer);
        pointer = glue_status_because(status, NA_REAL, NA_REAL, reason);
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
   E_max x series with NA, and the report of the device. */
SEXP r_map_dimensions(glue_owner *own, SEXP x, SEXP options, SEXP split, SEXP tables,
                      SEXP first)
{
    const char *fields[] = {"rho", "report", ""};
    syn_map_options o = read_options(options);
    int gpus;
    const int *gpu = glue_option_gpus(options, &gpus);
    uint32_t n = series_of(x, 0);
    uint32_t from = (uint32_t)within(Rf_asReal(first), 0, INT32_MAX, "library");
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SEXP skill = Rf_allocMatrix(REALSXP, (int)o.E_max, (int)n);
    SET_VECTOR_ELT(out, 0, skill);
    syn_gpu_map_report report = {0};
    char reason[SYN_GPU_TEXT] = "";
    size_t values = (size_t)n * o.E_max;
    search *s = glue_hold(own, sizeof *s, release_search);
    float *rho = glue_hold(own, values * sizeof *rho, NULL);
    const syn_watch *watch = glue_watch(own, "Finding dimensions");
    syn_status status = syn_map_layout_make((uint32_t)Rf_nrows(x), &o,
                                            Rf_asLogical(split) == 1, &s->layout);
    if (status == SYN_OK && gpus > 0)
        status = syn_gpu_map_dimensions(n, REAL(x), from, &s->layout, &o,
                                        tables_of(tables), gpu, gpus, watch, rho, &report,
                                        reason);
    else if (status == SYN_OK)
        status = find_dimensions(s, n, REAL(x), &o, watch, rho);
    if (status == SYN_OK) {
        floats_to_r(rho, values, REAL(skill));
        SET_VECTOR_ELT(out, 1, report_of(&report));
    }
    UNPROTECT(1);
    return status == SYN_OK ? out
                            : glue_status_because(status, NA_REAL, NA_REAL, reason);
}

/* ---- what R keeps ---- */

/* Nothing is written to any block any more. */
static void end_work(map_work *map)
{
    syn_gpu_map_close(map->on_gpu);
    map->on_gpu = NULL;
    for (int i = 0; i < BEGUN; i++)
        if (map->begun[i]) {
            map->begun[i]->works = NULL;
            map->begun[i] = NULL;
        }
}

static void release_map(void *held)
{
    map_work *map = held;
    end_work(map);
    syn_map_targets_free(&map->targets);
    syn_map_layout_free(&map->layout);
    free(map->E);
    free(map->gpu);
}

static void release_block(void *held)
{
    map_block *block = held;
    if (block->works)
        end_work(block->works);
    syn_map_libraries_free(&block->libraries);
    free(block->rho);
}

/* Frees a map or a block at once. */
SEXP r_map_close(SEXP pointer)
{
    glue_let_go(pointer);
    return R_NilValue;
}

/* ---- targets ---- */

/* A map of targets that are not filled in yet. `E`: integer, their dimensions. `tables`:
   NULL, or kept neighbours, which R keeps until the map is closed. */
SEXP r_map_open(SEXP n_targets, SEXP steps, SEXP E, SEXP options, SEXP tables)
{
    uint32_t n = (uint32_t)within(Rf_asReal(n_targets), 1, INT32_MAX, "targets");
    uint32_t length = (uint32_t)within(Rf_asReal(steps), 1, INT32_MAX, "steps");
    int gpus;
    const int *gpu = glue_option_gpus(options, &gpus);
    require(Rf_xlength(numbers(E, INTSXP, n, "dimensions")) == (R_xlen_t)n, "dimensions");
    SEXP pointer = PROTECT(glue_keep("map", sizeof(map_work), release_map));
    map_work *map = glue_kept(pointer, "map");
    map->options = read_options(options);
    for (uint32_t j = 0; j < n; j++)
        within(INTEGER(E)[j], 1, map->options.E_max, "dimensions");
    map->half = glue_option_flag(options, "half");
    map->tables = tables_of(tables);
    map->n_targets = n;
    map->steps = length;
    map->gpus = gpus;
    map->gpu = malloc(((size_t)gpus + 1) * sizeof *map->gpu);
    map->E = malloc(n * sizeof *map->E);
    syn_status status = map->gpu && map->E ? SYN_OK : SYN_NO_MEMORY;
    if (status == SYN_OK) {
        memcpy(map->E, INTEGER(E), n * sizeof *map->E);
        if (gpus > 0)
            memcpy(map->gpu, gpu, (size_t)gpus * sizeof *map->gpu);
        status = syn_map_layout_make(length, &map->options, 0, &map->layout);
    }
    if (status == SYN_OK)
        status = syn_map_targets_make(n, length, map->E, gpus > 0, &map->targets);
    if (status != SYN_OK) {
        glue_let_go(pointer);
        pointer = glue_status(status, NA_REAL, NA_REAL);
    }
    UNPROTECT(1);
    return pointer;
}

/* Fills in targets `first` (from 0) on from columns of x; see run_of(). */
SEXP r_map_fill(SEXP pointer, SEXP first, SEXP x, SEXP run)
{
    map_work *map = glue_kept(pointer, "map");
    require(map->targets.value != NULL, "filled targets");
    given_series series = run_of(x, run, map->steps);
    require(series.n <= map->n_targets, "targets");
    uint32_t from =
        (uint32_t)within(Rf_asReal(first), 0, map->n_targets - series.n, "target");
    syn_status status = syn_map_targets_fill(&map->targets, from, series.n, series.value,
                                             map->options.threads);
    return status == SYN_OK ? R_NilValue : glue_status(status, NA_REAL, NA_REAL);
}

/* ---- blocks ---- */

static void require_same(const map_work *map, const map_block *block)
{
    require(block->targets == map->n_targets && block->libraries.steps == map->steps,
            "a block of another map");
}

static syn_status begin_on_gpu(map_work *map, map_block *block, char *reason)
{
    syn_status status = SYN_OK;
    if (!map->on_gpu) {
        status = syn_gpu_map_open(&map->targets, &map->layout, &map->options, map->half,
                                  map->tables, map->gpu, map->gpus, &map->on_gpu, reason);
        if (status == SYN_OK)
            syn_map_targets_free(&map->targets);
    }
    if (status == SYN_OK)
        status = syn_gpu_map_begin(map->on_gpu, &block->libraries, block->first,
                                   block->rho, reason);
    if (status == SYN_OK) {
        block->works = map;
        map->begun[map->begun[0] ? 1 : 0] = block;
    }
    return status;
}

/* Room for n x targets correlations: that of the block `old`, if it is large enough. */
static float *take_room(SEXP old, size_t values)
{
    if (old != R_NilValue) {
        map_block *before = glue_kept(old, "block");
        float *rho = before->rho;
        require(before->works == NULL, "a block at work");
        if ((size_t)before->n * before->targets >= values) {
            before->rho = NULL;
            return rho;
        }
    }
    float *rho = malloc((values + 1) * sizeof *rho);
    if (rho)
        syn_large_pages(rho, values * sizeof *rho);
    return rho;
}

/* A block of libraries, columns of x; the first is number `first` (from 0) of the map. `old`: NULL or a block that is done with, whose memory is used again. */
SEXP r_map_prepare(SEXP pointer, SEXP x, SEXP run, SEXP first, SEXP old)
{
    map_work *map = glue_kept(pointer, "map");
    given_series series = run_of(x, run, map->steps);
    uint64_t from = (uint64_t)within(Rf_asReal(first), 0, INT32_MAX, "library");
    SEXP out = PROTECT(glue_keep("block", sizeof(map_block), release_block));
    map_block *block = glue_kept(out, "block");
    block->first = (uint32_t)from;
    block->n = series.n;
    block->targets = map->n_targets;
    block->threads = map->options.threads;
    block->rho = take_room(old, (size_t)series.n * map->n_targets);
    syn_status status = block->rho ? SYN_OK : SYN_NO_MEMORY;
    if (status == SYN_OK)
        status = syn_map_libraries_make(series.n, series.value, from, &map->layout, &map->options,
                                        &block->libraries);
    if (status != SYN_OK) {
        glue_let_go(out);
        out = glue_status(status, NA_REAL, NA_REAL);
    }
    UNPROTECT(1);
    return out;
}

/* Starts a block; one more may be begun before it is finished. The processor does not start
   before r_map_finish(). */
SEXP r_map_begin(SEXP pointer, SEXP of)
{
    map_work *map = glue_kept(pointer, "map");
    map_block *block = glue_kept(of, "block");
    char reason[SYN_GPU_TEXT] = "";
    require(map->begun[BEGUN - 1] == NULL, "a third block");
    require_same(map, block);
    syn_status status = map->gpus > 0 ? begin_on_gpu(map, block, reason) : SYN_OK;
    return status == SYN_OK ? R_NilValue
                            : glue_status_because(status, NA_REAL, NA_REAL, reason);
}

/* Waits for a block, the oldest of those begun: seconds from the beginning, of neighbours and of correlations. */
SEXP r_map_finish(glue_owner *own, SEXP pointer, SEXP of)
{
    map_work *map = glue_kept(pointer, "map");
    map_block *block = glue_kept(of, "block");
    syn_gpu_map_report report = {0};
    char reason[SYN_GPU_TEXT] = "";
    syn_status status;
    require(map->gpus == 0 || map->begun[0] == block, "another block");
    require_same(map, block);
    const syn_watch *watch = glue_watch(own, "Mapping");
    if (map->gpus > 0) {
        status = syn_gpu_map_finish(map->on_gpu, watch, &report, reason);
        map->begun[0] = map->begun[1];
        map->begun[1] = NULL;
        block->works = NULL;
    } else {
        status = syn_map_cross(&map->targets, &block->libraries, &map->layout,
                               &map->options, watch, block->rho);
    }
    if (status == SYN_OK)
        syn_map_drop_small(&block->libraries, &map->layout, map->E, map->n_targets,
                           block->rho);
    syn_map_libraries_free(&block->libraries);
    return status == SYN_OK ? report_of(&report)
                            : glue_status_because(status, NA_REAL, NA_REAL, reason);
}

/* ---- values ---- */

/* A matrix that is going to be written: only `columns` (from 1) are, with NA. */
SEXP r_map_blank(SEXP rows, SEXP n_columns, SEXP columns)
{
    int n = (int)within(Rf_asReal(rows), 0, INT32_MAX, "rows");
    int m = (int)within(Rf_asReal(n_columns), 0, INT32_MAX, "columns");
    R_xlen_t missing = Rf_xlength(numbers(columns, INTSXP, 0, "columns"));
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, n, m));
    syn_large_pages(REAL(out), (size_t)n * (size_t)m * sizeof(double));
    for (R_xlen_t k = 0; k < missing; k++) {
        int j = (int)within(INTEGER(columns)[k], 1, m, "columns");
        double *column = REAL(out) + (size_t)(j - 1) * (size_t)n;
        for (int i = 0; i < n; i++)
            column[i] = NA_REAL;
    }
    UNPROTECT(1);
    return out;
}

/* What is changed in place: whoever gives it has made it, and nobody else holds it. */
static SEXP unshared(SEXP x)
{
    require(!MAYBE_SHARED(x), "matrix, which is held elsewhere too");
    return x;
}

/* Part of a matrix: rows `row` (from 0) on, columns `column` (from 1). */
static syn_map_columns columns_of(SEXP matrix, SEXP row, SEXP columns, size_t n,
                                  R_xlen_t m)
{
    require(TYPEOF(matrix) == REALSXP && Rf_isMatrix(matrix), "matrix");
    syn_map_columns out = {.rows = (size_t)Rf_nrows(matrix), .missing = NA_REAL};
    require(n <= out.rows, "values");
    out.value = REAL(matrix) +
                (size_t)within(Rf_asReal(row), 0, (double)(out.rows - n), "row");
    out.column = INTEGER(numbers(columns, INTSXP, m, "columns"));
    require(Rf_xlength(columns) == m, "columns");
    for (R_xlen_t j = 0; j < m; j++)
        within(out.column[j], 1, Rf_ncols(matrix), "columns");
    return out;
}

/* Writes what a block found, a row a library and a column a target, with NA. */
SEXP r_map_values(SEXP pointer, SEXP into, SEXP row, SEXP columns)
{
    const map_block *block = glue_kept(pointer, "block");
    require(block->rho != NULL, "a block with values");
    size_t n = block->n;
    syn_map_columns to =
        columns_of(unshared(into), row, columns, n, (R_xlen_t)block->targets);
    syn_status status = syn_map_write(block->rho, n, block->targets, block->threads, &to);
    return status == SYN_OK ? R_NilValue : glue_status(status, NA_REAL, NA_REAL);
}

static syn_map_found found_by(const map_block *block)
{
    require(block->rho != NULL, "a block with values");
    return (syn_map_found){block->rho, block->n, block->targets};
}

/* Puts what a block found at `Tp` where it is better than what is there; see
   syn_map_best(). `lag` may be NULL. */
SEXP r_map_best(SEXP pointer, SEXP Tp, SEXP first, SEXP rho, SEXP lag, SEXP row,
                SEXP columns)
{
    syn_map_found found = found_by(glue_kept(pointer, "block"));
    syn_map_columns best =
        columns_of(unshared(rho), row, columns, found.n, found.targets);
    syn_map_columns of = best;
    if (lag != R_NilValue)
        of = columns_of(unshared(lag), row, columns, found.n, found.targets);
    syn_map_best(&found, Rf_asReal(Tp), Rf_asLogical(first) == 1, &best,
                 lag != R_NilValue ? &of : NULL);
    return R_NilValue;
}

/* How much better the best is than what a block of small libraries found at `Tp`. */
SEXP r_map_convergence(SEXP pointer, SEXP Tp, SEXP rho, SEXP lag, SEXP convergence,
                       SEXP row, SEXP columns)
{
    syn_map_found small = found_by(glue_kept(pointer, "block"));
    syn_map_columns best = columns_of(rho, row, columns, small.n, small.targets);
    syn_map_columns of = best;
    syn_map_columns to =
        columns_of(unshared(convergence), row, columns, small.n, small.targets);
    if (lag != R_NilValue)
        of = columns_of(lag, row, columns, small.n, small.targets);
    syn_map_convergence(&small, Rf_asReal(Tp), &best, lag != R_NilValue ? &of : NULL,
                        &to);
    return R_NilValue;
}

/* Counts surrogates, a double matrix of libraries x targets, one surrogate of all targets
   after the other, that are as good as the targets; see syn_map_count(). */
SEXP r_map_count(SEXP surrogates, SEXP first, SEXP rho, SEXP count, SEXP row,
                 SEXP columns)
{
    require(TYPEOF(surrogates) == REALSXP && Rf_isMatrix(surrogates), "surrogates");
    size_t n = (size_t)Rf_nrows(surrogates);
    R_xlen_t m = Rf_xlength(columns), all = Rf_ncols(surrogates);
    require(m > 0 && all % m == 0, "surrogates of all targets");
    syn_map_columns of = columns_of(rho, row, columns, n, m);
    syn_map_columns to = columns_of(unshared(count), row, columns, n, m);
    syn_map_count(REAL(surrogates), n, (uint32_t)m, (size_t)(all / m),
                  Rf_asLogical(first) == 1, &of, &to);
    return R_NilValue;
}

/* p values from counts of n surrogates, in place; NA where there is no correlation. */
SEXP r_map_p_values(SEXP count, SEXP rho, SEXP n)
{
    double of = within(Rf_asReal(n), 1, 1e9, "surrogates");
    require(TYPEOF(rho) == REALSXP && TYPEOF(count) == REALSXP &&
                Rf_xlength(rho) == Rf_xlength(count), "counts");
    const double *skill = REAL(rho);
    double *p = REAL(unshared(count));
    for (R_xlen_t i = 0; i < Rf_xlength(rho); i++)
        p[i] = ISNAN(skill[i]) ? NA_REAL : (p[i] + 1) / (of + 1);
    return R_NilValue;
}

/* Writes a double matrix. */
SEXP r_map_store(SEXP values, SEXP into, SEXP row, SEXP columns)
{
    require(TYPEOF(values) == REALSXP && Rf_isMatrix(values), "values");
    size_t n = (size_t)Rf_nrows(values);
    R_xlen_t m = Rf_ncols(values);
    syn_map_columns to = columns_of(unshared(into), row, columns, n, m);
    for (R_xlen_t j = 0; j < m; j++)
        memcpy(to.value + (size_t)(to.column[j] - 1) * to.rows,
               REAL(values) + (size_t)j * n, n * sizeof(double));
    return R_NilValue;
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
    unshared(x);
    for (R_xlen_t i = 0; i < Rf_xlength(attributes); i++)
        Rf_setAttrib(x, Rf_installChar(STRING_ELT(names, i)), VECTOR_ELT(attributes, i));
    return x;
}
