/* Work that several devices share part by part, such as libraries or surrogates. Each
   device has a thread of the host, which takes the next parts when it is done with those
   before. */
#pragma once

#include "core/base/watch.h"
#include "gpu/base/outcome.cuh"
#include "gpu/base/devices.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace gpu {

/* Parts, as many as a block of the lookup of causal maps has warps. */
constexpr uint32_t DEALT_TOGETHER = 16;

/* How many of the parts that are left a device takes: up to `batch`, and fewer towards
   the end, so that all devices end together. */
inline uint32_t at_once(uint32_t batch, uint32_t left, uint32_t devices)
{
    uint32_t share = devices > 1 ? left / (2 * devices) : left;
    share = (share / DEALT_TOGETHER + 1) * DEALT_TOGETHER;
    return std::min({batch, left, share});
}

/* The first error of several threads, after which all of them are to stop. */
struct shared_error {
    std::atomic<bool> stop{false};
    std::mutex lock;
    std::exception_ptr first;

    void fail(std::exception_ptr why)
    {
        std::lock_guard<std::mutex> hold(lock);
        if (!first)
            first = why;
        stop = true;
    }

    void rethrow() const
    {
        if (first)
            std::rethrow_exception(first);
    }
};

/* Threads that share `total` parts on some devices. */
struct crew : shared_error {
    const uint32_t total, devices;
    std::vector<std::thread> threads;
    std::atomic<uint32_t> next{0}, finished{0};
    std::condition_variable ended;

    explicit crew(uint32_t parts = 0, uint32_t sharing = 1)
        : total(parts), devices(sharing)
    {
    }

    /* The last thing that a thread does. */
    void end()
    {
        std::lock_guard<std::mutex> hold(lock);
        finished++;
        ended.notify_one();
    }

    /* A thread for each device, which is made current; its error stops all. */
    template <class F> void start(const int *devices, int n, F work)
    {
        auto member = [this, work](int device) {
            try {
                check(cudaSetDevice(device));
                work(device);
            } catch (...) {
                fail(std::current_exception());
            }
            end();
        };
        for (int i = 0; i < n; i++)
            threads.emplace_back(member, devices[i]);
    }

    /* Up to `batch` parts; see at_once(). */
    uint32_t take(uint32_t batch, uint32_t *from)
    {
        if (stop)
            return 0;
        uint32_t at = next.load();
        for (;;) {
            if (at >= total)
                return 0;
            uint32_t part = at_once(batch, total - at, devices);
            if (next.compare_exchange_weak(at, at + part)) {
                *from = at;
                return part;
            }
        }
    }

    void join()
    {
        for (std::thread &thread : threads)
            thread.join();
        threads.clear();
    }

    ~crew()
    {
        stop = true;
        join();
    }

    /* Whether all threads have, after a while at the most. */
    bool have_ended()
    {
        std::unique_lock<std::mutex> hold(lock);
        return ended.wait_for(hold, std::chrono::milliseconds(50),
                              [this] { return finished >= threads.size(); });
    }

    /* Polls `watch` until all threads have ended. */
    void wait(const syn_watch *watch, const char *stage)
    {
        syn_status status = SYN_OK;
        while (!have_ended()) {
            if (status == SYN_OK)
                status = syn_poll(watch, stage, std::min(next.load(), total), total);
            if (status != SYN_OK)
                stop = true;
        }
        join();
        rethrow();
        if (status != SYN_OK)
            throw refusal(status, "%s", "");
    }
};

/* What a function does that C calls with devices, and gives the caller's device back. */
template <class F> syn_status status_with(syn_gpu_call *call, F run)
{
    return status_of(call->reason, [&] {
        check_devices(call->devices, call->n);
        if (call->n < 1 || call->n > SYN_GPU_MOST)
            throw refusal(SYN_TOO_LARGE, "%d devices are not 1 to %d", call->n,
                          (int) SYN_GPU_MOST);
        device_scope scope;
        copiers = std::max(call->threads, 1);
        run();
    });
}

/* work(crew, device) on each device until all `total` parts are done. */
template <class F>
void share_out(const syn_gpu_call &call, uint32_t total, const char *stage, F work)
{
    crew all(total, (uint32_t) call.n);
    all.start(call.devices, call.n, [&](int device) { work(all, device); });
    all.wait(call.watch, stage);
}

/* ---- batches of work on one device ---- */

/* Works through batches with several slots: while one batch is computed, the host
   collects the results of the batch before it and makes the next one ready. A slot has
   the memory and the stream of one batch, and two numbers: `first`, the first item of
   the batch, and `n`, how many it has. next(&first) says where the next batch begins
   and how many items it has, or 0 where none is left. start(slot) queues the work of a
   batch. collect(slot) waits for it and takes its results, when the slot is needed
   again or at the end. Batches are collected in the order in which they were started. */
template <size_t SLOTS, class SLOT, class NEXT, class START, class COLLECT>
void keep_busy(SLOT (&slot)[SLOTS], NEXT next, START start, COLLECT collect)
{
    auto end = [&](SLOT *s) {
        if (s->n > 0)
            collect(s);
        s->n = 0;
    };
    size_t turn = 0;
    for (;; turn++) {
        SLOT *s = &slot[turn % SLOTS];
        end(s);
        auto n = next(&s->first);
        if (n == 0)
            break;
        s->n = n;
        start(s);
    }
    for (size_t i = 1; i < SLOTS; i++)
        end(&slot[(turn + i) % SLOTS]);
}

}  // namespace gpu
