/* Blocks of libraries that devices work through, one after the other. A device that has
   nothing left to take of one block goes on with the next, so that none waits for the
   others, or for the host to look at what they have found. */
#pragma once

#include "core/causal/map.h"
#include "gpu/base/crew.cuh"

#include <deque>
#include <memory>

namespace gpu {

/* Libraries one after the other. */
struct range {
    uint32_t first, n;
};

/* A device takes those libraries first whose neighbours it keeps, then those that no
   device has, and when it has no others some that another one keeps: it finds their
   neighbours again, which takes less time than to wait. The caller locks it. */
class dealer {
    std::vector<std::deque<range>> own_;  /* by device */
    std::deque<range> loose_;
    uint32_t left_;

public:
    /* `kept` are the libraries of each device, of n. */
    dealer(uint32_t n, const std::vector<std::vector<range>> &kept) : left_(n)
    {
        std::vector<range> all;
        for (const std::vector<range> &mine : kept) {
            own_.emplace_back(mine.begin(), mine.end());
            all.insert(all.end(), mine.begin(), mine.end());
        }
        std::sort(all.begin(), all.end(),
                  [](const range &a, const range &b) { return a.first < b.first; });
        uint32_t at = 0;
        for (const range &one : all) {
            if (one.first > at)
                loose_.push_back({at, one.first - at});
            at = one.first + one.n;
        }
        if (at < n)
            loose_.push_back({at, n - at});
    }

    uint32_t left() const { return left_; }

    /* Up to `most` libraries for a device; none: 0. Of the `last` ones there are fewer
       and fewer. Those that another device keeps are taken only with `others`. */
    uint32_t take(size_t device, uint32_t most, bool last, bool others, uint32_t *first)
    {
        uint32_t n = last ? at_once(most, left_, own_.size()) : std::min(most, left_);
        n = !own_[device].empty() ? from_front(&own_[device], n, first)
            : !loose_.empty()     ? from_front(&loose_, n, first)
            : others              ? from_back(longest(), n, first)
                                  : 0;
        left_ -= n;
        return n;
    }

private:
    static uint32_t from_front(std::deque<range> *of, uint32_t n, uint32_t *first)
    {
        range *next = &of->front();
        n = std::min(n, next->n);
        *first = next->first;
        next->first += n;
        next->n -= n;
        if (next->n == 0)
            of->pop_front();
        return n;
    }

    static uint32_t from_back(std::deque<range> *of, uint32_t n, uint32_t *first)
    {
        if (of->empty())
            return 0;
        range *last = &of->back();
        n = std::min(n, last->n);
        last->n -= n;
        *first = last->first + last->n;
        if (last->n == 0)
            of->pop_back();
        return n;
    }

    std::deque<range> *longest()
    {
        return &*std::max_element(own_.begin(), own_.end(),
                                  [](const std::deque<range> &a,
                                     const std::deque<range> &b) {
                                      return a.size() < b.size();
                                  });
    }
};

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
