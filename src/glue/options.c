/* Reads options by name from the list that R passes, and refuses those that are missing
   or out of range. */
#include "glue/options.h"

#include <R_ext/Random.h>
#include <R_ext/Utils.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/random.h"
#include "glue/require.h"

/* The option called `name`; NULL where there is none. */
static SEXP find(SEXP options, const char *name)
{
    SEXP names = Rf_getAttrib(options, R_NamesSymbol);
    if (TYPEOF(options) == VECSXP && TYPEOF(names) == STRSXP)
        for (R_xlen_t i = 0; i < XLENGTH(options); i++)
            if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0)
                return VECTOR_ELT(options, i);
    return NULL;
}

SEXP glue_option(SEXP options, const char *name)
{
    SEXP value = find(options, name);
    if (!value)
        glue_refuse_option(name, R_NilValue, "given");
    return value;
}

static void refuse_range(const char *name, SEXP value, const char *kind, double low,
                         double high)
{
    char text[96];
    snprintf(text, sizeof text, "a %s from %.16g to %.16g", kind, low, high);
    glue_refuse_option(name, value, text);
}

/* NaN where it is not one number. */
static double number(SEXP value)
{
    int type = TYPEOF(value);
    int one = (type == REALSXP || type == INTSXP) && Rf_xlength(value) == 1;
    return one ? Rf_asReal(value) : R_NaN;
}

double glue_option_number(SEXP options, const char *name, double low, double high)
{
    SEXP value = glue_option(options, name);
    double x = number(value);
    if (!(x >= low && x <= high))
        refuse_range(name, value, "number", low, high);
    return x;
}

int64_t glue_option_int(SEXP options, const char *name, int64_t low, int64_t high)
{
    SEXP value = glue_option(options, name);
    double x = number(value);
    if (!(x >= (double)low && x <= (double)high && x == floor(x)))
        refuse_range(name, value, "whole number", (double)low, (double)high);
    return (int64_t)x;
}

int glue_option_flag(SEXP options, const char *name)
{
    SEXP value = glue_option(options, name);
    if (TYPEOF(value) != LGLSXP || XLENGTH(value) != 1 ||
        LOGICAL_ELT(value, 0) == NA_LOGICAL)
        glue_refuse_option(name, value, "TRUE or FALSE");
    return LOGICAL_ELT(value, 0);
}

syn_gpu_call glue_option_gpus(SEXP options)
{
    SEXP value = glue_option(options, "gpus");
    int some = TYPEOF(value) == INTSXP && XLENGTH(value) >= 1;
    if (value != R_NilValue && !some)
        glue_refuse_option("gpus", value, "integers or NULL");
    return (syn_gpu_call){.devices = some ? INTEGER_RO(value) : NULL,
                          .n = some ? Rf_length(value) : 0,
                          .threads = find(options, "threads")
                                         ? glue_option_threads(options) : 1};
}

int glue_option_threads(SEXP options)
{
    return (int)glue_option_int(options, "threads", 1, 1024);
}

size_t glue_option_memory(SEXP options)
{
    double bytes = glue_option_number(options, "max_memory", 0, R_PosInf);
    return bytes < (double)SIZE_MAX ? (size_t)bytes : SIZE_MAX;
}

int glue_option_for_tests(SEXP options, const char *name, int most)
{
    return find(options, name) ? (int)glue_option_int(options, name, 0, most) : 0;
}

int glue_option_vector_bits(SEXP options)
{
    return glue_option_for_tests(options, "vector_bits", 512);
}

uint64_t glue_option_key(SEXP options)
{
    return glue_key(glue_option(options, "key"));
}

/* ---- random numbers ----

   Draws keys from R's generator, so that set.seed() decides all random numbers, and
   gives R the counter-based numbers. */

uint64_t glue_key(SEXP key)
{
    const double *word = REAL(numbers(key, REALSXP, 2, "key"));
    return (uint64_t)within(word[0], 0, UINT32_MAX, "key") |
           (uint64_t)within(word[1], 0, UINT32_MAX, "key") << 32;
}

/* R's generators give between 24 and 32 good bits a number; 16 of each are safe. */
static double random_word(void)
{
    double high = (double)(int)(unif_rand() * 65536);
    double low = (double)(int)(unif_rand() * 65536);
    return high * 65536 + low;
}

SEXP r_random_key(void)
{
    SEXP key = PROTECT(Rf_allocVector(REALSXP, 2));
    GetRNGstate();
    REAL(key)[0] = random_word();
    REAL(key)[1] = random_word();
    PutRNGstate();
    UNPROTECT(1);
    return key;
}

SEXP r_random_uniform(SEXP n, SEXP key, SEXP stream, SEXP skip)
{
    R_xlen_t length = (R_xlen_t)Rf_asReal(n);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, length));
    double *value = REAL(out);
    syn_random rng;
    syn_random_start(&rng, glue_key(key), (uint64_t)Rf_asReal(stream));
    double before = within(Rf_asReal(skip), 0, 9007199254740992.0, "skip");
    syn_random_skip(&rng, (uint64_t)before);
    for (R_xlen_t i = 0; i < length; i++) {
        if (i % (1 << 20) == 0)
            R_CheckUserInterrupt();
        value[i] = syn_random_uniform(&rng);
    }
    UNPROTECT(1);
    return out;
}

SEXP r_random_below(SEXP n, SEXP bound, SEXP key, SEXP stream)
{
    R_xlen_t length = (R_xlen_t)Rf_asReal(n);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, length));
    double *value = REAL(out);
    uint64_t below = (uint64_t)Rf_asReal(bound);
    syn_random rng;
    syn_random_start(&rng, glue_key(key), (uint64_t)Rf_asReal(stream));
    for (R_xlen_t i = 0; i < length; i++)
        value[i] = (double)syn_random_below(&rng, below);
    UNPROTECT(1);
    return out;
}

SEXP r_philox(SEXP counter, SEXP key)
{
    uint32_t c[4], k[2], block[4];
    for (int i = 0; i < 4; i++)
        c[i] = (uint32_t)REAL(counter)[i];
    for (int i = 0; i < 2; i++)
        k[i] = (uint32_t)REAL(key)[i];
    syn_philox(c, k, block);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, 4));
    for (int i = 0; i < 4; i++)
        REAL(out)[i] = (double)block[i];
    UNPROTECT(1);
    return out;
}
