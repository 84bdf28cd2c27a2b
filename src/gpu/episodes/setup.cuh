/* What a miner holds before the search, and room for what it finds. */
#ifndef SYN_GPU_EPISODES_SETUP_CUH
#define SYN_GPU_EPISODES_SETUP_CUH

#include "gpu/episodes/miner.cuh"

namespace gpu {

template <class T>
miner<T>::miner(const syn_recording *recording, const syn_mine_options *options,
                const syn_watch *watch, syn_episodes *out,
                const std::vector<uint32_t> &units, team *fellows, unsigned me)
    : recording_(recording), options_(options), watch_(watch), out_(out), team_(fellows),
      me_(me), intervals_(options->n_intervals), symbols_(units.size()),
      mean_list_(recording->events / units.size()), unit_of_(units),
      others_found_(fellows->size()), others_counts_(fellows->size())
{
    int device = fellows->device[me];
    for (uint32_t unit : units)
        longest_ = std::max<size_t>(longest_, recording->first[unit + 1] -
                                                  recording->first[unit]);
    check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, device));
}

/* From the first level on that has enough nodes the work is dealt out. */
template <class T> void miner<T>::deal(size_t size, size_t nodes)
{
    size_t share = nodes / team_->size();
    size_t work = mean_list_ * share * columns_.n;
    if (dealt_ == 0 && team_->size() > 1 &&
        (share >= MANY_NODES || (share >= SOME_NODES && work >= MUCH_WORK)))
        dealt_ = size;
}

/* Pages as equal as they can be, each with room for the spare symbol, in rows of at most
   `widest` symbols a lane. */
template <class T> void miner<T>::lay_out_symbols(int widest)
{
    size_t most = (size_t) widest * WARP - 1;
    size_t pages = (symbols_ + most - 1) / most;
    size_t page = (symbols_ + pages - 1) / pages;
    width_ = 1;
    while ((size_t) width_ * WARP < page + 1)
        width_ *= 2;
    if (intervals_ * pages > MOST_COLUMNS || intervals_ * pages * symbols_ >= INT32_MAX)
        throw refusal(SYN_TOO_LARGE,
                      "%zu intervals of %zu units are more than a GPU takes", intervals_,
                      symbols_);
    columns_ = {(uint32_t) (intervals_ * pages), (uint32_t) pages, (uint32_t) page};
}

template <class T> events_view miner<T>::events() const
{
    events_view view = {recording_->events, tick_.get(), group_.get(),
                        by_unit_.get(), row_.get(), symbol_.get(),
                        row_begin_.get(), row_end_.get(), unit_.get()};
    return view;
}

template <class T> size_t miner<T>::memory() const
{
    size_t bytes = tick_.bytes() + bounds_.bytes() + group_.bytes() + by_unit_.bytes() +
                   row_.bytes() + row_begin_.bytes() + row_end_.bytes() + unit_.bytes() +
                   counts_[0].bytes() + counts_[1].bytes() + segment_.bytes() +
                   meet_.bytes() + sum_.bytes() + symbol_.bytes() + scratch_.bytes() +
                   table_.bytes() + tasks_.bytes() + places_.bytes() + links_.bytes();
    for (unsigned d = 0; d < team_->size(); d++)
        bytes += others_found_[d].bytes() + others_counts_[d].bytes();
    bytes += found_[0].bytes() + found_[1].bytes();
    for (const auto &one : level_)
        bytes += one ? one->bytes() : 0;
    return bytes + list_memory();
}

template <class T> size_t miner<T>::list_memory() const
{
    size_t bytes = 0;
    for (const auto &one : list_)
        bytes += one ? one->bytes() : 0;
    return bytes;
}

/* Bytes that all lists together may take, next to the other arrays and the results. */
template <class T> size_t miner<T>::for_lists() const
{
    size_t taken = memory() - list_memory() + results_;
    return options_->max_memory > taken ? options_->max_memory - taken : 0;
}

/* ---- how much of the table is in memory at a time ---- */

template <class T> size_t miner<T>::column_bytes(int width) const
{
    return (size_t) (recording_->events + 1) * WARP * width * sizeof(T);
}

/* Bytes without which there is no search, beside those that are taken already: two lists,
   and a few levels and segments. */
template <class T> size_t miner<T>::least_memory(int width) const
{
    size_t pages = symbols_ / (width * WARP - 1) + 1, columns = intervals_ * pages;
    return 2 * recording_->events * sizeof(uint2) +
           symbols_ * (64 + columns * (width + 8) * 2 * sizeof(uint32_t)) +
           FEWEST_SEGMENTS * 4 * width * WARP * sizeof(uint32_t);
}

/* Bytes that this member may take in all. */
template <class T> size_t miner<T>::allowance() const
{
    size_t free_bytes = free_memory() / 16 * 15 / team_->on_device_of(me_);
    return std::min(memory() + free_bytes, options_->max_memory);
}

/* The table has a row for every event and column. Where all of it is too much, it is made
   some columns at a time, whenever they are needed; narrow ones, if need be. */
template <class T> void miner<T>::choose_table()
{
    size_t have = allowance(), held = memory();
    auto room = [&](int width) {
        size_t least = held + least_memory(width);
        return have > least ? (have - least) / 2 : 0;
    };
    int widest = sizeof(T) == 2 ? 8 : 1;
    while (widest > 0 && room(widest) < column_bytes(widest))
        widest /= 2;
    if (widest == 0) {
        double needed = held + least_memory(1) + 2.0 * column_bytes(1);
        bool budget = have == options_->max_memory;
        throw refusal(budget ? SYN_OVER_BUDGET : SYN_NO_MEMORY,
                      "the spikes and the smallest part of the table of what follows "
                      "them take %.2g GB on a GPU, and %s %.2g GB",
                      1e-9 * needed, budget ? "`max_memory` is" : "it has",
                      1e-9 * (double) have);
    }
    team_->widest[me_] = widest;
    meet(1);
    lay_out_symbols(*std::min_element(team_->widest.begin(), team_->widest.end()));
    size_t fit = room(width_) / column_bytes(width_);
    at_once_ = (uint32_t) std::max<size_t>(std::min<size_t>({fit, columns_.n, 65535}), 1);
    size_t of_segment = (4 * width_ * WARP + 1) * sizeof(uint32_t);
    segments_ = std::max(std::min(have / 8 / of_segment, MOST_SEGMENTS), FEWEST_SEGMENTS);
    table_.ensure(at_once_ * (column_bytes(width_) / sizeof(T)));
}

/* ---- what is on the device from the beginning ---- */

template <class T> void miner<T>::upload_recording()
{
    const syn_recording *r = recording_;
    size_t n = r->events;
    std::vector<uint32_t> row_begin(symbols_), row_end(symbols_);
    for (size_t s = 0; s < symbols_; s++) {
        row_begin[s] = r->first[unit_of_[s]];
        row_end[s] = r->first[unit_of_[s] + 1];
    }
    std::vector<int64_t> bounds(2 * intervals_);
    for (size_t k = 0; k < intervals_; k++) {
        bounds[2 * k] = options_->intervals[k].low;
        bounds[2 * k + 1] = options_->intervals[k].high;
    }
    tick_.upload(r->tick, n, stream_);
    arrange_events();
    row_begin_.upload(row_begin.data(), symbols_, stream_);
    row_end_.upload(row_end.data(), symbols_, stream_);
    unit_.upload(unit_of_.data(), symbols_, stream_);
    bounds_.upload(bounds.data(), 2 * intervals_, stream_);
    places_.ensure(n * intervals_);
    links_.ensure(n);
    check(cudaStreamSynchronize(stream_));
}

/* What syn_recording_arrange() does on the host. */
template <class T> void miner<T>::arrange_events()
{
    uint32_t n = recording_->events, bits = 1;
    while (bits < 32 && recording_->units >> bits > 0)
        bits++;
    std::vector<uint16_t> symbol_of(recording_->units, RARE);
    for (size_t s = 0; s < symbols_; s++)
        symbol_of[unit_of_[s]] = (uint16_t) s;
    array<uint16_t> by_number;
    array<uint32_t> unit, sorted, event;
    array<uint8_t> scratch;
    by_number.upload(symbol_of.data(), symbol_of.size(), stream_);
    unit.upload(recording_->unit, n, stream_);
    sorted.ensure(n);
    event.ensure(n);
    symbol_.ensure(n);
    group_.ensure(n);
    by_unit_.ensure(n);
    row_.ensure(n);
    describe_events<<<blocks_for(n, 256), 256, 0, stream_>>>(
        n, tick_.get(), unit.get(), by_number.get(), symbol_.get(), group_.get(),
        event.get());
    check(cudaGetLastError());
    size_t bytes = 0;
    auto sort = [&](void *memory) {
        return cub::DeviceRadixSort::SortPairs(memory, bytes, unit.get(), sorted.get(),
                                               event.get(), by_unit_.get(), (int) n, 0,
                                               (int) bits, stream_);
    };
    check(sort(nullptr));
    scratch.ensure(bytes);
    check(sort(scratch.get()));
    find_rows<<<blocks_for(n, 256), 256, 0, stream_>>>(n, by_unit_.get(), row_.get());
    check(cudaGetLastError());
    check(cudaStreamSynchronize(stream_));
}

/* Everything whose size is known, so that mining allocates only as it outgrows it. */
template <class T> void miner<T>::upload()
{
    size_t n = recording_->events;
    device_head_.ensure(1);
    upload_recording();
    choose_table();
    deal(1, symbols_);
    segment_.ensure(segments_ * 3 * width_ * WARP);
    clear(meet_, segments_);
    clear(sum_, segments_ * width_ * WARP);

    size_t have = allowance(), held = memory(), node = 8 + columns_.n * (width_ + 3);
    size_t some = std::min(have / 8, have > held ? (have - held) / 4 : 0);
    size_t ends = std::max(std::min(512 * n, MANY_ENDS), LISTS_AHEAD * n);
    ends = std::max(std::min(ends, some / (2 * sizeof(uint2))), n);
    size_t nodes = some / (12 * node * sizeof(uint32_t));
    nodes = std::min(nodes, std::min(ends / 64 + 1024, MANY_NODES_AHEAD));
    make_room(std::max(nodes, symbols_), ends);
    upload_root();
    upload_units();
    check(cudaMemsetAsync(device_head_.get(), 0, sizeof(header), stream_));
    check(cudaStreamSynchronize(stream_));
}

/* Room for levels of so many nodes and lists of so many ends, to begin with. */
template <class T> void miner<T>::make_room(size_t nodes, size_t ends)
{
    list_.resize(2);
    for (auto &one : list_) {
        one = std::make_unique<array<uint2>>();
        one->ensure(ends);
    }
    level_.resize(3);
    for (auto &one : level_) {
        one = std::make_unique<level>();
        one->resize(nodes, columns_.n, width_, stream_);
    }
    for (array<uint32_t> &one : counts_)
        one.ensure(4 * nodes);
    tasks_.ensure(nodes * columns_.n + segments_);
    scratch_.ensure(1 << 16);
    if (team_->size() == 1)
        return;
    size_t words = nodes * columns_.n * (width_ + 2);
    for (array<uint32_t> &one : found_)
        one.ensure(words);
    for (unsigned d = 0; d < team_->size(); d++) {
        if (d == me_)
            continue;
        others_found_[d].ensure(words);
        others_counts_[d].ensure(4 * nodes);
    }
}

template <class T> void miner<T>::clear(array<uint32_t> &words, size_t n)
{
    words.ensure(n);
    check(cudaMemsetAsync(words.get(), 0, n * sizeof(uint32_t), stream_));
}

/* The root, whose children are the units, and which is its own suffix. */
template <class T> void miner<T>::upload_root()
{
    level_[0]->resize(1, columns_.n, width_, stream_);
    std::vector<uint32_t> mask((size_t) columns_.n * width_, 0), base(columns_.n + 1, 0);
    for (size_t column = 0; column < columns_.n; column++) {
        size_t begin = column % columns_.pages * columns_.width;
        size_t end = std::min<size_t>(begin + columns_.width, symbols_);
        base[column] = (uint32_t) begin;  /* the same units in every interval */
        for (size_t s = 0; s + begin < end; s++)
            mask[column * width_ + s % width_] |= 1u << s / width_;
    }
    check(cudaMemcpyAsync(view(0).mask, mask.data(), mask.size() * sizeof(uint32_t),
                          cudaMemcpyHostToDevice, stream_));
    check(cudaMemcpyAsync(view(0).base, base.data(), base.size() * sizeof(uint32_t),
                          cudaMemcpyHostToDevice, stream_));
    check(cudaStreamSynchronize(stream_));
}

template <class T> void miner<T>::upload_units()
{
    const syn_recording *r = recording_;
    level_[1]->resize(symbols_, columns_.n, width_, stream_);
    std::vector<uint32_t> suffix(symbols_, 0), count(symbols_), length(symbols_);
    std::vector<unsigned long long> offset(symbols_);
    for (size_t s = 0; s < symbols_; s++) {
        offset[s] = r->first[unit_of_[s]];
        count[s] = r->first[unit_of_[s] + 1] - r->first[unit_of_[s]];
        length[s] = share(1).takes((uint32_t) s, 0) ? count[s] : ELSEWHERE;
    }
    size_t bytes = symbols_ * sizeof(uint32_t);
    auto send = [&](void *to, const void *from, size_t n) {
        check(cudaMemcpyAsync(to, from, n, cudaMemcpyHostToDevice, stream_));
    };
    send(view(1).suffix, suffix.data(), bytes);
    send(view(1).count, count.data(), bytes);
    send(view(1).length, length.data(), bytes);
    send(view(1).offset, offset.data(), 2 * bytes);
    size_t words = shared_words(2) + 1;  /* with the one after `children` */
    check(cudaMemsetAsync(view(1).mask, 0, words * sizeof(uint32_t), stream_));
    check(cudaStreamSynchronize(stream_));
}

/* ---- what depends on the width of a page ---- */

/* Calls launch(width), the width as a type; wide distances have width 1 alone. */
template <class T> template <class F> void miner<T>::by_width(F launch)
{
    constexpr int wide = sizeof(T) > 2;
    switch (width_) {
    case 1: return launch(std::integral_constant<int, 1>{});
    case 2: return launch(std::integral_constant<int, wide ? 1 : 2>{});
    case 4: return launch(std::integral_constant<int, wide ? 1 : 4>{});
    default: launch(std::integral_constant<int, wide ? 1 : 8>{});
    }
}

/* Puts the columns from `first` on into the table, unless they are there. */
template <class T> void miner<T>::make_table_from(uint32_t first)
{
    if (some_.n > 0 && some_.first == first)
        return;
    some_ = {first, std::min(at_once_, columns_.n - first)};
    by_width([&](auto width) {
        dim3 spans(blocks_for(recording_->events, TABLE_SPAN * 4), some_.n);
        make_table<decltype(width)::value, T><<<spans, 4 * WARP, 0, stream_>>>(
            events(), columns_, first, places_.get(), (unsigned char *) table_.get());
    });
    check(cudaGetLastError());
}

/* Calls use() with some columns after the other in the table; those that are there come
   first. */
template <class T> template <class F> void miner<T>::each_table(F use)
{
    uint32_t parts = (columns_.n - 1) / at_once_ + 1;
    for (uint32_t i = 0; i < parts; i++) {
        make_table_from((back_ ? parts - 1 - i : i) * at_once_);
        use();
    }
    back_ = parts > 1 && !back_;
}

template <class T> void miner<T>::begin_tables()
{
    unsigned blocks = blocks_for(recording_->events, 256);
    dim3 grid(blocks, most_of_grid(intervals_));
    find_windows<T><<<grid, 256, 0, stream_>>>(events(), bounds_.get(),
                                               (uint32_t) intervals_, places_.get(),
                                               device_head_.get());
    check(cudaGetLastError());
    make_table_from(0);
    list_units<<<blocks, 256, 0, stream_>>>(events(), list(1).get(), links_.get());
    check(cudaGetLastError());
    plan_units<<<blocks_for(symbols_, 8), 8 * WARP, 0, stream_>>>(
        view(0), view(1), columns_.n, plan(1, symbols_));
    check(cudaGetLastError());
}

/* ---- room that follows what is found ---- */

/* Arrays of a level that nothing needs any more are taken over. */
template <class T> void miner<T>::open_level(size_t size, size_t n)
{
    if (level_.size() <= size)
        level_.resize(size + 1);
    if (!level_[size]) {
        bool spare = size >= 3 && level_[size - 3] && size - 3 < resident_;
        level_[size] = spare ? std::move(level_[size - 3]) : std::make_unique<level>();
    }
    level_[size]->resize(n, columns_.n, width_, stream_);
}

template <class T> void miner<T>::give_list(size_t size)
{
    if (list_.size() <= size)
        list_.resize(size + 1);
    if (!list_[size])
        list_[size] = std::move(list_[size - 2]);
}

/* Whether there is room for so many ends now. */
template <class T> bool miner<T>::grow_list(size_t size, size_t ends)
{
    size_t others = list_memory() - list(size).bytes(), ample = 2 * ends;
    if (others + ends * sizeof(uint2) > for_lists())
        return false;
    if (others + ample * sizeof(uint2) > for_lists())
        ample = ends;
    try {
        list(size).ensure(ample);
    } catch (const failure &why) {
        if (why.error != cudaErrorMemoryAllocation)
            throw;
        return false;
    }
    return true;
}

/* For counting along the lists of `nodes` nodes of `size`. */
template <class T> task_plan miner<T>::plan(size_t size, size_t nodes)
{
    size_t items = (size_t) view(size).n * columns_.n;
    if (items + segments_ > tasks_.room())
        tasks_.ensure(items + items / 2 + segments_);
    size_t work = mean_list_ * nodes * columns_.n, warps = (size_t) processors_ * 32;
    size_t least = std::min(std::max(work / warps, LEAST_SEGMENT), MOST_SEGMENT);
    return {tasks_.get(), (uint32_t) width_, (uint32_t) least, (uint32_t) segments_,
            device_head_.get()};
}

/* The first `kept` counts are still needed. */
template <class T> void miner<T>::grow_counts(size_t size, size_t found, size_t kept)
{
    array<uint32_t> grown;
    grown.ensure(found + found / 4);
    check(cudaMemcpyAsync(grown.get(), counts(size).get(), kept * sizeof(uint32_t),
                          cudaMemcpyDeviceToDevice, stream_));
    check(cudaStreamSynchronize(stream_));
    counts(size).swap(grown);
}

/* Before counting along the same lists once more: all tasks are open, and so many
   children are known. */
template <class T> void miner<T>::set_found(uint32_t found)
{
    const uint32_t taken_and_found[2] = {0, found};
    check(cudaMemcpyAsync(&device_head_.get()->taken, taken_and_found,
                          sizeof taken_and_found, cudaMemcpyHostToDevice, stream_));
    check(cudaStreamSynchronize(stream_));
}

/* Before lists are made once more. */
template <class T> void miner<T>::reset_lists()
{
    const size_t begin = offsetof(header, list_ends), end = offsetof(header, found);
    check(cudaMemsetAsync((char *) device_head_.get() + begin, 0, end - begin, stream_));
}

}  // namespace gpu

#endif
