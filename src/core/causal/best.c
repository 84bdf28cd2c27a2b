/* Keeps, of several maps of the same series, the best correlation of each pair and its
   lag, and counts how many surrogates reach it. */
#include "core/causal/best.h"

#include <math.h>

enum { TILE = 16 };  /* rows of `rho` that are read side by side */

static double *column_of(const syn_map_columns *to, uint32_t j)
{
    return to ? to->value + (size_t)(to->column[j] - 1) * to->rows : NULL;
}

static size_t tile_end(size_t first, size_t n)
{
    return n - first < TILE ? n : first + TILE;
}

void syn_map_best(const syn_map_found *found, double Tp, int first,
                  const syn_map_columns *best, const syn_map_columns *lag)
{
    for (size_t i0 = 0; i0 < found->n; i0 += TILE)
        for (uint32_t j = 0; j < found->targets; j++) {
            double *b = column_of(best, j), *l = column_of(lag, j);
            for (size_t i = i0; i < tile_end(i0, found->n); i++) {
                float rho = found->rho[i * found->targets + j];
                int better = !isnan(rho) && (first || isnan(b[i]) || rho > b[i]);
                if (!better && !first)
                    continue;
                b[i] = better ? (double)rho : best->missing;
                if (l)
                    l[i] = better ? Tp : lag->missing;
            }
        }
}

void syn_map_convergence(const syn_map_found *small, double Tp,
                         const syn_map_columns *best, const syn_map_columns *lag,
                         const syn_map_columns *convergence)
{
    for (size_t i0 = 0; i0 < small->n; i0 += TILE)
        for (uint32_t j = 0; j < small->targets; j++) {
            const double *b = column_of(best, j), *l = column_of(lag, j);
            double *c = column_of(convergence, j);
            for (size_t i = i0; i < tile_end(i0, small->n); i++) {
                float rho = small->rho[i * small->targets + j];
                if (isnan(b[i]) || !l || l[i] == Tp)
                    c[i] = isnan(b[i]) || isnan(rho) ? convergence->missing
                                                     : b[i] - (double)rho;
            }
        }
}

void syn_map_count(const double *surrogate, size_t n, uint32_t m, size_t k, int first,
                   const syn_map_columns *rho, const syn_map_columns *count)
{
    for (uint32_t j = 0; j < m; j++) {
        const double *own = column_of(rho, j);
        double *c = column_of(count, j);
        for (size_t i = 0; first && i < n; i++)
            c[i] = 0;
        for (size_t s = 0; s < k; s++) {
            const double *of = surrogate + (s * m + j) * n;
            for (size_t i = 0; i < n; i++)
                c[i] += of[i] >= own[i];  /* false where either is missing */
        }
    }
}
