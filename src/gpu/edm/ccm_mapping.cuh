/* What all devices that cross-map together have in common: the random libraries, how
   they are searched, and the sums over rows that come back. */
#ifndef SYN_GPU_EDM_CCM_MAPPING_CUH
#define SYN_GPU_EDM_CCM_MAPPING_CUH

#include "gpu/base/outcome.cuh"
#include "gpu/edm/ccm_direct.cuh"
#include "gpu/edm/ccm_plan.cuh"

#include <map>
#include <mutex>
#include <vector>

extern "C" {
#include "core/base/parallel.h"
}

namespace gpu {

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
inline void draw_one(ccm_mapping *m, size_t at, std::vector<unsigned char> *chosen)
{
    ccm_library *one = &m->libraries[m->order[at]];
    const syn_rows &rows = m->view[one->view].library;
    uint32_t *plane = m->plane.data() + at * m->plane_length();
    chosen->assign(rows.n, 0);
    syn_ccm_draw(rows.n, one->size, one->sample, &m->options, chosen->data());
    if (!one->listed)
        one->rows.reserve(one->size);
    for (uint32_t i = 0; i < rows.n; i++) {
        uint32_t row = rows.row[i], has = (*chosen)[i];
        if (one->listed)
            plane[row / 32] |= has << row % 32;
        else if (has)
            one->rows.push_back(row);
    }
}

inline syn_status draw_library(void *context, size_t item, int worker)
{
    ccm_drawing *d = (ccm_drawing *) context;
    try {
        draw_one(d->m, item, &d->chosen[worker]);
    } catch (const std::bad_alloc &) {
        return SYN_NO_MEMORY;
    }
    return SYN_OK;
}

inline void draw_libraries(ccm_mapping *m, const syn_watch *watch)
{
    int threads = std::max(m->options.threads, 1);
    ccm_drawing all = {m, {}};
    all.chosen.resize(threads);
    syn_status status = syn_parallel_for(m->libraries.size(), threads, watch, "libraries",
                                         draw_library, &all);
    if (status == SYN_NO_MEMORY)
        throw std::bad_alloc();
    if (status != SYN_OK)
        throw refusal(status, "%s", "");
}

}  // namespace gpu

#endif
