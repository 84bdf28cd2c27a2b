/* The door of S-maps: predictions dealt out to devices in parts, and models made again on
   the host where a device's are not precise enough. */
#include "gpu/edm/smap.h"

#include "gpu/base/crew.cuh"
#include "gpu/base/slots.cuh"
#include "gpu/edm/smap_device.cuh"

#include <cstdio>

namespace {

enum { MOST_DIMS = 100 };  /* as on the host, which then makes models one at a time */

/* Keeps some parts under way. */
void run_device(const gpu::smap_call &call, int device, int devices, gpu::crew *work)
{
    gpu::smap_device mine(call, device, (uint32_t) devices);
    gpu::smap_slot slot[gpu::SMAP_SLOTS];
    auto next = [&](uint32_t *first) {
        return work->take(mine.part(), call.prediction->n, (uint32_t) devices, first);
    };
    gpu::keep_busy(slot, next, [&](gpu::smap_slot *s) { mine.start(s); },
                   [&](gpu::smap_slot *s) { mine.collect(s); });
}

/* How many targets of the library are known before each; nothing where all are. */
std::vector<uint32_t> count_known(const syn_rows &library, const double *target)
{
    std::vector<uint32_t> before(library.n + 1, 0);
    for (uint32_t i = 0; i < library.n; i++)
        before[i + 1] = before[i] + !std::isnan(target[library.row[i]]);
    return before[library.n] == library.n ? std::vector<uint32_t>() : before;
}

/* What the host made for some of the predictions of one theta. */
struct made_again {
    std::vector<uint32_t> at, row;
    std::vector<double> prediction, variance, coefficient, singular;

    made_again(const gpu::smap_call &call, uint32_t theta)
    {
        size_t n = call.prediction->n, unknowns = (size_t) call.points->dims + 1;
        for (uint32_t i = 0; i < n; i++)
            if (call.fate[theta * n + i] == gpu::SMAP_REFUSED) {
                at.push_back(i);
                row.push_back(call.prediction->row[i]);
            }
        prediction.resize(at.size());
        variance.resize(at.size());
        coefficient.resize(call.out->coefficient ? unknowns * at.size() : 0);
        singular.resize(call.out->singular ? unknowns * at.size() : 0);
    }

    syn_smap_result result()
    {
        return {prediction.data(), variance.data(),
                coefficient.empty() ? nullptr : coefficient.data(),
                singular.empty() ? nullptr : singular.data()};
    }

    void put(const std::vector<double> &from, size_t rows, size_t n, double *to) const
    {
        for (size_t j = 0; to && j < rows; j++)
            for (size_t i = 0; i < at.size(); i++)
                to[j * n + at[i]] = from[j * at.size() + i];
    }
};

syn_status make_again(const gpu::smap_call &call, uint32_t theta, const syn_watch *watch)
{
    made_again some(call, theta);
    if (some.at.empty())
        return SYN_OK;
    syn_smap_options options = *call.options;
    options.theta += theta;
    options.thetas = 1;
    options.way = SYN_SMAP_ONE;
    syn_rows rows = {(uint32_t) some.row.size(), some.row.data()};
    syn_smap_result result = some.result();
    syn_status status = syn_smap(call.points, call.library, &rows, call.target, &options,
                                 watch, &result);
    size_t n = call.prediction->n, unknowns = (size_t) call.points->dims + 1;
    auto local = [&](double *to) { return to ? to + theta * unknowns * n : nullptr; };
    some.put(some.prediction, 1, n, call.out->prediction + theta * n);
    some.put(some.variance, 1, n, call.out->variance + theta * n);
    some.put(some.coefficient, unknowns, n, local(call.out->coefficient));
    some.put(some.singular, unknowns, n, local(call.out->singular));
    return status;
}

/* Whether devices make the models: there are enough neighbours for normal equations. */
bool for_devices(const gpu::smap_call &call)
{
    uint32_t n = std::min(call.library->n, call.options->k), dims = call.points->dims;
    return dims <= MOST_DIMS && n >= 2 * (dims + 1) && call.prediction->n > 0;
}

/* Ends the call unless the host's part went well. */
void refuse(syn_status status)
{
    if (status == SYN_NO_MEMORY)
        throw gpu::refusal(status, "the host has no memory left");
    if (status != SYN_OK)
        throw gpu::refusal(status, "");
}

void run(gpu::smap_call &call, const int *devices, int n_devices, const syn_watch *watch)
{
    gpu::crew work;
    work.start(devices, n_devices, [&](int device) {
        run_device(call, device, n_devices, &work);
    });
    work.wait(call.prediction->n, watch, "predictions");
    for (uint32_t theta = 0; theta < call.options->thetas; theta++) {
        syn_status status = make_again(call, theta, watch);
        refuse(status);
    }
}

}  // namespace

extern "C" syn_status syn_gpu_smap(const syn_points *points, const syn_rows *library,
                                   const syn_rows *prediction, const double *target,
                                   const syn_smap_options *options, const int *devices,
                                   int n_devices, const syn_watch *watch,
                                   const syn_smap_result *out, char *reason)
{
    gpu::outcome end = gpu::outcome_of([&] {
        gpu::check_request(devices, n_devices);
        gpu::device_scope scope;
        std::vector<unsigned char> fate((size_t) options->thetas * prediction->n,
                                        gpu::SMAP_REFUSED);
        gpu::smap_call call = {points, library, prediction, target, options, out,
                               fate.data(), count_known(*library, target),
                               /* With one less than the library one may be left out. */
                               (uint64_t) options->k + 1 < library->n};
        if (for_devices(call))
            run(call, devices, n_devices, watch);
        else
            refuse(syn_smap(points, library, prediction, target, options, watch, out));
    });
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}
