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
    int device = fellows->device[me], shared = 0, together = 0;
    for (uint32_t unit : units)
        longest_ = std::max<size_t>(longest_, recording->first[unit + 1] -
                                                  recording->first[unit]);
    check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, device));
    check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor,
                                 device));
    check(cudaDeviceGetAttribute(&together, cudaDevAttrCooperativeLaunch, device));
    if (together)
        together_ = (size_t) shared >= 2 * MOST_OF_BLOCK ? 2 : 1;
    /* Asked for once: the answer takes as long as a kernel. */
    size_t free_bytes = free_memory() / 16 * 15 / team_->on_device_of(me_);
    allowance_ = std::min(free_bytes, options_->max_memory);
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

/* Pages as equal as they can be. The last lane is for the spare symbol. */
template <class T> void miner<T>::lay_out_symbols()
{
    constexpr size_t lanes = WARP - 1, most = MOST_WIDTH * lanes;
    size_t pages = (symbols_ + most - 1) / most;
    size_t page = (symbols_ + pages - 1) / pages;
    width_ = 1;
    while ((size_t) width_ * lanes < page)
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
                   meet_.bytes() + sum_.bytes() + symbol_.bytes() + tiles_.bytes() +
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
    size_t bytes = lists_[0].bytes() + lists_[1].bytes();
    for (const auto &one : part_)
        bytes += one ? one->bytes() : 0;
    return bytes;
}

/* Bytes that all lists together may take, next to the other arrays and the results. */
template <class T> size_t miner<T>::for_lists() const
{
    size_t taken = memory() - list_memory() + results_;
    return options_->max_memory > taken ? options_->max_memory - taken : 0;
}

/* ---- whether there is a table ---- */

template <class T> size_t miner<T>::table_bytes() const
{
    size_t row = (size_t) WARP * width_ * sizeof(T), n = recording_->events;
    return columns_.n * (n + 1) * row + n * sizeof(link);
}

/* Bytes without which there is no search, beside those that are taken already: windows,
   two lists, and a few levels. */
template <class T> size_t miner<T>::least_memory() const
{
    return recording_->events * (intervals_ * sizeof(place<W>) + 2 * sizeof(uint2)) +
           symbols_ * (64 + columns_.n * (width_ + 8) * 2 * sizeof(uint32_t));
}


/* Events in a window, about: of some, at even steps. */
template <class T> typename miner<T>::occupancy miner<T>::look_at_windows() const
{
    constexpr size_t SOME = 256;
    const int64_t *tick = recording_->tick, *end = tick + recording_->events;
    size_t n = recording_->events, seen = std::min(n, SOME), most = 0;
    double sum = 0;
    for (size_t i = 0; i < seen; i++) {
        const int64_t *at = tick + n * i / seen;
        for (size_t k = 0; k < intervals_; k++) {
            const syn_interval &lag = options_->intervals[k];
            const int64_t *open = std::upper_bound(at, end, *at + lag.low);
            size_t here = (size_t) (std::upper_bound(open, end, *at + lag.high) - open);
            sum += (double) here;
            most = std::max(most, here);
        }
    }
    return {seen > 0 ? sum / (double) (seen * intervals_) : 0, most};
}

/* By the instructions of a warp for an end of a list: along a table five for a symbol of
   a lane and, where the table does not stay in the cache, seven for each byte of it; two
   for each event of the window without one. In doubt there is a table. */
template <class T> bool miner<T>::table_pays(double events) const
{
    constexpr size_t CACHE = (size_t) 32 << 20;
    bool far = table_bytes() > CACHE;
    double bytes = far ? 7.0 * sizeof(T) : 0;
    double along = (double) columns_.pages * (5 + width_ * (5 + bytes));
    return along < 8 * (1 + events);
}

/* The table has a row for every event and column. Where it is too much, or there are many
   units of which few fire at a time, the lists are swept along without one. */
template <class T> void miner<T>::choose_table()
{
    lay_out_symbols();
    size_t have = allowance_, least = memory() + least_memory();
    if (have < least) {
        bool budget = have == options_->max_memory;
        throw refusal(budget ? SYN_OVER_BUDGET : SYN_NO_MEMORY,
                      "the spikes, their windows and the shortest lists take %.2g GB on "
                      "a GPU, and %s %.2g GB", 1e-9 * (double) least,
                      budget ? "`max_memory` is" : "it has", 1e-9 * (double) have);
    }
    has_table_ = sizeof(T) < 4 && columns_.n <= MOST_OF_TABLE &&
                 table_bytes() <= (have - least) / 2;
    if (has_table_) {
        occupancy windows = look_at_windows();
        has_table_ = table_pays(windows.mean);
        /* Others may be still wider: see check_windows(). */
        if (has_table_ && windows.most > (T) -1)
            throw too_wide{};
    }
    segments_ = 1;
    if (!has_table_)
        return;
    size_t of_segment = (4 * width_ * WARP + 1) * sizeof(uint32_t);
    segments_ = std::max(std::min(have / 8 / of_segment, MOST_SEGMENTS), FEWEST_SEGMENTS);
    table_.ensure(columns_.n * (recording_->events + 1) * WARP * width_);
    links_.ensure(recording_->events);
}

/* Pages that a warp sweeps along a list for at a time; as equal as they can be. */
template <class T> uint32_t miner<T>::pages_swept() const
{
    uint32_t most = std::max(MOST_SWEPT / columns_.width, 1u);
    uint32_t runs = (columns_.pages - 1) / most + 1;
    return (columns_.pages - 1) / runs + 1;
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
    headers_.ensure(HEADERS);
    clear(stop_, 1);
    clear(meeting_, 2);
    upload_recording();
    choose_table();
    places_.ensure(n * intervals_);
    deal(1, symbols_);
    segment_.ensure(segments_ * 3 * width_ * WARP);
    clear(meet_, segments_);
    clear(sum_, segments_ * width_ * WARP);

    size_t have = allowance_, held = memory(), node = 8 + columns_.n * (width_ + 3);
    size_t some = std::min(have / 8, have > held ? (have - held) / 4 : 0);
    size_t ends = std::max(std::min(512 * n, MANY_ENDS), LISTS_AHEAD * n);
    ends = std::max(std::min(ends, some / (2 * sizeof(uint2))), n);
    size_t nodes = some / (4 * LEVELS * node * sizeof(uint32_t)) + 1;
    nodes = std::min(nodes, std::min(ends / 64 + 1024, MANY_NODES_AHEAD));
    make_room(nodes, ends);
    upload_root();
    upload_units();
    check(cudaMemsetAsync(headers_.get(), 0, HEADERS * sizeof(header), stream_));
    check(cudaStreamSynchronize(stream_));
}

/* Room for levels of so many nodes and lists of so many ends, to begin with. */
template <class T> void miner<T>::make_room(size_t nodes, size_t ends)
{
    for (array<uint2> &one : lists_)
        one.ensure(ends);
    level_.resize(LEVELS);
    for (auto &one : level_) {
        one = std::make_unique<level>();
        one->ensure(nodes, columns_.n, width_, stream_);
    }
    level_[1]->ensure(symbols_, columns_.n, width_, stream_);
    for (array<uint32_t> &one : counts_)
        one.ensure(4 * nodes);
    grow_tasks(std::max(nodes, symbols_));
    grow_tiles(std::max(nodes, symbols_));
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
    level_[0]->ensure(1, columns_.n, width_, stream_);
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
    const uint32_t one = 1;
    check(cudaMemcpyAsync(view(0).nodes, &one, sizeof one, cudaMemcpyHostToDevice,
                          stream_));
    check(cudaMemcpyAsync(view(0).base, base.data(), base.size() * sizeof(uint32_t),
                          cudaMemcpyHostToDevice, stream_));
    check(cudaStreamSynchronize(stream_));
}

template <class T> void miner<T>::upload_units()
{
    const syn_recording *r = recording_;
    std::vector<uint32_t> suffix(symbols_, 0), count(symbols_), length(symbols_);
    const uint32_t nodes = view(1).n = (uint32_t) symbols_;
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
    send(view(1).nodes, &nodes, sizeof nodes);
    send(view(1).suffix, suffix.data(), bytes);
    send(view(1).count, count.data(), bytes);
    send(view(1).length, length.data(), bytes);
    send(view(1).offset, offset.data(), 2 * bytes);
    size_t items = symbols_ * columns_.n * sizeof(uint32_t);
    check(cudaMemsetAsync(view(1).mask, 0, items * width_, stream_));
    check(cudaMemsetAsync(view(1).children, 0, items, stream_));
    check(cudaStreamSynchronize(stream_));
}

/* ---- what depends on the width of a page ---- */

/* Calls launch(width), the width as a type. */
template <class T> template <class F> void miner<T>::by_width(F launch)
{
    switch (width_) {
    case 1: return launch(std::integral_constant<int, 1>{});
    case 2: return launch(std::integral_constant<int, 2>{});
    case 4: return launch(std::integral_constant<int, 4>{});
    default: launch(std::integral_constant<int, MOST_WIDTH>{});
    }
}

template <class T> void miner<T>::make_whole_table()
{
    dim3 spans(blocks_for(recording_->events, TABLE_SPAN * 4), columns_.n);
    if constexpr (sizeof(T) < 4)
        by_width([&](auto width) {
            make_table<decltype(width)::value, T><<<spans, 4 * WARP, 0, stream_>>>(
                events(), columns_, places_.get(), (unsigned char *) table_.get());
        });
    check(cudaGetLastError());
}

template <class T> void miner<T>::begin_tables()
{
    unsigned blocks = blocks_for(recording_->events, 256);
    dim3 grid(blocks, most_of_grid(intervals_));
    find_windows<W><<<grid, 256, 0, stream_>>>(events(), bounds_.get(),
                                               (uint32_t) intervals_, places_.get(),
                                               head(1));
    check(cudaGetLastError());
    if (has_table_)
        make_whole_table();
    list_units<<<blocks, 256, 0, stream_>>>(events(), list(1).get(),
                                            has_table_ ? links_.get() : nullptr);
    check(cudaGetLastError());
    plan_units<<<blocks_for(symbols_, 8), 8 * WARP, 0, stream_>>>(view(0), view(1),
                                                                 plan(1, nullptr));
    check(cudaGetLastError());
    end_preparation();
}

/* What nobody reads from now on makes room for lists, where that is worth the wait. */
template <class T> void miner<T>::end_preparation()
{
    constexpr size_t MUCH = (size_t) 1 << 28;
    if (tick_.bytes() + group_.bytes() + row_.bytes() < MUCH)
        return;
    array<int64_t>().swap(tick_);
    array<uint32_t>().swap(group_);
    array<uint32_t>().swap(row_);
}

/* ---- room that follows what is found ---- */

/* Arrays of a level that nothing needs any more are taken over. With `n` 0 there is the
   room that there was. */
template <class T> void miner<T>::open_level(size_t size, size_t n)
{
    if (level_.size() <= size)
        level_.resize(size + 1);
    if (!level_[size]) {
        bool spare = size >= LEVELS && level_[size - LEVELS] && size - LEVELS < resident_;
        level_[size] = spare ? std::move(level_[size - LEVELS])
                             : std::make_unique<level>();
    }
    level_[size]->ensure(n ? n : 1, columns_.n, width_, stream_);
}

template <class T> void miner<T>::grow_tiles(size_t nodes)
{
    size_t tiles = nodes * columns_.n / NUMBER_TILE + 1;
    if (tiles <= tiles_.room())
        return;
    tiles_.ensure(tiles + tiles / 2);
    check(cudaMemsetAsync(tiles_.get(), 0, tiles_.bytes(), stream_));
}

/* Room to plan the counting along the lists of so many nodes. */
template <class T> void miner<T>::grow_tasks(size_t nodes)
{
    size_t items = nodes * columns_.n;
    if (items + segments_ > tasks_.room())
        tasks_.ensure(items + items / 2 + segments_);
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

/* For counting along the lists of `size`. Those below it were made when the device comes
   to it, as `before` says; NULL where the host knows how long they are. */
template <class T> task_plan miner<T>::plan(size_t size, const header *before)
{
    return {tasks_.get(), columns_, has_table_ ? 1 : pages_swept(), (uint32_t) width_,
            has_table_ ? (uint32_t) processors_ * 32 : 0, (uint32_t) segments_,
            (uint32_t) std::min<size_t>(mean_list_, INT32_MAX), before, head(size)};
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

/* Before counting `size` along the same lists once more: all tasks are open, and so many
   children are known. */
template <class T> void miner<T>::set_found(size_t size, uint32_t found)
{
    const uint32_t words[2] = {0, found};
    static_assert(offsetof(header, found) - offsetof(header, taken) == sizeof found,
                  "taken and found stand side by side");
    check(cudaMemcpyAsync(&head(size - 1)->taken, words, sizeof words,
                          cudaMemcpyHostToDevice, stream_));
    check(cudaStreamSynchronize(stream_));
}

/* Before lists of `size` are made once more. */
template <class T> void miner<T>::reset_lists(size_t size)
{
    const size_t begin = offsetof(header, list_ends), end = offsetof(header, found);
    check(cudaMemsetAsync((char *) head(size) + begin, 0, end - begin, stream_));
}

}  // namespace gpu

#endif
