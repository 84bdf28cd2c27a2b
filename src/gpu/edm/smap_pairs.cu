/* The door of pairwise S-maps: groups of targets that are known at the same steps, and
   for each of them libraries that are dealt out to devices in batches. */
#include "gpu/edm/smap_pairs.h"

#include "gpu/base/crew.cuh"
#include "gpu/edm/pairs_device.cuh"

#include <cmath>
#include <cstdio>
#include <cstring>

using gpu::check;

namespace {

/* What kernels leave to the host: libraries, and the group of targets. */
struct left_over {
    uint32_t library;
    std::vector<uint32_t> step;
};

/* A group: targets that are known at the same steps. */
struct target_group {
    std::vector<uint32_t> target;
    std::vector<unsigned char> known;  /* [padded] of rows */
};

bool same_gaps(const syn_series &series, uint32_t a, uint32_t b)
{
    const double *x = series.value + (size_t) a * series.steps;
    const double *y = series.value + (size_t) b * series.steps;
    for (uint32_t t = 0; t < series.steps; t++)
        if (std::isnan(x[t]) != std::isnan(y[t]))
            return false;
    return true;
}

std::vector<target_group> make_groups(const syn_series &targets,
                                      const gpu::pairs_shape &shape)
{
    std::vector<target_group> groups;
    for (uint32_t i = 0; i < targets.n; i++) {
        target_group *mine = nullptr;
        for (target_group &group : groups)
            if (!mine && same_gaps(targets, group.target[0], i))
                mine = &group;
        if (!mine) {
            groups.emplace_back();
            mine = &groups.back();
            mine->known.assign(shape.padded, 0);
            const double *y = targets.value + (size_t) i * targets.steps;
            for (uint32_t row = 0; row < shape.rows; row++)
                mine->known[row] = !std::isnan(y[(int64_t) shape.first + row + shape.Tp]);
        }
        mine->target.push_back(i);
    }
    return groups;
}

double correlation(const double *sum, size_t columns, double n)
{
    double p = sum[columns] - sum[0] * sum[0] / n;
    double y = sum[3 * columns] - sum[2 * columns] * sum[2 * columns] / n;
    if (!(n >= 3 && y > 0 && p > 1e-24 * y))
        return NAN;
    double both = sum[4 * columns] - sum[0] * sum[2 * columns] / n;
    double rho = both / (std::sqrt(p) * std::sqrt(y));
    return rho > 1 ? 1 : rho < -1 ? -1 : rho;
}

void make_on_host(const syn_series &libraries, const syn_series &targets,
                  const target_group &group, uint32_t library,
                  const syn_smap_pairs_options &options, const syn_watch *watch,
                  const syn_smap_pairs &out)
{
    size_t steps = libraries.steps, n = group.target.size();
    std::vector<double> value(n * steps), rho(n), strength(n);
    for (size_t i = 0; i < n; i++)
        std::memcpy(&value[i * steps], targets.value + group.target[i] * steps,
                    steps * sizeof(double));
    syn_series one = {1, libraries.steps, libraries.value + library * steps};
    syn_series all = {(uint32_t) n, libraries.steps, value.data()};
    syn_smap_pairs to = {rho.data(), strength.data()};
    syn_status status = syn_smap_pairs_make(&one, &all, &options, watch, &to);
    if (status != SYN_OK)
        throw gpu::refusal(status, "%s", "");
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t) library * targets.n + group.target[i];
        out.rho[at] = rho[i];
        out.strength[at] = strength[i];
    }
}

}  // namespace

extern "C" syn_status syn_gpu_smap_pairs(const syn_series *libraries,
                                         const syn_series *targets,
                                         const syn_smap_pairs_options *options,
                                         const int *devices, int n_devices,
                                         const syn_watch *watch, const syn_smap_pairs *out,
                                         char *reason)
{
    gpu::outcome end = gpu::outcome_of([&] {
        gpu::check_request(devices, n_devices);
        gpu::device_scope scope;
        size_t all = (size_t) libraries->n * targets->n;
        for (size_t i = 0; i < all; i++)
            out->rho[i] = out->strength[i] = NAN;
        gpu::pairs_shape shape = gpu::shape_of(libraries->steps, *options);
        if (shape.rows < 2 || all == 0)
            return;
        for (const target_group &group : make_groups(*targets, shape)) {
            std::vector<left_over> left;
            gpu::crew work;
            auto finish = [&](uint32_t library, const gpu::pair_library &counts,
                              const double *sum, size_t columns,
                              const unsigned char *state) {
                if (counts.left > 0) {
                    std::lock_guard<std::mutex> hold(work.lock);
                    left.push_back({library, {}});
                    for (uint32_t row = 0; row < shape.rows; row++)
                        if (state[row] == gpu::PAIR_LEFT)
                            left.back().step.push_back(shape.first + row);
                }
                double made = counts.made;
                for (size_t i = 0; i < group.target.size(); i++) {
                    size_t at = (size_t) library * targets->n + group.target[i];
                    out->rho[at] = correlation(sum + i, columns, counts.compared);
                    out->strength[at] =
                        made > 0 ? sum[5 * columns + i] / counts.scale / made : NAN;
                }
            };
            work.start(devices, n_devices, [&](int device) {
                gpu::pairs_worker worker(shape, device);
                worker.put_targets(*targets, group.target, group.known);
                worker.run(*libraries, work, n_devices, finish);
            });
            work.wait(libraries->n, watch, "pairs");
            for (const left_over &one : left)
                make_on_host(*libraries, *targets, group, one.library, *options, watch,
                             *out);
        }
    });
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}
