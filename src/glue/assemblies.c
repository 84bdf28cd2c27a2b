/* Finds assemblies for find_assemblies(), and the peaks of lag histograms that its tests
   look at. */
#include "glue/glue.h"

#include "core/assemblies/search.h"
#include "glue/options.h"
#include "glue/require.h"
#include "glue/spikes.h"
#include "glue/watch.h"
#include "gpu/assemblies/peaks.h"

/* GPUs that peaks are found on. */
typedef struct place {
    syn_gpu_call call;    /* of no devices for processors */
    syn_gpu_peaks *peaks; /* NULL until they are opened */
    syn_peak_place gpus;
} place;

typedef struct work {
    syn_budget budget;
    syn_assembly_search search;
    place place;
} work;

static void release(void *held)
{
    work *w = held;
    syn_gpu_peaks_close(w->place.peaks);
    syn_assembly_search_free(&w->search);
}

static syn_status open_gpus(void *self, const syn_pair_source *of, syn_peak_source *out)
{
    place *p = self;
    return syn_gpu_peaks_open(of, &p->call, &p->peaks, out);
}

/* Where peaks are found: `gpus` of the options, if there are any. */
static const syn_peak_place *choose_place(place *p, SEXP options)
{
    p->call = glue_option_gpus(options);
    p->gpus = (syn_peak_place){.self = p, .open = open_gpus};
    return p->call.n > 0 ? &p->gpus : NULL;
}

/* The events that responses are locked to: `events`, a list of ticks and kinds, or R's
   NULL. */
static syn_events read_events(SEXP options)
{
    SEXP events = glue_option(options, "events");
    if (events == R_NilValue)
        return (syn_events){.n = 0};
    require(TYPEOF(events) == VECSXP && Rf_xlength(events) == 2, "events");
    SEXP tick = numbers(VECTOR_ELT(events, 0), REALSXP, 1, "events");
    SEXP kind = numbers(VECTOR_ELT(events, 1), INTSXP, Rf_xlength(tick), "events");
    syn_events out = {.tick = REAL(tick), .kind = INTEGER(kind),
                      .n = (uint32_t)Rf_xlength(tick)};
    for (uint32_t e = 0; e < out.n; e++) {
        require(out.kind[e] > 0, "events");
        out.kinds = (uint32_t)out.kind[e] > out.kinds ? (uint32_t)out.kind[e] : out.kinds;
    }
    return out;
}

static syn_ground_options read_ground(SEXP options, place *p)
{
    return (syn_ground_options){
        .bin = glue_option_int(options, "bin", 1, 1 << 30),
        .lags = (uint32_t)glue_option_int(options, "lags", 0, 1 << 24),
        .widest = (uint32_t)glue_option_int(options, "widest", 1, 1 << 24),
        .segment = glue_option_int(options, "segment", 1, (int64_t)1 << 53),
        .events = read_events(options),
        .key = glue_option_key(options),
        .threads = glue_option_threads(options),
        .elsewhere = choose_place(p, options)};
}

/* What an entry returns where there are no results. */
static SEXP refuse(const place *p, syn_status status, const syn_budget *budget)
{
    return glue_status_within(status, (double)budget->limit, p->call.reason);
}

static SEXP widths_for_r(const syn_ladder *l)
{
    SEXP out = Rf_allocVector(INTSXP, (int)l->rungs);
    for (uint32_t r = 0; r < l->rungs; r++)
        INTEGER(out)[r] = (int)syn_ladder_width(l, r);
    return out;
}

/* A group: its members, units from 1, lags and widths in bins; its score; how
   many activations are expected by chance; the ticks of those there are, in no order,
   with the spikes of each member there (activations x members); and the number of
   resamples that have each member, unless it is not known: `named` is NULL. */
static SEXP group_for_r(const syn_detector *d, const syn_assembly *g,
                        const syn_detected *there, const uint32_t *named)
{
    const char *fields[] = {"unit", "lag",    "width", "score", "expected",
                            "tick", "spikes", "named", ""};
    int n = (int)there->n, size = (int)g->size;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    int *unit = INTEGER(SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, size)));
    int *lag = INTEGER(SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, size)));
    int *width = INTEGER(SET_VECTOR_ELT(out, 2, Rf_allocVector(INTSXP, size)));
    SET_VECTOR_ELT(out, 3, Rf_ScalarReal(g->score));
    SET_VECTOR_ELT(out, 4, Rf_ScalarReal(there->expected));
    double *tick = REAL(SET_VECTOR_ELT(out, 5, Rf_allocVector(REALSXP, n)));
    int *spikes = INTEGER(SET_VECTOR_ELT(out, 6, Rf_allocMatrix(INTSXP, n, size)));
    SET_VECTOR_ELT(out, 7, Rf_allocVector(INTSXP, named ? size : 0));
    for (int k = 0; k < n; k++)
        tick[k] = (double)syn_segments_tick(d->segments, there->found[k].tick);
    for (int m = 0; m < size; m++) {
        unit[m] = (int)g->member[m].unit + 1;
        lag[m] = g->member[m].lag;
        if (named)
            INTEGER(VECTOR_ELT(out, 7))[m] = (int)named[m];
        width[m] = (int)syn_ladder_width(d->ladder, g->member[m].rung);
        for (int k = 0; k < n; k++)
            spikes[m * n + k] =
                (int)syn_window_spikes(d, g->member[m], there->found[k].tick);
    }
    UNPROTECT(1);
    return out;
}

/* A column for each burst: its first tick, and that after it. */
static SEXP bursts_for_r(const syn_calm *calm)
{
    SEXP out = Rf_allocMatrix(REALSXP, 2, (int)calm->bursts);
    if (calm->bursts > 0)
        memcpy(REAL(out), calm->burst, 2 * calm->bursts * sizeof(double));
    return out;
}

/* A list of groups; or R's NULL and a status. */
static SEXP groups_for_r(syn_assembly_search *s, syn_status *status)
{
    SEXP out = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)s->groups));
    for (uint32_t g = 0; g < s->groups && *status == SYN_OK; g++) {
        syn_detected found;
        *status = syn_activations_of(&s->refiner, s->group + g, &found);
        if (*status == SYN_OK)
            SET_VECTOR_ELT(out, (R_xlen_t)g,
                           group_for_r(&s->refiner.detector, s->group + g, &found,
                                       s->named + (size_t)g * SYN_ASSEMBLY_MOST));
    }
    UNPROTECT(1);
    return out;
}

/* How many numbers of a surrogate a search keeps. */
static R_xlen_t places_of(const syn_ground_options *ground)
{
    return (R_xlen_t)syn_ladder_make(ground->lags, ground->widest).rungs * SYN_SIZES + 1;
}

/* Options of a search: bin, segment, step (ticks), lags, widest (bins), events, first, n,
   key, gpus, threads, max_memory. */
static syn_assembly_search_options read_search(work *w, SEXP options)
{
    w->budget.limit = glue_option_memory(options);
    return (syn_assembly_search_options){
        .ground = read_ground(options, &w->place),
        .step = glue_option_int(options, "step", 1, (int64_t)1 << 53),
        .first = (uint32_t)glue_option_int(options, "first", 0, 1 << 24),
        .surrogates = (uint32_t)glue_option_int(options, "n", 1, 1 << 24)};
}

/* The evidence of `n` surrogates of `trains` from number `first` on, a column for each.
   `trains` as glue_spikes() takes them, options as above. */
SEXP r_assembly_maxima(glue_owner *own, SEXP trains, SEXP options)
{
    work *w = glue_hold(own, sizeof *w, release);
    syn_assembly_search_options o = read_search(w, options);
    const syn_watch *watch = glue_watch(own, "Finding assemblies");
    syn_spikes spikes;
    syn_status status = glue_spikes(&spikes, trains, 1, watch);
    SYN_NEXT(status,
             syn_assembly_search_maxima(&w->search, &spikes, &o, &w->budget, watch));
    if (status != SYN_OK)
        return refuse(&w->place, status, &w->budget);
    SEXP out = Rf_allocMatrix(REALSXP, (int)places_of(&o.ground), (int)o.surrogates);
    memcpy(REAL(out), w->search.scores.maximum, XLENGTH(out) * sizeof(double));
    return out;
}

/* What find_assemblies() found in `trains`. Further options: exceeded, resamples, and
   `known`, all that r_assembly_maxima() gives, or R's NULL. */
SEXP r_find_assemblies(glue_owner *own, SEXP trains, SEXP options)
{
    work *w = glue_hold(own, sizeof *w, release);
    syn_assembly_search_options o = read_search(w, options);
    o.exceeded = (uint32_t)glue_option_int(options, "exceeded", 0, 1 << 24);
    o.resamples = (uint32_t)glue_option_int(options, "resamples", 0, 1 << 24);
    SEXP known = glue_option(options, "known");
    if (known != R_NilValue)
        o.known = REAL(
            numbers(known, REALSXP, places_of(&o.ground) * o.surrogates, "known maxima"));
    const syn_watch *watch = glue_watch(own, "Finding assemblies");
    syn_spikes spikes;
    syn_status status = glue_spikes(&spikes, trains, 1, watch);
    SYN_NEXT(status, syn_assembly_search_run(&w->search, &spikes, &o, &w->budget, watch));
    SYN_NEXT(status, syn_assembly_search_again(&w->search, watch));
    SEXP groups = R_NilValue;
    if (status == SYN_OK)
        groups = groups_for_r(&w->search, &status);
    PROTECT(groups);
    if (status != SYN_OK) {
        UNPROTECT(1);
        return refuse(&w->place, status, &w->budget);
    }
    const char *fields[] = {"groups", "maximum", "score",  "width",  "left_out",
                            "size",   "best",    "bursts", "chains", ""};
    const syn_assembly_search *s = &w->search;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, groups);
    uint32_t rungs = s->ground.pairs.ladder.rungs;
    SEXP maximum = SET_VECTOR_ELT(
        out, 1, Rf_alloc3DArray(REALSXP, SYN_SIZES, (int)rungs, (int)o.surrogates));
    SEXP chains = SET_VECTOR_ELT(out, 8, Rf_allocVector(REALSXP, o.surrogates));
    size_t places = s->scores.places;
    for (uint32_t k = 0; k < o.surrogates; k++) {
        const double *own = s->scores.maximum + k * places;
        memcpy(REAL(maximum) + k * (places - 1), own, (places - 1) * sizeof *own);
        REAL(chains)[k] = s->moments ? own[places - 1] : NA_REAL;
    }
    SEXP score = SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, o.surrogates));
    memcpy(REAL(score), s->scores.score, o.surrogates * sizeof(double));
    SET_VECTOR_ELT(out, 3, widths_for_r(&s->ground.pairs.ladder));
    SET_VECTOR_ELT(out, 4, Rf_ScalarReal(s->calm.left_out / s->calm.steps));
    SEXP size = SET_VECTOR_ELT(out, 5, Rf_allocVector(INTSXP, SYN_SIZES));
    for (uint32_t k = 0; k < SYN_SIZES; k++)
        INTEGER(size)[k] = (int)syn_size_of_class(k);
    SET_VECTOR_ELT(out, 6, Rf_ScalarReal(s->best));
    SET_VECTOR_ELT(out, 7, bursts_for_r(&s->calm));
    UNPROTECT(2);
    return out;
}

/* ---- peaks ---- */

typedef struct peak_work {
    syn_budget budget;
    syn_ground ground;
    place place;
    syn_peaks recorded;
    syn_peaks *list;  /* [n] of surrogates */
    uint32_t n;
} peak_work;

static void release_peaks(void *held)
{
    peak_work *w = held;
    syn_gpu_peaks_close(w->place.peaks);
    syn_trains_free(&w->ground.segments.trains);
    syn_budget_end(&w->budget);
}

static syn_status find(peak_work *w, uint64_t from, const syn_watch *watch)
{
    syn_peak_source source = w->ground.source;
    SYN_TRY(syn_ground_recording(&w->ground, &w->recorded, watch));
    if (w->n == 0)
        return SYN_OK;
    SYN_TAKE_ZEROS(&w->budget, w->list, w->n);
    for (uint32_t i = 0, made; i < w->n; i += made)
        SYN_TRY(source.surrogates(source.self, from + i, w->n - i, w->list + i, &made,
                                  watch));
    return SYN_OK;
}

/* A matrix with a row for each peak: unit a, unit b (from 1), rung (from 1), lag in bins,
   z in parts of SYN_PEAK_SCALE. */
static SEXP peaks_for_r(const syn_peaks *peaks)
{
    size_t n = peaks->first[syn_pair_count(peaks->units)], i = 0;
    SEXP out = PROTECT(Rf_allocMatrix(INTSXP, (int)n, 5));
    int *to = INTEGER(out);
    for (uint32_t b = 1; b < peaks->units; b++)
        for (uint32_t a = 0; a < b; a++)
            for (size_t end = peaks->first[syn_pair_number(a, b) + 1]; i < end; i++) {
                to[i] = (int)a + 1;
                to[n + i] = (int)b + 1;
                to[2 * n + i] = peaks->peak[i].rung + 1;
                to[3 * n + i] = peaks->peak[i].lag;
                to[4 * n + i] = peaks->peak[i].z;
            }
    UNPROTECT(1);
    return out;
}

/* A list of what peaks_for_r() makes: of the recording, then of surrogates `from` to
   `from` + n - 1; and the widths in bins. `options`: bin, segment (ticks), lags, widest
   (bins), events, least (z in parts of SYN_PEAK_SCALE), from, n, key, gpus, threads,
   max_memory. */
SEXP r_assembly_peaks(glue_owner *own, SEXP trains, SEXP options)
{
    peak_work *w = glue_hold(own, sizeof *w, release_peaks);
    w->budget.limit = glue_option_memory(options);
    w->n = (uint32_t)glue_option_int(options, "n", 0, 1 << 24);
    syn_ground_options o = read_ground(options, &w->place);
    o.least = (int32_t)glue_option_int(options, "least", 1, SYN_PEAK_MOST);
    o.vector_bits = glue_option_vector_bits(options);
    uint64_t from = (uint64_t)glue_option_int(options, "from", 0, (int64_t)1 << 52);
    const syn_watch *watch = glue_watch(own, "Looking at pairs");
    syn_spikes spikes;
    syn_status status = glue_spikes(&spikes, trains, 1, watch);
    SYN_NEXT(status,
             syn_ground_make(&w->ground, &spikes, &spikes, &o, &w->budget, watch));
    SYN_NEXT(status, find(w, from, watch));
    if (status != SYN_OK)
        return refuse(&w->place, status, &w->budget);
    const char *fields[] = {"recording", "surrogates", "width", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, peaks_for_r(&w->recorded));
    SEXP lists = SET_VECTOR_ELT(out, 1, Rf_allocVector(VECSXP, (R_xlen_t)w->n));
    for (uint32_t i = 0; i < w->n; i++)
        SET_VECTOR_ELT(lists, (R_xlen_t)i, peaks_for_r(w->list + i));
    SET_VECTOR_ELT(out, 2, widths_for_r(&w->ground.pairs.ladder));
    UNPROTECT(1);
    return out;
}

/* ---- another recording ---- */

typedef struct again_work {
    syn_budget budget;
    syn_ladder ladder;
    syn_scene from, to;
    uint32_t *moved;  /* [moves] */
} again_work;

static void release_again(void *held)
{
    again_work *w = held;
    syn_trains_free(&w->from.segments.trains);
    syn_trains_free(&w->to.segments.trains);
    syn_budget_end(&w->budget);
}

static syn_status make_scene(syn_scene *out, again_work *w, SEXP trains, SEXP options,
                             const syn_watch *watch)
{
    syn_spikes spikes;
    SYN_TRY(glue_spikes(&spikes, trains, 1, watch));
    return syn_scene_make(out, &spikes, &w->ladder,
                          glue_option_int(options, "bin", 1, 1 << 30),
                          glue_option_int(options, "step", 1, (int64_t)1 << 53),
                          &w->budget, watch);
}

/* A group as R has it, with its units in one of the recordings. */
static syn_assembly read_group(const syn_ladder *l, SEXP group, const char *units,
                               const syn_scene *scene)
{
    SEXP unit = numbers(glue_option(group, units), INTSXP, 2, "units of an assembly");
    R_xlen_t size = XLENGTH(unit);
    SEXP lag = numbers(glue_option(group, "lag"), INTSXP, size, "lags of an assembly");
    SEXP width = numbers(glue_option(group, "width"), INTSXP, size, "its widths");
    syn_assembly out = {0};
    for (R_xlen_t m = 0; m < size && m < SYN_ASSEMBLY_MOST; m++) {
        syn_member *here = out.member + out.size++;
        within(INTEGER(unit)[m], 1, scene->segments.recording.units, "units of members");
        here->unit = (uint32_t)INTEGER(unit)[m] - 1;
        here->lag = INTEGER(lag)[m];
        while (here->rung + 1 < l->rungs &&
               (int)syn_ladder_width(l, here->rung) < INTEGER(width)[m])
            here->rung++;
    }
    return out;
}

/* A list of `groups`, and of what is `left_out` of the second recording in which
   `bursts`: as r_find_assemblies() has them. Fields of a group are those of group_for_r()
   in the second recording, `expected` the mean of how many activations there are in each
   of the ways to move members apart, and `score` the p value: the share of ways, and of
   what is there, that have as many. A group is a list of units in the first recording
   (`unit`) and in the second one (`there`), from 1, lags and widths (bins), all integers.
   `from` and `to`: bin and step (ticks). `options`: widest and lags (bins), moves,
   max_memory. */
SEXP r_assembly_activations(glue_owner *own, SEXP trains, SEXP groups, SEXP options)
{
    again_work *w = glue_hold(own, sizeof *w, release_again);
    w->budget.limit = glue_option_memory(options);
    w->ladder = syn_ladder_make((uint32_t)glue_option_int(options, "lags", 0, 1 << 24),
                                (uint32_t)glue_option_int(options, "widest", 1, 1 << 24));
    uint32_t moves = (uint32_t)glue_option_int(options, "moves", 1, 1 << 24);
    const syn_watch *watch = glue_watch(own, "Finding activations");
    w->moved = syn_budget_alloc(&w->budget, moves, sizeof *w->moved);
    syn_status status = w->moved ? SYN_OK : syn_budget_refusal(&w->budget);
    SYN_NEXT(status, make_scene(&w->from, w, glue_option(trains, "from"),
                                glue_option(options, "from"), watch));
    SYN_NEXT(status, make_scene(&w->to, w, glue_option(trains, "to"),
                                glue_option(options, "to"), watch));
    const char *fields[] = {"groups", "left_out", "bursts", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SEXP list = SET_VECTOR_ELT(out, 0, Rf_allocVector(VECSXP, XLENGTH(groups)));
    for (R_xlen_t k = 0; k < XLENGTH(groups) && status == SYN_OK; k++) {
        SEXP group = VECTOR_ELT(groups, k);
        syn_assembly g = read_group(&w->ladder, group, "unit", &w->from);
        syn_assembly there = read_group(&w->ladder, group, "there", &w->to);
        syn_detected found;
        status = syn_activations_again(&w->from, &g, &w->to, &there, moves, w->moved,
                                       &found, watch);
        if (status != SYN_OK)
            break;
        double reached = 1;
        for (uint32_t i = 0; i < moves; i++)
            reached += w->moved[i] >= found.n;
        there.score = reached / (moves + 1.0);
        SET_VECTOR_ELT(list, k,
                       group_for_r(&w->to.refiner.detector, &there, &found, NULL));
    }
    if (status == SYN_OK) {
        const syn_calm *calm = &w->to.calm;
        SET_VECTOR_ELT(out, 1, Rf_ScalarReal(calm->left_out / calm->steps));
        SET_VECTOR_ELT(out, 2, bursts_for_r(calm));
    }
    UNPROTECT(1);
    return status == SYN_OK ? out
                            : glue_status_within(status, (double)w->budget.limit, "");
}
