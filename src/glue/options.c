/* Reads options by name from the list that R passes, and refuses those that are missing
   or out of range. */
#include "glue/options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "glue/random.h"
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

const int *glue_option_gpus(SEXP options, int *n)
{
    SEXP value = glue_option(options, "gpus");
    int some = TYPEOF(value) == INTSXP && XLENGTH(value) >= 1;
    if (value != R_NilValue && !some)
        glue_refuse_option("gpus", value, "integers or NULL");
    *n = some ? Rf_length(value) : 0;
    return some ? INTEGER_RO(value) : NULL;
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
