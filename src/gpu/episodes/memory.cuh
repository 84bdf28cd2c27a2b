/* What one device holds in the mining of episodes, and room for what it finds. */
#pragma once

#include "core/base/radix.h"
#include "gpu/base/crew.cuh"
#include "gpu/base/launch.cuh"
#include "gpu/episodes/levels.cuh"
#include "gpu/episodes/sweep.cuh"

#include <cub/device/device_radix_sort.cuh>

#include <memory>

namespace gpu {

/* ---- threads ---- */

/* Thrown in a thread whose fellows have failed. */
struct abandoned {};

/* What the host threads of one mining share, a thread a device: where they meet, what
   they show each other, and the first of their errors. */
class team : public shared_error {
    const unsigned size_;
    std::atomic<unsigned> waiting_{0}, meetings_{0};
public:
    /* What a member found in a level. The others read it after they have met, while it
       may already be showing the next: there are two, by turns. */
    struct findings {
        const uint32_t *words, *counts;  /* on the device */
        uint32_t found;
    };
    std::vector<findings> show[2];
    const int *const device;

    team(const int *devices, unsigned n)
        : size_(n), show{std::vector<findings>(n), std::vector<findings>(n)},
          device(devices)
    {
    }

    unsigned size() const { return size_; }

    /* Returns when all members are here. They come from work that took about as long, so
       that sleeping would cost more than looking again; `idle` is called meanwhile. */
    template <class F> void meet(F idle)
    {
        unsigned meeting = meetings_.load();
        if (waiting_.fetch_add(1) + 1 == size_) {
            waiting_.store(0);
            meetings_.store(meeting + 1);
        }
        while (meetings_.load() == meeting) {
            if (stop)
                throw abandoned{};
            idle();
            std::this_thread::yield();
        }
    }
};

/* ---- sizes ---- */

/* Ends that a warp making lists stages; more of them leave room for fewer warps. */
constexpr uint32_t STAGED = 448, STAGED_AHEAD = 704;

constexpr size_t LONG_LIST = 8192;  /* ends from which on a block takes a list alone */

constexpr size_t STAGING = (size_t) 1 << 20;  /* page-locked words for results */

constexpr size_t MOST_SEGMENTS = 1 << 15, FEWEST_SEGMENTS = 64;

/* Shared memory of a block that makes levels, and all of it that a block may have. */
constexpr size_t AHEAD_BYTES = AHEAD_WARPS * STAGED_AHEAD * sizeof(uint2);
static_assert(AHEAD_BYTES >= AHEAD_WARPS * sizeof(end_ring), "room for ends");
constexpr size_t MOST_OF_BLOCK = 49 << 10;

/* Levels that one launch makes at the most, and page-locked words for these. */
constexpr size_t AT_ONCE = HEADERS / 2, AHEAD_WORDS = (size_t) 1 << 19;

/* Room for nodes, and for the ends of their lists, that there is from the beginning, at
   the most; for the ends of some lists of all events it is there at least. */
constexpr size_t MANY_NODES_AHEAD = (size_t) 1 << 17, MANY_ENDS = (size_t) 1 << 23;
constexpr size_t LISTS_AHEAD = 8;

/* From so many nodes of a level for each device on, or fewer whose lists are long, the
   lists are dealt out: many, because very different work follows from each. */
constexpr size_t MANY_NODES = 1024, SOME_NODES = 64, MUCH_WORK = (size_t) 1 << 21;

/* A child's step has 8 bits of symbol; its column goes above them. */
constexpr size_t MOST_COLUMNS = (size_t) 1 << 23;

constexpr int MOST_WIDTH = 8;  /* symbols of a lane */

/* Columns of a table: the second dimension of a grid goes no further. */
constexpr size_t MOST_OF_TABLE = 65535;

/* ---- levels ---- */

/* A level of the search, in device memory. */
class level {
    array<uint32_t> words_;
    array<unsigned long long> offset_;
    array<uint32_t> done_;

    /* Arrays are as far apart as there is room, so that they stay where they are however
       many nodes there turn out to be. */
    void lay_out(size_t room, size_t columns, int width)
    {
        size_t items = room * columns;
        uint32_t *next = words_.get();
        auto take = [&next](size_t words) {
            uint32_t *taken = next;
            next += words;
            return taken;
        };
        view.room = (uint32_t) room;
        view.nodes = take(1);
        /* The five that go to the host stand side by side. */
        for (uint32_t **one : {&view.parent, &view.suffix, &view.unit, &view.interval,
                               &view.count, &view.step, &view.length})
            *one = take(room);
        view.child = take(room + 1);
        view.mask = take(items * width);
        view.children = take(items);
        view.slot = take(items);
        view.base = take(items + 1);
        view.offset = offset_.get();
        view.done = done_.get();
    }

public:
    level_view view = {};

    size_t bytes() const { return words_.bytes() + offset_.bytes() + done_.bytes(); }

    /* Room for n nodes. Where there was less, what the level held is lost. */
    void ensure(size_t n, size_t columns, int width, cudaStream_t stream)
    {
        view.n = (uint32_t) n;
        if (n <= view.room && view.nodes)
            return;
        size_t room = n + n / 2, items = room * columns;
        words_.ensure(8 * room + 2 + items * (width + 3) + 1);
        offset_.ensure(room);
        done_.ensure(items);
        check(cudaMemsetAsync(done_.get(), 0, done_.bytes(), stream));
        lay_out(room, columns, width);
    }
};

/* What one device holds in the mining. */
class mining_memory {
protected:
    const syn_recording *recording_;
    const syn_mine_options *options_;
    const syn_watch *watch_;  /* of member 0 alone, NULL for the others */
    syn_episodes *out_;       /* of member 0 alone */
    team *team_;
    unsigned me_;
    columns_view columns_;
    size_t intervals_, symbols_, results_ = 0;
    size_t longest_ = 0;  /* events of a unit, and so ends of any list */
    size_t mean_list_;  /* ends of the lists that the next ones are made from */
    int width_ = 1, processors_ = 1;
    int together_ = 0;  /* blocks of a launch that are on a multiprocessor together */
    size_t allowance_;               /* bytes that this member may take in all */
    size_t segments_ = MOST_SEGMENTS;  /* that there is room for */
    bool has_table_ = false;  /* of next occurrences; else lists are swept along */
    std::vector<uint32_t> unit_of_;  /* symbol to unit */
    double polled_ = 0;

    /* The lists of all nodes of level `resident_` are in memory; where those of the
       later levels do not fit, they are made part by part when they are needed. */
    size_t resident_ = 1;
    size_t dealt_ = 0;  /* the level whose lists are dealt out, 0 before there is one */
    size_t begun_ = 1;  /* the last level that is there or being made */
    size_t collected_ = 1;  /* the last level that the host has */

    stream stream_, copies_;
    event counted_, filled_;
    pinned<header> seen_{HEADERS};   /* copies of `headers_` */
    pinned<uint32_t> staging_{STAGING};
    arrays small_;                   /* of the pointers that follow: too small to count */
    header *headers_ = nullptr;      /* [HEADERS] */
    uint32_t *stop_ = nullptr;       /* set by the host */

    /* Of levels that are made in one launch, see levels.cuh. */
    uint32_t *meeting_ = nullptr;
    pinned<uint32_t> arrived_{AHEAD_WORDS + 1};  /* the levels, and their last size */
    size_t ahead_from_ = 1, ahead_to_ = 0;  /* the first and the last size of a launch */
    size_t spot_ = 0, next_spot_ = 0;  /* of a level in `arrived_`, and of what follows */

    arrays own_;                     /* of the pointers that follow, and of tables */
    events_view events_ = {};
    const syn_interval *bounds_ = nullptr;
    uint32_t *segment_ = nullptr, *meet_ = nullptr, *sum_ = nullptr;
    link *links_ = nullptr;

    array<unsigned long long> tiles_;
    uint32_t runs_ = 0;              /* of numbering */
    array<task> tasks_;
    array<uint32_t> counts_[2];  /* by turns: the others may still be reading the last */
    array<uint32_t> found_[2];   /* what is exchanged of a level, by turns as well */
    std::vector<array<uint32_t>> others_found_, others_counts_;
    array<uint2> lists_[2];  /* of the levels up to `resident_`, by turns */
    std::vector<std::unique_ptr<array<uint2>>> part_;  /* [levels] of those above */
    std::vector<std::unique_ptr<level>> level_;        /* [levels] */

    level_view &view(size_t k) { return level_[k]->view; }
    array<uint2> &list(size_t k)
    {
        return k < part_.size() && part_[k] ? *part_[k] : lists_[k % 2];
    }
    array<uint32_t> &counts(size_t size) { return counts_[size % 2]; }
    header *head(size_t size) { return headers_ + size % HEADERS; }
    const header &seen(size_t size) const { return seen_.get()[size % HEADERS]; }
    sharing share(size_t size) const { return {me_, team_->size(), dealt_ == size}; }
    bool dealt_before(size_t size) const { return dealt_ > 0 && dealt_ < size; }
    bool made_ahead(size_t size) const
    {
        return ahead_from_ <= size && size <= ahead_to_;
    }
    const volatile uint32_t *progress() const { return arrived_.get() + AHEAD_WORDS; }
    size_t shared_words(size_t size)
    {
        return (size_t) view(size - 1).n * columns_.n * (width_ + 2);
    }

    /* ---- memory ---- */

    size_t memory() const
    {
        size_t bytes = own_.bytes() + tiles_.bytes() + tasks_.bytes();
        for (int k = 0; k < 2; k++)
            bytes += counts_[k].bytes() + found_[k].bytes();
        for (unsigned d = 0; d < team_->size(); d++)
            bytes += others_found_[d].bytes() + others_counts_[d].bytes();
        for (const auto &one : level_)
            bytes += one ? one->bytes() : 0;
        return bytes + list_memory();
    }

    size_t list_memory() const
    {
        size_t bytes = lists_[0].bytes() + lists_[1].bytes();
        for (const auto &one : part_)
            bytes += one ? one->bytes() : 0;
        return bytes;
    }

    /* Bytes that all lists together may take, next to the other arrays and the
       results. */
    size_t for_lists() const
    {
        size_t taken = memory() - list_memory() + results_;
        return options_->max_memory > taken ? options_->max_memory - taken : 0;
    }

    /* ---- what is on the device from the beginning ---- */

    /* From the first level on that has enough nodes the work is dealt out. */
    void deal(size_t size, size_t nodes)
    {
        size_t share = nodes / team_->size();
        size_t work = mean_list_ * share * columns_.n;
        if (dealt_ == 0 && team_->size() > 1 &&
            (share >= MANY_NODES || (share >= SOME_NODES && work >= MUCH_WORK)))
            dealt_ = size;
    }

    /* Pages as equal as they can be. The last lane is for the spare symbol. */
    void lay_out_symbols()
    {
        constexpr size_t lanes = WARP - 1, most = MOST_WIDTH * lanes;
        size_t pages = (symbols_ + most - 1) / most;
        size_t page = (symbols_ + pages - 1) / pages;
        width_ = 1;
        while ((size_t) width_ * lanes < page)
            width_ *= 2;
        if (intervals_ * pages > MOST_COLUMNS ||
            intervals_ * pages * symbols_ >= INT32_MAX)
            throw refusal(SYN_TOO_LARGE,
                          "%zu intervals of %zu units are more than a GPU takes",
                          intervals_, symbols_);
        columns_ = {(uint32_t) (intervals_ * pages), (uint32_t) pages, (uint32_t) page};
    }

    /* Pages that a warp sweeps along a list for at a time; as equal as they can be. */
    uint32_t pages_swept() const
    {
        uint32_t most = std::max(MOST_SWEPT / columns_.width, 1u);
        uint32_t runs = (columns_.pages - 1) / most + 1;
        return (columns_.pages - 1) / runs + 1;
    }

    void upload_recording()
    {
        const syn_recording *r = recording_;
        std::vector<uint32_t> row_begin(symbols_), row_end(symbols_);
        for (size_t s = 0; s < symbols_; s++) {
            row_begin[s] = r->first[unit_of_[s]];
            row_end[s] = r->first[unit_of_[s] + 1];
        }
        events_.n = r->events;
        own_.upload(&events_.tick, r->tick, r->events, stream_);
        arrange_events();
        own_.upload(&events_.row_begin, row_begin, stream_);
        own_.upload(&events_.row_end, row_end, stream_);
        own_.upload(&events_.unit, unit_of_, stream_);
        own_.upload(&bounds_, options_->intervals, intervals_, stream_);
        wait_for(stream_);
    }

    /* What syn_recording_arrange() does on the host. */
    void arrange_events()
    {
        uint32_t n = recording_->events;
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
        own_.ensure_all(n, &events_.symbol, &events_.group, &events_.by_unit,
                        &events_.row);
        launch(describe_events, over(n, 256), stream_, n, events_.tick, unit.get(),
               by_number.get(), events_.symbol, events_.group, event.get());
        with_scratch(&scratch, [&](void *memory, size_t &bytes) {
            return cub::DeviceRadixSort::SortPairs(
                memory, bytes, unit.get(), sorted.get(), event.get(), events_.by_unit,
                (int) n, 0, std::max(syn_radix_bits(recording_->units), 1), stream_);
        });
        launch(find_rows, over(n, 256), stream_, n, events_.by_unit, events_.row);
        wait_for(stream_);
    }

    /* Room for levels of so many nodes and lists of so many ends, to begin with. */
    void make_room(size_t nodes, size_t ends)
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

    /* The root, whose children are the units, and which is its own suffix. */
    void upload_root()
    {
        level_[0]->ensure(1, columns_.n, width_, stream_);
        std::vector<uint32_t> mask((size_t) columns_.n * width_, 0),
            base(columns_.n + 1, 0);
        for (size_t column = 0; column < columns_.n; column++) {
            size_t begin = column % columns_.pages * columns_.width;
            size_t end = std::min<size_t>(begin + columns_.width, symbols_);
            base[column] = (uint32_t) begin;  /* the same units in every interval */
            for (size_t s = 0; s + begin < end; s++)
                mask[column * width_ + s % width_] |= 1u << s / width_;
        }
        const uint32_t one = 1;
        send(view(0).mask, mask.data(), mask.size(), stream_);
        send(view(0).nodes, &one, 1, stream_);
        send(view(0).base, base.data(), base.size(), stream_);
        wait_for(stream_);
    }

    void upload_units()
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
        size_t items = symbols_ * columns_.n;
        send(view(1).nodes, &nodes, 1, stream_);
        send(view(1).suffix, suffix.data(), symbols_, stream_);
        send(view(1).count, count.data(), symbols_, stream_);
        send(view(1).length, length.data(), symbols_, stream_);
        send(view(1).offset, offset.data(), symbols_, stream_);
        fill(view(1).mask, 0, items * width_, stream_);
        fill(view(1).children, 0, items, stream_);
        wait_for(stream_);
    }

    /* What nobody reads from now on makes room for lists, where that is worth the
       wait. */
    void end_preparation()
    {
        constexpr size_t MUCH = (size_t) 1 << 28;
        size_t each = sizeof *events_.tick + sizeof *events_.group + sizeof *events_.row;
        if (events_.n * each < MUCH)
            return;
        own_.drop(&events_.tick);
        own_.drop(&events_.group);
        own_.drop(&events_.row);
    }

    /* ---- room that follows what is found ---- */

    /* Arrays of a level that nothing needs any more are taken over. With `n` 0 there is
       the room that there was. */
    void open_level(size_t size, size_t n)
    {
        if (level_.size() <= size)
            level_.resize(size + 1);
        if (!level_[size]) {
            bool spare =
                size >= LEVELS && level_[size - LEVELS] && size - LEVELS < resident_;
            level_[size] = spare ? std::move(level_[size - LEVELS])
                                 : std::make_unique<level>();
        }
        level_[size]->ensure(n ? n : 1, columns_.n, width_, stream_);
    }

    void grow_tiles(size_t nodes)
    {
        size_t tiles = nodes * columns_.n / NUMBER_TILE + 1;
        if (tiles <= tiles_.room())
            return;
        tiles_.ensure(tiles + tiles / 2);
        fill(tiles_.get(), 0, tiles_.room(), stream_);
    }

    /* Room to plan the counting along the lists of so many nodes. */
    void grow_tasks(size_t nodes)
    {
        size_t items = nodes * columns_.n;
        if (items + segments_ > tasks_.room())
            tasks_.ensure(items + items / 2 + segments_);
    }

    /* Whether there is room for so many ends now. */
    bool grow_list(size_t size, size_t ends)
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

    /* For counting along the lists of `size`. Those below it were made when the device
       comes to it, as `before` says; NULL where the host knows how long they are. */
    task_plan plan(size_t size, const header *before)
    {
        return {tasks_.get(), columns_, has_table_ ? 1 : pages_swept(), (uint32_t) width_,
                has_table_ ? (uint32_t) processors_ * 32 : 0, (uint32_t) segments_,
                (uint32_t) std::min<size_t>(mean_list_, INT32_MAX), before, head(size)};
    }

    /* The first `kept` counts are still needed. */
    void grow_counts(size_t size, size_t found, size_t kept)
    {
        array<uint32_t> grown;
        grown.ensure(found + found / 4);
        check(cudaMemcpyAsync(grown.get(), counts(size).get(), kept * sizeof(uint32_t),
                              cudaMemcpyDeviceToDevice, stream_));
        wait_for(stream_);
        counts(size).swap(grown);
    }

    /* Before counting `size` along the same lists once more: all tasks are open, and so
       many children are known. */
    void set_found(size_t size, uint32_t found)
    {
        const uint32_t words[2] = {0, found};
        static_assert(offsetof(header, found) - offsetof(header, taken) == sizeof found,
                      "taken and found stand side by side");
        send(&head(size - 1)->taken, words, 2, stream_);
        wait_for(stream_);
    }

    /* Before lists of `size` are made once more. */
    void reset_lists(size_t size)
    {
        const size_t begin = offsetof(header, list_ends), end = offsetof(header, found);
        fill((char *) head(size) + begin, 0, end - begin, stream_);
    }

    /* The level below `size`, with what is found of its items put elsewhere where the
       devices will exchange it: the level itself is to hold what all of them found. */
    level_view findings(size_t size)
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
    void clear_findings(size_t size)
    {
        if (!dealt_before(size))
            return;
        found_[size % 2].ensure(shared_words(size));
        fill(found_[size % 2].get(), 0, shared_words(size), stream_);
    }

    /* A list that has no longer room in the budget, beside the one that it is made from
       and the levels, becomes smaller. */
    void fit_list(size_t size)
    {
        size_t room = for_lists(), from = list(size - 1).bytes();
        if (from + list(size).bytes() <= room)
            return;
        size_t ends = room > from ? (room - from) / sizeof(uint2) : 0;
        array<uint2>().swap(lists_[size % 2]);
        list(size).ensure(std::max(ends, longest_));
    }

    /* Where the level of `found` nodes would pass the budget: frees the lists that
       nobody reads any more. Those made in parts are made anew for the next size, and
       after the last size none is needed. */
    void free_lists_for(size_t size, uint32_t found)
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

    /* Calls run(width), the width as a type. */
    template <class F> void by_width(F run)
    {
        with_number<1, 2, 4, MOST_WIDTH>((size_t) width_, run);
    }

public:
    size_t peak = 0;  /* bytes on the device */
    double seconds_by_size[SYN_GPU_SIZES + 1] = {};
    uint64_t own = 0;  /* candidates counted here */
    bool parted = false;  /* whether lists did not fit, and are made part by part */

    mining_memory(const syn_recording *recording, const syn_mine_options *options,
                  const syn_watch *watch, syn_episodes *out,
                  const std::vector<uint32_t> &units, team *fellows, unsigned me)
        : recording_(recording), options_(options), watch_(watch), out_(out),
          team_(fellows), me_(me), intervals_(options->n_intervals),
          symbols_(units.size()), mean_list_(recording->events / units.size()),
          unit_of_(units), others_found_(fellows->size()), others_counts_(fellows->size())
    {
        int device = fellows->device[me];
        for (uint32_t unit : units)
            longest_ = std::max<size_t>(longest_, recording->first[unit + 1] -
                                                      recording->first[unit]);
        processors_ = processors_of(device);
        int shared = attribute_of(device, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
        if (attribute_of(device, cudaDevAttrCooperativeLaunch))
            together_ = (size_t) shared >= 2 * MOST_OF_BLOCK ? 2 : 1;
        auto members =
            std::count(fellows->device, fellows->device + fellows->size(), device);
        /* Asked for once: the answer takes as long as a kernel. */
        size_t free_bytes = free_memory() / 16 * 15 / members;
        allowance_ = std::min(free_bytes, options_->max_memory);
    }
};

}  // namespace gpu
