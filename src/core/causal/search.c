/* The memory and the set-up of a search for neighbours: tables, rows, and the values
   of one library. The search itself is in neighbours.h. */
#include "core/causal/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BEFORE = 3 };  /* coordinates are gathered in fours */

syn_status syn_map_table_make(const unsigned char *wanted, uint32_t room,
                              syn_map_table *out)
{
    size_t each = 0;
    *out = (syn_map_table){.room = room};
    for (uint32_t e = 0; e < SYN_MAP_DIMS; e++)
        each += wanted[e] ? e + 2 : 0;
    out->observed = malloc(room * sizeof *out->observed + 1);
    out->memory = malloc(each * room * sizeof *out->memory + 1);
    if (!out->observed || !out->memory)
        return SYN_NO_MEMORY;
    syn_map_neighbour *next = out->memory;
    for (uint32_t e = 0; e < SYN_MAP_DIMS; e++)
        if (wanted[e]) {
            out->of[e] = next;
            next += (size_t)room * (e + 2);
        }
    return SYN_OK;
}

void syn_map_table_free(syn_map_table *table)
{
    free(table->observed);
    free(table->memory);
    *table = (syn_map_table){0};
}

syn_status syn_map_rows_make(const syn_map_layout *layout, syn_map_rows *out)
{
    *out = (syn_map_rows){.place = malloc(layout->steps * sizeof *out->place + 1)};
    if (!out->place)
        return SYN_NO_MEMORY;
    for (uint32_t p = 0; p < layout->places; p++)
        if (layout->use[p] & SYN_MAP_PREDICTED)
            out->place[out->n++] = p;
    return SYN_OK;
}

void syn_map_rows_free(syn_map_rows *rows)
{
    free(rows->place);
    *rows = (syn_map_rows){0};
}

static void place_steps(syn_map_search *s)
{
    for (uint32_t p = 0; p < s->layout->places; p++)
        if (s->layout->step[p] >= 0)
            s->place[s->layout->step[p]] = p;
}

syn_status syn_map_search_make(const syn_map_layout *layout,
                               const syn_map_options *options,
                               const unsigned char *wanted, syn_map_search *out)
{
    size_t columns = (size_t)layout->places + SYN_MAP_BESIDE;
    *out = (syn_map_search){
        .layout = layout, .exclusion = options->exclusion, .Tp = options->Tp};
    for (uint32_t e = 0; e < SYN_MAP_DIMS; e++) {
        out->wanted[e] = wanted[e];
        out->E = wanted[e] ? e + 1 : out->E;
    }
    size_t pooled = (2 * (size_t)out->E + 1 + BEFORE) * SYN_MAP_STRIDE;
    float *floats = out->memory =
        calloc(4 * columns + pooled + BEFORE, sizeof *floats);
    out->place = malloc(layout->steps * sizeof *out->place + 1);
    out->pool = malloc((SYN_MAP_POOL + SYN_MAP_BESIDE) * sizeof *out->pool);
    out->seen = calloc(columns, sizeof *out->seen);
    if (!floats || !out->place || !out->pool || !out->seen)
        return SYN_NO_MEMORY;
    out->x = floats + BEFORE;
    out->library = out->x + columns;
    out->start = out->library + columns;
    out->sum = out->start + columns;
    out->coordinate = out->sum + columns;
    out->squared = out->coordinate + (out->E + 1 + BEFORE) * SYN_MAP_STRIDE;
    place_steps(out);
    return SYN_OK;
}

void syn_map_search_free(syn_map_search *search)
{
    free(search->memory);
    free(search->place);
    free(search->pool);
    free(search->seen);
    *search = (syn_map_search){0};
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
