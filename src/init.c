/* Registers the entries of entries.h with R, and runs the actions that are due when the
   library is loaded. */
#include "glue/glue.h"

#include "core/base/parallel.h"
#include "glue/owner.h"
#include "gpu/base/devices.h"

#include <R_ext/Visibility.h>

#define NAMES_1 a
#define NAMES_2 NAMES_1, b
#define NAMES_3 NAMES_2, c
#define NAMES_4 NAMES_3, d
#define NAMES_5 NAMES_4, e
#define NAMES_6 NAMES_5, f
#define NAMES_7 NAMES_6, g
#define PLACES_1 x[0]
#define PLACES_2 PLACES_1, x[1]
#define PLACES_3 PLACES_2, x[2]
#define PLACES_4 PLACES_3, x[3]
#define PLACES_5 PLACES_4, x[4]
#define PLACES_6 PLACES_5, x[5]
#define PLACES_7 PLACES_6, x[6]

/* What R calls runs the entry with its owner. */
#define RUN(name, n) \
    static SEXP name##_owning(glue_owner *own, SEXP *x) \
    { \
        return name(own, PLACES_##n); \
    } \
    static SEXP name##_run(GIVEN_##n) \
    { \
        return glue_run(name##_owning, (SEXP[]){NAMES_##n}); \
    }
OWNING_ENTRIES(RUN)

#define PLAIN(name, n) {#name, (DL_FUNC) &name, n},
#define OWNING(name, n) {#name, (DL_FUNC) &name##_run, n},

static const R_CallMethodDef entries[] = {
    PLAIN_ENTRIES(PLAIN) OWNING_ENTRIES(OWNING) {NULL, NULL, 0}
};

void attribute_visible R_init_synfire(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, entries, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
    glue_watch_init();
    glue_episode_columns_init(dll);
    glue_window_vectors_init(dll);
    glue_pattern_store_init(dll);
    syn_parallel_init();
    syn_gpu_init();
}
