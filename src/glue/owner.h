/* Memory outside R's heap, which is freed however a call ends: with a result, with an
   error of R's, or with Ctrl-C. */
#ifndef SYN_GLUE_OWNER_H
#define SYN_GLUE_OWNER_H

#include <stddef.h>

#include "glue/glue.h"

/* Frees what is held at `held`, but not those bytes themselves. */
typedef void glue_release(void *held);

/* What one call holds. */
struct glue_owner {
    struct glue_held *last;
};

/* Runs an entry with an owner of nothing; `given` is what R gave. When it ends, all that
   the owner holds is released, the last first. */
SEXP glue_run(SEXP (*entry)(glue_owner *own, SEXP *given), SEXP *given);

/* `bytes` of zeros that last as long as the call; `release`, which may be NULL, has them
   before they go. R's error where there is no memory. */
void *glue_hold(glue_owner *own, size_t bytes, glue_release *release);

/* The same in an external pointer, which R may keep: released when R collects it or when
   the library is unloaded. `kind` says what it points to. */
SEXP glue_keep(const char *kind, size_t bytes, glue_release *release);

/* What a pointer of glue_keep() points to; R's error when it is of another kind, or
   released. */
void *glue_kept(SEXP pointer, const char *kind);

/* Releases it at once; nothing when that was done before. */
void glue_let_go(SEXP pointer);

#endif
