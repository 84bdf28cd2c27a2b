/* Options of an entry: a named list that R's side made. It has checked what the user
   said, so an option that is missing or out of its range is a mistake of this package:
   R's error says which option it is. */
#ifndef SYN_GLUE_OPTIONS_H
#define SYN_GLUE_OPTIONS_H

#include <stddef.h>

#include "glue/glue.h"
#include "gpu/base/devices.h"

/* The element called `name`, of any kind. */
SEXP glue_option(SEXP options, const char *name);

/* A number from `low` to `high`, which may be infinite. */
double glue_option_number(SEXP options, const char *name, double low, double high);

/* A whole number from `low` to `high`. */
int64_t glue_option_int(SEXP options, const char *name, int64_t low, int64_t high);

/* TRUE or FALSE. */
int glue_option_flag(SEXP options, const char *name);

/* A call for the GPUs that `gpus` names, without a watch; none of them where that is R's
   NULL, which stands for the CPU. */
syn_gpu_call glue_option_gpus(SEXP options);

/* The options that several entries have: `threads`; `max_memory`, in bytes, perhaps
   infinite; `vector_bits`, which only tests give: how wide the processor's registers are
   taken to be (1, 256 or 512; 0, also when it is not given, for what they are); and `key`
   of random numbers, from R's random_key(). */
int glue_option_threads(SEXP options);
size_t glue_option_memory(SEXP options);
int glue_option_vector_bits(SEXP options);
uint64_t glue_option_key(SEXP options);

/* A whole number up to `most` that only tests give; 0 where it is not given. */
int glue_option_for_tests(SEXP options, const char *name, int most);

/* The key that R's random_key() drew: two doubles of 32 bits each, low word first. R's
   error when it is not that. */
uint64_t glue_key(SEXP key);

#endif
