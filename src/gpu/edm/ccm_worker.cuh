/* One device's share of a cross map. */
#ifndef SYN_GPU_EDM_CCM_WORKER_CUH
#define SYN_GPU_EDM_CCM_WORKER_CUH

#include "gpu/base/crew.cuh"
#include "gpu/edm/ccm_direct.cuh"
#include "gpu/edm/ccm_mapping.cuh"
#include "gpu/edm/neighbours.cuh"

#include <memory>

namespace gpu {

/* Bytes of one kind that a worker asks for at once, unless one chunk takes more. */
constexpr size_t CCM_BYTES = (size_t) 192 << 20;

class ccm_worker {
    ccm_mapping &m_;
    const crew &work_;
    stream stream_;
    array<double> coordinate_, target_, shift_;
    array<uint32_t> library_, prediction_, view_, plane_, member_;
    array<uint32_t> list_found_, list_row_, found_, row_;
    array<double> list_distance_, distance_;
    array<unsigned long long> rest_n_;
    array<uint64_t> rest_, first_, all_first_;
    array<uint32_t> rows_;      /* of libraries that are not listed */
    array<double> gathered_, all_gathered_, centre_;
    array<float> rounded_, all_rounded_;
    array<uint32_t> shuffled_, all_shuffled_;
    array<ccm_sums> sums_;
    std::vector<uint64_t> first_row_;     /* in rows_, of each of these libraries */
    std::unique_ptr<neighbour_search> search_;
    uint32_t members_from_ = UINT32_MAX;  /* the first library of member_ */

    placed_points points() const
    {
        return {m_.points.rows, m_.points.dims, coordinate_.get()};
    }

    ccm_frame frame() const
    {
        ccm_frame out = m_.frame;
        out.centre = centre_.get();
        return out;
    }

    ccm_place place() const
    {
        const syn_ccm_options &o = m_.options;
        return {m_.points.rows, m_.points.dims, o.k, o.exclusion, coordinate_.get(),
                (uint32_t) m_.library.size(), library_.get()};
    }

    /* Some libraries in their order, and some rows. */
    struct share {
        uint32_t first, libraries, from, n;
    };

    ccm_near make_near(const share &s)
    {
        size_t pairs = (size_t) s.libraries * s.n;
        found_.ensure(pairs);
        row_.ensure(pairs * m_.options.k);
        distance_.ensure(pairs * m_.options.k);
        return {s.libraries, found_.get(), row_.get(), distance_.get()};
    }

    uint32_t last_together(uint32_t first, uint32_t n) const;

    void upload_rows();
    void find_members(uint32_t first, uint32_t n);
    ccm_lists search_lists(uint32_t from, uint32_t n);
    void walk(const ccm_lists &lists, const share &s, const ccm_near &near);
    void gather(const ccm_libraries &to, uint32_t libraries);
    void search_directly(const share &s, uint32_t k, const ccm_libraries &libraries,
                         const ccm_near &near);
    void search_together(const share &s, const ccm_near &near);
    void predict(const share &s, const ccm_near &near, size_t step, ccm_sums *to);

public:
    ccm_worker(ccm_mapping &m, const crew &work);

    /* All libraries that are mapped part by part, for one part of the rows. */
    void map_part(uint32_t part);

    /* A library that is searched by itself, number `at` in the order, for all rows. */
    void map_alone(uint32_t at);
};

inline ccm_worker::ccm_worker(ccm_mapping &m, const crew &work) : m_(m), work_(work)
{
    const syn_points &p = m.points;
    size_t targets = (size_t) p.rows * m.targets;
    coordinate_.upload(p.coordinate, (size_t) p.rows * p.dims, stream_);
    target_.ensure(targets * m.views);
    for (uint32_t v = 0; v < m.views; v++)
        check(cudaMemcpyAsync(target_.get() + v * targets, m.view[v].target,
                              targets * sizeof(double), cudaMemcpyHostToDevice, stream_));
    shift_.upload(m.shift.data(), m.shift.size(), stream_);
    library_.upload(m.library.data(), m.library.size(), stream_);
    prediction_.upload(m.prediction.row, m.prediction.n, stream_);
    if (!m.plane.empty())
        plane_.upload(m.plane.data(), m.plane.size(), stream_);
    std::vector<uint32_t> view;
    for (uint32_t library : m.order)
        view.push_back(m.libraries[library].view);
    view_.upload(view.data(), view.size(), stream_);
    centre_.upload(m.centre.data(), m.centre.size(), stream_);
    if (m.choice.together)
        upload_rows();
    check(cudaStreamSynchronize(stream_));
}

/* Libraries that are not listed, side by side. */
inline void ccm_worker::upload_rows()
{
    uint64_t all = 0;
    for (size_t at = m_.listed; at <= m_.order.size(); at++) {
        first_row_.push_back(all);
        if (at < m_.order.size())
            all += m_.libraries[m_.order[at]].rows.size();
    }
    first_.upload(first_row_.data(), first_row_.size(), stream_);
    rows_.ensure(all);
    for (size_t at = m_.listed; at < m_.order.size(); at++) {
        const std::vector<uint32_t> &rows = m_.libraries[m_.order[at]].rows;
        check(cudaMemcpyAsync(rows_.get() + first_row_[at - m_.listed], rows.data(),
                              rows.size() * sizeof(uint32_t), cudaMemcpyHostToDevice,
                              stream_));
    }
}

/* The end of the libraries from `first` on that are mapped together, for n rows: as many
   as there is room for, at least one, and either all of them listed or none. */
inline uint32_t ccm_worker::last_together(uint32_t first, uint32_t n) const
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

inline ccm_lists ccm_worker::search_lists(uint32_t from, uint32_t n)
{
    uint32_t most = m_.choice.most;
    list_found_.ensure(n);
    list_row_.ensure((size_t) n * most);
    list_distance_.ensure((size_t) n * most);
    ccm_near near = {1, list_found_.get(), list_row_.get(), list_distance_.get()};
    if (m_.choice.lists_too) {
        uint64_t ends[] = {0, place().n};
        bool ready = all_first_.get() != nullptr;
        if (!ready) {
            all_first_.upload(ends, 2, stream_);
            all_gathered_.ensure(ends[1] * m_.points.dims);
            all_rounded_.ensure(ends[1] * m_.points.dims);
            all_shuffled_.ensure(ends[1]);
        }
        ccm_libraries all = {all_first_.get(), library_.get(), all_gathered_.get(),
                             all_rounded_.get(), all_shuffled_.get()};
        if (!ready)
            gather(all, 1);
        search_directly({0, 1, from, n}, most, all, near);
    } else {
        if (!search_)
            search_.reset(new neighbour_search(points(), {place().n, library_.get()},
                                               stream_));
        search_->find({n, prediction_.get() + from}, most, m_.options.exclusion,
                      {near.found, near.row, near.distance});
    }
    return {n, most, prediction_.get() + from, near.found, near.row, near.distance};
}

/* Makes member_ for listed libraries `first` to first + n. */
inline void ccm_worker::find_members(uint32_t first, uint32_t n)
{
    if (members_from_ == first)
        return;
    uint32_t rows = m_.points.rows, words = (n + 31) / 32;
    member_.ensure((size_t) words * rows);
    dim3 grid(blocks_for(rows, 256), most_of_grid(words));
    ccm_members<<<grid, 256, 0, stream_>>>(plane_.get() + first * m_.plane_length(), n,
                                           rows, member_.get());
    check(cudaGetLastError());
    members_from_ = first;
}

inline void ccm_worker::walk(const ccm_lists &lists, const share &s, const ccm_near &near)
{
    find_members(s.first, s.libraries);
    rest_n_.ensure(1);
    rest_.ensure((size_t) s.libraries * s.n);
    ccm_short rest = {rest_n_.get(), rest_.get()};
    check(cudaMemsetAsync(rest.n, 0, sizeof *rest.n, stream_));
    dim3 grid(blocks_for(s.n, CCM_WARPS), most_of_grid((s.libraries + 31) / 32));
    ccm_walk<<<grid, CCM_WARPS * WARP, 0, stream_>>>(place(), lists, member_.get(), near,
                                                     rest);
    check(cudaGetLastError());
    ccm_search_rest<<<CCM_REST_BLOCKS, CCM_REST_THREADS, 0, stream_>>>(
        place(), lists, member_.get(), near, rest);
    check(cudaGetLastError());
}

inline void ccm_worker::gather(const ccm_libraries &to, uint32_t libraries)
{
    ccm_gather<<<dim3(64, libraries), 256, 0, stream_>>>(place(), frame(), to, libraries);
    check(cudaGetLastError());
    ccm_sort_tiles<<<dim3(8, libraries), DIRECT_TILE, 0, stream_>>>(to, libraries);
    check(cudaGetLastError());
}

inline void ccm_worker::search_directly(const share &s, uint32_t k,
                                        const ccm_libraries &libraries,
                                        const ccm_near &near)
{
    ccm_place p = place();
    p.k = k;
    size_t shared = direct_shared(p.dims, k);
    allow_shared(ccm_direct, shared);
    dim3 grid(blocks_for(s.n, DIRECT_THREADS), s.libraries);
    ccm_direct<<<grid, DIRECT_THREADS, shared, stream_>>>(
        p, frame(), prediction_.get() + s.from, s.n, libraries, near);
    check(cudaGetLastError());
}

inline void ccm_worker::search_together(const share &s, const ccm_near &near)
{
    uint32_t dims = m_.points.dims;
    const uint64_t *first = first_row_.data() + s.first - m_.listed;
    uint64_t rows = first[s.libraries] - first[0];
    gathered_.ensure(rows * dims);
    rounded_.ensure(rows * dims);
    /* The libraries of this share are moved to the front. */
    size_t before = (size_t) first[0] * dims;
    shuffled_.ensure(rows);
    ccm_libraries libraries = {first_.get() + s.first - m_.listed, rows_.get(),
                               gathered_.get() - before, rounded_.get() - before,
                               shuffled_.get() - first[0]};
    gather(libraries, s.libraries);
    search_directly(s, m_.options.k, libraries, near);
}

/* Weighs neighbours and sends the sums of a share to `to`, [chunks][step][targets]. */
inline void ccm_worker::predict(const share &s, const ccm_near &near, size_t step,
                                ccm_sums *to)
{
    size_t pairs = (size_t) s.libraries * s.n;
    unsigned blocks = std::min(blocks_for(pairs, 256), 1u << 20);
    ccm_weigh<<<blocks, 256, 0, stream_>>>(m_.options.k, m_.points.least, pairs,
                                          near);
    check(cudaGetLastError());
    uint32_t chunks = m_.chunks(s.n);
    size_t width = (size_t) s.libraries * sizeof(ccm_sums);
    uint32_t most = (uint32_t) std::max<size_t>(CCM_BYTES / (chunks * width), 1);
    for (uint32_t t = 0; t < m_.targets; t += most) {
        uint32_t targets = std::min(most, m_.targets - t);
        sums_.ensure((size_t) chunks * s.libraries * targets);
        dim3 grid(chunks, most_of_grid(s.libraries), most_of_grid(targets));
        ccm_targets some = {m_.targets, t, targets, target_.get(), shift_.get()};
        ccm_predict<<<grid, CCM_THREADS, 0, stream_>>>(
            place(), prediction_.get() + s.from, s.n, near, view_.get() + s.first, some,
            sums_.get());
        check(cudaGetLastError());
        for (uint32_t c = 0; c < chunks; c++)
            check(cudaMemcpy2DAsync(
                to + c * step * m_.targets + t, m_.targets * sizeof *to,
                sums_.get() + (size_t) c * s.libraries * targets, targets * sizeof *to,
                targets * sizeof *to, s.libraries, cudaMemcpyDeviceToHost, stream_));
    }
}

inline void ccm_worker::map_part(uint32_t part)
{
    uint32_t from = part * m_.part, n = std::min(m_.part, m_.prediction.n - from);
    std::vector<ccm_sums> found((size_t) m_.chunks(n) * m_.in_part * m_.targets);
    ccm_lists lists = {};
    if (m_.listed > 0)
        lists = search_lists(from, n);
    for (uint32_t first = 0, end; first < m_.in_part && !work_.stop; first = end) {
        end = last_together(first, n);
        share s = {first, end - first, from, n};
        ccm_near near = make_near(s);
        if (first < m_.listed)
            walk(lists, s, near);
        else
            search_together(s, near);
        predict(s, near, m_.in_part, found.data() + (size_t) first * m_.targets);
        check(cudaStreamSynchronize(stream_));
    }
    if (!work_.stop)
        m_.add_part(part, std::move(found));
}

inline void ccm_worker::map_alone(uint32_t at)
{
    const ccm_library &one = m_.libraries[m_.order[at]];
    rows_.upload(one.rows.data(), one.rows.size(), stream_);
    neighbour_search search(points(), {one.size, rows_.get()}, stream_);
    std::vector<ccm_sums> found((size_t) m_.chunks(m_.prediction.n) * m_.targets);
    for (uint32_t part = 0; part < m_.parts && !work_.stop; part++) {
        uint32_t from = part * m_.part, n = std::min(m_.part, m_.prediction.n - from);
        share s = {at, 1, from, n};
        ccm_near near = make_near(s);
        search.find({n, prediction_.get() + from}, m_.options.k, m_.options.exclusion,
                    {near.found, near.row, near.distance});
        predict(s, near, 1, found.data() + (size_t) (from / CCM_CHUNK) * m_.targets);
        check(cudaStreamSynchronize(stream_));
    }
    if (!work_.stop)
        m_.add(found, &m_.order[at], 1);
}

}  // namespace gpu

#endif
