/* The memory of one stream: many small blocks of a device that come and go, and
   page-locked memory through which the host hands things on. All of it counts within the
   stream's limit. */
#pragma once

#include "gpu/base/launch.cuh"

extern "C" {
#include "core/base/budget.h"
}

namespace gpu::live {

/* Memory of a device or of the host that is counted. */
class counted_block {
    memory kind_;
    block block_;
    syn_budget *budget_ = nullptr;
public:
    explicit counted_block(memory kind) : kind_(kind) {}
    ~counted_block() { drop(); }
    counted_block(const counted_block &) = delete;
    counted_block &operator=(const counted_block &) = delete;
    counted_block(counted_block &&other) noexcept : kind_(other.kind_) { swap(other); }

    void swap(counted_block &other) noexcept
    {
        std::swap(block_, other.block_);
        std::swap(budget_, other.budget_);
    }

    void drop() noexcept
    {
        give_block(kind_, block_);
        if (budget_)
            syn_budget_give(budget_, block_.bytes);
        block_ = block();
        budget_ = nullptr;
    }

    /* What it held is lost. */
    void make(syn_budget *budget, size_t bytes)
    {
        drop();
        if (bytes <= syn_budget_left(budget))
            block_ = take_block(kind_, bytes);
        if (!block_.data || !syn_budget_take(budget, block_.bytes)) {
            drop();
            throw refusal(SYN_OVER_BUDGET, "the window does not fit in `max_memory`");
        }
        budget_ = budget;
    }

    template <class T> T *as() const { return (T *) block_.data; }
    size_t bytes() const { return block_.bytes; }
};

/* Blocks of powers of two bytes of the current device. */
class pool {
    enum { LEAST = 6, CLASSES = 48 };
    static constexpr size_t LEAST_CHUNK = (size_t) 1 << 20;
    static constexpr size_t MOST_CHUNK = (size_t) 1 << 26;

    struct given {
        void *data;
        int of;
    };

    std::vector<counted_block> chunks_;
    std::vector<void *> idle_[CLASSES];
    std::vector<given> limbo_;
    char *next_ = nullptr;
    size_t left_ = 0, all_ = 0;

    static int class_of(size_t bytes)
    {
        int c = LEAST;
        while (((size_t) 1 << c) < bytes)
            c++;
        return c;
    }

    void add_chunk(syn_budget *budget, size_t bytes)
    {
        size_t some = std::min(std::max(all_ / 4, LEAST_CHUNK), MOST_CHUNK);
        counted_block chunk(memory::device);
        chunk.make(budget, std::max(bytes, some));
        next_ = chunk.as<char>();
        left_ = chunk.bytes();
        all_ += left_;
        chunks_.push_back(std::move(chunk));
    }

public:
    /* Room for n things, or more. What it holds is anything. */
    template <class T> T *take(syn_budget *budget, size_t n)
    {
        int c = class_of(n * sizeof(T));
        size_t room = (size_t) 1 << c;
        if (!idle_[c].empty()) {
            void *out = idle_[c].back();
            idle_[c].pop_back();
            return (T *) out;
        }
        if (left_ < room)
            add_chunk(budget, room);
        void *out = next_;
        next_ += room;
        left_ -= room;
        return (T *) out;
    }

    /* Gives back what was taken for n things. Others get it only after settle(), to
       be called when all work that uses it has been queued. */
    template <class T> void give(T *data, size_t n)
    {
        if (data)
            limbo_.push_back({data, class_of(n * sizeof(T))});
    }

    void settle()
    {
        for (const given &one : limbo_)
            idle_[one.of].push_back(one.data);
        limbo_.clear();
    }
};

/* An array of a device that keeps what it holds when it grows; what is new is zero. */
template <class T> class kept_array {
    counted_block block_{memory::device};
    size_t room_ = 0;
public:
    T *get() const { return block_.as<T>(); }

    void ensure(syn_budget *budget, size_t n, cudaStream_t stream)
    {
        if (n <= room_)
            return;
        size_t room = std::max(n + n / 2, (size_t) 256);
        counted_block grown(memory::device);
        grown.make(budget, room * sizeof(T));
        fill(grown.as<T>(), 0, room, stream);
        if (room_ > 0)
            check(cudaMemcpyAsync(grown.as<T>(), get(), room_ * sizeof(T),
                                  cudaMemcpyDeviceToDevice, stream));
        block_.swap(grown);
        room_ = room;
    }
};

/* Page-locked memory that is filled from its beginning, and emptied when the device has
   read it. */
class stage {
    counted_block block_{memory::host};
    size_t used_ = 0;

    static size_t whole(size_t bytes) { return (bytes + 15) / 16 * 16; }

public:
    bool holds(size_t bytes) const { return used_ + bytes <= block_.bytes(); }

    void grow(syn_budget *budget, size_t bytes)
    {
        block_.make(budget, bytes + bytes / 2);
    }

    void empty() { used_ = 0; }

    template <class T> static size_t bytes_of(size_t n) { return whole(n * sizeof(T)); }

    /* Room for n things, or a copy of some; holds() must have said that there is. */
    template <class T> T *put(size_t n)
    {
        T *out = (T *) (block_.as<char>() + used_);
        used_ += bytes_of<T>(n);
        return out;
    }

    template <class T> T *put(const std::vector<T> &from)
    {
        T *out = put<T>(from.size());
        std::copy(from.begin(), from.end(), out);
        return out;
    }
};

}  // namespace gpu::live
