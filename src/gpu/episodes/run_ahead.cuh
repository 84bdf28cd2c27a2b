/* Levels that are made in one launch, before the host knows how large they are: when that
   is done, and how the host follows. The kernel is in ahead.cuh. */
#ifndef SYN_GPU_EPISODES_RUN_AHEAD_CUH
#define SYN_GPU_EPISODES_RUN_AHEAD_CUH

#include "gpu/episodes/miner.cuh"

namespace gpu {

/* Whether levels from `size` on can be made before the host knows how large they are.
   Where memory is short, or devices share the work, the host decides; long lists take so
   much longer than its answers that they are better made one by one. The tasks of
   counting `size` are there already, so that their array must stay as it is. */
template <class T> bool miner<T>::fits_ahead(size_t size)
{
    if (!has_table_ || !together_ || team_->size() > 1 || mean_list_ >= LONG_LIST)
        return false;
    size_t room = 0;
    for (size_t k = size; k < size + 2; k++)
        open_level(k, 0);
    for (size_t k = size - 2; k < size + 2; k++)
        room = std::max<size_t>(room, view(k).room);
    grow_tiles(room);
    return room * columns_.n + segments_ <= tasks_.room() &&
           memory() + results_ + AHEAD_WORDS * sizeof(uint32_t) <= options_->max_memory;
}

/* Begins to make `size` and what follows, in the room there is. */
template <class T> void miner<T>::make_ahead(size_t size)
{
    ahead_job<W> job = {};
    for (size_t k = size - 2; k < size + 2; k++)
        job.level[k % LEVELS] = view(k);
    job.first = {count_job_of(size), number_job_of(size, false), fill_job_of(size),
                 list_job_of(size, 0, UINT32_MAX)};
    job.first.lists.staged = STAGED_AHEAD;
    job.from = (uint32_t) size;
    job.to = (uint32_t) std::min<size_t>(size + AT_ONCE - 1, options_->max_size);
    job.max_size = (uint32_t) options_->max_size;
    for (size_t k = 0; k < 2; k++) {
        job.ends[k] = lists_[k].get();
        job.end_room[k] = lists_[k].room();
        job.counts[k] = counts_[k].get();
        job.count_room[k] = (uint32_t) std::min<size_t>(counts_[k].room(),
                                                        1u << SLOT_BITS);
    }
    job.headers = headers_.get();
    job.meeting = meeting_.get();
    job.seen = seen_.get();
    job.results = arrived_.get();
    job.progress = arrived_.get() + AHEAD_WORDS;
    job.room = AHEAD_WORDS;
    *job.progress = 0;
    runs_ += AT_ONCE;
    ahead_from_ = size;
    begun_ = ahead_to_ = job.to;
    next_spot_ = 0;
    launch_ahead(job);
}

template <class T> void miner<T>::launch_ahead(ahead_job<W> &job)
{
    if constexpr (sizeof(T) < 4)
        by_width([&](auto width) {
            auto kernel = make_levels<decltype(width)::value, T, W>;
            unsigned blocks = (unsigned) (processors_ * together_);
            void *arguments[] = {&job};
            check(cudaLaunchCooperativeKernel(kernel, blocks, AHEAD_WARPS * WARP,
                                              arguments, AHEAD_BYTES, stream_));
        });
    check(cudaEventRecord(filled_, stream_));
}

/* Starts to count `size`, unless it is being made already. */
template <class T> void miner<T>::start(size_t size)
{
    if (begun_ >= size) {
        open_level(size, 0);
    } else if (fits_ahead(size)) {
        collect(size - 1);  /* before its memory becomes another level's */
        make_ahead(size);
    } else {
        start_count(size);
    }
}

/* The host has heard how large a level is that was made ahead: now it knows where to find
   it, and whether it was the last one that there was room for. */
template <class T> void miner<T>::follow(size_t size)
{
    spot_ = next_spot_;
    next_spot_ += 5 * (size_t) seen(size - 1).found + view(size - 1).n + 1;
    if (next_spot_ > AHEAD_WORDS)
        begun_ = ahead_to_ = size;
}

/* Whether `size` was begun, and something did not fit. */
template <class T> bool miner<T>::stalled(size_t size)
{
    const header &last = seen(size - 1);
    return begun_ >= size &&
           (last.list_ends > list(size - 1).room() || last.found > view(size).room ||
            last.found > counts(size).room() ||
            ends_expected(last, last.found) > list(size).room());
}

/* What was begun from `size` on has come to nothing: forgets it. */
template <class T> void miner<T>::go_back(size_t size)
{
    check(cudaStreamSynchronize(stream_));
    begun_ = size - 1;
    ahead_to_ = std::min(ahead_to_, begun_);
}

}  // namespace gpu

#endif
