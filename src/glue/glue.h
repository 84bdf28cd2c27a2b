/* What all of glue/ needs of R, and the prototypes of the entries that R calls. */
#ifndef SYN_GLUE_H
#define SYN_GLUE_H

#ifndef R_NO_REMAP
#define R_NO_REMAP
#endif
#ifndef STRICT_R_HEADERS
#define STRICT_R_HEADERS
#endif
#include <R.h>
#include <Rinternals.h>
#include <R_ext/Rdynload.h>

#include "entries.h"

/* To be called once when the library is loaded: the vectors of our own classes, and what
   watches need, so that starting one allocates nothing. */
void glue_episode_columns_init(DllInfo *dll);
void glue_window_vectors_init(DllInfo *dll);
void glue_pattern_store_init(DllInfo *dll);
void glue_watch_init(void);

/* What an entry holds outside R's heap; see glue/owner.h. R does not give it. */
typedef struct glue_owner glue_owner;

#define DECLARE(name, n) SEXP name(GIVEN_##n);
PLAIN_ENTRIES(DECLARE)
#undef DECLARE

#define DECLARE(name, n) SEXP name(glue_owner *own, GIVEN_##n);
OWNING_ENTRIES(DECLARE)
#undef DECLARE

#endif
