/* Draws keys from R's generator, so that set.seed() decides all random numbers, and
   gives R the counter-based numbers. */
#include "glue/random.h"

#include <R_ext/Random.h>
#include <R_ext/Utils.h>

#include "core/base/random.h"
#include "glue/require.h"

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
