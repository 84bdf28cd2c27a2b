/* The search below nodes with rows: a child's items are counted row by row. */
#ifndef SYN_GPU_SPECTRUM_WIDE_CUH
#define SYN_GPU_SPECTRUM_WIDE_CUH

#include "gpu/spectrum/masks.cuh"

namespace gpu {

enum { ROWS_AHEAD = 8 };      /* that are read together */

/* A child in the making. */
struct wide_prospect {
    const wide_node *parent;
    uint32_t item;            /* that it adds, by where it stands in the parent's list */
    uint32_t windows, *index; /* [windows, and up to a whole ROWS_AHEAD more] which of the
                                 parent's they are */
    uint32_t begin;           /* word of the parent's rows where its own items begin */
    uint32_t *often;          /* [parent's words] its items there, as bits, */
    uint32_t listed, *at;     /* [listed] and as numbers */
    uint32_t size, units, reach;
    bool sets_duration;
};

/* Fills index[] with the parent's windows that have the item. */
__device__ inline void list_rows(const searcher &s, const wide_prospect &c)
{
    enum { AHEAD = 4 };
    const uint32_t *row = c.parent->row + c.item / 32;
    uint32_t n = 0, windows = c.parent->windows, words = c.parent->words;
#pragma unroll 1
    for (uint32_t from = 0; from < windows; from += AHEAD * WARP) {
        uint32_t word[AHEAD];
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++) {
            uint32_t i = from + k * WARP + s.lane;
            word[k] = i < windows ? row[(size_t) i * words] : 0;
        }
#pragma unroll
        for (uint32_t k = 0; k < AHEAD; k++) {
            uint32_t there = word[k] >> c.item % 32 & 1;
            uint32_t found = __ballot_sync(WHOLE_WARP, there);
            if (there)
                c.index[n + __popc(found & lanes_below())] =
                    from + k * WARP + s.lane;
            n += __popc(found);
        }
    }
    if (s.lane < ROWS_AHEAD)
        c.index[n + s.lane] = 0;  /* read, but not counted */
    __syncwarp();
}

/* Word `word` of the parent's rows from the child's `i`th on, ROWS_AHEAD of them; zeros
   after the last. */
__device__ inline void read_rows(const wide_prospect &c, const uint32_t *row, uint32_t i,
                                 uint32_t *of)
{
    uint32_t stride = c.parent->words * 4, at[ROWS_AHEAD];
#pragma unroll
    for (int k = 0; k < ROWS_AHEAD; k += 4) {
        uint4 four = *(const uint4 *) (c.index + i + k);
        at[k] = four.x;
        at[k + 1] = four.y;
        at[k + 2] = four.z;
        at[k + 3] = four.w;
    }
#pragma unroll
    for (int k = 0; k < ROWS_AHEAD; k++)
        of[k] = *(const uint32_t *) ((const char *) row + (uint64_t) at[k] * stride);
    if (c.windows - i < ROWS_AHEAD) {
#pragma unroll
        for (int k = 0; k < ROWS_AHEAD; k++)
            of[k] = k < c.windows - i ? of[k] : 0;
    }
}

/* The items of a word that go with the child's, where that sets the duration: those with
   smaller lags, and of those with the same lag the later ones. */
__device__ inline uint32_t within_duration(uint32_t lag_bits, const wide_prospect &c,
                                           uint32_t word, uint32_t often)
{
    const uint32_t *item = c.parent->item;
    uint32_t lags = (1u << lag_bits) - 1, lag = item[c.item] & lags, kept = 0;
#pragma unroll 1
    for (; often; often &= often - 1) {
        uint32_t at = word * 32 + __ffs(often) - 1, other = item[at] & lags;
        if (other < lag || (other == lag && at > c.item))
            kept |= often & (0 - often);
    }
    return kept;
}

/* Marks the items of the parent after the child's own that are in more than `least` of
   its windows, all but its own when that sets the duration; returns how many. */
template <int PLANES>
__device__ __noinline__ uint32_t mark_often(wide_prospect c, uint32_t lag_bits,
                                            uint32_t least)
{
    uint32_t lane = threadIdx.x % WARP, found = 0, words = c.parent->words;
#pragma unroll 1
    for (uint32_t word = c.begin + lane; word < words; word += WARP) {
        const uint32_t *row = c.parent->row + word;
        bit_counters<PLANES> sum;
        sum.clear();
#pragma unroll 1
        for (uint32_t i = 0; i < c.windows; i += ROWS_AHEAD) {
            uint32_t of[ROWS_AHEAD];
            read_rows(c, row, i, of);
            sum.add_eight(of);
        }
        uint32_t often = sum.above(least);
        if (c.sets_duration)
            often = within_duration(lag_bits, c, word, often);
        else if (word == c.item / 32)
            often &= ~1u << c.item % 32;
        c.often[word] = often;
        found += __popc(often);
    }
    __syncwarp();
    return warp_sum(found);
}

template <int WORDS>
__device__ inline uint32_t mark_items(const searcher &s, const wide_prospect &c)
{
    uint32_t least = s.my->least[c.reach], lag_bits = s.task.lag_bits;
    if (WORDS == 1 || WORDS == 2 || (WORDS == 0 && c.windows < 1u << 7))
        return mark_often<7>(c, lag_bits, least);
    if (WORDS > 0)
        return mark_often<9>(c, lag_bits, least);
    if (c.windows < 1u << 12)
        return mark_often<12>(c, lag_bits, least);
    return mark_often<31>(c, lag_bits, least);
}

/* Lists the items that are marked. */
__device__ inline void list_marked(const searcher &s, const wide_prospect &c)
{
    uint32_t n = 0, words = c.parent->words;
#pragma unroll 1
    for (uint32_t from = c.begin; from < words; from += WARP) {
        uint32_t word = from + s.lane, often = word < words ? c.often[word] : 0, all;
        uint32_t k = n + sum_below(__popc(often), &all);
#pragma unroll 1
        for (; often; often &= often - 1)
            c.at[k++] = word * 32 + __ffs(often) - 1;
        n += all;
    }
    __syncwarp();
}

/* The child's row `i`, without the items that are not in its list. */
__device__ inline void make_row(const searcher &s, const wide_prospect &c, uint32_t i,
                                uint32_t words, uint32_t *row)
{
    const uint32_t *from_row = c.parent->row + (size_t) c.index[i] * c.parent->words;
    uint32_t mine = 0;
#pragma unroll 1
    for (uint32_t w = 0; w < words; w++) {
        uint32_t k = w * 32 + s.lane, there = 0;
        if (k < c.listed)
            there = from_row[c.at[k] / 32] >> c.at[k] % 32 & 1;
        uint32_t word = __ballot_sync(WHOLE_WARP, there);
        mine = w % WARP == s.lane ? word : mine;
        if (w % WARP == WARP - 1 || w + 1 == words) {
            uint32_t to = w / WARP * WARP + s.lane;
            if (to <= w)
                row[to] = mine;
        }
    }
}

/* Where the child's windows open. */
__device__ inline void fill_bins(const searcher &s, const wide_prospect &c, uint32_t *bin)
{
#pragma unroll 1
    for (uint32_t i = s.lane; i < c.windows; i += WARP)
        bin[i] = c.parent->bin[c.index[i]];
    __syncwarp();
}

/* Bit `bit` of the parent's rows that are the child's, 32 of them from `begin` on. */
__device__ inline uint32_t gather_bits(const wide_prospect &c, const uint32_t *row,
                                       uint32_t begin, uint32_t bit)
{
    uint32_t end = begin + 32 < c.windows ? begin + 32 : c.windows, bits = 0, i = begin;
#pragma unroll 1
    for (; i < end; i += ROWS_AHEAD) {
        uint32_t of[ROWS_AHEAD];
        read_rows(c, row, i, of);
#pragma unroll
        for (int k = 0; k < ROWS_AHEAD; k++)
            bits = __funnelshift_r(bits, of[k] >> bit, 1);
    }
    return bits >> (begin + 32 - i);
}

/* Meets the child, and makes its node, with masks, if anything is below it. */
template <int WORDS>
__device__ inline void make_masks(const searcher &s, const wide_prospect &c, heap_top top)
{
    mask_node node = {};
    node.before = NOWHERE;
    node.size = c.size;
    node.units = c.units;
    node.reach = c.reach;
    node.room = c.listed;
    node.mark = s.my->top;
    uint32_t bins = s.reserve_far(&top, 2 * 64 * WORDS);
    uint32_t at = reserve_node<WORDS>(s, &top, node.room);
    if (bins == NOWHERE || at == NOWHERE)
        return;
    mask_list<WORDS> list = list_of<WORDS>(s, at, node.room);
#pragma unroll 1
    for (uint32_t from = 0; from < c.listed; from += WARP) {
        uint32_t k = from + s.lane, place = k < c.listed ? c.at[k] : c.at[from];
        const uint32_t *row = c.parent->row + place / 32;
        window_mask<WORDS> mask = {};
#pragma unroll
        for (uint32_t half = 0; half < 2 * WORDS; half++)
            if (half * 32 < c.windows)
                mask.set_half(half, gather_bits(c, row, half * 32, place % 32));
        add_items(s, list, k < c.listed, mask, c.parent->item[place], c.windows, &node);
    }
    uint32_t *bin = s.words_at(bins);
    if (s.task.checked)
        fill_bins(s, c, bin);
    __syncwarp();
    if (!s.visit(node.size, node.units, c.windows, [&] { return bin; }) ||
        !s.leads_on(node.size, node.units, c.windows, node.reach))
        return;
    if (s.lane == 0) {
        *(mask_node *) s.words_at(at) = node;
        s.my->bin = bin;
        s.my->mask_words = WORDS;
        s.my->deepest = at;
        s.my->top = top;
    }
    __syncwarp();
}

/* Counts the windows that have each item of the list; those in all of them join the set
   instead. */
__device__ inline void count_items(const searcher &s, wide_prospect *c, uint32_t *count)
{
    uint32_t kept = 0;
#pragma unroll 1
    for (uint32_t from = 0; from < c->listed; from += WARP) {
        uint32_t k = from + s.lane, at = k < c->listed ? c->at[k] : c->at[from], n = 0;
        const uint32_t *row = c->parent->row + at / 32;
#pragma unroll 1
        for (uint32_t i = 0; i < c->windows; i++)
            n += row[(size_t) c->index[i] * c->parent->words] >> at % 32 & 1;
        uint32_t full = __ballot_sync(WHOLE_WARP, k < c->listed && n == c->windows);
        bool stays = k < c->listed && n < c->windows;
        uint32_t stay = __ballot_sync(WHOLE_WARP, stays);
        __syncwarp();
        if (stays) {
            uint32_t to = kept + __popc(stay & lanes_below());
            c->at[to] = at;
            count[to] = n;
        }
        kept += __popc(stay);
        c->size += __popc(full);
#pragma unroll 1
        for (; full && c->units < s.task.min_units; full &= full - 1) {
            uint32_t other = __shfl_sync(WHOLE_WARP, at, __ffs(full) - 1);
            c->units = s.add_unit(c->units, c->parent->item[other]);
        }
        __syncwarp();
    }
    c->listed = kept;
}

/* Meets the child, and makes it the next wide node if anything is below it; without room
   the surrogate is given up. */
__device__ inline void make_wide(const searcher &s, wide_prospect c, heap_top top)
{
    warp_state *my = s.my;
    uint64_t words = (c.listed + 31) / 32;
    uint32_t fixed = s.reserve_far(&top, c.windows + 2ull * c.listed);
    uint32_t rows = s.reserve_far(&top, words * c.windows);
    if (fixed == NOWHERE || rows == NOWHERE)
        return;
    uint32_t *bin = s.words_at(fixed), *item = bin + c.windows, *count = item + c.listed;
    uint32_t *row = s.words_at(rows);
    fill_bins(s, c, bin);
    count_items(s, &c, count);
    if (!s.visit(c.size, c.units, c.windows, [&] { return bin; }) ||
        !s.leads_on(c.size, c.units, c.windows, c.reach))
        return;
    if (my->wides == SPECTRUM_WIDE) {
        s.fail();
        return;
    }
    words = (c.listed + 31) / 32;
#pragma unroll 1
    for (uint32_t k = s.lane; k < c.listed; k += WARP)
        item[k] = c.parent->item[c.at[k]];
#pragma unroll 1
    for (uint32_t i = 0; i < c.windows; i++)
        make_row(s, c, i, words, row + i * words);
    wide_node node = {row, bin, item, count};
    node.windows = c.windows;
    node.words = words;
    node.listed = node.end = c.listed;
    node.size = c.size;
    node.units = c.units;
    node.reach = c.reach;
    node.mark = my->top;
    __syncwarp();
    if (s.lane == 0) {
        my->wide[my->wides] = node;
        my->wides++;
        my->top = top;
    }
    __syncwarp();
}

/* Looks whether anything can come of the child of the last wide node with its item `j`,
   in `windows` of its windows, and if so makes it. */
template <int WORDS>
__device__ inline void wide_child(const searcher &s, uint32_t j, uint32_t windows,
                                  uint32_t reach, bool sets_duration)
{
    const uint32_t *least = s.my->least;
    heap_top top = s.my->top;
    wide_prospect c = {};
    c.parent = &s.my->wide[s.my->wides - 1];
    c.item = j;
    c.windows = windows;
    c.begin = sets_duration ? 0 : j / 32;
    c.size = c.parent->size + 1;
    c.units = s.add_unit(c.parent->units, c.parent->item[j]);
    c.reach = reach;
    c.sets_duration = sets_duration;
    uint32_t index = s.reserve(&top, windows + ROWS_AHEAD);
    uint32_t often = s.reserve(&top, c.parent->words);
    if (index == NOWHERE || often == NOWHERE)
        return;
    c.index = s.words_at(index);
    c.often = s.words_at(often);
    list_rows(s, c);
    while (windows > least[c.reach]) {
        uint32_t enough = least[c.reach];
        c.listed = mark_items<WORDS>(s, c);
        uint32_t most = c.size + c.listed;
        c.reach = most < c.reach ? most : c.reach;
        if (least[c.reach] == enough)
            break;
    }
    if (windows <= least[c.reach] || c.reach < s.needed(c.size, c.units))
        return;
    uint32_t at = s.reserve(&top, c.listed);
    if (at == NOWHERE)
        return;
    c.at = s.words_at(at);
    list_marked(s, c);
    if constexpr (WORDS > 0)
        make_masks<WORDS>(s, c, top);
    else if (windows <= 64)
        make_masks<1>(s, c, top);
    else if (windows <= 128)
        make_masks<2>(s, c, top);
    else if (windows <= 64 * MASK_WORDS)
        make_masks<MASK_WORDS>(s, c, top);
    else
        make_wide(s, c, top);
}

/* Whether a child of a root with so many windows is searched with masks of so many words;
   with 0, that it has too many for masks. */
template <int WORDS> __device__ inline bool is_for(uint32_t windows)
{
    if (WORDS == 0)
        return windows > 64 * MASK_WORDS;
    if (WORDS == 1)
        return windows <= 64;
    return WORDS == 2 ? windows > 64 && windows < 128
                      : windows >= 128 && windows <= 64 * MASK_WORDS;
}

/* One step: the next child of the last wide node, or its end. */
template <int WORDS> __device__ inline void step_wide(const searcher &s)
{
    warp_state *my = s.my;
    wide_node *node = &my->wide[my->wides - 1];
    uint32_t j = node->next, end = node->end;
    heap_top mark = node->mark;
    __syncwarp();
    if (j >= end) {
        if (s.lane == 0) {
            my->wides--;
            my->top = mark;
        }
        __syncwarp();
        return;
    }
    uint32_t windows = node->count[j];
    bool mine = my->wides > 1 || is_for<WORDS>(windows);
    bool sets_duration = s.task.durations > 1 && my->wides == 1;
    if (s.lane == 0) {
        node->next = j + 1;
        my->sets += mine;
        if (sets_duration)
            my->duration = node->item[j] & ((1u << s.task.lag_bits) - 1);
    }
    __syncwarp();
    if (!mine)
        return;
    s.refresh();
    uint32_t reach = node->size + node->listed - (sets_duration ? 0 : j);
    reach = reach < node->reach ? reach : node->reach;
    if (windows > my->least[reach] && reach >= s.needed(node->size, node->units))
        wide_child<WORDS>(s, j, windows, reach, sets_duration);
}

}  // namespace gpu

#endif
