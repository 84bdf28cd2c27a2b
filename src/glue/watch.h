/* A syn_watch for work called from R: Ctrl-C stops it, and after a while cli shows how
   far it is. */
#ifndef SYN_GLUE_WATCH_H
#define SYN_GLUE_WATCH_H

#include "glue/glue.h"

#include "core/base/status.h"
#include "core/base/watch.h"

/* Lives on the stack of a .Call entry, between start and stop; core gets `&w.watch`. In
   between R runs only what the watch itself runs, which cannot jump past it, and what
   glue_watch_run() runs. */
typedef struct glue_watch {
    syn_watch watch;
    const char *title;
    double show_at;     /* when the bar may appear; seconds of a monotonic clock */
    double next_draw;
    char stage[64];     /* what the bar on the screen is about */
    double done, total; /* what it says, or is about to */
    SEXP bar;           /* a list with the bar, preserved while there is one; else NULL */
    int silent;         /* drawing failed once: no more bars */
} glue_watch;

/* Call once when the library is loaded, so that starting a watch allocates nothing. */
void glue_watch_init(void);

/* `title` says what R is doing ("Mining episodes") and must outlive the watch. */
void glue_watch_start(glue_watch *w, const char *title);

/* What `work` makes of `data`; it may allocate memory of R's, and where it ends with an
   error of R's, the bar is removed first. */
SEXP glue_watch_run(glue_watch *w, SEXP (*work)(void *data), void *data);

/* Removes the bar. Call it after every start, whatever the work returned. */
void glue_watch_stop(glue_watch *w);

/* What an entry returns instead of a result when `status` is not SYN_OK; finish_status()
   in R turns it into an error or an interrupt. `needed` and `limit` are in bytes for
   SYN_NO_MEMORY and SYN_OVER_BUDGET, in things for SYN_TOO_LARGE; NA_REAL if unknown. */
SEXP glue_status(syn_status status, double needed, double limit);

/* The same with `reason`, one plain clause from a device, or "". */
SEXP glue_status_because(syn_status status, double needed, double limit,
                         const char *reason);

#endif
