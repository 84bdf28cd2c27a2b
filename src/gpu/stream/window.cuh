/* The host's part of a window on a device: what it sends there, launches and reads. */
#pragma once

#include "gpu/stream/count.cuh"
#include "gpu/stream/memory.cuh"

extern "C" {
#include "core/episodes/stream_kept.h"
}

#include <atomic>
#include <cstring>

namespace gpu::live {

inline uint32_t power_of_two(uint32_t n, uint32_t least)
{
    while (least < n)
        least *= 2;
    return least;
}

enum {
    COPY_WARPS = 8,      /* of a block that copies */
    MOVES_THREADS = 128,
    EVENT_WARPS = 4,     /* of a block that takes events */
    MOST_BLOCKS = 4096,  /* of them */
    GROW_THREADS = 256,
    LOOKS = 256          /* at the signal, for one at the device and the clock */
};

/* A warp an event, and perhaps further ones. */
inline grid events_grid(size_t n)
{
    return {std::min(blocks_for(n, EVENT_WARPS), (unsigned) MOST_BLOCKS),
            EVENT_WARPS * WARP};
}

/* What the device holds for an episode. */
struct held_kept {
    uint32_t *count = nullptr;  /* [room] and then free[room] */
    uint32_t room = 0;
    uint32_t *slot = nullptr;   /* of those that have it as their suffix */
    uint32_t slot_room = 0;
    uint64_t slots_sent = 0;    /* the batch of changes that sent them last */
    end *ends = nullptr;
    uint32_t ends_room = 0;
    bool touched = false, uncounted = false;
};

/* What the host knows of the list of a unit. */
struct held_unit {
    uint32_t tail = 0;   /* its place after the last one */
    uint32_t room = 0;   /* of its block, and of those of all episodes that end with it */
    end *ends = nullptr;
    uint32_t fresh, left;  /* of an update: place of the first that came, and how many
                              have gone */
};

/* Episodes of one size with candidates: where they begin in the order of all, and how
   they are moved, by a block of so many threads each. */
struct kept_level {
    uint32_t first;
    unsigned n, threads;
};

class window {
    int device_;
    cudaStream_t stream_ = nullptr;
    uint32_t intervals_, units_ = 0;
    pool pool_;
    stage stage_;
    counted_block follows_{memory::device}, next_{memory::device};
    ring_view ring_ = {};
    kept_array<end_list> list_;
    kept_array<kept_view> kept_;
    kept_array<uint32_t> order_, found_n_;
    counted_block found_{memory::host}, signal_{memory::host};
    uint32_t serial_ = 0, least_ = 0;

    std::vector<held_kept> own_;   /* by number of the episode */
    std::vector<held_unit> unit_;
    std::vector<followed> reach_;  /* [intervals] of the last event */
    std::vector<uint32_t> last_;   /* [intervals][units] `until` of its last event */

    /* What is to be sent: episodes whose candidates are others, and moves of these. */
    std::vector<uint32_t> touched_, uncounted_, users_;
    std::vector<candidate_move> moves_;
    uint64_t batch_ = 0;
    bool short_ = false;           /* whether there was no memory to note something */
    std::vector<words_copy> copies_;

    std::vector<kept_level> level_;  /* by size; `order_` has the episodes */

    held_kept &held(uint32_t id)
    {
        if (own_.size() <= id)
            own_.resize(id + id / 2 + 64);
        return own_[id];
    }

    /* ---- sending it ---- */

    template <class T> void copy(T *to, const T *from, size_t n)
    {
        if (n > 0)
            copies_.push_back({(uint32_t *) to, (const uint32_t *) from,
                               (uint32_t) (n * sizeof(T) / sizeof(uint32_t))});
    }

    /* Moves come first: all that follows is of where candidates stand after them. */
    void send_moves()
    {
        if (moves_.empty())
            return;
        candidate_move *move = stage_.put(moves_);
        moves_job job = {kept_.get(), move, (uint32_t) moves_.size(), stage_.put(users_)};
        launch(move_candidates_of, {1, MOVES_THREADS}, stream_, job);
        moves_.clear();
        users_.clear();
    }

    /* Memory for an episode's candidates and, unless it is a single unit, its ends. */
    void make_room(syn_stream *s, uint32_t id)
    {
        const syn_stream_kept &k = s->kept[id];
        held_kept &own = own_[id];
        if (k.n > own.room) {
            uint32_t room = power_of_two(k.n, 8);
            uint32_t *count = pool_.take<uint32_t>(&s->budget, 2 * (size_t) room);
            copy(count, own.count, k.counted);
            copy(count + room, own.count + own.room, k.counted);
            pool_.give(own.count, 2 * (size_t) own.room);
            own.count = count;
            own.room = room;
        }
        if (k.size > 1 && own.ends_room == 0) {
            own.ends_room = unit_[k.unit].room;
            own.ends = pool_.take<end>(&s->budget, own.ends_room);
            end_list *list = stage_.put<end_list>(1);
            *list = {{0, 0, 0, 0}, own.ends, own.ends_room - 1, 0};
            copy(list_.get() + units_ + id, list, 1);
        }
    }

    void send_slots(syn_stream *s, uint32_t suffix)
    {
        const syn_stream_kept &k = s->kept[suffix];
        held_kept &own = held(suffix);
        if (own.slots_sent == batch_)
            return;
        own.slots_sent = batch_;
        if (k.slots > own.slot_room) {
            uint32_t room = power_of_two(k.slots, 16);
            pool_.give(own.slot, own.slot_room);
            own.slot_room = 0;
            own.slot = pool_.take<uint32_t>(&s->budget, room);
            own.slot_room = room;
        }
        uint32_t *slot = stage_.put<uint32_t>(k.slots);
        std::copy_n(k.slot, k.slots, slot);
        copy(own.slot, slot, k.slots);
    }

    void send_kept(syn_stream *s, uint32_t id)
    {
        const syn_stream_kept &k = s->kept[id];
        if (!k.used || k.n == 0)
            return;
        make_room(s, id);
        send_slots(s, k.suffix);
        auto list_of = [&](uint32_t of) {
            return s->kept[of].size == 1 ? s->kept[of].unit : units_ + of;
        };
        const held_kept &own = own_[id];
        bool longer = k.size > 1;
        kept_view *to = stage_.put<kept_view>(1);
        *to = {k.size, k.interval, list_of(id), longer ? list_of(k.parent) : 0,
               longer ? list_of(k.suffix) : 0, k.unit, k.n, k.counted, own.count,
               own.count + own.room, own_[k.suffix].slot};
        copy(kept_.get() + id, to, 1);
    }

    /* Which episodes have candidates, size after size. */
    void send_order(syn_stream *s)
    {
        uint32_t *order = stage_.put<uint32_t>(s->n_kept), n = 0;
        level_.clear();
        for (size_t size = 1; size < s->levels; size++) {
            size_t candidates = 0;
            kept_level own = {n, 0, WARP};
            for (uint32_t i = 0; i < s->level[size].n; i++) {
                uint32_t id = s->level[size].kept[i];
                if (s->kept[id].n == 0)
                    continue;
                order[n + own.n++] = id;
                candidates += s->kept[id].n;
            }
            while (own.threads < 4 * WARP && own.threads * (size_t) own.n < candidates)
                own.threads += WARP;
            if (own.n > 0)
                level_.push_back(own);
            n += own.n;
        }
        send(order_.get(), order, n, stream_);
    }

    size_t bytes_to_flush(const syn_stream *s) const
    {
        size_t bytes = stage::bytes_of<candidate_move>(moves_.size()) +
                       stage::bytes_of<uint32_t>(users_.size()) +
                       stage::bytes_of<uint32_t>(s->n_kept);
        for (uint32_t id : touched_) {
            const syn_stream_kept &k = s->kept[id];
            bytes += stage::bytes_of<kept_view>(1) + stage::bytes_of<end_list>(1) +
                     5 * sizeof(words_copy);
            if (k.used)
                bytes += stage::bytes_of<uint32_t>(s->kept[k.suffix].slots);
        }
        return bytes + 64 * sizeof(words_copy);
    }

    void flush(syn_stream *s)
    {
        if (short_)
            throw refusal(SYN_NO_MEMORY, "the host has no memory left");
        if (touched_.empty() && moves_.empty())
            return;
        reserve(s, bytes_to_flush(s));
        batch_++;
        copies_.clear();
        kept_.ensure(&s->budget, s->n_kept, stream_);
        list_.ensure(&s->budget, (size_t) units_ + s->n_kept, stream_);
        order_.ensure(&s->budget, s->n_kept, stream_);
        send_moves();
        for (uint32_t id : touched_) {
            own_[id].touched = false;
            send_kept(s, id);
        }
        send_order(s);
        touched_.clear();
        pool_.settle();
        uint32_t n = (uint32_t) copies_.size();
        launch(copy_all, {blocks_for(n, COPY_WARPS), COPY_WARPS * WARP}, stream_,
               stage_.put(copies_), n);
    }

    /* ---- waiting and reading ---- */

    /* Room in the stage: what it holds may be read by work that is under way. */
    void reserve(syn_stream *s, size_t bytes)
    {
        if (stage_.holds(bytes))
            return;
        wait_for(stream_);
        stage_.empty();
        if (!stage_.holds(bytes))
            stage_.grow(&s->budget, bytes);
    }

    void wait(syn_stream *s)
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
    void tell_and_read(syn_stream *s)
    {
        launch(tell_host, {1, 1}, stream_, found_n_.get(), ++serial_,
               signal_.as<signal>());
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

    window_view view(const syn_stream *s, bool all) const
    {
        report_view report = {least_, all ? 1u : 0u, found_n_.get(), found_.as<found>(),
                              (uint32_t) (found_.bytes() / sizeof(found))};
        const syn_stream_events &e = s->events;
        uint32_t open = e.end > e.begin ? syn_stream_pending(&e, e.end - 1) : e.end;
        return {ring_, open, list_.get(), kept_.get(), report};
    }

    /* ---- memory ---- */

    /* The ring as long as the host's, with the events before `since`; all that is there
       at the first call. */
    void make_ring(syn_stream *s, uint32_t since)
    {
        const syn_stream_events &e = s->events;
        if (!stream_) {
            check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
            units_ = e.units;
            unit_.resize(units_);
            reach_.assign(intervals_, {e.begin, e.begin});
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
            launch(grow_ring, events_grid(since - e.begin), stream_, job);
        }
        follows_.swap(follows);
        next_.swap(next);
        ring_ = grown;
    }

    /* Larger blocks for the lists of units, and of all episodes that they end. */
    void grow_units(syn_stream *s, const syn_stream_events &e)
    {
        std::vector<list_move> moves;
        for (uint32_t u = 0; u < units_; u++) {
            uint32_t n = syn_stream_unit_count(&e, u), room = power_of_two(n + n / 4, 64);
            auto grow = [&](uint32_t list, end **ends, uint32_t *old) {
                end *to = pool_.take<end>(&s->budget, room);
                pool_.give(*ends, *old);
                moves.push_back({list, room - 1, to});
                *ends = to;
                *old = room;
            };
            if (n <= unit_[u].room)
                continue;
            grow(u, &unit_[u].ends, &unit_[u].room);
            for (uint32_t id = 0; id < s->n_kept && id < own_.size(); id++)
                if (own_[id].ends_room > 0 && s->kept[id].unit == u)
                    grow(units_ + id, &own_[id].ends, &own_[id].ends_room);
        }
        if (moves.empty())
            return;
        reserve(s, stage::bytes_of<list_move>(moves.size()));
        launch(grow_lists, {(unsigned) moves.size(), GROW_THREADS}, stream_, list_.get(),
               stage_.put(moves));
        pool_.settle();
    }

    /* ---- events ---- */

    /* What the events that came follow. */
    void find_spans(const syn_stream_events &e, uint32_t since, came_span *to)
    {
        uint32_t n = e.end - since;
        for (uint32_t k = 0; k < intervals_; k++) {
            uint32_t from = std::max(reach_[k].since, e.begin);
            uint32_t until = std::max(reach_[k].until, e.begin);
            uint32_t *last = &last_[(size_t) k * units_];
            for (uint32_t i = 0; i < n; i++) {
                uint32_t event = since + i, unit = e.unit[event & e.mask];
                int64_t tick = syn_stream_tick(&e, event);
                while (until < event &&
                       tick - syn_stream_tick(&e, until) > e.interval[k].low)
                    until++;
                while (from < until &&
                       tick - syn_stream_tick(&e, from) > e.interval[k].high)
                    from++;
                if (event - from > UINT16_MAX)
                    throw refusal(SYN_OVER_BUDGET, "too many events within an interval");
                to[(size_t) k * n + i] = {{from, until}, std::max(from, last[unit])};
                last[unit] = until;
            }
            reach_[k] = {from, until};
        }
    }

    /* Where the lists of units begin and end: as they were, with what came, and without
       what goes. */
    void note_places(const syn_stream_events &e, uint32_t since,
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

    append_job put_events(syn_stream *s, uint32_t since)
    {
        const syn_stream_events &e = s->events;
        uint32_t n = e.end - since;
        came *event = stage_.put<came>(n);
        came_span *span = stage_.put<came_span>((size_t) n * intervals_);
        end_span *unit = stage_.put<end_span>(units_);
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

public:
    window(int device, uint32_t intervals) : device_(device), intervals_(intervals) {}
    window(const window &) = delete;
    window &operator=(const window &) = delete;

    ~window()
    {
        if (stream_ && !syn_gpu_forked()) {
            cudaStreamSynchronize(stream_);
            cudaStreamDestroy(stream_);
            cudaGetLastError();
        }
    }

    int device() const { return device_; }

    /* ---- what the core notes ---- */

    void note_touched(uint32_t id)
    {
        held_kept &own = held(id);
        if (!own.touched)
            touched_.push_back(id);
        if (!own.uncounted)
            uncounted_.push_back(id);
        own.touched = own.uncounted = true;
    }

    void note_left(uint32_t id)
    {
        if (id >= own_.size())
            return;
        held_kept &own = own_[id];
        pool_.give(own.count, 2 * (size_t) own.room);
        pool_.give(own.slot, own.slot_room);
        pool_.give(own.ends, own.ends_room);
        bool touched = own.touched, uncounted = own.uncounted;
        own = held_kept();
        own.touched = touched;
        own.uncounted = uncounted;
        if (!touched)
            touched_.push_back(id);
        own.touched = true;
    }

    void note_move(const syn_stream *s, const candidate_move &what,
                                  uint32_t suffix)
    {
        candidate_move own = what;
        own.first = (uint32_t) users_.size();
        for (uint32_t user = s->kept[suffix].user; user != SYN_STREAM_NONE;
             user = s->kept[user].after)
            users_.push_back(user);
        own.n = (uint32_t) users_.size() - own.first;
        moves_.push_back(own);
    }

    void note_short() { short_ = true; }

    /* ---- an update ---- */

    void move(syn_stream *s, uint32_t since, uint32_t begin, bool all)
    {
        const syn_stream_events &e = s->events;
        uint32_t n = e.end - since, least = syn_stream_least_kept(s);
        uint32_t pending = n > 0 ? syn_stream_pending(&e, since) : e.end;
        make_ring(s, since);
        flush(s);
        grow_units(s, e);
        reserve(s, stage::bytes_of<came>(n) + stage::bytes_of<end_span>(units_) +
                       stage::bytes_of<came_span>((size_t) n * intervals_));
        if (found_.bytes() < s->candidates * sizeof(found))
            found_.make(&s->budget, (s->candidates + s->candidates / 4) * sizeof(found));
        note_places(e, since, begin);
        append_job came = put_events(s, since);
        launch(append_events, events_grid(std::max(n, units_ / WARP + 1)), stream_, came);
        if (n > 0)
            launch(fill_rows, events_grid((size_t) n * intervals_), stream_, came);
        for (uint32_t id = 0; all && id < s->n_kept; id++) {
            s->count[id] = 0;
            if (s->kept[id].n > 0)
                std::memset(s->kept[id].count, 0,
                            s->kept[id].n * sizeof *s->kept[id].count);
        }
        least_ = std::min(least_ ? least_ : least, least);
        move_job job = {view(s, all), nullptr, pending, begin};
        for (const kept_level &level : level_) {
            job.id = order_.get() + level.first;
            launch(move_episodes, {level.n, level.threads}, stream_, job);
        }
        s->fallen |= all;
        tell_and_read(s);
        least_ = least;
    }

    /* What is not counted yet is counted when the core comes to its size. */
    void count(syn_stream *s, size_t size)
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
        list_job listing = {view(s, false), stage_.put(list)};
        count_job counting = {listing.window, stage_.put(task)};
        if (!list.empty())
            launch(list_episodes, {(unsigned) list.size(), LIST_THREADS}, stream_,
                   listing);
        launch(count_candidates, {(unsigned) task.size(), COUNT_WARPS * WARP}, stream_,
               counting);
        for (uint32_t own : list)
            s->kept[own].listed = 1;
        for (const count_task &own : task) {
            s->anew += s->kept[own.id].n - s->kept[own.id].counted;
            s->kept[own.id].counted = s->kept[own.id].n;
        }
        tell_and_read(s);
    }

    /* The host's numbers are lower already. */
    void renumber(syn_stream *s, uint32_t by)
    {
        const syn_stream_events &e = s->events;
        auto lower = [&](uint32_t *event) { *event = *event > by ? *event - by : 0; };
        flush(s);
        for (followed &own : reach_) {
            lower(&own.since);
            lower(&own.until);
        }
        for (uint32_t &event : last_)
            lower(&event);
        uint32_t kept = 0;
        for (const kept_level &level : level_)
            kept += level.n;
        renumber_job job = {view(s, false), e.begin + by, e.end + by,
                            by, order_.get(), kept};
        unsigned blocks = units_ + kept + blocks_for(e.end - e.begin, GROW_THREADS);
        launch(renumber_all, {blocks, GROW_THREADS}, stream_, job);
    }
};

}  // namespace gpu::live
