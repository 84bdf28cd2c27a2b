/* The window engine's door: checks what it is given, and runs a miner on each device. */
extern "C" {
#include "gpu/episodes/mine.h"
}

#include "gpu/episodes/miner.cuh"

namespace {

using gpu::check;
using gpu::refusal;

/* One call's work. */
struct request {
    const syn_recording *recording;
    const syn_mine_options *options;
    const syn_gpu_call *call;
    syn_episodes *out;
    syn_gpu_mining *report;
    std::vector<uint32_t> units;  /* the frequent ones */
};

/* The first level needs no device. */
void mine_units(request *work)
{
    const syn_recording *r = work->recording;
    for (uint32_t u = 0; u < r->units; u++)
        if (r->first[u + 1] - r->first[u] >= work->options->min_count)
            work->units.push_back(u);
    size_t n = work->units.size();
    syn_episode_level *level = gpu::append_level(work->out, n);
    level->candidates = r->units;
    for (size_t i = 0; i < n; i++) {
        uint32_t u = work->units[i];
        level->parent[i] = level->suffix[i] = level->interval[i] = 0;
        level->unit[i] = u;
        level->count[i] = r->first[u + 1] - r->first[u];
    }
}

/* Where devices cannot reach each other's memory, copies go through the host's. */
void reach_others(const gpu::team &team, unsigned me)
{
    for (unsigned d = 0; d < team.size(); d++) {
        int can = 0;
        if (team.device[d] != team.device[me])
            check(cudaDeviceCanAccessPeer(&can, team.device[me], team.device[d]));
        if (can && cudaDeviceEnablePeerAccess(team.device[d], 0) != cudaSuccess)
            cudaGetLastError();  /* it was enabled before */
    }
}

template <class T> void mine_as_member(request *work, gpu::team *team, unsigned me)
{
    check(cudaSetDevice(team->device[me]));
    reach_others(*team, me);
    bool first = me == 0;
    gpu::miner<T> one(work->recording, work->options, first ? work->call->watch : nullptr,
                      first ? work->out : nullptr, work->units, team, me);
    one.upload();
    one.meet(1);
    double begun = gpu::seconds_now();
    one.mine();
    work->report->candidates[me] = one.own;
    if (first) {
        work->report->seconds = gpu::seconds_now() - begun;
        work->report->parted = one.parted;
        std::copy_n(one.seconds_by_size, SYN_GPU_SIZES + 1,
                    work->report->seconds_by_size);
        work->out->peak_memory = one.peak;
    }
}

/* The caller's thread is the first member: it alone polls the watch. */
template <class T> void mine_as_team(request *work)
{
    unsigned n = (unsigned) work->call->n;
    gpu::team team(work->call->devices, n);
    auto member = [&](unsigned me) {
        try {
            mine_as_member<T>(work, &team, me);
        } catch (const gpu::abandoned &) {
        } catch (...) {
            team.fail(std::current_exception());
        }
    };
    std::vector<std::thread> others;
    try {
        for (unsigned me = 1; me < n; me++)
            others.emplace_back(member, me);
        member(0);
    } catch (...) {
        team.fail(std::current_exception());
    }
    for (std::thread &other : others)
        other.join();
    team.rethrow();
}

/* Windows turn out too wide only when they have been found. */
template <class T> void mine_at_least(request *work)
{
    try {
        mine_as_team<T>(work);
    } catch (const gpu::too_wide &) {
        if constexpr (sizeof(T) == 1)
            mine_at_least<uint16_t>(work);
        else if constexpr (sizeof(T) == 2)
            mine_at_least<uint32_t>(work);
    }
}

void mine(request *work)
{
    gpu::memory_limit limit(work->options->max_memory);
    mine_units(work);
    size_t units = work->units.size();
    if (units > SYN_GPU_UNITS)
        throw refusal(SYN_TOO_LARGE, "there are %zu frequent units, more than %d", units,
                      (int) SYN_GPU_UNITS);
    if (units > 0 && work->options->n_intervals > 0 && work->options->max_size > 1)
        mine_at_least<uint8_t>(work);
    syn_episodes_end(work->out);
}

}  // namespace

syn_status syn_gpu_mine_episodes(const syn_recording *recording,
                                 const syn_mine_options *options, syn_gpu_call *call,
                                 syn_episodes *out, syn_gpu_mining *report)
{
    std::memset(out, 0, sizeof *out);
    std::memset(report, 0, sizeof *report);
    return gpu::status_with(call, [&] {
        request work = {recording, options, call, out, report, {}};
        mine(&work);
    });
}
