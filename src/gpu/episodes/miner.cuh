/* One device's part in the mining: the search, size after size. It counts what may
   follow, numbers what is frequent, and makes the lists of the new nodes. */
#pragma once

#include "gpu/episodes/steps.cuh"

namespace gpu {

/* A window holds more events, or reaches further, than this type of miner can number. */
struct too_wide {};

/* Level k holds episodes of size k; level 0 is the root. T is the type of what a table of
   next occurrences holds, which numbers the events of a window, and uint32_t for a miner
   without a table. W numbers the events between an event and the ends of its windows. */
template <class T> class miner : public mining {
    typedef std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t> W;

    place<W> *places_ = nullptr;  /* [intervals][events] */
    T *table_ = nullptr;

    /* ---- whether there is a table ---- */

    size_t table_bytes() const
    {
        size_t row = (size_t) WARP * width_ * sizeof(T), n = recording_->events;
        return columns_.n * (n + 1) * row + n * sizeof(link);
    }

    /* Bytes without which there is no search, beside those that are taken already:
       windows, two lists, and a few levels. */
    size_t least_memory() const
    {
        return recording_->events * (intervals_ * sizeof(place<W>) + 2 * sizeof(uint2)) +
               symbols_ * (64 + columns_.n * (width_ + 8) * 2 * sizeof(uint32_t));
    }

    struct occupancy {
        double mean;
        size_t most;
    };

    /* Events in a window, about: of some, at even steps. */
    occupancy look_at_windows() const
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
                size_t here =
                    (size_t) (std::upper_bound(open, end, *at + lag.high) - open);
                sum += (double) here;
                most = std::max(most, here);
            }
        }
        return {seen > 0 ? sum / (double) (seen * intervals_) : 0, most};
    }

    /* By the instructions of a warp for an end of a list: along a table five for a
       symbol of a lane and, where the table does not stay in the cache, seven for each
       byte of it; two for each event of the window without one. In doubt there is a
       table. */
    bool table_pays(double events) const
    {
        constexpr size_t CACHE = (size_t) 32 << 20;
        bool far = table_bytes() > CACHE;
        double bytes = far ? 7.0 * sizeof(T) : 0;
        double along = (double) columns_.pages * (5 + width_ * (5 + bytes));
        return along < 8 * (1 + events);
    }

    /* The table has a row for every event and column. Where it is too much, or there
       are many units of which few fire at a time, the lists are swept along without
       one. */
    void choose_table()
    {
        lay_out_symbols();
        size_t have = allowance_, least = memory() + least_memory();
        if (have < least) {
            bool budget = have == options_->max_memory;
            throw refusal(
                budget ? SYN_OVER_BUDGET : SYN_NO_MEMORY,
                "the spikes, their windows and the shortest lists take %.2g GB on "
                "a GPU, and %s %.2g GB",
                1e-9 * (double) least, budget ? "`max_memory` is" : "it has",
                1e-9 * (double) have);
        }
        has_table_ = sizeof(T) < 4 && columns_.n <= MOST_OF_TABLE &&
                     table_bytes() <= (have - least) / 2;
        if (has_table_) {
            occupancy windows = look_at_windows();
            has_table_ = table_pays(windows.mean);
            /* Others may be still wider: see mine(). */
            if (has_table_ && windows.most > (T) -1)
                throw too_wide{};
        }
        segments_ = 1;
        if (!has_table_)
            return;
        size_t of_segment = (4 * width_ * WARP + 1) * sizeof(uint32_t);
        segments_ =
            std::max(std::min(have / 8 / of_segment, MOST_SEGMENTS), FEWEST_SEGMENTS);
        own_.ensure(&table_, columns_.n * (recording_->events + 1) * WARP * width_);
        own_.ensure(&links_, recording_->events);
    }

    void begin_tables()
    {
        uint32_t n = recording_->events, intervals = (uint32_t) intervals_;
        dim3 blocks(blocks_for(n, 256), most_of_grid(intervals));
        launch(find_windows<W>, {blocks, 256}, stream_, events_, bounds_, intervals,
               places_, head(1));
        if constexpr (sizeof(T) < 4)
            if (has_table_)
                by_width([&](auto width) {
                    dim3 spans(blocks_for(n, TABLE_SPAN * 4), columns_.n);
                    launch(make_table<decltype(width)::value, T>, {spans, 4 * WARP},
                           stream_, events_, columns_, places_, (unsigned char *) table_);
                });
        launch(list_units, over(n, 256), stream_, events_, list(1).get(), links_);
        launch(plan_units, {blocks_for(symbols_, 8), 8 * WARP}, stream_, view(0), view(1),
               plan(1, nullptr));
        end_preparation();
    }

    /* ---- the steps of a level ---- */

    /* For all steps from the children of the level below `size` to the lists of `size`.
       Not all of these levels are there at each step. */
    level_job<W> job_of(size_t size)
    {
        auto there = [&](size_t k) {
            return k < level_.size() && level_[k] ? view(k) : level_view{};
        };
        level_job<W> job = {
            events_, there(size - 2), there(size - 1), there(size), columns_, share(size),
            options_->min_count, (uint32_t) processors_, places_, links_, table_,
            (uint32_t) (WARP * width_), stop_, head(size - 1), head(size),
            list(size - 1).get(), list(size - 1).room(), list(size).get(),
            list(size).room(), tasks_.get(), counts(size).get(),
            (uint32_t) std::min<size_t>(counts(size).room(), 1u << SLOT_BITS), segment_,
            meet_, sum_, tiles_.get(), 0, {}, 0, UINT32_MAX, STAGED, plan(size, nullptr)};
        for (unsigned d = 0; d < team_->size(); d++)
            job.all_counts[d] = d == me_ ? counts(size).get() : others_counts_[d].get();
        return job;
    }

    /* Numbers the children of all items, and with them the nodes of `size`: the host is
       sure that there is room for them. */
    void number(size_t size)
    {
        level_job<W> job = job_of(size);
        job.count_room = UINT32_MAX;
        job.end_room = job.next_room = SIZE_MAX;
        job.run = ++runs_ % MOST_RUNS;
        size_t tiles = (size_t) view(size - 1).room * columns_.n / NUMBER_TILE + 1;
        unsigned blocks = (unsigned) std::min<size_t>(tiles, processors_);
        launch(number_children<W>, {blocks, NUMBER_WARPS * WARP}, stream_, job);
    }

    /* Makes the nodes of `size` out of what counting kept. */
    void make_nodes(size_t size)
    {
        level_job<W> job = job_of(size);
        unsigned blocks = (unsigned) processors_ * 8;
        by_width([&](auto width) {
            launch(fill_level<decltype(width)::value, W>, {blocks, FILL_WARPS * WARP},
                   stream_, job);
        });
        check(cudaEventRecord(filled_, stream_));
    }

    /* ---- counting ---- */

    /* Of the nodes of the level below `size` that have tasks. */
    void start_count(size_t size)
    {
        level_job<W> job = job_of(size);
        job.here = findings(size);
        unsigned processors = (unsigned) processors_;
        by_width([&](auto width) {
            constexpr int K = decltype(width)::value;
            if constexpr (sizeof(T) < 4)
                if (has_table_)
                    return launch(count_children<K, T>,
                                  {processors * COUNT_BLOCKS, COUNT_WARPS * WARP},
                                  stream_, job);
            uint32_t pages = pages_swept();
            size_t bytes = (size_t) pages * columns_.width * sizeof(swept);
            launch(sweep_children<K, W>, {processors * WARP, WARP, bytes}, stream_, job,
                   pages);
        });
        fetch_header(size - 1);
    }

    /* `found`, unless a slot cannot number so many. */
    static uint32_t slots_for(size_t size, uint32_t found)
    {
        constexpr uint32_t most = (1u << SLOT_BITS) - 1;
        if (found > most)
            throw refusal(SYN_TOO_LARGE, "more than %u episodes of size %zu are frequent",
                          most, size);
        return found;
    }

    /* Whether the lists before `size` fit, as the header says. Where there is room for
       longer ones they are being made again; else they will be made part by part. */
    bool have_lists(size_t size)
    {
        size_t ends = seen(size - 1).list_ends;
        if (ends <= list(size - 1).room())
            return true;
        if (!grow_list(size - 1, ends)) {
            resident_ = size - 2;
            parted = true;
            return false;
        }
        reset_lists(size - 1);
        start_lists(size - 1, 0, view(size - 1).n);
        return false;
    }

    /* How many children of `size` are frequent. Counting, begun by start(), is repeated
       when the lists before it or the counts did not fit. */
    uint32_t count(size_t size)
    {
        while (resident_ == size - 1) {
            wait(size - 1, 0, 0);
            if (stalled(size)) {  /* what was begun has come to nothing: forgets it */
                wait_for(stream_);
                begun_ = size - 1;
                ahead_to_ = std::min(ahead_to_, begun_);
            } else if (made_ahead(size)) {
                follow(size);
            }
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

    uint32_t count_by_parts(size_t size)
    {
        uint32_t found = 0;
        std::vector<std::vector<uint32_t>> child(size);
        for (size_t k = resident_; k + 1 < size; k++) {
            child[k].resize((size_t) view(k).n + 1);
            download(child[k].data(), view(k).child, child[k].size(), stream_);
        }
        wait_for(stream_);
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

    /* The lists of the nodes begin .. end - 1 of level k are in memory: makes those of
       their children, part by part, and so on until the children of `size` can be
       counted. */
    void count_below(size_t k, size_t size, uint32_t begin, uint32_t end,
                     const std::vector<std::vector<uint32_t>> &child, uint32_t *found)
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

    /* Whether these lists fit. One alone always does: it has no more ends than its unit
       has events. */
    bool make_part(size_t size, uint32_t begin, uint32_t end, double done, double total)
    {
        reset_lists(size);
        start_lists(size, begin, end);
        fetch_header(size);
        wait(size, done, total);
        return seen(size).list_ends <= list(size).room();
    }

    /* Counts along the lists there are; `found` grows. All tasks are open. */
    void count_part(size_t size, double done, uint32_t *found)
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

    /* ---- lists ---- */

    /* Of the nodes begin .. end - 1 of `size`. */
    void start_lists(size_t size, uint32_t begin, uint32_t end)
    {
        level_job<W> job = job_of(size);
        job.from = begin;
        job.to = end;
        typedef std::conditional_t<sizeof(T) == 4, void, T> E;  /* of a table */
        if (mean_list_ >= LONG_LIST) {
            auto kernel = has_table_ ? make_long_lists<E, W> : make_long_lists<void, W>;
            launch(kernel, {end - begin, LONG_WARPS * WARP}, stream_, job);
        } else {
            constexpr size_t bytes = LIST_WARPS * STAGED * sizeof(uint2);
            unsigned blocks = std::min(end - begin, (unsigned) processors_ * 4);
            auto kernel = has_table_ ? make_lists<E, W> : make_lists<void, W>;
            launch(kernel, {blocks, LIST_WARPS * WARP, bytes}, stream_, job);
        }
    }

    /* ---- levels that are made in one launch, before the host knows how large they are
       ---- */

    /* Whether levels from `size` on can be made before the host knows how large they
       are. Where memory is short, or devices share the work, the host decides; long
       lists take so much longer than its answers that they are better made one by one.
       The tasks of counting `size` are there already, so that their array must stay as
       it is. */
    bool fits_ahead(size_t size)
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
               memory() + results_ + AHEAD_WORDS * sizeof(uint32_t) <=
                   options_->max_memory;
    }

    /* Begins to make `size` and what follows, in the room there is. */
    void make_ahead(size_t size)
    {
        ahead_job<W> job = {};
        for (size_t k = size - 2; k < size + 2; k++)
            job.level[k % LEVELS] = view(k);
        job.first = job_of(size);
        job.first.run = ++runs_ % MOST_RUNS;
        job.first.staged = STAGED_AHEAD;
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
        job.headers = headers_;
        job.meeting = meeting_;
        job.seen = seen_.get();
        job.results = arrived_.get();
        job.progress = arrived_.get() + AHEAD_WORDS;
        job.room = AHEAD_WORDS;
        *job.progress = 0;
        runs_ += AT_ONCE;
        ahead_from_ = size;
        begun_ = ahead_to_ = job.to;
        next_spot_ = 0;
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
    void start(size_t size)
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

    /* The host has heard how large a level is that was made ahead: now it knows where
       to find it, and whether it was the last one that there was room for. */
    void follow(size_t size)
    {
        spot_ = next_spot_;
        next_spot_ += 5 * (size_t) seen(size - 1).found + view(size - 1).n + 1;
        if (next_spot_ > AHEAD_WORDS)
            begun_ = ahead_to_ = size;
    }

    /* Whether `size` was begun, and something did not fit. */
    bool stalled(size_t size)
    {
        const header &last = seen(size - 1);
        return begun_ >= size &&
               (last.list_ends > list(size - 1).room() || last.found > view(size).room ||
                last.found > counts(size).room() ||
                ends_expected(last, last.found) > list(size).room());
    }

    /* ---- the whole ---- */

    /* Makes the level of `found` nodes, and their lists where all of them fit, unless
       both are being made already. */
    void start_level(size_t size, uint32_t found)
    {
        bool lists = size < options_->max_size && resident_ == size - 1;
        if (begun_ < size) {
            free_lists_for(size, found);
            open_level(size, found);
            grow_tiles(view(size - 1).n);
            number(size);
            deal(size, found);
            make_nodes(size);
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

public:
    using mining::mining;

    /* Everything whose size is known, so that mining allocates only as it outgrows it. */
    void upload()
    {
        size_t n = recording_->events;
        small_.ensure_clear(&headers_, HEADERS, stream_);
        small_.ensure_clear(&stop_, 1, stream_);
        small_.ensure_clear(&meeting_, 2, stream_);
        upload_recording();
        choose_table();
        own_.ensure(&places_, n * intervals_);
        deal(1, symbols_);
        own_.ensure(&segment_, segments_ * 3 * width_ * WARP);
        own_.ensure_clear(&meet_, segments_, stream_);
        own_.ensure_clear(&sum_, segments_ * width_ * WARP, stream_);

        size_t have = allowance_, held = memory(), node = 8 + columns_.n * (width_ + 3);
        size_t some = std::min(have / 8, have > held ? (have - held) / 4 : 0);
        size_t ends = std::max(std::min(512 * n, MANY_ENDS), LISTS_AHEAD * n);
        ends = std::max(std::min(ends, some / (2 * sizeof(uint2))), n);
        size_t nodes = some / (4 * LEVELS * node * sizeof(uint32_t)) + 1;
        nodes = std::min(nodes, std::min(ends / 64 + 1024, MANY_NODES_AHEAD));
        make_room(nodes, ends);
        upload_root();
        upload_units();
        wait_for(stream_);
    }

    void mine()
    {
        double begun = seconds_now();
        begin_tables();
        if (team_->size() > 1) {  /* to tell apart what is shared */
            wait_for(stream_);
            seconds_by_size[1] = seconds_now() - begun;
            begun = seconds_now();
        }
        uint64_t candidates = (uint64_t) symbols_ * symbols_ * intervals_, counted = 0;
        for (size_t s = 0; s < symbols_; s++)
            counted += share(1).takes((uint32_t) s, 0) ? symbols_ * intervals_ : 0;
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
            /* What is too wide was made, but is wrong. */
            if (size == 2 && sizeof(T) < 4 &&
                (below.reach >= 65535 || (has_table_ && below.widest > (T) -1)))
                throw too_wide{};
            if (size > 2) {
                candidates = below.candidates;
                counted = below.own;
                mean_list_ = below.lists ? (size_t) (below.list_ends / below.lists) : 0;
            }
            own += counted;
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
        wait_for(stream_);
        meet(
            level_
                .size()); /* the others may still have been reading what this one found */
    }
};

}  // namespace gpu
