/* How the libraries of a block are dealt out to devices. */
#ifndef SYN_GPU_CAUSAL_DEAL_CUH
#define SYN_GPU_CAUSAL_DEAL_CUH

#include "gpu/base/crew.cuh"

#include <deque>
#include <vector>

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

}  // namespace gpu

#endif
