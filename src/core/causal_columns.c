#include "core/causal_map.h"

#include <math.h>

#include "core/parallel.h"

enum { TILE = 16 };  /* floats of a line of the cache, which is read once */

typedef struct transposition {
    const float *rho;
    size_t n;
    uint32_t targets;
    const syn_map_columns *to;
} transposition;

static void one_tile(const transposition *t, size_t i0, size_t i1, uint32_t j0,
                     uint32_t j1)
{
    double tile[TILE][TILE];
    for (size_t i = i0; i < i1; i++)
        for (uint32_t j = j0; j < j1; j++) {
            float rho = t->rho[i * t->targets + j];
            tile[j - j0][i - i0] = isnan(rho) ? t->to->missing : (double)rho;
        }
    for (uint32_t j = j0; j < j1; j++) {
        double *column = t->to->value + (size_t)(t->to->column[j] - 1) * t->to->rows;
        for (size_t i = i0; i < i1; i++)
            column[i] = tile[j - j0][i - i0];
    }
}

static syn_status some_targets(void *context, size_t item, int worker)
{
    const transposition *t = context;
    uint32_t j0 = (uint32_t)item * TILE;
    uint32_t j1 = t->targets - j0 < TILE ? t->targets : j0 + TILE;
    (void)worker;
    for (size_t i = 0; i < t->n; i += TILE)
        one_tile(t, i, t->n - i < TILE ? t->n : i + TILE, j0, j1);
    return SYN_OK;
}

syn_status syn_map_write(const float *rho, size_t n, uint32_t targets, int threads,
                         const syn_map_columns *to)
{
    transposition t = {rho, n, targets, to};
    return syn_parallel_for((targets + TILE - 1) / TILE, threads, NULL, "", some_targets,
                            &t);
}

size_t syn_map_links(const double *rho, size_t rows, size_t columns,
                     const syn_map_bounds *bounds, double *at)
{
    size_t n = 0;
    for (size_t j = 0; j < columns; j++) {
        double least = bounds->least[j], floor = bounds->floors[j];
        const double *column = rho + j * rows;
        for (size_t i = 0; i < rows; i++) {
            int is = floor > least ? column[i] > floor : column[i] >= least;
            if (!is || i + 1 == (size_t)bounds->own[j])
                continue;
            if (at)
                at[n] = (double)(j * rows + i + 1);
            n++;
        }
    }
    return n;
}
