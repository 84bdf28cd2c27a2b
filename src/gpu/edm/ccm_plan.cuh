/* Chooses how a device finds neighbours in random libraries, by the time that each way is
   expected to take, as core/edm/ccm_plan.h does for processors: one list of the nearest
   library rows for all libraries, or a search in each library by itself. */
#ifndef SYN_GPU_EDM_CCM_PLAN_CUH
#define SYN_GPU_EDM_CCM_PLAN_CUH

#include "core/edm/ccm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace gpu {

/* Nanoseconds of an H200. */
constexpr double CCM_TERM = 1e-4;   /* a term of a distance, in a search of all rows */
constexpr double CCM_KEEP = 0.05;   /* one more neighbour in order */
constexpr double CCM_LOOK = 0.02;   /* at one entry of a list, for 32 libraries */
constexpr double CCM_BEYOND = 1e-3; /* a term of a distance, for a neighbour that a list
                                       does not hold */
constexpr double CCM_LAUNCH = 2e5;  /* a search in a library by itself, at least */

/* Nanoseconds for the `k` nearest of `n` rows. */
inline double search_cost(double n, double dims, double k)
{
    return CCM_TERM * n * (dims + 2) + CCM_KEEP * k;
}

/* How many neighbours of a row a library with the share `f` of all rows has beyond the
   `most` nearest, of the k that are wanted. */
inline double missing(uint32_t k, uint32_t most, double f)
{
    if (f >= 1)
        return most < k ? k - most : 0;
    double term = most * std::log1p(-f), ratio = std::log(f) - std::log1p(-f), sum = 0;
    for (uint32_t i = 0; i < k && i <= most; i++) {
        sum += (k - i) * std::exp(term);
        term += std::log((double) (most - i) / (i + 1.0)) + ratio;
    }
    return std::min(sum, (double) k);
}

struct ccm_choice {
    uint32_t most = 0;          /* entries of a list; 0 where no library needs it */
    std::vector<char> direct;   /* of each size: whether to search libraries one by one */
    double cost = 0;            /* nanoseconds */
};

/* For `views` of `n` library rows and `predicted` rows in `dims` dimensions, with lists
   of `most`. */
inline ccm_choice with_lists(const syn_ccm_options &o, uint32_t views, uint32_t n,
                             uint32_t predicted, uint32_t dims, uint32_t most)
{
    ccm_choice out;
    out.most = most;
    double k = o.k, all = (double) predicted;
    for (uint32_t s = 0; s < o.sizes; s++) {
        double size = std::min(o.size[s], n), f = size / n;
        double libraries = (double) views * (size < n ? o.samples : 1);
        double depth = std::min((k + 3 * std::sqrt(k) + 3) / f, (double) most);
        double beyond = most < n ? missing(o.k, most, f) : 0;
        double down =
            all * (CCM_LOOK * depth / 32 + CCM_BEYOND * beyond * n * (dims + 2));
        double alone = CCM_LAUNCH + all * search_cost(size, dims, k);
        out.direct.push_back(most == 0 || alone < down);
        out.cost += libraries * std::min(alone, most == 0 ? alone : down);
    }
    if (most > 0)
        out.cost += all * search_cost(n, dims, most);
    return out;
}

inline ccm_choice choose_lists(const syn_ccm_options &o, uint32_t views, uint32_t n,
                               uint32_t predicted, uint32_t dims)
{
    ccm_choice best = with_lists(o, views, n, predicted, dims, 0);
    for (uint32_t most = std::min(o.k, n);; most = most < n / 2 ? most * 2 : n) {
        ccm_choice now = with_lists(o, views, n, predicted, dims, most);
        if (now.cost < best.cost)
            best = now;
        if (most == n)
            break;
    }
    bool any = std::count(best.direct.begin(), best.direct.end(), 0) > 0;
    if (!any)
        best.most = 0;
    return best;
}

}  // namespace gpu

#endif
