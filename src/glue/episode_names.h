/* Names of episodes, such as "A -(0,0.005]-> B", spelt when R asks for them: there may be
   millions, and few are ever looked at. */
#ifndef SYN_GLUE_EPISODE_NAMES_H
#define SYN_GLUE_EPISODE_NAMES_H

#include <R_ext/Rdynload.h>

#include "core/episodes/found.h"
#include "glue/glue.h"

/* Call once when the library is loaded. */
void glue_episode_names_init(DllInfo *dll);

/* A character vector with a name for each row. The integer vectors `units` and
   `intervals` hold the rows' sequences, numbered as in `unit` and `interval`, which are
   copied. labels[u] names unit u, arrows[i] is the text for interval i. The SEXPs are
   kept, not copied: fill them before anybody reads a name. */
SEXP glue_episode_names(SEXP units, SEXP intervals, const syn_sequences *unit,
                        const syn_sequences *interval, SEXP labels, SEXP arrows);

/* The same names, as a plain vector where a few rows would hold on to many sequences. */
SEXP glue_episode_names_settled(SEXP names);

#endif
