/* Chooses how a device finds neighbours in random libraries, by the time that each way is
   expected to take, as core/edm/ccm_plan.h does for processors: one list of the nearest
   library rows for all libraries, or a search in each library by itself. */
#ifndef SYN_GPU_EDM_CCM_PLAN_CUH
#define SYN_GPU_EDM_CCM_PLAN_CUH

#include "core/edm/ccm/ccm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace gpu {

/* Nanoseconds of an H200, divided by the rows that it works on together. */
constexpr double CCM_ROW = 4.6e-4;     /* a row of a library, in neighbours.cuh, */
constexpr double CCM_TERM = 4.8e-5;    /* a term of its distance, */
constexpr double CCM_KEEP = 0.14;      /* twice the rows, for each neighbour */
constexpr double CCM_EXACT = 3.3e-3;   /* a term, where there are fewer rows than this: */
constexpr double CCM_FEW = 4096;
constexpr double CCM_LOOK = 0.02;      /* at one entry of a list, for 32 libraries */
constexpr double CCM_TAKE = 0.3;       /* neighbours into a library */
constexpr double CCM_REST = 1.4e-3;    /* a term, for a neighbour that is in no list */
constexpr double CCM_DIRECT = 1.55e-4; /* a term, in ccm_direct.cuh, */
constexpr double CCM_ORDER = 0.017;    /* and for each pair of neighbours */
constexpr double CCM_LAUNCH = 2e5;     /* a search in a library by itself, at least */

/* The question, and what a device can do. */
struct ccm_task {
    const syn_ccm_options &options;
    double views, n, predicted, dims;  /* rows of all libraries, and predicted rows */
    uint32_t together;                 /* most neighbours that ccm_direct.cuh finds */
    double slower;                     /* double precision, than on an H200 */
};

struct ccm_choice {
    bool together = false;      /* ccm_direct.cuh searches the libraries without lists, */
    bool lists_too = false;     /* and makes the lists */
    uint32_t most = 0;          /* entries of a list; 0 where no library needs it */
    std::vector<char> direct;   /* of each size: whether libraries go without lists */
    double cost = 0;            /* nanoseconds */
};

/* For the `k` nearest of `n` rows, for one row. */
inline double search_cost(const ccm_task &t, double n, double k)
{
    if (n < CCM_FEW)
        return CCM_EXACT * n * (t.dims + 2);
    double slower = k <= 64 ? 1 : k <= 128 ? 2.5 : 11;
    return n * (CCM_ROW + CCM_TERM * t.dims) +
           slower * CCM_KEEP * k * std::log2(std::max(n / k, 2.0));
}

/* The same by the search of ccm_direct.cuh. */
inline double together_cost(const ccm_task &t, double n, double k)
{
    double crowded = 1 + k * k / 1024;  /* as shared memory has room for fewer rows */
    return CCM_DIRECT * n * (t.dims + 2) * crowded + CCM_ORDER * k * k;
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

/* One library of `size` rows, from lists. */
inline double listed_cost(const ccm_task &t, double size, uint32_t most)
{
    double k = t.options.k, f = size / t.n;
    double depth = std::min((k + 3 * std::sqrt(k) + 3) / f, (double) most);
    double beyond = most < t.n ? missing(t.options.k, most, f) : 0;
    return t.predicted * (CCM_TAKE + CCM_LOOK * depth / 32 +
                          CCM_REST * t.slower * beyond * t.n * (t.dims + 2));
}

inline double direct_cost(const ccm_task &t, double size, bool together)
{
    if (together)
        return t.predicted * (CCM_TAKE + together_cost(t, size, t.options.k));
    return CCM_LAUNCH + t.predicted * (CCM_TAKE + search_cost(t, size, t.options.k));
}

/* With lists of `most`, and other libraries searched together or not. */
inline ccm_choice with_lists(const ccm_task &t, uint32_t most, bool together)
{
    const syn_ccm_options &o = t.options;
    ccm_choice out;
    out.together = together;
    out.most = most;
    if (most > 0) {
        double search = search_cost(t, t.n, most), other = together_cost(t, t.n, most);
        out.lists_too = most <= t.together && other < search;
        out.cost += t.predicted * (out.lists_too ? other : search);
    }
    for (uint32_t s = 0; s < o.sizes; s++) {
        double size = std::min((double) o.size[s], t.n);
        double libraries = t.views * (size < t.n ? o.samples : 1);
        double direct = direct_cost(t, size, together);
        double listed = most > 0 ? listed_cost(t, size, most) : direct;
        out.direct.push_back(most == 0 || direct < listed);
        out.cost += libraries * std::min(direct, listed);
    }
    return out;
}

inline ccm_choice choose_lists(const ccm_task &t)
{
    ccm_choice best = with_lists(t, 0, false);
    auto consider = [&](uint32_t most) {
        for (int together = 0; together <= (t.options.k <= t.together); together++) {
            ccm_choice now = with_lists(t, most, together);
            if (now.cost < best.cost)
                best = now;
        }
    };
    uint32_t n = (uint32_t) t.n;
    consider(0);
    for (uint32_t most = std::min(t.options.k, n);; most = most < n / 2 ? most * 2 : n) {
        consider(most);
        consider(std::min(most / 2 * 3, n));
        if (most == n)
            break;
    }
    if (std::count(best.direct.begin(), best.direct.end(), 0) == 0)
        best.most = 0;
    return best;
}

}  // namespace gpu

#endif
