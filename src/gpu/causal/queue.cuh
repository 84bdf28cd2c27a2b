/* Blocks of libraries that devices work through, one after the other. A device that has
   nothing left to take of one block goes on with the next, so that none waits for the
   others, or for the host to look at what they have found. */
#ifndef SYN_GPU_CAUSAL_QUEUE_CUH
#define SYN_GPU_CAUSAL_QUEUE_CUH

#include "core/causal/map.h"
#include "gpu/causal/deal.cuh"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>

namespace gpu {

/* Seconds that a device takes for some libraries. */
struct map_seconds {
    double neighbours = 0, correlations = 0;
};

struct block_work {
    const syn_map_libraries *libraries;
    uint32_t first;        /* number of the first library of the block */
    float *rho;            /* [libraries->n][targets] */
    dealer deal;
    uint32_t to_come;      /* libraries that are not in `rho` yet */
    double begun;          /* seconds of the clock */
    std::vector<map_seconds> took;  /* by device */
};

/* Libraries that a device takes: n of a block from `first` on, counted from the block's
   first one. */
struct libraries_taken {
    block_work *of = nullptr;
    uint32_t first = 0, n = 0;
};

class block_queue {
    mutable std::mutex lock_;
    std::condition_variable more_, done_;
    std::deque<std::unique_ptr<block_work>> blocks_;  /* the oldest first */
    std::exception_ptr error_;
    bool closed_ = false;

public:
    void push(std::unique_ptr<block_work> block)
    {
        std::lock_guard<std::mutex> hold(lock_);
        blocks_.push_back(std::move(block));
        more_.notify_all();
    }

    /* Up to `most` libraries for a device; whether there are any. What another device
       keeps neighbours of comes last, after all that is for this one. */
    bool take(size_t device, uint32_t most, libraries_taken *out)
    {
        std::lock_guard<std::mutex> hold(lock_);
        for (bool others : {false, true})
            for (std::unique_ptr<block_work> &block : blocks_) {
                if (closed_)
                    return false;
                bool last = block == blocks_.back();
                out->of = block.get();
                out->n = block->deal.take(device, most, last, others, &out->first);
                if (out->n > 0)
                    return true;
            }
        return false;
    }

    /* Waits until there are libraries to take; false if there never will be. */
    bool wait()
    {
        std::unique_lock<std::mutex> hold(lock_);
        more_.wait(hold, [this] {
            bool any = closed_;
            for (const std::unique_ptr<block_work> &block : blocks_)
                any = any || block->deal.left() > 0;
            return any;
        });
        return !closed_;
    }

    /* What a device has taken is in `rho`. */
    void put(size_t device, const libraries_taken &taken, const map_seconds &took)
    {
        std::lock_guard<std::mutex> hold(lock_);
        map_seconds *sum = &taken.of->took[device];
        sum->neighbours += took.neighbours;
        sum->correlations += took.correlations;
        taken.of->to_come -= taken.n;
        if (taken.of->to_come == 0)
            done_.notify_all();
    }

    /* Nobody takes anything any more. */
    void close(std::exception_ptr why = nullptr)
    {
        std::lock_guard<std::mutex> hold(lock_);
        if (!error_)
            error_ = why;
        closed_ = true;
        more_.notify_all();
        done_.notify_all();
    }

    /* The error that all work ended with, if there was one. */
    std::exception_ptr error() const
    {
        std::lock_guard<std::mutex> hold(lock_);
        return error_;
    }

    bool empty() const
    {
        std::lock_guard<std::mutex> hold(lock_);
        return blocks_.empty();
    }

    /* Whether the oldest block is done, or never will be, after a while at the most; and
       how many of its libraries have been taken, of how many. */
    bool oldest_done(uint32_t *taken, uint32_t *all)
    {
        std::unique_lock<std::mutex> hold(lock_);
        const block_work &oldest = *blocks_.front();
        bool done = done_.wait_for(hold, std::chrono::milliseconds(50), [&] {
            return closed_ || oldest.to_come == 0;
        });
        *all = oldest.libraries->n;
        *taken = *all - oldest.deal.left();
        return done;
    }

    std::unique_ptr<block_work> pop()
    {
        std::lock_guard<std::mutex> hold(lock_);
        std::unique_ptr<block_work> oldest = std::move(blocks_.front());
        blocks_.pop_front();
        return oldest;
    }
};

}  // namespace gpu

#endif
