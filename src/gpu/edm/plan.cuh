/* How the hosts of the filters plan a search: turns, and memory. */
#ifndef SYN_GPU_EDM_PLAN_CUH
#define SYN_GPU_EDM_PLAN_CUH

#include "gpu/edm/turns.cuh"

#include <algorithm>
#include <cmath>

namespace gpu {

constexpr uint32_t FILTER_LEAST = 4096;   /* rows of a library that is worth a filter */
constexpr size_t LIST_BYTES = 48 * 1024;  /* of shared memory, for a block's lists */

inline uint32_t power_from(uint32_t n)
{
    uint32_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

/* A step that is no divisor and spreads the first tiles evenly, however many they are. */
inline uint32_t golden_step(uint32_t tiles)
{
    auto divisor = [](uint32_t a, uint32_t b) {
        while (b > 0) {
            uint32_t rest = a % b;
            a = b;
            b = rest;
        }
        return a;
    };
    uint32_t step = std::max(1u, (uint32_t) (tiles * 0.6180339887498949));
    while (divisor(tiles, step) > 1)
        step++;
    return step;
}

/* Goes through the turns of a search: those near in time, then `factor` times as many
   tiles as before, about. run(last) does one. */
template <class F> void each_turn(tile_turn *t, double factor, F run)
{
    double first = HOME_TILES, seen = first, times = t->tiles / first;
    int turns = std::max(1, (int) std::ceil(std::log(times) / std::log(factor)));
    t->homes = true;
    t->from = t->to = 0;
    run(false);
    for (int i = 0; i < turns; i++) {
        bool last = i + 1 == turns;
        seen *= std::pow(times, 1.0 / turns);
        t->from = t->to;
        t->to = last ? t->tiles
                     : std::max(t->from + 1, std::min(t->tiles, (uint32_t) seen));
        run(last);
    }
}

/* Parts into which a turn's tiles are cut, so that there are blocks enough. */
inline uint32_t parts_of(const tile_turn &t, int processors)
{
    if (t.from == t.to)
        return HOME_TILES;
    return std::min(t.to - t.from,
                    blocks_for(32 * (size_t) processors, tiles_of(t.predicted.n)));
}

inline int device_number(cudaDeviceAttr what)
{
    int device = 0, n = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&n, what, device));
    return n;
}

}  // namespace gpu

#endif
