/* What the host threads of one mining share, a thread a device: where they meet, what
   they show each other, and the first of their errors. */
#ifndef SYN_GPU_EPISODES_TEAM_CUH
#define SYN_GPU_EPISODES_TEAM_CUH

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace gpu {

/* Thrown in a thread whose fellows have failed. */
struct abandoned {};

class team {
    const unsigned size_;
    std::atomic<unsigned> waiting_{0}, meetings_{0};
    std::atomic<bool> broken_{false};
    std::mutex lock_;
    std::exception_ptr first_;
public:
    /* What a member found in a level. The others read it after they have met, while it
       may already be showing the next: there are two, by turns. */
    struct findings {
        const uint32_t *words, *counts;  /* on the device */
        uint32_t found;
    };
    std::vector<findings> show[2];
    const int *const device;

    team(const int *devices, unsigned n)
        : size_(n), show{std::vector<findings>(n), std::vector<findings>(n)},
          device(devices)
    {
    }
    team(const team &) = delete;
    team &operator=(const team &) = delete;

    unsigned size() const { return size_; }

    /* How many members share a member's device. */
    unsigned on_device_of(unsigned me) const
    {
        return (unsigned) std::count(device, device + size_, device[me]);
    }

    bool broken() const { return broken_.load(); }

    void fail(std::exception_ptr why)
    {
        std::lock_guard<std::mutex> hold(lock_);
        if (!first_)
            first_ = why;
        broken_.store(true);
    }

    void rethrow() const
    {
        if (first_)
            std::rethrow_exception(first_);
    }

    /* Returns when all members are here. They come from work that took about as long, so
       that sleeping would cost more than looking again; `idle` is called meanwhile. */
    template <class F> void meet(F idle)
    {
        unsigned meeting = meetings_.load();
        if (waiting_.fetch_add(1) + 1 == size_) {
            waiting_.store(0);
            meetings_.store(meeting + 1);
        }
        while (meetings_.load() == meeting) {
            if (broken())
                throw abandoned{};
            idle();
            std::this_thread::yield();
        }
    }
};

}  // namespace gpu

#endif
