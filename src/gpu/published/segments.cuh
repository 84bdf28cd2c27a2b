/* What the host works out for the machines: how long their lists have to be, and where to
   cut a recording. */
#ifndef SYN_GPU_PUBLISHED_SEGMENTS_CUH
#define SYN_GPU_PUBLISHED_SEGMENTS_CUH

#include "gpu/published/mtpe.cuh"

#include <algorithm>
#include <vector>

namespace gpu {

/* Spans of a segment's lead: most machines have fallen in with the true one by then. */
constexpr int64_t LEAD_SPANS = 4;

/* Slots of a waiting list: a power of two, and no fewer than any unit has events within
   an interval that is `longest` at most, both ends included. */
inline uint32_t slots_of(const syn_recording *r, int64_t longest)
{
    uint32_t most = 1, slots = 1;
    for (uint32_t u = 0; u < r->units; u++) {
        const uint32_t *event = r->by_unit;
        for (uint32_t i = r->first[u], oldest = i; i < r->first[u + 1]; i++) {
            while (r->tick[event[i]] - r->tick[event[oldest]] > longest)
                oldest++;
            most = std::max(most, i - oldest + 1);
        }
    }
    while (slots < most)
        slots *= 2;
    return slots;
}

/* The first event whose tick is at least `tick`. */
inline uint32_t event_from(const syn_recording *r, int64_t tick)
{
    return (uint32_t) (std::lower_bound(r->tick, r->tick + r->events, tick) - r->tick);
}

/* At most `wanted` segments of about the same number of events, cut between ticks, for
   episodes that span at most `span` ticks. There is at least one event. */
inline std::vector<segment> cut_segments(const syn_recording *r, int64_t span,
                                         uint32_t wanted)
{
    std::vector<segment> out;
    for (uint32_t s = 0; s < wanted; s++) {
        uint32_t begin = r->group[(uint64_t) s * r->events / wanted];
        if (!out.empty() && begin == out.back().begin)
            continue;
        int64_t tick = r->tick[begin];
        out.push_back({event_from(r, tick - LEAD_SPANS * span),
                       event_from(r, tick - span), begin, r->events, r->events});
    }
    out[0].lead = out[0].reach = 0;
    for (size_t s = 1; s < out.size(); s++) {
        out[s - 1].end = out[s].begin;
        out[s - 1].beyond = event_from(r, r->tick[out[s].begin] + span);
    }
    return out;
}

}  // namespace gpu

#endif
