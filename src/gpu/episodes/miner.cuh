/* One device's part in the mining. What it holds is made ready in setup.cuh; the search
   itself is in search.cuh and run_ahead.cuh. */
#ifndef SYN_GPU_EPISODES_MINER_CUH
#define SYN_GPU_EPISODES_MINER_CUH

#include "core/episodes/mine.h"
#include "gpu/base/device.cuh"
#include "gpu/episodes/count.cuh"
#include "gpu/episodes/level.cuh"
#include "gpu/episodes/fill.cuh"
#include "gpu/episodes/ahead.cuh"
#include "gpu/episodes/lists.cuh"
#include "gpu/episodes/number.cuh"
#include "gpu/episodes/results.cuh"
#include "gpu/episodes/share.cuh"
#include "gpu/episodes/sweep.cuh"
#include "gpu/episodes/table.cuh"
#include "gpu/episodes/team.cuh"
#include "gpu/episodes/types.cuh"

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

namespace gpu {

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

/* A window holds more events, or reaches further, than this type of miner can number. */
struct too_wide {};

/* Level k holds episodes of size k; level 0 is the root. T is the type of what a table of
   next occurrences holds, which numbers the events of a window, and uint32_t for a miner
   without a table. W numbers the events between an event and the ends of its windows. */
template <class T> class miner {
    typedef std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t> W;

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
    uint64_t own_ = 0;               /* candidates counted here */

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
    array<header> headers_;          /* [HEADERS] */
    array<uint32_t> stop_;           /* set by the host */

    /* Of levels that are made in one launch, see ahead.cuh. */
    array<uint32_t> meeting_;
    pinned<uint32_t> arrived_{AHEAD_WORDS + 1};  /* the levels, and their last size */
    size_t ahead_from_ = 1, ahead_to_ = 0;  /* the first and the last size of a launch */
    size_t spot_ = 0, next_spot_ = 0;  /* of a level in `arrived_`, and of what follows */

    array<unsigned long long> tiles_;
    uint32_t runs_ = 0;              /* of numbering */
    array<int64_t> tick_, bounds_;
    array<uint32_t> group_, by_unit_, row_, row_begin_, row_end_, unit_;
    array<uint32_t> segment_, meet_, sum_;
    array<uint32_t> counts_[2];  /* by turns: the others may still be reading the last */
    array<uint32_t> found_[2];   /* what is exchanged of a level, by turns as well */
    std::vector<array<uint32_t>> others_found_, others_counts_;
    array<place<W>> places_;
    array<link> links_;
    array<uint16_t> symbol_;
    array<T> table_;
    array<task> tasks_;
    array<uint2> lists_[2];  /* of the levels up to `resident_`, by turns */
    std::vector<std::unique_ptr<array<uint2>>> part_;  /* [levels] of those above */
    std::vector<std::unique_ptr<level>> level_;        /* [levels] */

    level_view &view(size_t k) { return level_[k]->view; }
    array<uint2> &list(size_t k)
    {
        return k < part_.size() && part_[k] ? *part_[k] : lists_[k % 2];
    }
    array<uint32_t> &counts(size_t size) { return counts_[size % 2]; }
    header *head(size_t size) { return headers_.get() + size % HEADERS; }
    const header &seen(size_t size) const { return seen_.get()[size % HEADERS]; }
    events_view events() const;
    sharing share(size_t size) const { return {me_, team_->size(), dealt_ == size}; }
    bool dealt_before(size_t size) const { return dealt_ > 0 && dealt_ < size; }
    bool made_ahead(size_t size) const
    {
        return ahead_from_ <= size && size <= ahead_to_;
    }
    const volatile uint32_t *progress() const { return arrived_.get() + AHEAD_WORDS; }
    size_t memory() const;
    size_t list_memory() const;
    size_t for_lists() const;

    void lay_out_symbols();
    size_t table_bytes() const;
    size_t least_memory() const;
    struct occupancy {
        double mean;
        size_t most;
    };
    occupancy look_at_windows() const;
    bool table_pays(double events) const;
    void choose_table();
    uint32_t pages_swept() const;
    void deal(size_t size, size_t nodes);
    void upload_recording();
    void arrange_events();
    void upload_root();
    void upload_units();
    void begin_tables();
    void make_whole_table();
    void end_preparation();
    void open_level(size_t size, size_t n);
    void fit_list(size_t size);
    void free_lists_for(size_t size, uint32_t found);
    void grow_tiles(size_t nodes);
    void grow_tasks(size_t nodes);
    task_plan plan(size_t size, const header *before);
    size_t shared_words(size_t size)
    {
        return (size_t) view(size - 1).n * columns_.n * (width_ + 2);
    }
    level_view findings(size_t size);
    void clear_findings(size_t size);
    void make_room(size_t nodes, size_t ends);
    bool grow_list(size_t size, size_t ends);
    void clear(array<uint32_t> &words, size_t n);
    void grow_counts(size_t size, size_t found, size_t kept);
    void set_found(size_t size, uint32_t found);
    void reset_lists(size_t size);

    void poll(size_t size, double done, double total);
    void fetch_header(size_t size);
    bool has_come(size_t size);
    void wait(size_t size, double done, double total);
    count_job count_job_of(size_t size);
    number_job number_job_of(size_t size, bool sure);
    fill_job fill_job_of(size_t size);
    list_job<W> list_job_of(size_t size, uint32_t begin, uint32_t end);
    void start_count(size_t size);
    bool fits_ahead(size_t size);
    void make_ahead(size_t size);
    void launch_ahead(ahead_job<W> &job);
    void start(size_t size);
    void follow(size_t size);
    bool stalled(size_t size);
    void go_back(size_t size);
    uint32_t count(size_t size);
    void check_windows(const header &first) const;
    bool have_lists(size_t size);
    void count_part(size_t size, double done, uint32_t *found);
    uint32_t count_by_parts(size_t size);
    std::vector<uint32_t> children_of(size_t k);
    void count_below(size_t k, size_t size, uint32_t begin, uint32_t end,
                     const std::vector<std::vector<uint32_t>> &child, uint32_t *found);
    bool make_part(size_t size, uint32_t begin, uint32_t end, double done, double total);
    uint32_t exchange(size_t size, uint32_t found);
    void number(size_t size);
    void fill(size_t size);
    void start_lists(size_t size, uint32_t begin, uint32_t end);
    void start_level(size_t size, uint32_t found);
    void copy(const uint32_t *from, size_t n, uint32_t *to);
    void collect(size_t size);
    void report(size_t size, size_t found, uint64_t candidates);

    template <class F> void by_width(F launch);
public:
    miner(const syn_recording *recording, const syn_mine_options *options,
          const syn_watch *watch, syn_episodes *out, const std::vector<uint32_t> &units,
          team *fellows, unsigned me);
    void upload();
    void meet(size_t size);
    void mine();
    size_t peak = 0;  /* bytes on the device */
    uint64_t own() const { return own_; }
    double seconds_by_size[SYN_GPU_SIZES + 1] = {};
};

}  // namespace gpu

#endif
