/* S-maps of all pairs: passes both sides to core/edm/smap/pairs.h, or to GPUs. */
#include "glue/glue.h"

#include <math.h>

#include "core/edm/smap/pairs.h"
#include "glue/edm.h"
#include "glue/options.h"
#include "glue/owner.h"
#include "glue/require.h"
#include "glue/watch.h"
#include "gpu/edm/pairs/smap_pairs.h"

static syn_smap_pairs_options read_options(SEXP options)
{
    const int far = 1000000;
    syn_smap_pairs_options out = {
        .E = (uint32_t)glue_option_int(options, "E", 1, 1000),
        .tau = (int32_t)glue_option_int(options, "tau", -far, far),
        .Tp = (int32_t)glue_option_int(options, "Tp", -far, far),
        .exclusion = (uint32_t)glue_option_int(options, "exclusion", 0, 1 << 30),
        .theta = glue_option_number(options, "theta", 0, R_PosInf),
        .ridge = glue_option_number(options, "ridge", 0, R_PosInf),
        .threads = glue_option_threads(options),
        .vector_bits = glue_option_vector_bits(options)};
    require(out.tau != 0, "tau");
    return out;
}

/* A matrix of libraries x targets from one that has the targets of a library side by
   side. */
static SEXP matrix_of(const double *value, const syn_series *libraries,
                      const syn_series *targets)
{
    SEXP out = Rf_allocMatrix(REALSXP, (int)libraries->n, (int)targets->n);
    for (size_t i = 0; i < libraries->n; i++)
        for (size_t j = 0; j < targets->n; j++) {
            double x = value[i * targets->n + j];
            REAL(out)[j * libraries->n + i] = isnan(x) ? NA_REAL : x;
        }
    return out;
}

/* `libraries`, `targets`: double matrices of the same steps x series. Returns matrices of
   libraries x targets, with NA. */
SEXP r_smap_pairs(glue_owner *own, SEXP libraries, SEXP targets, SEXP options)
{
    const char *fields[] = {"rho", "strength", ""};
    syn_series from = glue_series(libraries, 1, "libraries");
    syn_series to = glue_series(targets, 1, "targets");
    syn_smap_pairs_options o = read_options(options);
    glue_gpus gpus = glue_gpus_of(options);
    require(from.steps == to.steps, "steps");
    size_t pairs = (size_t)from.n * to.n;
    syn_smap_pairs result = {glue_hold(own, (pairs + 1) * sizeof(double), NULL),
                             glue_hold(own, (pairs + 1) * sizeof(double), NULL)};
    const syn_watch *watch = glue_watch(own, "Fitting S-maps");
    syn_status status = gpus.n == 0
                            ? syn_smap_pairs_make(&from, &to, &o, watch, &result)
                            : syn_gpu_smap_pairs(&from, &to, &o, gpus.device, gpus.n,
                                                 watch, &result, gpus.reason);
    if (status != SYN_OK)
        return glue_status_because(status, NA_REAL, NA_REAL, gpus.reason);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    SET_VECTOR_ELT(out, 0, matrix_of(result.rho, &from, &to));
    SET_VECTOR_ELT(out, 1, matrix_of(result.strength, &from, &to));
    UNPROTECT(1);
    return out;
}
