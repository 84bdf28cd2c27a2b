/* What all devices that cross-map together have in common: the random libraries, how
   they are searched, and the sums over rows that come back. */
#pragma once

extern "C" {
#include "core/base/parallel.h"
}
#include "core/edm/ccm/ccm.h"
#include "gpu/base/outcome.cuh"
#include "gpu/edm/ccm/direct.cuh"

#include <cmath>
#include <map>
#include <mutex>

namespace gpu {

/* ---- lists or searches ---- */

/* Chooses how a device finds neighbours in random libraries, by the time that each way is
   expected to take, as core/edm/ccm/plan.h does for processors: one list of the nearest
   library rows for all libraries, or a search in each library by itself. */

/* Nanoseconds of an H200, divided by the rows that it works on together. */
constexpr double CCM_ROW = 4.6e-4;     /* a row of a library, in gpu/edm/neighbours, */
constexpr double CCM_TERM = 4.8e-5;    /* a term of its distance, */
constexpr double CCM_KEEP = 0.14;      /* twice the rows, for each neighbour */
constexpr double CCM_EXACT = 3.3e-3;   /* a term, where there are fewer rows than this: */
constexpr double CCM_FEW = 4096;
constexpr double CCM_LOOK = 0.02;      /* at one entry of a list, for 32 libraries */
constexpr double CCM_TAKE = 0.3;       /* neighbours into a library */
constexpr double CCM_REST = 1.4e-3;    /* a term, for a neighbour that is in no list */
constexpr double CCM_DIRECT = 1.55e-4; /* a term, in direct.cuh, */
constexpr double CCM_ORDER = 0.017;    /* and for each pair of neighbours */
constexpr double CCM_LAUNCH = 2e5;     /* a search in a library by itself, at least */

/* The question, and what a device can do. */
struct ccm_task {
    const syn_ccm_options &options;
    double views, n, predicted, dims;  /* rows of all libraries, and predicted rows */
    uint32_t together;                 /* most neighbours that direct.cuh finds */
    double slower;                     /* double precision, than on an H200 */
};

struct ccm_choice {
    bool together = false;      /* direct.cuh searches the libraries without lists, */
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

/* The same by the search of direct.cuh. */
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

/* ---- what is mapped ---- */

/* What all devices that cross-map together have in common: the random libraries, how
   they are searched, and the sums over rows that come back. */

/* A random library. */
struct ccm_library {
    uint32_t view, size, sample;
    bool listed;                  /* whether its neighbours are taken from lists */
    std::vector<uint32_t> rows;   /* of the data, unless it is listed */
};

struct ccm_mapping {
    const syn_points &points;
    const syn_ccm_view *view;
    uint32_t views;
    const syn_rows &prediction;
    uint32_t targets;
    const syn_ccm_options &options;
    ccm_choice choice = {};
    std::vector<uint32_t> library = {};  /* rows of all views */
    std::vector<double> centre = {};     /* of `frame` */
    ccm_frame frame = {};
    std::vector<ccm_library> libraries = {};  /* in the order of the skill */
    std::vector<uint32_t> order = {};    /* of the libraries: listed ones come first */
    uint32_t listed = 0, in_part = 0;    /* how many of these are, and how many are mapped
                                            for one part of the rows after the other */
    std::vector<uint32_t> plane = {};    /* [listed][rows / 32 + 1] a bit for each row */
    std::vector<double> shift = {};      /* [views][targets] */
    std::vector<ccm_sums> sums = {};     /* [libraries][targets] */
    uint32_t part = 0, parts = 0;        /* rows of a part, and how many parts */

    std::mutex lock = {};
    /* Parts, for earlier ones. */
    std::map<uint32_t, std::vector<ccm_sums>> waiting = {};
    uint32_t added = 0;                  /* parts */

    size_t plane_length() const { return (size_t) points.rows / 32 + 1; }
    uint32_t chunks(uint32_t rows) const { return (rows + CCM_CHUNK - 1) / CCM_CHUNK; }

    /* Chunks [chunks][in_part][targets] of one part: added once all before it are. */
    void add_part(uint32_t number, std::vector<ccm_sums> &&found)
    {
        std::lock_guard<std::mutex> hold(lock);
        waiting[number] = std::move(found);
        for (auto next = waiting.find(added); next != waiting.end();
             next = waiting.find(++added)) {
            add(next->second, order.data(), in_part);
            waiting.erase(next);
        }
    }

    /* Chunks [chunks][n][targets] of the libraries `which`[n]. */
    void add(const std::vector<ccm_sums> &chunk, const uint32_t *which, size_t n)
    {
        for (size_t i = 0; i < chunk.size(); i++)
            add_sums(&sums[which[i / targets % n] * (size_t) targets + i % targets],
                     chunk[i]);
    }
};

/* Rows that some view's library has. */
inline void join_views(ccm_mapping *m)
{
    std::vector<char> has(m->points.rows, 0);
    for (uint32_t v = 0; v < m->views; v++)
        for (uint32_t i = 0; i < m->view[v].library.n; i++)
            has[m->view[v].library.row[i]] = 1;
    for (uint32_t row = 0; row < m->points.rows; row++)
        if (has[row])
            m->library.push_back(row);
}

/* In single precision, whole numbers of moderate size stay what they are, so that rows
   that are equally far seem so. */
inline void make_frame(ccm_mapping *m)
{
    const syn_points &p = m->points;
    double most = 0, squares = 0;
    if (m->library.empty())
        return;
    bool whole = true;
    for (uint32_t d = 0; d < p.dims; d++) {
        const double *x = p.coordinate + (size_t) d * p.rows;
        double centre = x[m->library[0]], far = 0;
        auto look = [&](uint32_t row) {
            double off = x[row] - centre;
            far = std::max(far, std::fabs(off));
            whole = whole && off == std::rint(off);
        };
        for (uint32_t row : m->library)
            look(row);
        for (uint32_t i = 0; i < m->prediction.n; i++)
            look(m->prediction.row[i]);
        m->centre.push_back(centre);
        most = std::max(most, far);
        squares += far * far;
    }
    if (whole && 4 * most * most * p.dims <= 1 << 24) {
        m->frame = {nullptr, 1, 0, 1, true};
        return;
    }
    int power = 0;
    std::frexp(most, &power);
    double scale = std::ldexp(1, -power);
    m->frame = {nullptr, scale, std::sqrt(squares) * scale * std::ldexp(1, -22),
                1 + (p.dims + 8) * std::ldexp(1, -23), false};
}

inline void list_libraries(ccm_mapping *m)
{
    const syn_ccm_options &o = m->options;
    std::vector<uint32_t> others;
    for (uint32_t v = 0; v < m->views; v++)
        for (uint32_t s = 0, n = m->view[v].library.n; s < o.sizes; s++) {
            uint32_t samples = o.size[s] < n ? o.samples : 1;
            bool listed = !m->choice.direct[s];
            for (uint32_t sample = 0; sample < samples; sample++) {
                (listed ? m->order : others).push_back((uint32_t) m->libraries.size());
                m->libraries.push_back({v, std::min(o.size[s], n), sample, listed, {}});
            }
        }
    m->listed = (uint32_t) m->order.size();
    m->order.insert(m->order.end(), others.begin(), others.end());
    m->in_part = m->choice.together ? (uint32_t) m->order.size() : m->listed;
    m->plane.resize(m->listed * m->plane_length());
    m->sums.resize(m->libraries.size() * m->targets);
}

struct ccm_drawing {
    ccm_mapping *m;
    std::vector<std::vector<unsigned char>> chosen;  /* a worker's */
};

/* Draws number `at` in the order of the libraries. */
inline syn_status draw_library(void *context, size_t at, int worker)
{
    ccm_drawing *d = (ccm_drawing *) context;
    ccm_library *one = &d->m->libraries[d->m->order[at]];
    const syn_rows &rows = d->m->view[one->view].library;
    uint32_t *plane = d->m->plane.data() + at * d->m->plane_length();
    try {
        d->chosen[worker].assign(rows.n, 0);
        if (!one->listed)
            one->rows.reserve(one->size);
    } catch (const std::bad_alloc &) {
        return SYN_NO_MEMORY;
    }
    unsigned char *chosen = d->chosen[worker].data();
    syn_ccm_draw(rows.n, one->size, one->sample, &d->m->options, chosen);
    for (uint32_t i = 0; i < rows.n; i++) {
        uint32_t row = rows.row[i], has = chosen[i];
        if (one->listed)
            plane[row / 32] |= has << row % 32;
        else if (has)
            one->rows.push_back(row);
    }
    return SYN_OK;
}

inline void draw_libraries(ccm_mapping *m, const syn_watch *watch)
{
    int threads = std::max(m->options.threads, 1);
    ccm_drawing all = {m, std::vector<std::vector<unsigned char>>(threads)};
    check_host(syn_parallel_for(m->libraries.size(), threads, watch, "libraries",
                                draw_library, &all));
}

}  // namespace gpu
