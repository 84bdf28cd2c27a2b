/* The search, size after size: count what may follow, number what is frequent, make the
   lists of the new nodes. */
#ifndef SYN_GPU_EPISODES_SEARCH_CUH
#define SYN_GPU_EPISODES_SEARCH_CUH

#include "gpu/episodes/run_ahead.cuh"

namespace gpu {

/* ---- waiting ---- */

/* Stops this device when the user wants it, or another member has failed. A `total` of 0:
   nobody knows how much there is to do. */
template <class T> void miner<T>::poll(size_t size, double done, double total)
{
    polled_ = seconds_now();
    if (!team_->broken()) {
        char stage[32];
        std::snprintf(stage, sizeof stage, "size %zu", size);
        if (syn_poll(watch_, stage, done, total) == SYN_OK)
            return;
    }
    static const uint32_t yes = 1;
    cudaMemcpyAsync(stop_.get(), &yes, sizeof yes, cudaMemcpyHostToDevice, copies_);
    cudaStreamSynchronize(copies_);
    cudaStreamSynchronize(stream_);
    if (team_->broken())
        throw abandoned{};
    throw refusal(SYN_INTERRUPTED, "%s", "");
}

/* Copies the header of `size` as the kernels so far leave it, for wait(). */
template <class T> void miner<T>::fetch_header(size_t size)
{
    check(cudaMemcpyAsync(seen_.get() + size % HEADERS, head(size), sizeof(header),
                          cudaMemcpyDeviceToHost, stream_));
    check(cudaEventRecord(counted_, stream_));
}

/* Whether the header of `size` is here: it comes when the level above it is made, or
   counted. */
template <class T> bool miner<T>::has_come(size_t size)
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
template <class T> void miner<T>::wait(size_t size, double done, double total)
{
    while (!has_come(size))
        if (seconds_now() - polled_ > 0.05)
            poll(size + 1, done, total);
    std::atomic_thread_fence(std::memory_order_acquire);
}

/* ---- counting ---- */

/* To count the children of the nodes of the level below `size` that have tasks. */
template <class T> count_job miner<T>::count_job_of(size_t size)
{
    return {events(), view(size - 2), findings(size), tasks_.get(), columns_,
            options_->min_count, me_, table_.get(),
            (const place<uint16_t> *) places_.get(), list(size - 1).get(),
            list(size - 1).room(), counts(size).get(),
            (uint32_t) std::min<size_t>(counts(size).room(), 1u << SLOT_BITS),
            segment_.get(), meet_.get(), sum_.get(), stop_.get(), head(size - 1)};
}

template <class T> void miner<T>::start_count(size_t size)
{
    count_job job = count_job_of(size);
    by_width([&](auto width) {
        constexpr int K = decltype(width)::value;
        if constexpr (sizeof(T) < 4) {
            if (has_table_) {
                unsigned blocks = (unsigned) processors_ * COUNT_BLOCKS;
                count_children<K, T><<<blocks, COUNT_WARPS * WARP, 0, stream_>>>(job);
                return;
            }
        }
        sweep_job<W> sweep = {job, places_.get(), pages_swept()};
        size_t bytes = (size_t) sweep.pages * columns_.width * sizeof(swept);
        unsigned blocks = (unsigned) processors_ * WARP;
        sweep_children<K, W><<<blocks, WARP, bytes, stream_>>>(sweep);
    });
    check(cudaGetLastError());
    fetch_header(size - 1);
}

/* ---- counts ---- */

/* The level below `size`, with what is found of its items put elsewhere where the devices
   will exchange it: the level itself is to hold what all of them found. */
template <class T> level_view miner<T>::findings(size_t size)
{
    level_view here = view(size - 1);
    if (!dealt_before(size))
        return here;
    size_t items = (size_t) here.n * columns_.n;
    here.mask = found_[size % 2].get();
    here.children = here.mask + items * width_;
    here.slot = here.children + items;
    return here;
}

/* Nothing is found yet; a part of the level at a time is counted. */
template <class T> void miner<T>::clear_findings(size_t size)
{
    if (dealt_before(size))
        clear(found_[size % 2], shared_words(size));
}

/* `found`, unless a slot cannot number so many. */
inline uint32_t slots_for(size_t size, uint32_t found)
{
    constexpr uint32_t most = (1u << SLOT_BITS) - 1;
    if (found > most)
        throw refusal(SYN_TOO_LARGE, "more than %u episodes of size %zu are frequent",
                      most, size);
    return found;
}

/* Whether the lists before `size` fit, as the header says. Where there is room for longer
   ones they are being made again; else they will be made part by part. */
template <class T> bool miner<T>::have_lists(size_t size)
{
    size_t ends = seen(size - 1).list_ends;
    if (ends <= list(size - 1).room())
        return true;
    if (!grow_list(size - 1, ends)) {
        resident_ = size - 2;
        return false;
    }
    reset_lists(size - 1);
    start_lists(size - 1, 0, view(size - 1).n);
    return false;
}

/* How many children of `size` are frequent. Counting, begun by start(), is repeated
   when the lists before it or the counts did not fit. */
template <class T> uint32_t miner<T>::count(size_t size)
{
    while (resident_ == size - 1) {
        wait(size - 1, 0, 0);
        if (stalled(size))
            go_back(size);
        else if (made_ahead(size))
            follow(size);
        if (have_lists(size)) {
            uint32_t found = slots_for(size, seen(size - 1).found);
            if (found <= counts(size).room())
                return found;
            grow_counts(size, found, 0);
        }
        if (resident_ == size - 1) {
            set_found(size, 0);
            start_count(size);
        }
    }
    return count_by_parts(size);
}

/* ---- counting where not all lists fit at a time ---- */

template <class T> std::vector<uint32_t> miner<T>::children_of(size_t k)
{
    std::vector<uint32_t> child((size_t) view(k).n + 1);
    check(cudaMemcpyAsync(child.data(), view(k).child, child.size() * sizeof(uint32_t),
                          cudaMemcpyDeviceToHost, stream_));
    check(cudaStreamSynchronize(stream_));
    return child;
}

template <class T> uint32_t miner<T>::count_by_parts(size_t size)
{
    uint32_t found = 0;
    std::vector<std::vector<uint32_t>> child(size);
    for (size_t k = resident_; k + 1 < size; k++)
        child[k] = children_of(k);
    part_.clear();
    part_.resize(size);
    array<uint2>().swap(lists_[(resident_ + 1) % 2]);
    /* Each level gets half of what is left, and at least what one node can need. */
    size_t held = memory(), have = allowance_, lists = list_memory();
    size_t left = std::min(have > held ? have - held : 0,
                           for_lists() > lists ? for_lists() - lists : 0);
    for (size_t k = resident_ + 1; k < size; k++) {
        part_[k] = std::make_unique<array<uint2>>();
        left /= 2;
        part_[k]->ensure(std::max<size_t>(left / sizeof(uint2), longest_));
    }
    set_found(size, 0);
    count_below(resident_, size, 0, view(resident_).n, child, &found);
    return found;
}

/* The lists of the nodes begin .. end - 1 of level k are in memory: makes those of their
   children, part by part, and so on until the children of `size` can be counted. */
template <class T>
void miner<T>::count_below(size_t k, size_t size, uint32_t begin, uint32_t end,
                           const std::vector<std::vector<uint32_t>> &child,
                           uint32_t *found)
{
    if (k + 1 == size)
        return count_part(size, begin, found);
    uint32_t from = child[k][begin], to = child[k][end], n = to - from;
    double total = view(size - 1).n;
    while (from < to) {
        n = std::min(std::max<uint32_t>(n, 1), to - from);
        if (make_part(k + 1, from, from + n, from, k + 2 == size ? total : 0)) {
            count_below(k + 1, size, from, from + n, child, found);
            from += n;
        } else {
            n /= 2;
        }
    }
}

/* Whether these lists fit. One alone always does: it has no more ends than its unit has
   events. */
template <class T>
bool miner<T>::make_part(size_t size, uint32_t begin, uint32_t end, double done,
                         double total)
{
    reset_lists(size);
    start_lists(size, begin, end);
    fetch_header(size);
    wait(size, done, total);
    return seen(size).list_ends <= list(size).room();
}

/* Counts along the lists there are; `found` grows. All tasks are open. */
template <class T>
void miner<T>::count_part(size_t size, double done, uint32_t *found)
{
    for (;;) {
        start_count(size);
        wait(size - 1, done, view(size - 1).n);
        uint32_t now = slots_for(size, seen(size - 1).found);
        if (now <= counts(size).room()) {
            *found = now;
            return;
        }
        grow_counts(size, now, *found);
        set_found(size, *found);
    }
}

/* ---- what is frequent ---- */

template <class T> void miner<T>::meet(size_t size)
{
    team_->meet([&] {
        if (seconds_now() - polled_ > 0.05)
            poll(size, 0, 0);
    });
}

/* Gets what the others found in a level that is dealt out. The total. */
template <class T> uint32_t miner<T>::exchange(size_t size, uint32_t found)
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
                                      team_->device[d], n * sizeof(uint32_t), stream_));
        };
        get(others_found_[d], theirs.words, shared_words(size));
        get(others_counts_[d], theirs.counts, theirs.found);
        job.words[d] = others_found_[d].get();
    }
    if (total > UINT32_MAX / 2)
        throw refusal(SYN_TOO_LARGE, "more than %u episodes of size %zu are frequent",
                      UINT32_MAX / 2, size);
    by_width([&](auto width) {
        merge_items<decltype(width)::value>
            <<<blocks_for(job.items, 256), 256, 0, stream_>>>(job);
    });
    check(cudaGetLastError());
    return (uint32_t) total;
}

/* To number the children of all items, and with them the nodes of `size`: none where more
   was found than there is room for, unless the host is `sure` that there is. */
template <class T> number_job miner<T>::number_job_of(size_t size, bool sure)
{
    auto room = [&](size_t n) { return sure ? SIZE_MAX : n; };
    return {view(size - 1), view(size), columns_.n,
            (uint32_t) std::min<size_t>(room(counts(size).room()), UINT32_MAX),
            room(list(size - 1).room()), room(list(size).room()), tiles_.get(),
            ++runs_ % MOST_RUNS, head(size - 1), head(size)};
}

template <class T> void miner<T>::number(size_t size)
{
    number_job job = number_job_of(size, true);
    size_t tiles = (size_t) view(size - 1).room * columns_.n / NUMBER_TILE + 1;
    unsigned blocks = (unsigned) std::min<size_t>(tiles, processors_);
    number_children<<<blocks, NUMBER_WARPS * WARP, 0, stream_>>>(job);
    check(cudaGetLastError());
}

/* To make the nodes of `size` out of what counting kept. */
template <class T> fill_job miner<T>::fill_job_of(size_t size)
{
    fill_job job = {view(size - 2), view(size - 1), view(size), columns_, unit_.get(), {},
                    share(size), head(size)};
    for (unsigned d = 0; d < team_->size(); d++)
        job.counts[d] = d == me_ ? counts(size).get() : others_counts_[d].get();
    return job;
}

template <class T> void miner<T>::fill(size_t size)
{
    fill_job job = fill_job_of(size);
    unsigned blocks = (unsigned) processors_ * 8;
    by_width([&](auto width) {
        fill_level<decltype(width)::value>
            <<<blocks, FILL_WARPS * WARP, 0, stream_>>>(job);
    });
    check(cudaGetLastError());
    check(cudaEventRecord(filled_, stream_));
}

/* ---- lists ---- */

/* To make the lists of the nodes begin .. end - 1 of `size`, as far as they are there. */
template <class T>
list_job<typename miner<T>::W> miner<T>::list_job_of(size_t size, uint32_t begin,
                                                     uint32_t end)
{
    const array<uint2> &made = list(size);
    const header *before = end == UINT32_MAX ? head(size - 1) : nullptr;
    return {events(), view(size - 1), view(size), begin, end, columns_, share(size),
            places_.get(), links_.get(), table_.get(), (uint32_t) (WARP * width_),
            list(size - 1).get(), made.get(), made.room(), STAGED, (uint32_t) processors_,
            plan(size, before), stop_.get(), head(size)};
}

template <class T>
void miner<T>::start_lists(size_t size, uint32_t begin, uint32_t end)
{
    list_job<W> job = list_job_of(size, begin, end);
    typedef std::conditional_t<sizeof(T) == 4, void, T> E;  /* of a table */
    if (mean_list_ >= LONG_LIST) {
        auto kernel = has_table_ ? make_long_lists<E, W> : make_long_lists<void, W>;
        kernel<<<end - begin, LONG_WARPS * WARP, 0, stream_>>>(job);
    } else {
        constexpr size_t bytes = LIST_WARPS * STAGED * sizeof(uint2);
        unsigned blocks = std::min(end - begin, (unsigned) processors_ * 4);
        auto kernel = has_table_ ? make_lists<E, W> : make_lists<void, W>;
        kernel<<<blocks, LIST_WARPS * WARP, bytes, stream_>>>(job);
    }
    check(cudaGetLastError());
}

/* ---- results ---- */

/* Copies n words to pageable memory through the page-locked block. */
template <class T> void miner<T>::copy(const uint32_t *from, size_t n, uint32_t *to)
{
    for (size_t i = 0; i < n; i += STAGING) {
        size_t words = std::min(n - i, STAGING);
        check(cudaMemcpyAsync(staging_.get(), from + i, words * sizeof(uint32_t),
                              cudaMemcpyDeviceToHost, copies_));
        check(cudaStreamSynchronize(copies_));
        std::memcpy(to + i, staging_.get(), words * sizeof(uint32_t));
    }
}

/* Brings the nodes of `size` and their parents' children to the host, once. */
template <class T> void miner<T>::collect(size_t size)
{
    if (!out_ || size <= collected_)
        return;
    collected_ = size;
    const level_view &from = view(size), &parents = view(size - 1);
    syn_episode_level *to = &out_->level[size - 1];
    size_t n = from.n;
    size_t children = (size_t) parents.n + 1;
    uint32_t *arrays[] = {to->parent, to->suffix, to->unit, to->interval, to->count};
    if (made_ahead(size) && next_spot_ <= AHEAD_WORDS) {
        const uint32_t *here = arrived_.get() + spot_;
        for (size_t i = 0; i < 5; i++)
            std::memcpy(arrays[i], here + i * n, n * sizeof(uint32_t));
        std::memcpy(to[-1].child, here + 5 * n, children * sizeof(uint32_t));
        return;
    }
    check(cudaStreamWaitEvent(copies_, filled_, 0));
    if (5 * n + children <= STAGING) {
        uint32_t *staged = staging_.get();
        size_t words = n * sizeof(uint32_t), apart = from.room * sizeof(uint32_t);
        check(cudaMemcpy2DAsync(staged, words, from.parent, apart, words, 5,
                                cudaMemcpyDeviceToHost, copies_));
        check(cudaMemcpyAsync(staged + 5 * n, parents.child, children * sizeof(uint32_t),
                              cudaMemcpyDeviceToHost, copies_));
        check(cudaStreamSynchronize(copies_));
        for (size_t i = 0; i < 5; i++)
            std::memcpy(arrays[i], staged + i * n, n * sizeof(uint32_t));
        std::memcpy(to[-1].child, staged + 5 * n, children * sizeof(uint32_t));
    } else {
        for (size_t i = 0; i < 5; i++)
            copy(from.parent + i * from.room, n, arrays[i]);
        copy(parents.child, children, to[-1].child);
    }
}

/* Opens the level of the result; its nodes come with collect(). */
template <class T>
void miner<T>::report(size_t size, size_t found, uint64_t candidates)
{
    results_ += found * 6 * sizeof(uint32_t);
    size_t taken = memory() - list_memory() + results_;
    if (taken > options_->max_memory)
        throw refusal(SYN_OVER_BUDGET, "the episodes of up to size %zu take %.3g MB, and "
                      "`max_memory` is %.3g MB", size, 1e-6 * taken,
                      1e-6 * (double) options_->max_memory);
    if (!out_)
        return;
    append_level(out_, found)->candidates = candidates;
    syn_episode_level *parents = &out_->level[size - 2];
    if (found == 0)
        std::memset(parents->child, 0, (parents->n + 1) * sizeof(uint32_t));
}

/* ---- the whole ---- */

/* A list that has no longer room in the budget, beside the one that it is made from and
   the levels, becomes smaller. */
template <class T> void miner<T>::fit_list(size_t size)
{
    size_t room = for_lists(), from = list(size - 1).bytes();
    if (from + list(size).bytes() <= room)
        return;
    size_t ends = room > from ? (room - from) / sizeof(uint2) : 0;
    array<uint2>().swap(lists_[size % 2]);
    list(size).ensure(std::max(ends, longest_));
}

/* Where the level of `found` nodes would pass the budget: frees the lists that nobody
   reads any more. Those made in parts are made anew for the next size, and after the last
   size none is needed. */
template <class T> void miner<T>::free_lists_for(size_t size, uint32_t found)
{
    bool last = size == options_->max_size;
    size_t level = (size_t) found * 8 * sizeof(uint32_t);
    if ((!last && resident_ == size - 1) || memory() + level <= options_->max_memory)
        return;
    for (size_t k = 0; k < 2; k++)
        if (last || k != resident_ % 2)
            array<uint2>().swap(lists_[k]);
    part_.clear();
}

/* Makes the level of `found` nodes, and their lists where all of them fit, unless both
   are being made already. */
template <class T> void miner<T>::start_level(size_t size, uint32_t found)
{
    bool lists = size < options_->max_size && resident_ == size - 1;
    if (begun_ < size) {
        free_lists_for(size, found);
        open_level(size, found);
        grow_tiles(view(size - 1).n);
        number(size);
        deal(size, found);
        fill(size);
        if (lists) {
            grow_tasks(found);
            fit_list(size);
            /* Mostly lists get shorter: what is needed is there before it is. */
            size_t ends = mean_list_ * found / (dealt_ ? team_->size() : 1);
            if (ends > list(size).room())
                grow_list(size, ends);
            start_lists(size, 0, found);
        }
        begun_ = size;
    }
    view(size).n = found;
    if (lists)
        resident_ = size;
}

/* What is too wide was made, but is wrong. */
template <class T> void miner<T>::check_windows(const header &first) const
{
    constexpr uint32_t most = (T) -1;
    if (first.reach >= 65535 || (has_table_ && first.widest > most))
        throw too_wide{};
}

template <class T> void miner<T>::mine()
{
    double begun = seconds_now();
    begin_tables();
    if (team_->size() > 1) {  /* to tell apart what is shared */
        check(cudaStreamSynchronize(stream_));
        seconds_by_size[1] = seconds_now() - begun;
        begun = seconds_now();
    }
    uint64_t candidates = (uint64_t) symbols_ * symbols_ * intervals_, own = 0;
    for (size_t s = 0; s < symbols_; s++)
        own += share(1).takes((uint32_t) s, 0) ? symbols_ * intervals_ : 0;
    for (size_t size = 2; size <= options_->max_size; size++) {
        uint32_t parents = view(size - 1).n;
        if ((size_t) parents * columns_.n >= INT32_MAX)
            throw refusal(SYN_TOO_LARGE, "there are %u episodes of size %zu", parents,
                          size - 1);
        clear_findings(size);
        if (resident_ == size - 1)
            start(size);
        collect(size - 1);
        uint32_t found = count(size);
        const header &below = seen(size - 1);
        if (size == 2 && sizeof(T) < 4)
            check_windows(below);
        if (size > 2) {
            candidates = below.candidates;
            own = below.own;
            mean_list_ = below.lists ? (size_t) (below.list_ends / below.lists) : 0;
        }
        own_ += own;
        found = exchange(size, found);
        double now = seconds_now();
        seconds_by_size[std::min<size_t>(size, SYN_GPU_SIZES)] += now - begun;
        begun = now;
        /* The device first: the host's part takes place meanwhile. */
        if (found > 0)
            start_level(size, found);
        peak = std::max(peak, memory());
        report(size, found, candidates);
        if (found == 0)
            break;
        if (size == options_->max_size)
            collect(size);
    }
    check(cudaStreamSynchronize(stream_));
    meet(level_.size());  /* the others may still have been reading what this one found */
}

}  // namespace gpu

#endif
