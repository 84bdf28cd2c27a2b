/* The door of cross mapping. Rows are dealt out to the devices in parts, each with all
   libraries that take their neighbours from common lists; libraries that are searched by
   themselves are dealt out one by one. Sums over rows come back in chunks, which are
   added up in the order of the rows. */
#include "gpu/edm/ccm.h"

#include "gpu/base/crew.cuh"
#include "gpu/edm/ccm.cuh"
#include "gpu/edm/ccm_plan.cuh"
#include "gpu/edm/neighbours.cuh"

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>

extern "C" {
#include "core/base/parallel.h"
}

namespace {

using gpu::array;
using gpu::blocks_for;
using gpu::check;
using gpu::CCM_CHUNK;
using gpu::most_of_grid;

/* Bytes of one kind that a worker asks for at once, unless one chunk takes more. */
constexpr size_t ARRAY_BYTES = (size_t) 192 << 20;

/* A random library. */
struct drawn {
    uint32_t view, size, sample;
    bool direct;                  /* whether it is searched by itself */
    std::vector<uint32_t> rows;   /* of the data; of a direct one only */
};

struct mapping {
    const syn_points &points;
    const syn_ccm_view *view;
    uint32_t views;
    const syn_rows &prediction;
    uint32_t targets;
    const syn_ccm_options &options;
    std::vector<uint32_t> library;       /* rows of all views */
    gpu::ccm_choice choice;
    std::vector<drawn> libraries;        /* in the order of the skill */
    std::vector<uint32_t> shared, alone; /* which have lists in common, and which not */
    std::vector<uint32_t> plane;         /* [shared][rows / 32 + 1] a bit for each row */
    std::vector<double> shift;           /* [views][targets] */
    std::vector<gpu::ccm_sums> sums;     /* [libraries][targets] */
    uint32_t part = 0, parts = 0;        /* rows of a part, and how many parts */
    std::mutex lock;
    std::map<uint32_t, std::vector<gpu::ccm_sums>> waiting;  /* parts, for earlier ones */
    uint32_t added = 0;                  /* parts */

    size_t plane_length() const { return (size_t) points.rows / 32 + 1; }
    uint32_t chunks(uint32_t rows) const { return (rows + CCM_CHUNK - 1) / CCM_CHUNK; }
    void add_part(uint32_t part, std::vector<gpu::ccm_sums> &&found);
};

/* Chunks [chunks][shared][targets] of one part: added once all before it are. */
void mapping::add_part(uint32_t part, std::vector<gpu::ccm_sums> &&found)
{
    std::lock_guard<std::mutex> hold(lock);
    waiting[part] = std::move(found);
    for (auto next = waiting.find(added); next != waiting.end();
         next = waiting.find(++added)) {
        const std::vector<gpu::ccm_sums> &chunk = next->second;
        for (size_t i = 0; i < chunk.size(); i++) {
            size_t t = i % targets, library = i / targets % shared.size();
            gpu::add_sums(&sums[shared[library] * targets + t], chunk[i]);
        }
        waiting.erase(next);
    }
}

/* ---- libraries ---- */

/* Rows that some view's library has. */
void join_views(mapping *m)
{
    std::vector<char> has(m->points.rows, 0);
    for (uint32_t v = 0; v < m->views; v++)
        for (uint32_t i = 0; i < m->view[v].library.n; i++)
            has[m->view[v].library.row[i]] = 1;
    for (uint32_t row = 0; row < m->points.rows; row++)
        if (has[row])
            m->library.push_back(row);
}

void list_libraries(mapping *m)
{
    const syn_ccm_options &o = m->options;
    for (uint32_t v = 0; v < m->views; v++)
        for (uint32_t s = 0, n = m->view[v].library.n; s < o.sizes; s++) {
            uint32_t samples = o.size[s] < n ? o.samples : 1;
            bool direct = m->choice.direct[s];
            for (uint32_t sample = 0; sample < samples; sample++) {
                (direct ? m->alone : m->shared).push_back((uint32_t) m->libraries.size());
                m->libraries.push_back({v, std::min(o.size[s], n), sample, direct, {}});
            }
        }
    m->plane.resize(m->shared.size() * m->plane_length());
    m->sums.resize(m->libraries.size() * m->targets);
}

struct drawing {
    mapping *m;
    std::vector<std::vector<unsigned char>> chosen;  /* a worker's */
    std::vector<uint32_t> plane_of;                  /* of each library */
};

void draw(drawing *d, drawn *one, uint32_t *plane, std::vector<unsigned char> *chosen)
{
    const syn_rows &rows = d->m->view[one->view].library;
    chosen->assign(rows.n, 0);
    syn_ccm_draw(rows.n, one->size, one->sample, &d->m->options, chosen->data());
    if (one->direct)
        one->rows.reserve(one->size);
    for (uint32_t i = 0; i < rows.n; i++) {
        uint32_t row = rows.row[i], has = (*chosen)[i];
        if (!one->direct)
            plane[row / 32] |= has << row % 32;
        else if (has)
            one->rows.push_back(row);
    }
}

syn_status draw_library(void *context, size_t item, int worker)
{
    drawing *d = (drawing *) context;
    try {
        draw(d, &d->m->libraries[item],
             d->m->plane.data() + d->plane_of[item] * d->m->plane_length(),
             &d->chosen[worker]);
    } catch (const std::bad_alloc &) {
        return SYN_NO_MEMORY;
    }
    return SYN_OK;
}

void draw_all(mapping *m, const syn_watch *watch)
{
    int threads = std::max(m->options.threads, 1);
    drawing all = {m, {}, std::vector<uint32_t>(m->libraries.size())};
    all.chosen.resize(threads);
    for (uint32_t i = 0; i < m->shared.size(); i++)
        all.plane_of[m->shared[i]] = i;
    syn_status status = syn_parallel_for(m->libraries.size(), threads, watch, "libraries",
                                         draw_library, &all);
    if (status == SYN_NO_MEMORY)
        throw std::bad_alloc();
    if (status != SYN_OK)
        throw gpu::refusal(status, "%s", "");
}

/* ---- one device ---- */

class worker {
    mapping &m_;
    const gpu::crew &work_;
    gpu::stream stream_;
    array<double> coordinate_, target_, shift_;
    array<uint32_t> library_, prediction_, view_, plane_, member_, rows_;
    array<uint32_t> list_found_, list_row_, found_, row_;
    array<double> list_distance_, distance_;
    array<unsigned long long> rest_n_;
    array<uint64_t> rest_;
    array<gpu::ccm_sums> sums_;
    std::unique_ptr<gpu::neighbour_search> search_;
    uint32_t members_from_ = UINT32_MAX;  /* the first library of member_ */

    gpu::placed_points points() const
    {
        return {m_.points.rows, m_.points.dims, coordinate_.get()};
    }

    gpu::ccm_place place() const
    {
        const syn_ccm_options &o = m_.options;
        return {m_.points.rows, m_.points.dims, o.k, o.exclusion, coordinate_.get(),
                (uint32_t) m_.library.size(), library_.get()};
    }

    /* Room for the neighbours of `n` rows in some libraries. */
    gpu::ccm_near make_near(uint32_t libraries, uint32_t n)
    {
        size_t pairs = (size_t) libraries * n;
        found_.ensure(pairs);
        row_.ensure(pairs * m_.options.k);
        distance_.ensure(pairs * m_.options.k);
        return {libraries, found_.get(), row_.get(), distance_.get()};
    }

    /* Weighs the neighbours of n rows from `from` on; sends the sums of near.libraries of
       `step` libraries, of views `view`, to `to`, [chunks][step][targets]. */
    void predict(const gpu::ccm_near &near, const uint32_t *view, uint32_t from,
                 uint32_t n, size_t step, gpu::ccm_sums *to);
    void search_lists(uint32_t from, uint32_t n, gpu::ccm_lists *out);
    void find_members(uint32_t first, uint32_t n);

public:
    worker(mapping &m, const gpu::crew &work);
    void map_part(uint32_t part);
    void map_alone(uint32_t number);
};

worker::worker(mapping &m, const gpu::crew &work) : m_(m), work_(work)
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
    /* First the views of libraries with lists in common, then of the others. */
    std::vector<uint32_t> view;
    for (const std::vector<uint32_t> *some : {&m.shared, &m.alone})
        for (uint32_t library : *some)
            view.push_back(m.libraries[library].view);
    view_.upload(view.data(), view.size(), stream_);
    check(cudaStreamSynchronize(stream_));
}

void worker::search_lists(uint32_t from, uint32_t n, gpu::ccm_lists *out)
{
    uint32_t most = m_.choice.most;
    if (!search_)
        search_.reset(new gpu::neighbour_search(
            points(), {place().n, library_.get()}, stream_));
    list_found_.ensure(n);
    list_row_.ensure((size_t) n * most);
    list_distance_.ensure((size_t) n * most);
    search_->find({n, prediction_.get() + from}, most, m_.options.exclusion,
                  {list_found_.get(), list_row_.get(), list_distance_.get()});
    *out = {n, most, prediction_.get() + from, list_found_.get(), list_row_.get(),
            list_distance_.get()};
}

/* Makes member_ for libraries `first` to first + n of those with lists. */
void worker::find_members(uint32_t first, uint32_t n)
{
    if (members_from_ == first)
        return;
    uint32_t rows = m_.points.rows, words = (n + 31) / 32;
    member_.ensure((size_t) words * rows);
    dim3 grid(blocks_for(rows, 256), most_of_grid(words));
    gpu::ccm_members<<<grid, 256, 0, stream_>>>(
        plane_.get() + first * m_.plane_length(), n, rows, member_.get());
    check(cudaGetLastError());
    members_from_ = first;
}

void worker::predict(const gpu::ccm_near &near, const uint32_t *view, uint32_t from,
                     uint32_t n, size_t step, gpu::ccm_sums *to)
{
    size_t pairs = (size_t) near.libraries * n;
    unsigned blocks = std::min(blocks_for(pairs, 256), 1u << 20);
    gpu::ccm_weigh<<<blocks, 256, 0, stream_>>>(m_.options.k, pairs, near);
    check(cudaGetLastError());
    uint32_t chunks = m_.chunks(n);
    size_t width = (size_t) near.libraries * sizeof(gpu::ccm_sums);
    uint32_t most = (uint32_t) std::max<size_t>(ARRAY_BYTES / (chunks * width), 1);
    for (uint32_t t = 0; t < m_.targets; t += most) {
        uint32_t targets = std::min(most, m_.targets - t);
        sums_.ensure((size_t) chunks * near.libraries * targets);
        dim3 grid(chunks, most_of_grid(near.libraries), most_of_grid(targets));
        gpu::ccm_targets some = {m_.targets, t, targets, target_.get(), shift_.get()};
        gpu::ccm_predict<<<grid, gpu::CCM_THREADS, 0, stream_>>>(
            place(), prediction_.get() + from, n, near, view, some, sums_.get());
        check(cudaGetLastError());
        for (uint32_t c = 0; c < chunks; c++)
            check(cudaMemcpy2DAsync(
                to + c * step * m_.targets + t, m_.targets * sizeof *to,
                sums_.get() + (size_t) c * near.libraries * targets,
                targets * sizeof *to, targets * sizeof *to, near.libraries,
                cudaMemcpyDeviceToHost, stream_));
    }
}

/* All libraries with lists in common, for one part of the rows. */
void worker::map_part(uint32_t part)
{
    uint32_t from = part * m_.part, n = std::min(m_.part, m_.prediction.n - from);
    uint32_t libraries = (uint32_t) m_.shared.size();
    size_t each = (size_t) n * m_.options.k * sizeof(double);
    uint32_t most = (uint32_t) std::max<size_t>(ARRAY_BYTES / each, 1);
    gpu::ccm_lists lists;
    search_lists(from, n, &lists);
    std::vector<gpu::ccm_sums> found((size_t) m_.chunks(n) * libraries * m_.targets);
    rest_n_.ensure(1);
    for (uint32_t first = 0; first < libraries && !work_.stop; first += most) {
        uint32_t here = std::min(most, libraries - first);
        find_members(first, here);
        gpu::ccm_near near = make_near(here, n);
        rest_.ensure((size_t) here * n);
        gpu::ccm_short rest = {rest_n_.get(), rest_.get()};
        check(cudaMemsetAsync(rest.n, 0, sizeof *rest.n, stream_));
        dim3 grid(blocks_for(n, gpu::CCM_WARPS), most_of_grid((here + 31) / 32));
        gpu::ccm_walk<<<grid, gpu::CCM_WARPS * gpu::WARP, 0, stream_>>>(
            place(), lists, member_.get(), near, rest);
        check(cudaGetLastError());
        gpu::ccm_search_rest<<<gpu::CCM_REST, gpu::CCM_THREADS, 0, stream_>>>(
            place(), lists, member_.get(), near, rest);
        check(cudaGetLastError());
        predict(near, view_.get() + first, from, n, libraries,
                found.data() + (size_t) first * m_.targets);
        check(cudaStreamSynchronize(stream_));
    }
    if (!work_.stop)
        m_.add_part(part, std::move(found));
}

/* One library that is searched by itself, for all rows. */
void worker::map_alone(uint32_t number)
{
    uint32_t library = m_.alone[number];
    const drawn &one = m_.libraries[library];
    const uint32_t *view = view_.get() + m_.shared.size() + number;
    rows_.upload(one.rows.data(), one.rows.size(), stream_);
    gpu::neighbour_search search(points(), {one.size, rows_.get()}, stream_);
    std::vector<gpu::ccm_sums> found((size_t) m_.chunks(m_.prediction.n) * m_.targets);
    for (uint32_t part = 0; part < m_.parts && !work_.stop; part++) {
        uint32_t from = part * m_.part, n = std::min(m_.part, m_.prediction.n - from);
        gpu::ccm_near near = make_near(1, n);
        search.find({n, prediction_.get() + from}, m_.options.k, m_.options.exclusion,
                    {near.found, near.row, near.distance});
        predict(near, view, from, n, 1,
                found.data() + (size_t) (from / CCM_CHUNK) * m_.targets);
        check(cudaStreamSynchronize(stream_));
    }
    for (size_t i = 0; i < found.size(); i++)
        gpu::add_sums(&m_.sums[(size_t) library * m_.targets + i % m_.targets], found[i]);
}

/* ---- all of it ---- */

/* Rows of a part: as many as take a tenth of a second, leave every device some parts, and
   the arrays of one chunk of libraries room. */
void make_parts(mapping *m, int devices)
{
    size_t most = std::max(m->choice.most, m->options.k), rows = m->prediction.n;
    double row = gpu::search_cost((double) m->library.size(), m->points.dims, most);
    size_t each = std::min(ARRAY_BYTES / (most * sizeof(double)), (size_t) (1e8 / row));
    each = std::min(each, devices > 1 ? rows / (4 * (size_t) devices) : rows);
    each = std::max<size_t>((each + CCM_CHUNK - 1) / CCM_CHUNK, 1) * CCM_CHUNK;
    m->part = (uint32_t) std::min<size_t>(each, (size_t) 1 << 30);
    m->parts = (uint32_t) ((rows + m->part - 1) / m->part);
}

void run(mapping *m, const int *devices, int n_devices, const syn_watch *watch)
{
    gpu::check_request(devices, n_devices);
    join_views(m);
    m->choice = gpu::choose_lists(m->options, m->views, (uint32_t) m->library.size(),
                                  m->prediction.n, m->points.dims);
    list_libraries(m);
    for (uint32_t v = 0; v < m->views; v++)
        for (size_t t = 0; t < m->targets; t++)
            m->shift.push_back(syn_ccm_middle(m->view[v].target + t * m->points.rows,
                                              &m->prediction));
    draw_all(m, watch);
    make_parts(m, n_devices);
    uint32_t first = m->shared.empty() ? 0 : m->parts;
    uint32_t items = first + (uint32_t) m->alone.size();
    gpu::device_scope scope;
    gpu::crew work;
    work.start(devices, n_devices, [&](int) {
        worker mine(*m, work);
        for (uint32_t item; work.take(1, items, n_devices, &item) > 0;)
            if (item < first)
                mine.map_part(item);
            else
                mine.map_alone(item - first);
    });
    work.wait(items, watch, "rows");
}

}  // namespace

extern "C" syn_status syn_gpu_ccm(const syn_points *points, const syn_ccm_view *view,
                                  uint32_t views, const syn_rows *prediction,
                                  uint32_t targets, const syn_ccm_options *options,
                                  const int *devices, int n_devices,
                                  const syn_watch *watch, syn_ccm_skill *out,
                                  char *reason)
{
    std::memset(out, 0, sizeof *out);
    gpu::outcome end = gpu::outcome_of([&] {
        mapping m = {*points, view, views, *prediction, targets, *options};
        run(&m, devices, n_devices, watch);
        if (syn_ccm_skill_make(m.libraries.size(), targets, out) != SYN_OK)
            throw std::bad_alloc();
        for (size_t i = 0; i < m.sums.size(); i++)
            syn_ccm_skill_put(m.sums[i].s, out, i % targets * out->n + i / targets);
    });
    std::snprintf(reason, SYN_GPU_TEXT, "%s", end.reason);
    return end.status;
}
