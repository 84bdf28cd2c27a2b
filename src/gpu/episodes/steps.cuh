/* The steps of the search that do not depend on the type of what a table holds, and the
   levels of the result. */
#pragma once

#include "gpu/episodes/memory.cuh"

extern "C" {
#include "core/base/pages.h"
}

#include <cstring>

namespace gpu {

/* ---- the result, in host memory ---- */

/* The new level is part of `episodes`, and freed with them. Nodes have no children
   yet. */
inline syn_episode_level *append_level(syn_episodes *episodes, size_t n)
{
    if (syn_episodes_append(episodes, n) != SYN_OK)
        throw refusal(SYN_NO_MEMORY, "the episodes do not fit in host memory");
    syn_episode_level *last = &episodes->level[episodes->n_levels - 1];
    for (uint32_t *one : {last->parent, last->suffix, last->unit, last->interval,
                          last->count, last->child})
        syn_large_pages(one, n * sizeof(uint32_t));
    return last;
}

/* ---- steps ---- */

/* The steps of the search that are the same for all types of tables. */
class mining : public mining_memory {
protected:
    /* ---- waiting ---- */

    /* Stops this device when the user wants it, or another member has failed. A `total`
       of 0: nobody knows how much there is to do. */
    void poll(size_t size, double done, double total)
    {
        polled_ = seconds_now();
        if (!team_->stop) {
            char stage[32];
            std::snprintf(stage, sizeof stage, "size %zu", size);
            if (syn_poll(watch_, stage, done, total) == SYN_OK)
                return;
        }
        static const uint32_t yes = 1;
        cudaMemcpyAsync(stop_, &yes, sizeof yes, cudaMemcpyHostToDevice, copies_);
        cudaStreamSynchronize(copies_);
        cudaStreamSynchronize(stream_);
        if (team_->stop)
            throw abandoned{};
        throw refusal(SYN_INTERRUPTED, "%s", "");
    }

    /* Copies the header of `size` as the kernels so far leave it, for wait(). */
    void fetch_header(size_t size)
    {
        download(seen_.get() + size % HEADERS, head(size), 1, stream_);
        check(cudaEventRecord(counted_, stream_));
    }

    /* Whether the header of `size` is here: it comes when the level above it is made, or
       counted. */
    bool has_come(size_t size)
    {
        if (made_ahead(size + 1) && *progress() > size)
            return true;
        cudaError_t state = made_ahead(size + 1) ? cudaStreamQuery(stream_)
                                                : cudaEventQuery(counted_);
        if (state == cudaErrorNotReady) {
            cudaGetLastError();
            return false;
        }
        check(state);
        return !made_ahead(size + 1) || *progress() > size;
    }

    /* Waits until the header of `size` is here. */
    void wait(size_t size, double done, double total)
    {
        while (!has_come(size))
            if (seconds_now() - polled_ > 0.05)
                poll(size + 1, done, total);
        std::atomic_thread_fence(std::memory_order_acquire);
    }

    /* ---- what is frequent ---- */

    /* Gets what the others found in a level that is dealt out. The total. */
    uint32_t exchange(size_t size, uint32_t found)
    {
        if (!dealt_before(size))
            return found;
        const level_view &here = view(size - 1);
        team_->show[size % 2][me_] = {found_[size % 2].get(), counts(size).get(), found};
        meet(size);
        uint64_t total = 0;
        merge_job job = {here, (uint32_t) (here.n * columns_.n), team_->size(), {}};
        for (unsigned d = 0; d < team_->size(); d++) {
            const team::findings &theirs = team_->show[size % 2][d];
            total += theirs.found;
            if (d == me_)
                job.words[d] = theirs.words;
            if (d == me_ || theirs.found == 0)
                continue;
            auto get = [&](array<uint32_t> &to, const uint32_t *from, size_t n) {
                to.ensure(n);
                check(cudaMemcpyPeerAsync(to.get(), team_->device[me_], from,
                                          team_->device[d], n * sizeof(uint32_t),
                                          stream_));
            };
            get(others_found_[d], theirs.words, shared_words(size));
            get(others_counts_[d], theirs.counts, theirs.found);
            job.words[d] = others_found_[d].get();
        }
        if (total > UINT32_MAX / 2)
            throw refusal(SYN_TOO_LARGE, "more than %u episodes of size %zu are frequent",
                          UINT32_MAX / 2, size);
        by_width([&](auto width) {
            launch(merge_items<decltype(width)::value>, over(job.items, 256), stream_,
                   job);
        });
        return (uint32_t) total;
    }

    /* ---- results ---- */

    /* Copies n words to pageable memory through the page-locked block. */
    void copy(const uint32_t *from, size_t n, uint32_t *to)
    {
        for (size_t i = 0; i < n; i += STAGING) {
            size_t words = std::min(n - i, STAGING);
            download(staging_.get(), from + i, words, copies_);
            wait_for(copies_);
            std::memcpy(to + i, staging_.get(), words * sizeof(uint32_t));
        }
    }

    /* Brings the nodes of `size` and their parents' children to the host, once. */
    void collect(size_t size)
    {
        if (!out_ || size <= collected_)
            return;
        collected_ = size;
        const level_view &from = view(size), &parents = view(size - 1);
        syn_episode_level *to = &out_->level[size - 1];
        size_t n = from.n;
        size_t children = (size_t) parents.n + 1;
        uint32_t *to_host[] = {to->parent, to->suffix, to->unit, to->interval, to->count};
        auto take = [&](const uint32_t *here) {  /* all of it, side by side */
            for (size_t i = 0; i < 5; i++)
                std::memcpy(to_host[i], here + i * n, n * sizeof(uint32_t));
            std::memcpy(to[-1].child, here + 5 * n, children * sizeof(uint32_t));
        };
        if (made_ahead(size) && next_spot_ <= AHEAD_WORDS)
            return take(arrived_.get() + spot_);
        check(cudaStreamWaitEvent(copies_, filled_, 0));
        if (5 * n + children <= STAGING) {
            uint32_t *staged = staging_.get();
            size_t words = n * sizeof(uint32_t), apart = from.room * sizeof(uint32_t);
            check(cudaMemcpy2DAsync(staged, words, from.parent, apart, words, 5,
                                    cudaMemcpyDeviceToHost, copies_));
            download(staged + 5 * n, parents.child, children, copies_);
            wait_for(copies_);
            take(staged);
        } else {
            for (size_t i = 0; i < 5; i++)
                copy(from.parent + i * from.room, n, to_host[i]);
            copy(parents.child, children, to[-1].child);
        }
    }

    /* Opens the level of the result; its nodes come with collect(). */
    void report(size_t size, size_t found, uint64_t candidates)
    {
        results_ += found * 6 * sizeof(uint32_t);
        size_t taken = memory() - list_memory() + results_;
        if (taken > options_->max_memory)
            throw refusal(SYN_OVER_BUDGET,
                          "the episodes of up to size %zu take %.3g MB, and "
                          "`max_memory` is %.3g MB",
                          size, 1e-6 * taken, 1e-6 * (double) options_->max_memory);
        if (out_)
            append_level(out_, found)->candidates = candidates;
    }

public:
    using mining_memory::mining_memory;

    void meet(size_t size)
    {
        team_->meet([&] {
            if (seconds_now() - polled_ > 0.05)
                poll(size, 0, 0);
        });
    }
};

}  // namespace gpu
