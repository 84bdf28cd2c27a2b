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

#include "entries.h"

/* What an entry holds outside R's heap; see glue/owner.h. R does not give it. */
typedef struct glue_owner glue_owner;

#define DECLARE(name, n) SEXP name(GIVEN_##n);
PLAIN_ENTRIES(DECLARE)
#undef DECLARE

#define DECLARE(name, n) SEXP name(glue_owner *own, GIVEN_##n);
OWNING_ENTRIES(DECLARE)
#undef DECLARE

#endif
