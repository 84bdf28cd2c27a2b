/* The memory and the set-up of a search for neighbours: tables, rows, and the values
   of one library. The search itself is in neighbours.h. */
#include "core/causal/search.h"

#include <math.h>

enum { BEFORE = 3 };  /* coordinates are gathered in fours */

syn_status syn_map_table_make(const unsigned char *wanted, uint32_t room,
                              syn_arrays *memory, syn_map_table *out)
{
    *out = (syn_map_table){.room = room};
    SYN_ARRAY(memory, out->observed, room);
    for (uint32_t e = 0; e < SYN_MAP_DIMS; e++)
        if (wanted[e])
            SYN_ARRAY(memory, out->of[e], (size_t)room * (e + 2));
    return SYN_OK;
}

syn_status syn_map_rows_make(const syn_map_layout *layout, syn_arrays *memory,
                             syn_map_rows *out)
{
    *out = (syn_map_rows){0};
    SYN_ARRAY(memory, out->place, layout->steps);
    for (uint32_t p = 0; p < layout->places; p++)
        if (layout->use[p] & SYN_MAP_PREDICTED)
            out->place[out->n++] = p;
    return SYN_OK;
}

syn_status syn_map_search_make(const syn_map_layout *layout,
                               const syn_map_options *options,
                               const unsigned char *wanted, syn_arrays *memory,
                               syn_map_search *out)
{
    size_t columns = (size_t)layout->places + SYN_MAP_BESIDE;
    *out = (syn_map_search){
        .layout = layout, .exclusion = options->exclusion, .Tp = options->Tp};
    for (uint32_t e = 0; e < SYN_MAP_DIMS; e++) {
        out->wanted[e] = wanted[e];
        out->E = wanted[e] ? e + 1 : out->E;
    }
    size_t pooled = (2 * (size_t)out->E + 1 + BEFORE) * SYN_MAP_STRIDE;
    float *floats;
    SYN_ARRAY(memory, floats, 4 * columns + pooled + BEFORE);
    SYN_ARRAY(memory, out->place, layout->steps);
    SYN_ARRAY(memory, out->pool, SYN_MAP_POOL + SYN_MAP_BESIDE);
    SYN_ARRAY(memory, out->seen, columns);
    out->x = floats + BEFORE;
    out->library = out->x + columns;
    out->start = out->library + columns;
    out->sum = out->start + columns;
    out->coordinate = out->sum + columns;
    out->squared = out->coordinate + (out->E + 1 + BEFORE) * SYN_MAP_STRIDE;
    for (uint32_t p = 0; p < layout->places; p++)
        if (layout->step[p] >= 0)
            out->place[layout->step[p]] = p;
    return SYN_OK;
}

void syn_map_search_start(syn_map_search *search, const syn_map_libraries *libraries,
                          uint32_t i)
{
    const syn_map_layout *layout = search->layout;
    const float *value = libraries->value + (size_t)i * layout->steps;
    const unsigned char *drawn =
        libraries->drawn ? libraries->drawn + (size_t)i * layout->steps : NULL;
    for (uint32_t p = 0; p < layout->places + SYN_MAP_BESIDE; p++) {
        int32_t step = p < layout->places ? layout->step[p] : -1;
        int in = step >= 0 && layout->use[p] & SYN_MAP_LIBRARY && (!drawn || drawn[step]);
        search->x[p] = step >= 0 ? value[step] : NAN;
        search->library[p] = search->start[p] = in ? 0 : NAN;
    }
    search->at = SYN_MAP_NOWHERE;
    search->n = 0;
}

/* ---- the best skills ----

   Keeps, of several maps of the same series, the best correlation of each pair and its
   lag, and counts how many surrogates reach it. */

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
