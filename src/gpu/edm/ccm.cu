/* The door of cross mapping. Rows are dealt out to the devices in parts, each with all
   libraries; those that are searched by themselves for many neighbours are dealt out one
   by one. Sums over rows come back in chunks, which are added up in the order of the
   rows. */
#include "gpu/edm/ccm.h"

#include "gpu/edm/ccm_worker.cuh"

#include <cstdio>
#include <cstring>

namespace {

using gpu::CCM_CHUNK;
using gpu::ccm_mapping;
using gpu::check;

/* How many neighbours the search of ccm_direct.cuh can find with the shared memory that
   all devices have. */
uint32_t fit_together(uint32_t dims, const int *devices, int n)
{
    uint32_t k = gpu::DIRECT_MOST;
    for (int i = 0; i < n; i++) {
        size_t bytes = (size_t) gpu::shared_limit(devices[i]);
        while (k > 0 && gpu::direct_shared(dims, k) > bytes)
            k--;
    }
    return k;
}

/* How much slower the slowest device is in double precision than those made for it. */
double slower_than_fast(const int *devices, int n)
{
    int most = 2;
    for (int i = 0; i < n; i++)
        most = std::max(most, gpu::double_ratio(devices[i]));
    return most / 2.0;
}

/* Rows of a part: as many as take a twentieth of a second, leave every device some parts,
   and the arrays of one chunk of libraries room. */
void make_parts(ccm_mapping *m, int devices)
{
    size_t most = std::max(m->choice.most, m->options.k), rows = m->prediction.n;
    size_t each = std::min(gpu::CCM_BYTES / (most * sizeof(double)),
                           (size_t) (4e7 * (double) rows / m->choice.cost));
    each = std::min(each, devices > 1 ? rows / (4 * (size_t) devices) : rows);
    each = std::max<size_t>((each + CCM_CHUNK - 1) / CCM_CHUNK, 1) * CCM_CHUNK;
    m->part = (uint32_t) std::min<size_t>(each, (size_t) 1 << 30);
    m->parts = (uint32_t) ((rows + m->part - 1) / m->part);
}

void run(ccm_mapping *m, const int *devices, int n_devices, const syn_watch *watch)
{
    gpu::check_request(devices, n_devices);
    gpu::join_views(m);
    m->choice = gpu::choose_lists({m->options, (double) m->views,
                                   (double) m->library.size(), (double) m->prediction.n,
                                   (double) m->points.dims,
                                   fit_together(m->points.dims, devices, n_devices),
                                   slower_than_fast(devices, n_devices)});
    if (m->choice.together || m->choice.lists_too)
        gpu::make_frame(m);
    gpu::list_libraries(m);
    for (uint32_t v = 0; v < m->views; v++)
        for (size_t t = 0; t < m->targets; t++)
            m->shift.push_back(syn_ccm_middle(m->view[v].target + t * m->points.rows,
                                              &m->prediction));
    gpu::draw_libraries(m, watch);
    make_parts(m, n_devices);
    uint32_t parts = m->in_part > 0 ? m->parts : 0;
    uint32_t items = parts + (uint32_t) m->order.size() - m->in_part;
    gpu::device_scope scope;
    gpu::crew work;
    work.start(devices, n_devices, [&](int) {
        gpu::ccm_worker mine(*m, work);
        for (uint32_t item; work.take(1, items, n_devices, &item) > 0;)
            if (item < parts)
                mine.map_part(item);
            else
                mine.map_alone(m->in_part + item - parts);
    });
    work.wait(items, watch, "rows");
}

}  // namespace

extern "C" syn_status syn_gpu_ccm(const syn_points *points, const syn_ccm_view *view,
                                  uint32_t views, const syn_rows *prediction,
                                  uint32_t targets, const syn_ccm_options *options,
                                  const int *devices, int n_devices,
                                  const syn_watch *watch, syn_ccm_skill *out,
                                  char *reason)
{
    std::memset(out, 0, sizeof *out);
    gpu::outcome end = gpu::outcome_of([&] {
        ccm_mapping m = {*points, view, views, *prediction, targets, *options};
        run(&m, devices, n_devices, watch);
        if (syn_ccm_skill_make(m.libraries.size(), targets, out) != SYN_OK)
            throw std::bad_alloc();
        for (size_t i = 0; i < m.sums.size(); i++)
            syn_ccm_skill_put(m.sums[i].s, out, i % targets * out->n + i / targets);
    });
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}
