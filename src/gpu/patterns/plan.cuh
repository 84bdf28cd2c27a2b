/* What all devices share: the recording in the order of the search, and which roots are
   to be mined together. */
#ifndef SYN_GPU_PATTERNS_PLAN_CUH
#define SYN_GPU_PATTERNS_PLAN_CUH

#include "gpu/patterns/patterns.h"
#include "gpu/patterns/types.cuh"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gpu {

constexpr uint32_t PATTERN_STRIP = 32;  /* lags that rows put together */

/* Roots first up to end. */
struct root_range {
    uint32_t first, end;
};

/* The recording by rank. Bins are numbered anew: gaps longer than a window are cut. */
struct pattern_recording {
    std::vector<uint32_t> first, bin, unit, rank;
    std::vector<size_t> share;  /* [units + 1] the first share of a root or later ones */
    root_range whole = {0, 0};  /* roots of which all shares are to be mined */
    uint64_t bins = 0;

    explicit pattern_recording(const syn_pattern_search &s)
        : first(1, 0), unit(s.ranked, s.ranked + s.raster->units)
    {
        const syn_raster &r = *s.raster;
        std::vector<uint32_t> number = renumber(r, s.options->window);
        bin.reserve(r.events);
        first.reserve(r.units + 1);
        for (uint32_t u : unit) {
            for (uint32_t i = r.unit_first[u]; i < r.unit_first[u + 1]; i++)
                bin.push_back(number[r.unit_bin[i]]);
            first.push_back((uint32_t) bin.size());
        }
        uint32_t lags = s.options->window - 1;
        rank.resize((size_t) r.units * s.options->window);
        for (uint32_t u = 0; u < r.units; u++)
            rank[u] = u;
        for (size_t p = r.units; p < rank.size(); p++)
            rank[p] = (uint32_t) ((p - r.units) / lags);
        find_roots(s);
    }

private:
    std::vector<uint32_t> renumber(const syn_raster &r, uint32_t window)
    {
        std::vector<uint32_t> number(r.bins);
        for (uint32_t b = 0; b < r.bins; b++) {
            if (b > 0)
                bins += std::min<uint64_t>(r.number[b] - r.number[b - 1], window);
            number[b] = (uint32_t) bins;
        }
        bins++;
        return number;
    }

    void find_roots(const syn_pattern_search &s)
    {
        uint32_t units = s.raster->units;
        share.resize((size_t) units + 1);
        size_t k = 0;
        for (uint32_t r = 0; r <= units; r++) {
            while (k < s.shares && s.share[k].root < r)
                k++;
            share[r] = k;
        }
        if (s.shares == 0)
            return;
        const syn_pattern_share &front = s.share[0], &back = s.share[s.shares - 1];
        whole.first = front.root + (front.number > 0);
        whole.end = back.root + (back.number + 1 == back.of);
        whole.end = std::max(whole.end, whole.first);
    }
};

inline pattern_job make_job(const syn_pattern_search &s,
                            const pattern_recording &recording)
{
    const syn_pattern_options &o = *s.options;
    pattern_job job = {};
    job.units = s.raster->units;
    job.window = o.window;
    job.places = job.units * o.window;
    job.strip = std::max(1u, std::min(o.window - 1, PATTERN_STRIP));
    job.strips = (o.window - 1 + job.strip - 1) / job.strip;
    job.words = (uint32_t) ((recording.bins + o.window) / 32 + 3);
    job.unit_words = (job.units + 31) / 32;
    job.row_words = job.unit_words * (1 + job.strips);
    job.min_spikes = o.min_spikes;
    job.max_spikes = o.max_spikes;
    job.min_units = o.min_units;
    job.min_count = o.min_count;
    job.max_count = o.max_count;
    job.closed = o.target == SYN_PATTERNS_CLOSED || o.target == SYN_PATTERNS_MAXIMAL;
    job.barred = o.target != SYN_PATTERNS_FREQUENT;
    job.maximal = o.target == SYN_PATTERNS_MAXIMAL;
    job.narrow = s.out->width == sizeof(uint16_t);
    return job;
}

/* How the memory of a device is used: bytes. */
struct pattern_memory {
    double all;
    double arenas() const { return 0.31 * all; }
    double lent() const { return 0.08 * all; }
    double streams() const { return 0.01 * all; }
    double roots() const { return 0.2 * all; }
    double pool() const { return 0.15 * all; }
    double sorted() const { return 0.2 * all; }  /* with what sorting takes */
};

inline double root_bytes(const pattern_job &job, const pattern_recording &recording,
                         uint32_t root)
{
    double windows = recording.first[root + 1] - recording.first[root];
    return 20.0 * job.places + 4.0 * windows * job.row_words;
}

/* Ranges of roots that fit into so many bytes, the last roots first: they have most work.
   Roots that do not fit by themselves are left out. */
inline std::vector<root_range> cut_roots(const pattern_job &job,
                                         const pattern_recording &recording, double bytes,
                                         uint32_t at_least)
{
    const root_range &whole = recording.whole;
    uint64_t parts = job.places;
    /* Warps and tasks have numbers of 32 bits. */
    uint64_t most = std::min<uint64_t>(0xf0000000u / parts, 4000000000u / job.units);
    double all = 0;
    for (uint32_t r = whole.first; r < whole.end; r++)
        all += root_bytes(job, recording, r);
    bytes = std::min(bytes, std::max(all / at_least, all / 4096));
    std::vector<root_range> out;
    for (uint32_t end = whole.end, r = end; r > whole.first;) {
        double held = 0;
        while (r > whole.first && end - r < std::max<uint64_t>(most, 1) &&
               (held == 0 || held + root_bytes(job, recording, r - 1) <= bytes))
            held += root_bytes(job, recording, --r);
        out.push_back({r, end});
        end = r;
    }
    return out;
}

}  // namespace gpu

#endif
