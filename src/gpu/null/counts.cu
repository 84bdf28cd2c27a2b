/* The door of counts in surrogates: batches of them dealt out to devices. */
extern "C" {
#include "gpu/null/counts.h"
}

#include "core/base/radix.h"
#include "core/base/seek.h"
#include "gpu/base/crew.cuh"
#include "gpu/base/surrogate.cuh"

#include <cub/device/device_radix_sort.cuh>

namespace gpu {
namespace {

constexpr uint32_t THREADS = 128;
constexpr double STEPS = 5e10;        /* of lanes in a batch, at most: some 0.2 s */
constexpr size_t SCRATCH = 256 << 20; /* bytes for making units, at most */
constexpr size_t LEAST_WARPS = 256;   /* what a batch leaves room for */

/* ---- what single threads do ---- */

/* What single threads do to surrogates and episodes: looking for windows, counting one
   child of a prefix. No thread here waits for another.

   Repeats of a unit on one tick stay in the line: an event that follows its own repeat
   neither completes an occurrence (the unit is busy until after the first, or the start
   is too early for both) nor adds a new start. They are left out only where single units
   are counted. */

/* A valid end, and the first event on the tick of its latest start. */
struct null_end {
    uint32_t event, start;
};

/* How keys are made: batch number of the surrogate, tick, unit. The host's layout, with
   arrays of the device; `plan` stays the host's, and no kernel reads it. */
struct null_keys : syn_line_layout {
    const uint32_t *first;    /* [units + 1] where a unit's events begin in `by_unit` */
};

/* One surrogate in time order. */
struct null_line {
    const uint64_t *key;      /* [events] */
    const uint32_t *by_unit;  /* [events] events of one unit after the other */
    const uint32_t *beyond;   /* [bounds][events] first event more than a bound later */
};

/* The first of at[i .. n - 1], increasing, that is `least` or more; near i as a rule. */
template <class T>
__device__ inline uint32_t seek(const T *at, uint32_t i, uint32_t n, T least)
{
    SYN_SEEK_NEAR(uint32_t, j, i, n, at[j] < least);
    return i;
}

__device__ inline null_end single_end(const null_keys &keys, const null_line &line,
                                      uint32_t event)
{
    uint64_t tick = line.key[event] >> keys.unit_bits;
    uint32_t start = event;
    while (start > 0 && line.key[start - 1] >> keys.unit_bits == tick)
        start--;
    return {event, start};
}

/* The step from a prefix to one of its children. */
struct null_edge {
    const uint32_t *open, *shut;  /* [events] what an event's window holds */
    const uint32_t *at;           /* the events of the child's unit */
    uint32_t n;
};

__device__ inline null_edge edge_to(const syn_trie &tree, const null_keys &keys,
                                    const null_line &line, uint32_t node)
{
    uint32_t begin = keys.first[tree.unit[node]];
    return {line.beyond + (size_t) tree.open[node] * keys.events,
            line.beyond + (size_t) tree.shut[node] * keys.events,
            line.by_unit + begin, keys.first[tree.unit[node] + 1] - begin};
}

/* Calls found(event, start) for the child's ends that the ends begin to below `end` of a
   list of n are the newest valid predecessors of. */
template <class F>
__device__ inline void follow(const null_edge &edge, const null_end *list, uint32_t n,
                              uint32_t begin, uint32_t end, F found)
{
    uint32_t place = 0;
    if (begin >= end)
        return;
    uint32_t open = edge.open[list[begin].event];
    for (uint32_t i = begin; i < end && place < edge.n; i++) {
        null_end here = list[i];
        uint32_t next = i + 1 < n ? edge.open[list[i + 1].event] : UINT32_MAX;
        uint32_t shut = edge.shut[here.event];
        shut = next < shut ? next : shut;
        place = seek(edge.at, place, edge.n, open);
        for (; place < edge.n && edge.at[place] < shut; place++)
            found(edge.at[place], here.start);
        open = next;
    }
}

/* An event that starts before the last occurrence has ended does not count. */
__device__ inline uint32_t count_edge(const null_edge &edge, const null_end *list,
                                      uint32_t n)
{
    uint32_t busy = 0, count = 0;
    follow(edge, list, n, 0, n, [&](uint32_t event, uint32_t start) {
        bool hit = start >= busy;
        count += hit;
        busy = hit ? event + 1 : busy;
    });
    return count;
}

/* ---- what warps do ---- */

/* Counting all episodes in all surrogates of a batch: a warp takes (surrogate, root) and
   walks through the tree below the root, a lane a child. A node's list is made by all
   lanes, each a part of its parent's, when the walk comes to it: only the lists from the
   root down to it are there at a time, and none is longer than its unit has events.

   For R surrogates of N events a lane looks at each end of a prefix once for each of its
   children, some 40 instructions a warp for 32 children. Sym26 at 300 (1,094 episodes, of
   which 637 pairs; N = 49,510) takes 65,000 such steps a surrogate, and 1,000 surrogates
   2.6e9 instructions of warps, 3 ms on 132 multiprocessors that issue 4 a cycle. */

constexpr uint32_t NULL_WARPS = 4;  /* of a block */

/* The batch, and the memory of the warps. */
struct null_batch {
    syn_trie tree;             /* its arrays are of the device, but for `bound` */
    null_keys keys;
    uint32_t n;                /* surrogates */
    const uint64_t *key;       /* [n][events] */
    const uint32_t *by_unit;   /* [n][events] */
    const uint32_t *beyond;    /* [n][bounds][events] */
    uint32_t *count;           /* [n][nodes] zero before */
    uint32_t *next;            /* the next (surrogate, root) to take; zero before */
    uint32_t levels;           /* of nodes with children */
    const uint32_t *place;     /* [levels] where a level's list begins in a warp's room */
    uint32_t room;             /* ends */
    null_end *ends;            /* [warps][room] */
    const volatile int *stop;  /* set by the host */
};

/* From the list of its parent, of n ends, of which each lane has a part. */
__device__ inline uint32_t list_child(const null_batch &b, const null_line &line,
                                      uint32_t node, uint32_t lane, const null_end *list,
                                      uint32_t n, null_end *to)
{
    null_edge edge = edge_to(b.tree, b.keys, line, node);
    uint32_t begin = (uint32_t) ((uint64_t) n * lane / WARP);
    uint32_t end = (uint32_t) ((uint64_t) n * (lane + 1) / WARP), all, mine = 0;
    follow(edge, list, n, begin, end, [&](uint32_t, uint32_t) { mine++; });
    null_end *next = to + sum_below(mine, &all);
    follow(edge, list, n, begin, end,
           [&](uint32_t event, uint32_t start) { *next++ = {event, start}; });
    return all;
}

/* Goes through the nodes below `root`, each after its parent. `length` keeps the lengths
   of the lists on the way down, one a level. */
__device__ inline void walk_root(const null_batch &b, uint32_t surrogate, uint32_t root,
                                 uint32_t lane, null_end *ends, uint32_t *length)
{
    size_t before = (size_t) surrogate * b.keys.events;
    null_line line = {b.key + before, b.by_unit + before,
                      b.beyond + before * b.keys.bounds};
    uint32_t *count = b.count + (size_t) surrogate * b.tree.nodes;
    uint32_t unit = b.tree.unit[root], begin = b.keys.first[unit], single = 0;
    /* Events on a tick of their own or the first there. */
    for (uint32_t i = begin + lane; i < b.keys.first[unit + 1]; i += WARP)
        single += i == begin ||
                  line.key[line.by_unit[i]] != line.key[line.by_unit[i - 1]];
    atomicAdd(&count[root], single);
    for (uint32_t node = root; node < b.tree.after[root];) {
        if (b.tree.child[node] == b.tree.child[node + 1]) {
            node++;
            continue;
        }
        uint32_t level = b.tree.level[node], n;
        null_end *list = ends + b.place[level];
        if (level == 0) {
            uint32_t begin = b.keys.first[b.tree.unit[node]];
            n = b.keys.first[b.tree.unit[node] + 1] - begin;
            for (uint32_t i = lane; i < n; i += WARP)
                list[i] = single_end(b.keys, line, line.by_unit[begin + i]);
        } else {
            n = list_child(b, line, node, lane, ends + b.place[level - 1],
                           length[level - 1], list);
        }
        __syncwarp();
        if (lane == 0)
            length[level] = n;
        for (uint32_t c = b.tree.child[node] + lane; n > 0 && c < b.tree.child[node + 1];
             c += WARP) {
            uint32_t child = b.tree.of[c];
            count[child] = count_edge(edge_to(b.tree, b.keys, line, child), list, n);
        }
        __syncwarp();
        node = n > 0 ? node + 1 : b.tree.after[node];
    }
}

/* `lengths` is [warps][levels + 1]. */
__global__ void __launch_bounds__(NULL_WARPS * WARP)
count_null(null_batch b, uint32_t *lengths)
{
    uint32_t lane = threadIdx.x % WARP;
    uint32_t warp = blockIdx.x * NULL_WARPS + threadIdx.x / WARP;
    null_end *ends = b.ends + (size_t) warp * b.room;
    uint32_t *length = lengths + (size_t) warp * (b.levels + 1);
    for (;;) {
        /* One lane asks, so that all hear the same. */
        uint32_t item = UINT32_MAX;
        if (lane == 0 && !*b.stop)
            item = atomicAdd(b.next, 1);
        item = __shfl_sync(0xffffffffu, item, 0);
        if (item >= b.n * b.tree.roots)
            return;
        walk_root(b, item / b.tree.roots, b.tree.root[item % b.tree.roots], lane, ends,
                  length);
    }
}

/* count[s][i] = that of the node of episode i. */
__global__ void gather_null(const uint32_t *of_node, uint32_t nodes, const uint32_t *node,
                            size_t episodes, size_t cells, uint32_t *count)
{
    size_t step = (size_t) gridDim.x * blockDim.x;
    for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < cells; i += step)
        count[i] = of_node[i / episodes * nodes + node[i % episodes]];
}

/* ---- kernels that make lines ---- */

struct make_job {
    syn_surrogate_plan plan;   /* points to the device */
    null_keys keys;
    uint64_t index;            /* of the batch's first surrogate */
    uint32_t n;
    int64_t *tick;             /* [n][events] */
    uint64_t *key;             /* [n][events] */
    uint32_t *scratch;         /* [threads][plan.scratch] */
};

/* A thread a unit of a surrogate, over and over. */
__global__ void make_units(make_job job)
{
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t *scratch = job.scratch + (size_t) thread * job.plan.scratch;
    size_t units = (size_t) job.n * job.keys.units;
    for (size_t i = thread; i < units; i += (size_t) gridDim.x * blockDim.x) {
        uint32_t batch = (uint32_t) (i / job.keys.units);
        uint32_t unit = (uint32_t) (i % job.keys.units), begin = job.keys.first[unit];
        uint32_t n = job.keys.first[unit + 1] - begin;
        size_t at = (size_t) batch * job.keys.events + begin;
        uint64_t above = (uint64_t) batch << job.keys.tick_bits;
        int64_t *tick = job.tick + at;
        syn_surrogate_unit(&job.plan, job.index + batch, unit, tick, scratch);
        for (uint32_t e = 0; e < n; e++) {
            int64_t shift = job.keys.shift[job.plan.trains.trial[begin + e]];
            job.key[at + e] = (above | (uint64_t) (tick[e] + shift))
                                  << job.keys.unit_bits | unit;
        }
    }
}

/* Events by (surrogate, unit), to be sorted. */
__global__ void label_events(null_keys keys, const uint64_t *key, uint32_t n,
                             uint32_t *label, uint32_t *event)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t batch = i / keys.events;
    uint32_t unit = (uint32_t) (key[i] & (((uint64_t) 1 << keys.unit_bits) - 1));
    label[i] = batch << keys.unit_bits | unit;
    event[i] = i - batch * keys.events;
}

/* A thread an event: bounds increase, so each is looked for after the last. */
__global__ void find_beyond(null_keys keys, const uint64_t *key, uint32_t n,
                            uint32_t *beyond)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t batch = i / keys.events, event = i - batch * keys.events, from = event;
    size_t before = (size_t) batch * keys.events;
    uint64_t mask = ((uint64_t) 1 << keys.unit_bits) - 1;
    for (uint32_t b = 0; b < keys.bounds; b++) {
        uint64_t most = (key[i] | mask) + ((uint64_t) keys.bound[b] << keys.unit_bits);
        from = seek(key + before, from, keys.events, most + 1);
        beyond[before * keys.bounds + (size_t) b * keys.events + event] = from;
    }
}

/* ---- what a device holds ---- */

/* What is asked for. */
struct request {
    const syn_line_layout *layout;
    const syn_trie *trie;
    size_t episodes;
    const syn_null_options *options;
    uint32_t *count;
};

class null_counter {
    const request &job_;
    stream stream_;
    arrays own_;  /* of the pointers of what follows */
    null_keys keys_ = {};
    null_batch batch_ = {};  /* and the tree, which all batches share */
    make_job making_ = {};
    uint32_t *length_ = nullptr, *beyond_ = nullptr, *gathered_ = nullptr;
    uint32_t most_ = 0, warps_ = 0, makers_ = 0;  /* most: surrogates of a batch */
    uint64_t *key_[2] = {};           /* two of each, for sorting */
    uint32_t *label_[2] = {}, *event_[2] = {};
    array<unsigned char> scratch_;
    pinned<int> ended_{1};

    /* Also where each level's list begins: as long as its longest unit. */
    void put_tree()
    {
        const syn_trie &t = *job_.trie;
        const syn_line_layout &layout = *job_.layout;
        syn_trie &to = batch_.tree;
        size_t nodes = t.nodes;
        to = t;
        (syn_line_layout &) keys_ = layout;
        keys_.bounds = t.bounds;
        keys_.first = making_.plan.trains.first;
        own_.upload(&keys_.shift, layout.shift, layout.plan->trains.trials, stream_);
        own_.upload(&keys_.bound, t.bound, t.bounds, stream_);
        own_.upload(&to.unit, t.unit, nodes, stream_);
        own_.upload(&to.level, t.level, nodes, stream_);
        own_.upload(&to.open, t.open, nodes, stream_);
        own_.upload(&to.shut, t.shut, nodes, stream_);
        own_.upload(&to.after, t.after, nodes, stream_);
        own_.upload(&to.child, t.child, nodes + 1, stream_);
        own_.upload(&to.of, t.of, nodes - t.roots, stream_);
        own_.upload(&to.root, t.root, t.roots, stream_);
        own_.upload(&to.node, t.node, job_.episodes, stream_);
        std::vector<uint32_t> longest(t.depth), place;
        for (uint32_t node = 0; node < t.nodes; node++)
            if (t.child[node] < t.child[node + 1])
                longest[t.level[node]] =
                    std::max(longest[t.level[node]], events_of(node));
        for (uint32_t events : longest) {
            place.push_back(batch_.room);
            if (events > UINT32_MAX - batch_.room)
                throw refusal(SYN_TOO_LARGE, "lists of %u spikes and more, one for each "
                              "size, are more than a GPU takes", events);
            batch_.room += events;
        }
        batch_.levels = (uint32_t) place.size();
        own_.upload(&batch_.place, place, stream_);
        wait_for(stream_);
    }

    /* Of the unit of a node. */
    uint32_t events_of(uint32_t node) const
    {
        const uint32_t *first = job_.layout->plan->trains.first;
        uint32_t unit = job_.trie->unit[node];
        return first[unit + 1] - first[unit];
    }

    /* Surrogates that are counted together, and warps that count them. Sorting needs its
       input's size a second time. */
    void choose_batch()
    {
        const syn_trie &t = *job_.trie;
        size_t of_event = 3 * sizeof(uint64_t) + (4 + keys_.bounds) * sizeof(uint32_t);
        size_t of_one = keys_.events * of_event +
                        (t.nodes + job_.episodes) * sizeof(uint32_t);
        size_t budget = std::min(free_memory() / 10 * 9, job_.options->max_memory);
        size_t of_warp =
            (size_t) batch_.room * sizeof(null_end) + (batch_.levels + 1) * 4;
        size_t for_warps = std::min(budget / 2, LEAST_WARPS * of_warp) + SCRATCH / 4;
        double steps = 1;
        for (uint32_t i = 0; i < t.nodes; i++)
            steps += (double) (t.child[i + 1] - t.child[i]) * events_of(i);
        if (budget < for_warps + of_one)
            throw refusal(SYN_OVER_BUDGET, "a surrogate takes %.0f MB",
                          1e-6 * (double) (for_warps + of_one));
        double n = std::min((double) (budget - for_warps) / (double) of_one,
                            (double) job_.options->n);
        n = std::min(n, STEPS / steps);
        n = std::min(n, 2147483000.0 / std::max(keys_.events, t.roots));
        /* Numbers of surrogates have to fit into keys and labels. */
        unsigned left = std::min(64 - keys_.tick_bits, 32u) - keys_.unit_bits;
        n = std::min(n, std::ldexp(1.0, (int) left));
        most_ = (uint32_t) std::max(1.0, n);
        budget -= std::min(budget, most_ * of_one + SCRATCH / 4);
        size_t processors = (size_t) processors_of(current_device());
        int blocks = blocks_at_once(count_null, NULL_WARPS * WARP, 0);
        size_t warps = processors * blocks * NULL_WARPS;
        warps = std::min({warps, budget / std::max<size_t>(of_warp, 1),
                          (size_t) most_ * t.roots});
        warps_ = (uint32_t) std::max<size_t>(1, warps / NULL_WARPS) * NULL_WARPS;
        size_t of_maker = std::max<size_t>(1, making_.plan.scratch) * sizeof(uint32_t);
        size_t makers = std::min({SCRATCH / 4 / of_maker, processors * 1024,
                                  (size_t) most_ * keys_.units});
        makers_ = blocks_for(makers, THREADS) * THREADS;
    }

    /* Makes surrogates `index` on. Sorting keeps the order of what is equal: units on one
       tick, events of one unit. */
    void make_lines(uint64_t index, uint32_t n)
    {
        int events = (int) (n * keys_.events);
        int above = (int) (keys_.unit_bits + (unsigned) syn_radix_bits(n));
        making_.index = index;
        making_.n = n;
        launch(make_units, {makers_ / THREADS, THREADS}, stream_, making_);
        cub::DoubleBuffer<uint64_t> keys(key_[0], key_[1]);
        with_scratch(&scratch_, [&](void *memory, size_t &bytes) {
            return cub::DeviceRadixSort::SortKeys(memory, bytes, keys, events,
                                                  (int) keys_.unit_bits,
                                                  above + (int) keys_.tick_bits, stream_);
        });
        batch_.key = keys.Current();
        launch(label_events, over(events, THREADS), stream_, keys_, batch_.key, events,
               label_[0], event_[0]);
        cub::DoubleBuffer<uint32_t> labels(label_[0], label_[1]);
        cub::DoubleBuffer<uint32_t> placed(event_[0], event_[1]);
        with_scratch(&scratch_, [&](void *memory, size_t &bytes) {
            return cub::DeviceRadixSort::SortPairs(memory, bytes, labels, placed, events,
                                                   0, above, stream_);
        });
        launch(find_beyond, over(events, THREADS), stream_, keys_, batch_.key, events,
               beyond_);
        batch_.by_unit = placed.Current();
    }

    void count_batch(uint64_t index, uint32_t n)
    {
        size_t cells = (size_t) n * job_.episodes;
        uint32_t nodes = batch_.tree.nodes;
        fill(batch_.count, 0, (size_t) n * nodes, stream_);
        fill(batch_.next, 0, 1, stream_);
        /* A recording without spikes has nothing to count. */
        if (keys_.events > 0) {
            make_lines(index, n);
            batch_.n = n;
            launch(count_null, {warps_ / NULL_WARPS, NULL_WARPS * WARP}, stream_, batch_,
                   length_);
        }
        unsigned blocks = std::min(blocks_for(cells, THREADS), 65535u);
        launch(gather_null, {blocks, THREADS}, stream_, batch_.count, nodes,
               batch_.tree.node, job_.episodes, cells, gathered_);
    }
public:
    explicit null_counter(const request &job) : job_(job)
    {
        upload_plan(*job.layout->plan, &own_, &making_.plan, stream_);
        put_tree();
        choose_batch();
        size_t events = (size_t) most_ * keys_.events;
        own_.ensure_all(events, &key_[0], &key_[1], &label_[0], &label_[1], &event_[0],
                        &event_[1]);
        own_.ensure(&beyond_, events * keys_.bounds);
        own_.ensure(&batch_.count, (size_t) most_ * batch_.tree.nodes);
        own_.ensure(&gathered_, (size_t) most_ * job_.episodes);
        own_.ensure(&batch_.next, 1);
        own_.ensure(&making_.scratch, (size_t) makers_ * making_.plan.scratch);
        own_.ensure(&batch_.ends, (size_t) warps_ * batch_.room);
        own_.ensure(&length_, (size_t) warps_ * (batch_.levels + 1));
        batch_.keys = making_.keys = keys_;
        batch_.beyond = beyond_;
        batch_.stop = ended_.get();
        making_.tick = (int64_t *) key_[1];
        making_.key = key_[0];
    }

    uint32_t batch() const { return most_; }

    /* Surrogates first to below first + n of those asked for. What is asked to stop
       leaves counts that nobody looks at. */
    void run(uint32_t first, uint32_t n, const std::atomic<bool> &stop)
    {
        volatile int *ended = ended_.get();
        *ended = 0;
        count_batch(job_.options->first + first, n);
        event done;
        wait_idly(done, stream_, [&] { *ended = stop; });
        download(job_.count + (size_t) first * job_.episodes, gathered_,
              (size_t) n * job_.episodes, stream_);
        wait_for(stream_);
    }
};

}  // namespace
}  // namespace gpu

/* ---- the door ---- */

syn_status syn_gpu_null_counts(const syn_line_layout *layout, const syn_trie *trie,
                               size_t episodes, const syn_null_options *options,
                               syn_gpu_call *call, uint32_t *count)
{
    return gpu::status_with(call, [&] {
        gpu::memory_limit limit(options->max_memory);
        gpu::request job = {layout, trie, episodes, options, count};
        if (episodes == 0)
            return;
        gpu::share_out(*call, (uint32_t) options->n, "surrogates",
                       [&](gpu::crew &work, int) {
            gpu::null_counter counter(job);
            uint32_t first = 0, n;
            while ((n = work.take(counter.batch(), &first)) > 0)
                counter.run(first, n, work.stop);
        });
    });
}
