/* Polls for Ctrl-C and shows progress while the core works: as a bar of cli, or where
   output goes into a file as a line a minute. R's functions may jump out of C, so they
   are called where such a jump is caught. */
#include "glue/watch.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cli/progress.h>

#include "core/base/parallel.h"

#define DRAW_EVERY 0.2
#define LINES_AFTER 10.0  /* seconds; shorter work leaves no trace in a file */
#define LINE_EVERY 60.0

typedef struct watching {
    syn_watch watch;
    const char *title;
    double began;       /* by syn_seconds(), as are these */
    double show_at;     /* when the bar may appear */
    double next_draw;
    char stage[64];     /* what the bar on the screen is about */
    double done, total; /* what it says, or is about to */
    SEXP bar;           /* a list with the bar, preserved while there is one; else NULL */
    int silent;         /* drawing failed once: no more bars */
    int lines;          /* lines in place of a bar; negative while not known */
} watching;

static void check_interrupt(void *unused)
{
    (void)unused;
    R_CheckUserInterrupt();
}

static SEXP remove_bar(void *data)
{
    watching *w = data;
    if (w->bar != R_NilValue) {
        if (VECTOR_ELT(w->bar, 0) != R_NilValue)
            cli_progress_done(VECTOR_ELT(w->bar, 0));
        R_ReleaseObject(w->bar);
        w->bar = R_NilValue;
    }
    return R_NilValue;
}

/* cli has no way to change the total of a bar, so each stage gets its own. */
static SEXP new_bar(const watching *w)
{
    const char *fields[] = {"name", "status", "auto_terminate", ""};
    SEXP config = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(config, 0, Rf_mkString(w->title));
    SET_VECTOR_ELT(config, 1, Rf_mkString(w->stage));
    /* remove_bar() alone ends a bar: one that reaches its total would end twice. */
    SET_VECTOR_ELT(config, 2, Rf_ScalarLogical(0));
    SEXP bar = cli_progress_bar(w->total > 0 ? w->total : NA_REAL, config);
    UNPROTECT(1);
    return bar;
}

static SEXP draw_bar(void *data)
{
    watching *w = data;
    if (w->bar == R_NilValue) {
        /* Once there is a bar nothing is allocated before it has its place. */
        SEXP place = PROTECT(Rf_allocVector(VECSXP, 1));
        R_PreserveObject(place);
        UNPROTECT(1);
        w->bar = place;
        SET_VECTOR_ELT(place, 0, new_bar(w));
    }
    cli_progress_update(VECTOR_ELT(w->bar, 0), w->done, 0, 1);
    return R_NilValue;
}

static SEXP bar_failed(SEXP condition, void *data)
{
    (void)condition;
    ((watching *)data)->silent = 1;
    return R_NilValue;
}

static void try_draw_bar(void *data)
{
    R_tryCatchError(draw_bar, data, bar_failed, data);
}

static void try_remove_bar(void *data)
{
    R_tryCatchError(remove_bar, data, bar_failed, data);
}

/* Whether progress_in_lines() says so. */
static void ask_for_lines(void *data)
{
    watching *w = data;
    int failed = 0;
    w->lines = 0;
    SEXP package = PROTECT(Rf_mkString("synfire"));
    SEXP home = PROTECT(R_FindNamespace(package));
    SEXP call = PROTECT(Rf_lang1(Rf_install("progress_in_lines")));
    SEXP answer = R_tryEvalSilent(call, home, &failed);
    w->lines = !failed && Rf_asLogical(answer) == TRUE;
    UNPROTECT(3);
}

/* A line after ten seconds, and one for each further minute. */
static void print_line(watching *w, const char *stage, double done, double total)
{
    double now = syn_seconds();
    if (now - w->began < LINES_AFTER)
        return;
    w->next_draw = now + LINE_EVERY;
    const char *gap = stage == NULL || stage[0] == '\0' ? "" : ", ";
    REprintf("%s%s%s", w->title, gap, gap[0] == '\0' ? "" : stage);
    if (total > 0)
        REprintf(", %.0f %%", 100 * done / total);
    REprintf(", after %.0f s\n", now - w->began);
}

static int poll(void *data, const char *stage, double done, double total)
{
    watching *w = data;
    if (!R_ToplevelExec(check_interrupt, NULL))
        return 1;
    double now = syn_seconds();
    if (w->silent || now < w->show_at || now < w->next_draw)
        return 0;
    if (w->lines < 0 && !R_ToplevelExec(ask_for_lines, w))
        return 1;
    if (w->lines) {
        print_line(w, stage, done, total);
        return 0;
    }
    char now_at[sizeof w->stage];
    snprintf(now_at, sizeof now_at, "%s", stage == NULL ? "" : stage);
    int same = w->total == total && strcmp(w->stage, now_at) == 0;
    if (!same && !R_ToplevelExec(try_remove_bar, w))
        return 1;
    memcpy(w->stage, now_at, sizeof now_at);
    w->done = done;
    w->total = total;
    /* An error in drawing ends the bar; a jump past it is Ctrl-C and ends the work. */
    if (!w->silent && !R_ToplevelExec(try_draw_bar, w))
        return 1;
    w->next_draw = syn_seconds() + DRAW_EVERY;
    return 0;
}

static SEXP delay_option;

void glue_watch_init(void)
{
    delay_option = Rf_install("cli.progress_show_after");
}

static double delay(void)
{
    SEXP option = Rf_GetOption1(delay_option);
    int number = (TYPEOF(option) == REALSXP || TYPEOF(option) == INTSXP) &&
                 Rf_length(option) == 1 && !ISNAN(Rf_asReal(option));
    return number ? Rf_asReal(option) : 2;
}

static void stop(void *held)
{
    watching *w = held;
    if (w->bar == R_NilValue)
        return;
    R_ToplevelExec(try_remove_bar, w);
    if (w->bar != R_NilValue)
        R_ReleaseObject(w->bar);
}

const syn_watch *glue_watch(glue_owner *own, const char *title)
{
    double began = syn_seconds();
    double show_at = began + delay();
    watching *w = glue_hold(own, sizeof *w, stop);
    w->began = began;
    w->lines = -1;
    w->watch.poll = poll;
    w->watch.data = w;
    w->title = title;
    w->show_at = show_at;
    w->bar = R_NilValue;
    return &w->watch;
}

SEXP glue_status(syn_status status, double needed, double limit)
{
    return glue_status_because(status, needed, limit, "");
}

SEXP glue_answer(SEXP out, syn_status status, const char *reason)
{
    return status == SYN_OK ? out
                            : glue_status_because(status, NA_REAL, NA_REAL, reason);
}

SEXP glue_status_within(syn_status status, double memory, const char *reason)
{
    return glue_status_because(status, NA_REAL,
                               status == SYN_TOO_LARGE ? INT32_MAX : memory, reason);
}

SEXP glue_status_because(syn_status status, double needed, double limit,
                         const char *reason)
{
    static const char *const names[] = {"ok",          "interrupted", "no_memory",
                                        "over_budget", "too_large",   "no_device"};
    const char *fields[] = {"status", "needed", "limit", "reason", ""};
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, Rf_mkString(names[status]));
    SET_VECTOR_ELT(out, 1, Rf_ScalarReal(needed));
    SET_VECTOR_ELT(out, 2, Rf_ScalarReal(limit));
    SET_VECTOR_ELT(out, 3, Rf_mkString(reason));
    Rf_setAttrib(out, R_ClassSymbol, Rf_mkString("synfire_status"));
    UNPROTECT(1);
    return out;
}
