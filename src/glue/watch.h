/* A syn_watch for work called from R: Ctrl-C stops it, and after a while cli shows how
   far it is. */
#ifndef SYN_GLUE_WATCH_H
#define SYN_GLUE_WATCH_H

#include "core/base/watch.h"
#include "glue/owner.h"

/* For core to poll, as long as the call lasts: then the bar is removed, however the call
   ends. `title` says what R is doing ("Mining episodes") and must outlive the call. */
const syn_watch *glue_watch(glue_owner *own, const char *title);

/* What an entry returns instead of a result when `status` is not SYN_OK; finish_status()
   in R turns it into an error or an interrupt. `needed` and `limit` are in bytes for
   SYN_NO_MEMORY and SYN_OVER_BUDGET, in things for SYN_TOO_LARGE; NA_REAL if unknown. */
SEXP glue_status(syn_status status, double needed, double limit);

/* The same of work that was given `memory` bytes, and whose other limit is that of R's
   integers; `reason` is as below. */
SEXP glue_status_within(syn_status status, double memory, const char *reason);

/* The same as glue_status() with `reason`, one plain clause from a device, or "". */
SEXP glue_status_because(syn_status status, double needed, double limit,
                         const char *reason);

/* `out`, or after another status than SYN_OK what an entry returns then; `reason` is as
   above. */
SEXP glue_answer(SEXP out, syn_status status, const char *reason);

#endif
