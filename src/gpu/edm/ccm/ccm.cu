/* The door of cross mapping. Rows are dealt out to the devices in parts, each with all
   libraries; those that are searched by themselves for many neighbours are dealt out one
   by one. Sums over rows come back in chunks, which are added up in the order of the
   rows. */
extern "C" {
#include "gpu/edm/ccm/ccm.h"
}

#include "gpu/base/crew.cuh"
#include "gpu/base/launch.cuh"
#include "gpu/edm/ccm/mapping.cuh"

#include <cstring>

namespace gpu {

/* ---- one device's share of a cross map ---- */

/* Bytes of one kind that a worker asks for at once, unless one chunk takes more. */
constexpr size_t CCM_BYTES = (size_t) 192 << 20;

class ccm_worker {
    ccm_mapping &m_;
    const crew &work_;
    stream stream_;
    arrays own_;  /* of the pointers that follow */
    ccm_place place_;
    ccm_frame frame_;
    ccm_targets targets_;
    ccm_lists lists_ = {};
    ccm_near near_ = {};
    ccm_short rest_ = {};
    const uint32_t *prediction_, *view_, *plane_;
    uint32_t *member_, *rows_;  /* the second of libraries that are not listed */
    const uint64_t *first_, *all_first_ = nullptr;
    ccm_libraries some_ = {}, all_ = {};  /* in single precision as well, side by side */
    ccm_sums *sums_;
    std::vector<uint64_t> first_row_;     /* in rows_, of each of these libraries */
    std::unique_ptr<neighbour_search> search_;
    uint32_t members_from_ = UINT32_MAX;  /* the first library of member_ */

    /* Some libraries in their order, and some rows. */
    struct share {
        uint32_t first, libraries, from, n;
    };

    /* Room for the k neighbours of so many pairs of a library and a row. */
    void make_room(placed_neighbours *near, size_t pairs, size_t k)
    {
        own_.ensure(&near->found, pairs);
        own_.ensure_all(pairs * k, &near->row, &near->distance);
    }

    void make_near(const share &s)
    {
        near_.libraries = s.libraries;
        make_room(&near_, (size_t) s.libraries * s.n, m_.options.k);
    }

    /* The end of the libraries from `first` on that are mapped together, for n rows: as
       many as there is room for, at least one, and either all of them listed or none. */
    uint32_t last_together(uint32_t first, uint32_t n) const
    {
        size_t each = (size_t) n * m_.options.k * sizeof(double);
        size_t most = std::min<size_t>(std::max<size_t>(CCM_BYTES / each, 1), 65535);
        if (first < m_.listed)
            return (uint32_t) std::min<size_t>(m_.listed, first + most);
        uint32_t end = (uint32_t) std::min<size_t>(m_.in_part, first + most);
        uint64_t rows = CCM_BYTES / sizeof(double) / m_.points.dims;
        while (end > first + 1 &&
               first_row_[end - m_.listed] - first_row_[first - m_.listed] > rows)
            end--;
        return end;
    }

    /* Libraries that are not listed, side by side. */
    void upload_rows()
    {
        uint64_t all = 0;
        for (size_t at = m_.listed; at <= m_.order.size(); at++) {
            first_row_.push_back(all);
            if (at < m_.order.size())
                all += m_.libraries[m_.order[at]].rows.size();
        }
        own_.upload(&first_, first_row_, stream_);
        own_.ensure(&rows_, all);
        for (size_t at = m_.listed; at < m_.order.size(); at++) {
            const std::vector<uint32_t> &rows = m_.libraries[m_.order[at]].rows;
            send(rows_ + first_row_[at - m_.listed], rows.data(), rows.size(), stream_);
        }
    }

    void search_lists(uint32_t from, uint32_t n)
    {
        uint32_t most = m_.choice.most, all = place_.library.n;
        make_room(&lists_, n, most);
        lists_.n = n;
        lists_.most = most;
        lists_.of = prediction_ + from;
        if (m_.choice.lists_too) {
            bool ready = all_first_;
            if (!ready)
                own_.upload(&all_first_, std::vector<uint64_t>{0, all}, stream_);
            ccm_libraries one = rows_of(&all_, all_first_, place_.library.row, all, 0);
            if (!ready)
                gather(one, 1);
            search_directly({0, 1, from, n}, most, one, {lists_, 1});
        } else {
            if (!search_)
                search_.reset(new neighbour_search(place_, place_.library, stream_));
            search_->find({n, lists_.of}, most, m_.options.exclusion, lists_);
        }
    }

    /* Libraries with `rows` rows in all, the first of which is number `before`: it has
       the first place in the memory that they are gathered in. */
    ccm_libraries rows_of(ccm_libraries *to, const uint64_t *first, const uint32_t *row,
                          uint64_t rows, uint64_t before)
    {
        size_t dims = m_.points.dims;
        own_.ensure_all(rows * dims, &to->coordinate, &to->rounded);
        own_.ensure(&to->shuffled, rows);
        return {first, row, to->coordinate - before * dims, to->rounded - before * dims,
                to->shuffled - before};
    }

    void gather(const ccm_libraries &to, uint32_t libraries)
    {
        launch(ccm_gather, dim3(64, libraries), 256, 0, stream_, place_, frame_, to,
               libraries);
        launch(ccm_sort_tiles, dim3(8, libraries), DIRECT_TILE, 0, stream_, to,
               libraries);
    }

    void search_directly(const share &s, uint32_t k, const ccm_libraries &libraries,
                         const ccm_near &near)
    {
        ccm_place p = place_;
        p.k = k;
        size_t shared = direct_shared(p.dims, k);
        allow_shared(ccm_direct, shared);
        launch(ccm_direct, dim3(blocks_for(s.n, DIRECT_THREADS), s.libraries),
               DIRECT_THREADS, shared, stream_, p, frame_, prediction_ + s.from, s.n,
               libraries, near);
    }

    void search_together(const share &s)
    {
        const uint64_t *first = first_row_.data() + s.first - m_.listed;
        ccm_libraries libraries = rows_of(&some_, first_ + s.first - m_.listed, rows_,
                                          first[s.libraries] - first[0], first[0]);
        gather(libraries, s.libraries);
        search_directly(s, m_.options.k, libraries, near_);
    }

    /* Takes neighbours from lists; member_ is made again for other libraries. */
    void walk(const share &s)
    {
        uint32_t words = (s.libraries + 31) / 32, rows = m_.points.rows;
        if (members_from_ != s.first) {
            own_.ensure(&member_, (size_t) words * rows);
            launch(ccm_members, dim3(blocks_for(rows, 256), most_of_grid(words)), 256, 0,
                   stream_, plane_ + s.first * m_.plane_length(), s.libraries, rows,
                   member_);
            members_from_ = s.first;
        }
        own_.ensure(&rest_.n, 1);
        own_.ensure(&rest_.pair, (size_t) s.libraries * s.n);
        fill(rest_.n, 0, 1, stream_);
        launch(ccm_walk, dim3(blocks_for(s.n, CCM_WARPS), most_of_grid(words)),
               CCM_WARPS * WARP, 0, stream_, place_, lists_, member_, near_, rest_);
        launch(ccm_search_rest, CCM_REST_BLOCKS, CCM_REST_THREADS, 0, stream_, place_,
               lists_, member_, near_, rest_);
    }

    /* Weighs neighbours and sends the sums of a share to `to`,
       [chunks][step][targets]. */
    void predict(const share &s, size_t step, ccm_sums *to)
    {
        size_t pairs = (size_t) s.libraries * s.n;
        launch(ccm_weigh, std::min(blocks_for(pairs, 256), 1u << 20), 256, 0, stream_,
               m_.options.k, m_.points.least, pairs, near_);
        uint32_t chunks = m_.chunks(s.n);
        size_t width = (size_t) s.libraries * sizeof(ccm_sums);
        uint32_t most = (uint32_t) std::max<size_t>(CCM_BYTES / (chunks * width), 1);
        for (uint32_t &t = targets_.first = 0; t < m_.targets; t += most) {
            uint32_t n = targets_.n = std::min(most, m_.targets - t);
            own_.ensure(&sums_, (size_t) chunks * s.libraries * n);
            launch(ccm_predict, dim3(chunks, most_of_grid(s.libraries), most_of_grid(n)),
                   CCM_THREADS, 0, stream_, place_, prediction_ + s.from, s.n, near_,
                   view_ + s.first, targets_, sums_);
            for (uint32_t c = 0; c < chunks; c++)
                check(cudaMemcpy2DAsync(
                    to + c * step * m_.targets + t, m_.targets * sizeof *to,
                    sums_ + (size_t) c * s.libraries * n, n * sizeof *to, n * sizeof *to,
                    s.libraries, cudaMemcpyDeviceToHost, stream_));
        }
    }

public:
    ccm_worker(ccm_mapping &m, const crew &work)
        : m_(m), work_(work),
          place_{{m.points.rows, m.points.dims, nullptr}, m.options.k,
                 m.options.exclusion, {(uint32_t) m.library.size(), nullptr}},
          frame_(m.frame), targets_{m.targets, 0, 0, nullptr, nullptr}
    {
        const syn_points &p = m.points;
        size_t targets = (size_t) p.rows * m.targets;
        own_.upload(&place_.coordinate, p.coordinate, (size_t) p.rows * p.dims, stream_);
        own_.upload(&place_.library.row, m.library, stream_);
        own_.ensure(&targets_.value, targets * m.views);
        for (uint32_t v = 0; v < m.views; v++)
            send((double *) targets_.value + v * targets, m.view[v].target, targets,
                 stream_);
        own_.upload(&targets_.shift, m.shift, stream_);
        own_.upload(&prediction_, m.prediction.row, m.prediction.n, stream_);
        own_.upload(&plane_, m.plane, stream_);
        std::vector<uint32_t> view;
        for (uint32_t library : m.order)
            view.push_back(m.libraries[library].view);
        own_.upload(&view_, view, stream_);
        own_.upload(&frame_.centre, m.centre, stream_);
        if (m.choice.together)
            upload_rows();
        check(cudaStreamSynchronize(stream_));
    }

    /* All libraries that are mapped part by part, for one part of the rows. */
    void map_part(uint32_t part)
    {
        uint32_t from = part * m_.part, n = std::min(m_.part, m_.prediction.n - from);
        std::vector<ccm_sums> found((size_t) m_.chunks(n) * m_.in_part * m_.targets);
        if (m_.listed > 0)
            search_lists(from, n);
        for (uint32_t first = 0, end; first < m_.in_part && !work_.stop; first = end) {
            end = last_together(first, n);
            share s = {first, end - first, from, n};
            make_near(s);
            if (first < m_.listed)
                walk(s);
            else
                search_together(s);
            predict(s, m_.in_part, found.data() + (size_t) first * m_.targets);
            check(cudaStreamSynchronize(stream_));
        }
        if (!work_.stop)
            m_.add_part(part, std::move(found));
    }

    /* A library that is searched by itself, number `at` in the order, for all rows. */
    void map_alone(uint32_t at)
    {
        const ccm_library &one = m_.libraries[m_.order[at]];
        own_.upload(&rows_, one.rows, stream_);
        neighbour_search search(place_, {one.size, rows_}, stream_);
        std::vector<ccm_sums> found((size_t) m_.chunks(m_.prediction.n) * m_.targets);
        for (uint32_t part = 0; part < m_.parts && !work_.stop; part++) {
            uint32_t from = part * m_.part, n = std::min(m_.part, m_.prediction.n - from);
            share s = {at, 1, from, n};
            make_near(s);
            search.find({n, prediction_ + from}, m_.options.k, m_.options.exclusion,
                        near_);
            predict(s, 1, found.data() + (size_t) (from / CCM_CHUNK) * m_.targets);
            check(cudaStreamSynchronize(stream_));
        }
        if (!work_.stop)
            m_.add(found, &m_.order[at], 1);
    }
};

}  // namespace gpu

namespace {

using gpu::CCM_CHUNK;
using gpu::ccm_mapping;
using gpu::check;

void run(ccm_mapping *m, const syn_gpu_call &call)
{
    gpu::join_views(m);
    /* How many neighbours direct.cuh can find with the shared memory that all devices
       have, and how much slower the slowest is in double precision than those made for
       it. */
    uint32_t together = gpu::DIRECT_MOST;
    int ratio = 2;
    for (int i = 0; i < call.n; i++) {
        size_t bytes = (size_t) gpu::shared_limit(call.devices[i]);
        while (together > 0 && gpu::direct_shared(m->points.dims, together) > bytes)
            together--;
        ratio = std::max(ratio, gpu::double_ratio(call.devices[i]));
    }
    m->choice = gpu::choose_lists({m->options, (double) m->views,
                                   (double) m->library.size(), (double) m->prediction.n,
                                   (double) m->points.dims, together, ratio / 2.0});
    if (m->choice.together || m->choice.lists_too)
        gpu::make_frame(m);
    gpu::list_libraries(m);
    for (uint32_t v = 0; v < m->views; v++)
        for (size_t t = 0; t < m->targets; t++)
            m->shift.push_back(syn_ccm_middle(m->view[v].target + t * m->points.rows,
                                              &m->prediction));
    gpu::draw_libraries(m, call.watch);
    /* Rows of a part: as many as take a twentieth of a second, leave every device some
       parts, and the arrays of one chunk of libraries room. */
    size_t most = std::max(m->choice.most, m->options.k), rows = m->prediction.n;
    size_t each = std::min(gpu::CCM_BYTES / (most * sizeof(double)),
                           (size_t) (4e7 * (double) rows / m->choice.cost));
    each = std::min(each, call.n > 1 ? rows / (4 * (size_t) call.n) : rows);
    each = std::max<size_t>((each + CCM_CHUNK - 1) / CCM_CHUNK, 1) * CCM_CHUNK;
    m->part = (uint32_t) std::min<size_t>(each, (size_t) 1 << 30);
    m->parts = (uint32_t) ((rows + m->part - 1) / m->part);
    uint32_t parts = m->in_part > 0 ? m->parts : 0;
    uint32_t items = parts + (uint32_t) m->order.size() - m->in_part;
    gpu::share_out(call, items, "rows", [&](gpu::crew &work, int) {
        gpu::ccm_worker mine(*m, work);
        for (uint32_t item; work.take(1, &item) > 0;)
            if (item < parts)
                mine.map_part(item);
            else
                mine.map_alone(m->in_part + item - parts);
    });
}

}  // namespace

syn_status syn_gpu_ccm(const syn_points *points, const syn_ccm_view *view,
                       uint32_t views, const syn_rows *prediction, uint32_t targets,
                       const syn_ccm_options *options, syn_gpu_call *call,
                       syn_ccm_skill *out)
{
    std::memset(out, 0, sizeof *out);
    return gpu::status_with(call, [&] {
        ccm_mapping m = {*points, view, views, *prediction, targets, *options};
        run(&m, *call);
        if (syn_ccm_skill_make(m.libraries.size(), targets, out) != SYN_OK)
            throw std::bad_alloc();
        for (size_t i = 0; i < m.sums.size(); i++)
            syn_ccm_skill_put(m.sums[i].s, out, i % targets * out->n + i / targets);
    });
}
