/* Found patterns as R's integer vectors, without a copy: they lie where the search left
   them until somebody asks for their memory. */
#ifndef SYN_GLUE_PATTERN_STORE_H
#define SYN_GLUE_PATTERN_STORE_H

#include "core/patterns/mine.h"
#include "glue/glue.h"

/* A list of two integer vectors, the items and the occurrences of all patterns. It takes
   over `patterns`, which is left empty, and as it was after R's error. */
SEXP glue_pattern_store(syn_patterns *patterns);

/* Call before more patterns are mined. R does not know how much memory its vectors above
   stand for: this has it collect garbage when that has become much. */
void glue_pattern_store_tidy(void);

#endif
