/* What one device holds to find peaks, and how it works through surrogates. */
#ifndef SYN_GPU_ASSEMBLIES_DEVICE_CUH
#define SYN_GPU_ASSEMBLIES_DEVICE_CUH

#include "gpu/assemblies/find.cuh"
#include "gpu/base/crew.cuh"

#include <atomic>
#include <vector>

namespace gpu {

class peak_device {
    const syn_pair_source *source_;
    const double bytes_;  /* that may be held */
    stream stream_;
    peak_job job_ = {};
    array<double> clumps_, common_, spread_;
    array<uint32_t> n_, first_, bin_, train_, shift_;
    array<int64_t> tick_;
    array<syn_peak> scratch_, peak_, ordered_;
    array<uint32_t> at_, count_, start_;
    array<unsigned long long> used_, next_;
    array<int> too_large_;
    array<unsigned char> scanning_;
    size_t shared_ = 0;        /* bytes of a block */
    double held_ = 0;          /* bytes of what is the same in all surrogates */
    double each_;              /* peaks of a pair that room is made for */
    double found_ = 0;         /* peaks of a pair, of the batch that had most so far */
    double chunk_;             /* items that are started together */

    void lay_out();
    void put_spikes();
    void put_recording();
    double bytes_of_one() const;
    void make_room(uint32_t n);
    template <bool RECORDED>
    void find(unsigned long long items, const std::atomic<bool> &stop);
    bool fits(uint32_t n);
    void order(unsigned long long items);
    void fetch(uint32_t n, syn_peaks *out, const std::atomic<bool> &stop);
    void fetch_one(const uint32_t *start, syn_peaks *out);

public:
    const int number;

    /* Of the device that is current. `bytes` may be held on it. */
    peak_device(const syn_pair_source *source, int device, double bytes);

    /* How many surrogates are made together. */
    uint32_t batch() const;

    double most_found() const { return found_; }

    /* Makes room for so many peaks of a pair, and some more. */
    void expect(double each) { each_ = 1.2 * each + 1; }

    /* Stopped, they leave lists that nobody looks at. */
    void recording(syn_peaks *out, const std::atomic<bool> &stop);
    void surrogates(uint64_t from, uint32_t n, syn_peaks *out,
                    const std::atomic<bool> &stop);
};

}  // namespace gpu

#endif
