/* The host tells the device which episodes are kept, and what their candidates are. */
#ifndef SYN_GPU_STREAM_SEND_CUH
#define SYN_GPU_STREAM_SEND_CUH

#include "gpu/stream/window.cuh"

namespace gpu {
namespace live {

enum {
    COPY_WARPS = 8,     /* of a block that copies */
    MOVES_THREADS = 128
};

inline uint32_t power_of_two(uint32_t n, uint32_t least)
{
    while (least < n)
        least *= 2;
    return least;
}

/* ---- what the core notes ---- */

inline void window::note_touched(uint32_t id)
{
    if (own_.size() <= id)
        own_.resize(id + id / 2 + 64);
    held_kept &own = own_[id];
    if (!own.touched)
        touched_.push_back(id);
    if (!own.uncounted)
        uncounted_.push_back(id);
    own.touched = own.uncounted = true;
}

inline void window::note_left(uint32_t id)
{
    if (id >= own_.size())
        return;
    held_kept &own = own_[id];
    pool_.give(own.count, 2 * (size_t) own.room * sizeof(uint32_t));
    pool_.give(own.slot, own.slot_room * sizeof(uint32_t));
    pool_.give(own.ends, own.ends_room * sizeof(end));
    bool touched = own.touched, uncounted = own.uncounted;
    own = held_kept();
    own.touched = touched;
    own.uncounted = uncounted;
    if (!touched)
        touched_.push_back(id);
    own.touched = true;
}

inline void window::note_move(const syn_stream *s, const candidate_move &what,
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

/* ---- sending it ---- */

inline void window::copy(void *to, const void *from, size_t bytes)
{
    if (bytes > 0)
        copies_.push_back({(uint32_t *) to, (const uint32_t *) from,
                           (uint32_t) (bytes / sizeof(uint32_t))});
}

/* Moves come first: all that follows is of where candidates stand after them. */
inline void window::send_moves(syn_stream *)
{
    if (moves_.empty())
        return;
    candidate_move *move = stage_.put<candidate_move>(moves_.size());
    uint32_t *user = stage_.put<uint32_t>(users_.size());
    std::copy(moves_.begin(), moves_.end(), move);
    std::copy(users_.begin(), users_.end(), user);
    moves_job job = {kept_.get(), move, (uint32_t) moves_.size(), user};
    move_candidates_of<<<1, MOVES_THREADS, 0, stream_>>>(job);
    check(cudaGetLastError());
    moves_.clear();
    users_.clear();
}

/* Memory for an episode's candidates and, unless it is a single unit, its ends. */
inline void window::make_room(syn_stream *s, uint32_t id)
{
    const syn_stream_kept &k = s->kept[id];
    held_kept &own = own_[id];
    if (k.n > own.room) {
        uint32_t room = power_of_two(k.n, 8);
        uint32_t *count =
            (uint32_t *) pool_.take(&s->budget, 2 * (size_t) room * sizeof *count);
        copy(count, own.count, k.counted * sizeof *count);
        copy(count + room, own.count + own.room, k.counted * sizeof *count);
        pool_.give(own.count, 2 * (size_t) own.room * sizeof *count);
        own.count = count;
        own.room = room;
    }
    if (k.size > 1 && own.ends_room == 0) {
        own.ends_room = unit_[k.unit].room;
        own.ends = (end *) pool_.take(&s->budget, own.ends_room * sizeof(end));
        end_list *list = stage_.put<end_list>(1);
        *list = {own.ends, own.ends_room - 1, 0, 0, 0, 0, 0};
        copy(list_.get() + units_ + id, list, sizeof *list);
    }
}

inline void window::send_slots(syn_stream *s, uint32_t suffix)
{
    if (own_.size() <= suffix)
        own_.resize(suffix + suffix / 2 + 64);
    const syn_stream_kept &k = s->kept[suffix];
    held_kept &own = own_[suffix];
    if (own.slots_sent == batch_)
        return;
    own.slots_sent = batch_;
    if (k.slots > own.slot_room) {
        uint32_t room = power_of_two(k.slots, 16);
        pool_.give(own.slot, own.slot_room * sizeof(uint32_t));
        own.slot_room = 0;
        own.slot = (uint32_t *) pool_.take(&s->budget, room * sizeof(uint32_t));
        own.slot_room = room;
    }
    uint32_t *slot = stage_.put<uint32_t>(k.slots);
    std::copy_n(k.slot, k.slots, slot);
    copy(own.slot, slot, k.slots * sizeof *slot);
}

inline void window::send_kept(syn_stream *s, uint32_t id)
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
    kept_view *to = stage_.put<kept_view>(1);
    *to = {};
    to->size = k.size;
    to->interval = k.interval;
    to->list = list_of(id);
    to->unit = k.unit;
    if (k.size > 1) {
        to->parent = list_of(k.parent);
        to->suffix = list_of(k.suffix);
    }
    to->n = k.n;
    to->counted = k.counted;
    to->count = own.count;
    to->free = own.count + own.room;
    to->slot = own_[k.suffix].slot;
    copy(kept_.get() + id, to, sizeof *to);
}

/* Which episodes have candidates, size after size. */
inline void window::send_order(syn_stream *s)
{
    uint32_t *order = stage_.put<uint32_t>(s->n_kept), n = 0;
    level_first_.assign(s->levels, 0);
    level_n_.assign(s->levels, 0);
    level_threads_.assign(s->levels, WARP);
    for (size_t size = 1; size < s->levels; size++) {
        size_t candidates = 0;
        level_first_[size] = n;
        for (uint32_t i = 0; i < s->level[size].n; i++) {
            uint32_t id = s->level[size].kept[i];
            if (s->kept[id].n == 0)
                continue;
            order[n++] = id;
            candidates += s->kept[id].n;
        }
        level_n_[size] = n - level_first_[size];
        while (level_threads_[size] < 4 * WARP &&
               level_threads_[size] * (size_t) level_n_[size] < candidates)
            level_threads_[size] += WARP;
    }
    check(cudaMemcpyAsync(order_.get(), order, n * sizeof *order, cudaMemcpyHostToDevice,
                          stream_));
}

inline size_t window::bytes_to_flush(const syn_stream *s) const
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

inline void window::flush(syn_stream *s)
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
    send_moves(s);
    for (uint32_t id : touched_) {
        own_[id].touched = false;
        send_kept(s, id);
    }
    send_order(s);
    touched_.clear();
    pool_.settle();
    words_copy *copies = stage_.put<words_copy>(copies_.size());
    std::copy(copies_.begin(), copies_.end(), copies);
    uint32_t n = (uint32_t) copies_.size();
    copy_all<<<blocks_for(n, COPY_WARPS), COPY_WARPS * WARP, 0, stream_>>>(copies, n);
    check(cudaGetLastError());
}

}  // namespace live
}  // namespace gpu

#endif
