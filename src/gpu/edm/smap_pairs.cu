/* The door of pairwise S-maps. Libraries are dealt out to devices in batches, for one
   group of targets after the other; the few predictions that kernels leave are made on
   the host (core/edm/smap_rest.h). */
#include "gpu/edm/smap_pairs.h"

#include "gpu/base/crew.cuh"
#include "gpu/edm/pairs_device.cuh"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace {

enum { MOST_DIMS = 30 };  /* there are kernels for no more coordinates */

/* A call. */
struct request {
    const syn_series *libraries, *targets;
    const syn_smap_pairs_options *options;
    const int *devices;
    int n_devices;
    const syn_watch *watch;
    const syn_smap_pairs *out;
    gpu::pairs_shape shape;
};

/* What kernels leave of a library. */
struct left_over {
    uint32_t library, known, made;
    std::vector<uint32_t> step;
    std::vector<double> sum;
};

/* Ends with another status than SYN_OK. */
void check_status(syn_status status)
{
    if (status != SYN_OK)
        throw gpu::refusal(status, "%s",
                           status == SYN_NO_MEMORY ? "the host has no memory left" : "");
}

/* What core gives, and takes back. */
struct targets_order {
    syn_smap_order order;
    explicit targets_order(const syn_series &targets)
    {
        syn_status status = syn_smap_order_make(&targets, &order);
        if (status != SYN_OK)
            syn_smap_order_free(&order);
        check_status(status);
    }
    ~targets_order() { syn_smap_order_free(&order); }
    targets_order(const targets_order &) = delete;
    targets_order &operator=(const targets_order &) = delete;
};

struct target_group {
    syn_smap_group group;
    target_group(const syn_series &targets, const syn_smap_order &order, uint32_t first)
    {
        syn_status status = syn_smap_group_make(&targets, &order, first, &group);
        if (status != SYN_OK)
            syn_smap_group_free(&group);
        check_status(status);
    }
    ~target_group() { syn_smap_group_free(&group); }
    target_group(const target_group &) = delete;
    target_group &operator=(const target_group &) = delete;
};

/* Whether the targets of a group are known, for each row. */
std::vector<unsigned char> known_rows(const request &r, const syn_smap_group &group)
{
    std::vector<unsigned char> known(r.shape.padded, 0);
    const double *y = group.value + (size_t) group.target[0] * r.shape.steps;
    for (uint32_t row = 0; row < r.shape.rows; row++)
        known[row] = !std::isnan(y[(int64_t) r.shape.first + row + r.shape.Tp]);
    return known;
}

/* Keeps what is needed to go on with a library. */
left_over leave(const request &r, uint32_t library, const gpu::pair_library &counts,
                const double *sum, size_t columns,
                const std::vector<unsigned char> &state)
{
    left_over rest = {library, counts.compared, counts.made, {},
                      std::vector<double>(sum, sum + SYN_SMAP_SUMS * columns)};
    for (uint32_t row = 0; row < r.shape.rows; row++)
        if (state[row] == gpu::PAIR_LEFT)
            rest.step.push_back(r.shape.first + row);
    return rest;
}

void finish_on_host(const request &r, const syn_smap_group &group,
                    const std::vector<left_over> &left, size_t columns)
{
    std::vector<syn_smap_rest> rest;
    for (const left_over &one : left)
        rest.push_back({one.library, (uint32_t) one.step.size(), one.step.data(),
                        one.sum.data(), columns, one.known, one.made});
    uint32_t n = (uint32_t) rest.size();
    check_status(syn_smap_pairs_rest(r.libraries, r.targets, r.options, &group,
                                     rest.data(), n, r.watch, r.out));
}

void predict_group(const request &r, const syn_smap_group &group)
{
    std::vector<unsigned char> known = known_rows(r, group);
    std::vector<left_over> left;
    size_t columns = 0;
    gpu::crew work;
    auto finish = [&](uint32_t library, const gpu::pair_library &counts,
                      const double *sum, size_t wide,
                      const std::vector<unsigned char> &state) {
        size_t at = (size_t) library * r.targets->n;
        if (counts.left == 0) {
            syn_smap_sums_finish(&group, sum, wide, counts.compared, counts.made,
                                 r.out->rho + at, r.out->strength + at);
            return;
        }
        left_over rest = leave(r, library, counts, sum, wide, state);
        std::lock_guard<std::mutex> hold(work.lock);
        left.push_back(std::move(rest));
        columns = wide;
    };
    work.start(r.devices, r.n_devices, [&](int device) {
        gpu::pairs_worker worker(r.shape, device);
        worker.put_targets(*r.targets, group, known);
        worker.run(*r.libraries, work, (uint32_t) r.n_devices, finish);
    });
    work.wait(r.libraries->n, r.watch, "pairs");
    if (!left.empty())
        finish_on_host(r, group, left, columns);
}

void predict_all(const request &r)
{
    size_t all = (size_t) r.libraries->n * r.targets->n;
    for (size_t i = 0; i < all; i++)
        r.out->rho[i] = r.out->strength[i] = NAN;
    if (r.shape.rows < 2 || all == 0)
        return;
    targets_order order(*r.targets);
    for (uint32_t first = 0; first < r.targets->n;) {
        target_group group(*r.targets, order.order, first);
        predict_group(r, group.group);
        first += group.group.n;
    }
}

}  // namespace

extern "C" syn_status syn_gpu_smap_pairs(const syn_series *libraries,
                                         const syn_series *targets,
                                         const syn_smap_pairs_options *options,
                                         const int *devices, int n_devices,
                                         const syn_watch *watch,
                                         const syn_smap_pairs *out, char *reason)
{
    gpu::outcome end = gpu::outcome_of([&] {
        gpu::check_request(devices, n_devices);
        gpu::device_scope scope;
        request r = {libraries, targets, options, devices, n_devices, watch, out,
                     gpu::shape_of(libraries->steps, *options)};
        if (options->E > MOST_DIMS)
            check_status(syn_smap_pairs_make(libraries, targets, options, watch, out));
        else
            predict_all(r);
    });
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}
