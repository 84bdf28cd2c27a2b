/* Keys of the counter-based generator as R sees them. */
#ifndef SYN_GLUE_RANDOM_H
#define SYN_GLUE_RANDOM_H

#include <stdint.h>

#include "glue/glue.h"

/* The key that R's random_key() drew: two doubles of 32 bits each, low word first. R's
   error when it is not that. */
uint64_t glue_key(SEXP key);

#endif
