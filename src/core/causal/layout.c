/* Lays out the steps of a series for the search: steps that are |tau| apart come next
   to each other, in runs with empty places between them. */
#include "core/causal/map.h"

enum { MOST_PLACES = 1 << 23 };  /* a search of more would take days */

/* Steps that points may be made of. */
typedef struct part {
    uint32_t from, to;
    unsigned char use;
} part;

/* Steps between the coordinates, without their direction. */
static uint32_t gap(const syn_map_options *options)
{
    return options->tau < 0 ? 0 - (uint32_t)options->tau : (uint32_t)options->tau;
}

/* Runs that a part is made of. */
static uint32_t runs(const part *p, uint32_t apart)
{
    return p->to - p->from < apart ? p->to - p->from : apart;
}

/* The run of steps first, first + apart, ..., the other way round where coordinates are
   later steps. */
static void put_run(const part *p, const syn_map_options *options, uint32_t first,
                    syn_map_layout *out)
{
    uint32_t apart = gap(options), n = (p->to - first - 1) / apart + 1;
    for (uint32_t k = 0; k < out->lead; k++) {
        out->step[out->places] = -1;
        out->use[out->places++] = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t step = first + (options->tau < 0 ? i : n - 1 - i) * apart;
        int64_t target = (int64_t)step + options->Tp;
        out->step[out->places] = (int32_t)step;
        out->use[out->places++] = target >= p->from && target < p->to ? p->use : 0;
    }
}

syn_status syn_map_layout_make(uint32_t steps, const syn_map_options *options, int split,
                               syn_map_layout *out)
{
    uint32_t apart = gap(options), half = steps / 2;
    part whole = {0, steps, SYN_MAP_LIBRARY | SYN_MAP_PREDICTED};
    part halves[] = {{0, half, SYN_MAP_LIBRARY}, {half, steps, SYN_MAP_PREDICTED}};
    const part *parts = split ? halves : &whole;
    uint32_t n = split ? 2 : 1;
    uint32_t lead = options->E_max > 1 ? options->E_max - 1 : 1;
    *out = (syn_map_layout){.steps = steps, .E_max = options->E_max, .lead = lead};
    uint64_t places = steps;
    for (uint32_t i = 0; i < n; i++)
        places += (uint64_t)runs(&parts[i], apart) * out->lead;
    if (places > MOST_PLACES)
        return SYN_TOO_LARGE;
    SYN_ARRAY(&out->memory, out->step, (size_t)places);
    SYN_ARRAY(&out->memory, out->use, (size_t)places);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t run = 0; run < runs(&parts[i], apart); run++)
            put_run(&parts[i], options, parts[i].from + run, out);
    return SYN_OK;
}

void syn_map_layout_free(syn_map_layout *layout)
{
    syn_give_back(&layout->memory);
    *layout = (syn_map_layout){0};
}
