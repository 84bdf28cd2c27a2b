/* Cross mapping of several views of the same points, one after the other. */
#include <stdlib.h>
#include <string.h>

#include "core/edm/ccm/skill.h"

/* The sizes of a view's libraries: no more than it has rows. */
static void fit_sizes(const syn_ccm_options *options, uint32_t rows, uint32_t *size)
{
    for (uint32_t s = 0; s < options->sizes; s++)
        size[s] = options->size[s] < rows ? options->size[s] : rows;
}

static size_t libraries_of(const syn_ccm_view *view, const syn_ccm_options *options)
{
    size_t n = 0;
    for (uint32_t s = 0; s < options->sizes; s++)
        n += options->size[s] < view->library.n ? options->samples : 1;
    return n;
}

/* Puts the skill of one view among that of all, from library `at` on. */
static void put_skill(const syn_ccm_skill *one, size_t at, syn_ccm_skill *out)
{
    size_t bytes = one->n * sizeof *one->rho;
    for (size_t t = 0; t < out->targets; t++) {
        memcpy(out->rho + t * out->n + at, one->rho + t * one->n, bytes);
        memcpy(out->mae + t * out->n + at, one->mae + t * one->n, bytes);
        memcpy(out->rmse + t * out->n + at, one->rmse + t * one->n, bytes);
    }
}

syn_status syn_ccm_views(const syn_points *points, const syn_ccm_view *view,
                         uint32_t views, const syn_rows *prediction, uint32_t targets,
                         const syn_ccm_options *options, const syn_watch *watch,
                         syn_ccm_skill *out)
{
    size_t n = 0, at = 0;
    for (uint32_t v = 0; v < views; v++)
        n += libraries_of(&view[v], options);
    uint32_t *size = malloc((options->sizes + (size_t)1) * sizeof *size);
    syn_status status = syn_ccm_skill_make(n, targets, out);
    if (!size)
        status = SYN_NO_MEMORY;
    for (uint32_t v = 0; v < views && status == SYN_OK; v++) {
        syn_ccm_options fitting = *options;
        syn_ccm_skill one;
        fit_sizes(options, view[v].library.n, size);
        fitting.size = size;
        status = syn_ccm(points, &view[v].library, prediction, view[v].target, targets,
                         &fitting, watch, &one);
        if (status == SYN_OK)
            put_skill(&one, at, out);
        at += one.n;
        syn_ccm_free(&one);
    }
    free(size);
    return status;
}
