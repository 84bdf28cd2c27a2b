/* The host moves a window on: it finds where events stand and what they follow, and
   starts the kernels. */
#ifndef SYN_GPU_STREAM_MOVE_WINDOW_CUH
#define SYN_GPU_STREAM_MOVE_WINDOW_CUH

#include "gpu/stream/send.cuh"

#include <atomic>

namespace gpu {
namespace live {

enum {
    EVENT_WARPS = 4,     /* of a block that takes events */
    MOST_BLOCKS = 4096,  /* of them */
    GROW_THREADS = 256,
    LOOKS = 256          /* at the signal, for one at the device and the clock */
};

inline unsigned event_blocks(size_t n)
{
    return std::min(blocks_for(n, EVENT_WARPS), (unsigned) MOST_BLOCKS);
}

inline window::~window()
{
    if (stream_ && !syn_gpu_forked()) {
        cudaStreamSynchronize(stream_);
        cudaStreamDestroy(stream_);
        cudaGetLastError();
    }
}

/* ---- waiting and reading ---- */

/* Room in the stage: what it holds may be read by work that is under way. */
inline void window::reserve(syn_stream *s, size_t bytes)
{
    if (stage_.holds(bytes))
        return;
    check(cudaStreamSynchronize(stream_));
    stage_.empty();
    if (!stage_.holds(bytes))
        stage_.grow(&s->budget, bytes);
}

inline void window::wait(syn_stream *s)
{
    volatile signal *host = signal_.as<signal>();
    for (uint32_t looks = 1; host->serial != serial_; looks++) {
        if (looks % LOOKS > 0)
            continue;
        cudaError_t state = cudaStreamQuery(stream_);
        if (state != cudaErrorNotReady)
            check(state);
        if (syn_stream_look_up(s) != SYN_OK)
            throw refusal(SYN_INTERRUPTED, "");
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    stage_.empty();
}

/* Ends a row of launches, and takes over the counts that they reported. */
inline void window::tell_and_read(syn_stream *s)
{
    tell_host<<<1, 1, 0, stream_>>>(found_n_.get(), ++serial_, signal_.as<signal>());
    check(cudaGetLastError());
    wait(s);
    const found *all = found_.as<found>();
    uint32_t kept = syn_stream_least_kept(s), ahead = syn_stream_least_ahead(s);
    for (uint32_t i = 0, n = signal_.as<signal>()->found; i < n; i++) {
        found own = all[i];
        syn_stream_kept *k = &s->kept[own.id];
        k->count[own.place] = own.count;
        uint32_t node = k->node[own.place];
        if (node != SYN_STREAM_NONE) {
            s->count[node] = own.count;
            s->fallen |= own.count < kept;
        } else if (own.count >= ahead) {
            k->changed = s->risen = 1;
        }
    }
}

inline window_view window::view(const syn_stream *s, bool all) const
{
    report_view report = {least_, all ? 1u : 0u, found_n_.get(), found_.as<found>(),
                          (uint32_t) (found_.bytes() / sizeof(found))};
    const syn_stream_events &e = s->events;
    uint32_t open = e.end > e.begin ? syn_stream_pending(&e, e.end - 1) : e.end;
    return {ring_, open, list_.get(), kept_.get(), report};
}

/* ---- memory ---- */

/* The ring as long as the host's, with the events before `since`; all that is there at
   the first call. */
inline void window::make_ring(syn_stream *s, uint32_t since)
{
    const syn_stream_events &e = s->events;
    if (!stream_) {
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        units_ = e.units;
        unit_.resize(units_);
        since_.assign(intervals_, e.begin);
        until_.assign(intervals_, e.begin);
        last_.assign((size_t) intervals_ * units_, 0);
        signal_.make(&s->budget, sizeof(signal));
        std::memset(signal_.as<signal>(), 0, sizeof(signal));
        found_n_.ensure(&s->budget, 1, stream_);
        list_.ensure(&s->budget, units_, stream_);
    }
    if (e.room == ring_.mask + 1)
        return;
    counted_block follows(memory::device), next(memory::device);
    follows.make(&s->budget, sizeof(followed) * intervals_ * e.room);
    next.make(&s->budget, sizeof(uint16_t) * intervals_ * units_ * (size_t) e.room);
    ring_view grown = {e.room - 1, units_, intervals_, follows.as<followed>(),
                       next.as<uint16_t>()};
    if (next_.bytes() > 0) {
        ring_move job = {ring_, grown, e.begin, since};
        grow_ring<<<event_blocks(since - e.begin), EVENT_WARPS * WARP, 0, stream_>>>(job);
        check(cudaGetLastError());
    }
    follows_.swap(follows);
    next_.swap(next);
    ring_ = grown;
}

/* Larger blocks for the list of a unit and for those of all episodes that it ends. */
inline void window::grow_unit(syn_stream *s, uint32_t u, uint32_t room,
                              std::vector<list_move> *moves)
{
    auto grow = [&](uint32_t list, end **ends, uint32_t *old) {
        end *to = (end *) pool_.take(&s->budget, room * sizeof(end));
        pool_.give(*ends, *old * sizeof(end));
        moves->push_back({list, room - 1, to});
        *ends = to;
        *old = room;
    };
    grow(u, &unit_[u].ends, &unit_[u].room);
    for (uint32_t id = 0; id < s->n_kept && id < own_.size(); id++)
        if (own_[id].ends_room > 0 && s->kept[id].unit == u)
            grow(units_ + id, &own_[id].ends, &own_[id].ends_room);
}

inline void window::grow_units(syn_stream *s, const syn_stream_events &e)
{
    std::vector<list_move> moves;
    for (uint32_t u = 0; u < units_; u++) {
        uint32_t n = syn_stream_unit_count(&e, u);
        if (n > unit_[u].room)
            grow_unit(s, u, power_of_two(n + n / 4, 64), &moves);
    }
    if (moves.empty())
        return;
    reserve(s, stage::bytes_of<list_move>(moves.size()));
    list_move *to = stage_.put<list_move>(moves.size());
    std::copy(moves.begin(), moves.end(), to);
    grow_lists<<<(unsigned) moves.size(), GROW_THREADS, 0, stream_>>>(list_.get(), to);
    check(cudaGetLastError());
    pool_.settle();
}

/* ---- events ---- */

/* What the events that came follow. */
inline void window::find_spans(const syn_stream_events &e, uint32_t since, came_span *to)
{
    uint32_t n = e.end - since;
    for (uint32_t k = 0; k < intervals_; k++) {
        uint32_t from = std::max(since_[k], e.begin);
        uint32_t until = std::max(until_[k], e.begin);
        uint32_t *last = &last_[(size_t) k * units_];
        for (uint32_t i = 0; i < n; i++) {
            uint32_t event = since + i, unit = e.unit[event & e.mask];
            int64_t tick = syn_stream_tick(&e, event);
            while (until < event &&
                   tick - syn_stream_tick(&e, until) > e.interval[k].low)
                until++;
            while (from < until && tick - syn_stream_tick(&e, from) > e.interval[k].high)
                from++;
            if (event - from > UINT16_MAX)
                throw refusal(SYN_OVER_BUDGET, "too many events within an interval");
            to[(size_t) k * n + i] = {{from, until}, std::max(from, last[unit])};
            last[unit] = until;
        }
        since_[k] = from;
        until_[k] = until;
    }
}

/* Where the lists of units begin and end: as they were, with what came, and without what
   goes. */
inline void window::note_places(const syn_stream_events &e, uint32_t since,
                                uint32_t begin)
{
    for (uint32_t u = 0; u < units_; u++) {
        unit_[u].fresh = unit_[u].tail;
        unit_[u].left = 0;
    }
    for (uint32_t event = e.begin; event < begin; event++)
        unit_[e.unit[event & e.mask]].left++;
    for (uint32_t event = since; event < e.end; event++)
        unit_[e.unit[event & e.mask]].tail++;
}

inline append_job window::put_events(syn_stream *s, uint32_t since)
{
    const syn_stream_events &e = s->events;
    uint32_t n = e.end - since;
    came *event = stage_.put<came>(n);
    came_span *span = stage_.put<came_span>((size_t) n * intervals_);
    unit_span *unit = stage_.put<unit_span>(units_);
    find_spans(e, since, span);
    for (uint32_t u = 0; u < units_; u++) {
        uint32_t head = unit_[u].tail - syn_stream_unit_count(&e, u);
        unit[u] = {head, head + unit_[u].left, unit_[u].fresh, unit_[u].tail};
        unit_[u].left = unit_[u].fresh;  /* from now on where the next one goes */
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t own = e.unit[(since + i) & e.mask];
        event[i] = {own, syn_stream_group(&e, since + i), unit_[own].left++};
    }
    return {ring_, list_.get(), since, n, event, span, unit};
}

/* ---- an update ---- */

inline void window::move(syn_stream *s, uint32_t since, uint32_t begin, bool all)
{
    const syn_stream_events &e = s->events;
    uint32_t n = e.end - since, least = syn_stream_least_kept(s);
    uint32_t pending = n > 0 ? syn_stream_pending(&e, since) : e.end;
    make_ring(s, since);
    flush(s);
    grow_units(s, e);
    reserve(s, stage::bytes_of<came>(n) + stage::bytes_of<unit_span>(units_) +
                   stage::bytes_of<came_span>((size_t) n * intervals_));
    if (found_.bytes() < s->candidates * sizeof(found))
        found_.make(&s->budget, (s->candidates + s->candidates / 4) * sizeof(found));
    note_places(e, since, begin);
    append_job came = put_events(s, since);
    append_events<<<event_blocks(std::max(n, units_ / WARP + 1)), EVENT_WARPS * WARP, 0,
                    stream_>>>(came);
    if (n > 0)
        fill_rows<<<event_blocks((size_t) n * intervals_), EVENT_WARPS * WARP, 0,
                    stream_>>>(came);
    check(cudaGetLastError());
    for (uint32_t id = 0; all && id < s->n_kept; id++) {
        s->count[id] = 0;
        if (s->kept[id].n > 0)
            std::memset(s->kept[id].count, 0, s->kept[id].n * sizeof *s->kept[id].count);
    }
    least_ = std::min(least_ ? least_ : least, least);
    move_job job = {view(s, all), nullptr, pending, begin};
    for (size_t size = 1; size < level_n_.size(); size++) {
        if (level_n_[size] == 0)
            continue;
        job.id = order_.get() + level_first_[size];
        move_episodes<<<level_n_[size], level_threads_[size], 0, stream_>>>(job);
        check(cudaGetLastError());
    }
    s->fallen |= all;
    tell_and_read(s);
    least_ = least;
}

/* What is not counted yet is counted when the core comes to its size. */
inline void window::count(syn_stream *s, size_t size)
{
    std::vector<uint32_t> later, list;
    std::vector<count_task> task;
    for (uint32_t id : uncounted_) {
        syn_stream_kept *k = &s->kept[id];
        if (k->used && k->size > size) {
            later.push_back(id);
            continue;
        }
        own_[id].uncounted = false;
        if (!k->used || k->counted >= k->n)
            continue;
        if (k->size > 1 && !k->listed)
            list.push_back(id);
        for (uint32_t first = k->counted; first < k->n; first += WARP)
            task.push_back({id, first});
    }
    uncounted_.swap(later);
    if (task.empty())
        return;
    flush(s);
    reserve(s, stage::bytes_of<uint32_t>(list.size()) +
                   stage::bytes_of<count_task>(task.size()));
    if (found_.bytes() < task.size() * WARP * sizeof(found))
        found_.make(&s->budget, task.size() * WARP * sizeof(found));
    uint32_t *id = stage_.put<uint32_t>(list.size());
    count_task *what = stage_.put<count_task>(task.size());
    std::copy(list.begin(), list.end(), id);
    std::copy(task.begin(), task.end(), what);
    if (!list.empty())
        list_episodes<<<(unsigned) list.size(), LIST_THREADS, 0, stream_>>>(
            {view(s, false), id});
    count_candidates<<<(unsigned) task.size(), COUNT_WARPS * WARP, 0, stream_>>>(
        {view(s, false), what});
    check(cudaGetLastError());
    for (uint32_t own : list)
        s->kept[own].listed = 1;
    for (const count_task &own : task) {
        s->anew += s->kept[own.id].n - s->kept[own.id].counted;
        s->kept[own.id].counted = s->kept[own.id].n;
    }
    tell_and_read(s);
}

/* The host's numbers are lower already. */
inline void window::renumber(syn_stream *s, uint32_t by)
{
    const syn_stream_events &e = s->events;
    auto lower = [&](uint32_t *event) { *event = *event > by ? *event - by : 0; };
    flush(s);
    for (uint32_t &event : since_)
        lower(&event);
    for (uint32_t &event : until_)
        lower(&event);
    for (uint32_t &event : last_)
        lower(&event);
    uint32_t kept = 0;
    for (uint32_t n : level_n_)
        kept += n;
    renumber_job job = {view(s, false), e.begin + by, e.end + by, by, order_.get(), kept};
    unsigned blocks = units_ + kept + blocks_for(e.end - e.begin, GROW_THREADS);
    renumber_all<<<blocks, GROW_THREADS, 0, stream_>>>(job);
    check(cudaGetLastError());
}

}  // namespace live
}  // namespace gpu

#endif
