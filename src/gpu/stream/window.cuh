/* The host's part of a window on a device: what it sends there, launches and reads. */
#ifndef SYN_GPU_STREAM_WINDOW_CUH
#define SYN_GPU_STREAM_WINDOW_CUH

#include "gpu/stream/changes.cuh"
#include "gpu/stream/events.cuh"
#include "gpu/stream/memory.cuh"
#include "gpu/stream/stream.h"
#include "gpu/stream/whole.cuh"

extern "C" {
#include "core/episodes/stream_walk.h"
}

#include <cstring>
#include <vector>

namespace gpu {
namespace live {

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
    std::vector<uint32_t> since_, until_;  /* [intervals] of the last event */
    std::vector<uint32_t> last_;           /* [intervals][units] that of its last event */

    /* What is to be sent: episodes whose candidates are others, and moves of these. */
    std::vector<uint32_t> touched_, uncounted_, users_;
    std::vector<candidate_move> moves_;
    uint64_t batch_ = 0;
    bool short_ = false;           /* whether there was no memory to note something */
    std::vector<words_copy> copies_;

    /* Episodes with candidates by size, as `order_` has them. */
    std::vector<uint32_t> level_first_, level_n_, level_threads_;

    void reserve(syn_stream *s, size_t bytes);
    void wait(syn_stream *s);
    void tell_and_read(syn_stream *s);
    window_view view(const syn_stream *s, bool all) const;

    void make_ring(syn_stream *s, uint32_t since);
    void grow_units(syn_stream *s, const syn_stream_events &e);
    void grow_unit(syn_stream *s, uint32_t u, uint32_t room,
                   std::vector<list_move> *moves);
    void note_places(const syn_stream_events &e, uint32_t since, uint32_t begin);
    void find_spans(const syn_stream_events &e, uint32_t since, came_span *to);
    append_job put_events(syn_stream *s, uint32_t since);

    size_t bytes_to_flush(const syn_stream *s) const;
    void send_moves(syn_stream *s);
    void make_room(syn_stream *s, uint32_t id);
    void send_slots(syn_stream *s, uint32_t suffix);
    void send_kept(syn_stream *s, uint32_t id);
    void send_order(syn_stream *s);
    void copy(void *to, const void *from, size_t bytes);
    void flush(syn_stream *s);

public:
    window(int device, uint32_t intervals) : device_(device), intervals_(intervals) {}
    ~window();
    window(const window &) = delete;
    window &operator=(const window &) = delete;

    int device() const { return device_; }

    void move(syn_stream *s, uint32_t since, uint32_t begin, bool all);
    void count(syn_stream *s, size_t size);
    void renumber(syn_stream *s, uint32_t by);

    void note_move(const syn_stream *s, const candidate_move &what, uint32_t suffix);
    void note_touched(uint32_t id);
    void note_left(uint32_t id);
    void note_short() { short_ = true; }
};

}  // namespace live
}  // namespace gpu

#endif
