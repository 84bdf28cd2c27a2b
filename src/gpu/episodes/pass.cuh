/* Counting along a list of ends, the innermost loop. */
#ifndef SYN_GPU_EPISODES_PASS_CUH
#define SYN_GPU_EPISODES_PASS_CUH

#include <cuda_pipeline_primitives.h>

#include <cstdint>

#include "gpu/episodes/types.cuh"

namespace gpu {

/* What a lane keeps of its symbols. `busy` is the first event free for a symbol; an end
   whose start is at or after it scores when the symbol occurs in its window. */
template <int K> struct tally {
    uint32_t busy[K], hits[K];

    __device__ void clear()
    {
        for (int j = 0; j < K; j++)
            busy[j] = hits[j] = 0;
    }

    /* An end with its start, and what the row of the table counts from, which has symbol
       j at `distance`. Spelt out because this is the innermost step, and nothing shorter
       is made of plain C; what needs `busy`, for which the next end waits, comes last. */
    __device__ __forceinline__ void pass(int j, uint32_t start, uint32_t from,
                                         uint32_t distance)
    {
        asm("{\n\t"
            ".reg .pred scores;\n\t"
            "setp.ne.u32 scores, %4, 0;\n\t"
            "setp.ge.and.u32 scores, %2, %0, scores;\n\t"
            "@scores add.u32 %0, %3, %4;\n\t"
            "@scores add.u32 %1, %1, 1;\n\t"
            "}"
            : "+r"(busy[j]), "+r"(hits[j])
            : "r"(start), "r"(from), "r"(distance));
    }
};

/* Rows of the table are fetched into shared memory in stages of some ends, which are
   passed three stages later; a lane fetches 16 bytes at a time. */
constexpr uint32_t STAGES = 4, STAGE_BYTES = 1024, PIECE = 16;

template <int K, class T> struct stage {
    static constexpr uint32_t row = row_bytes<K, T>::row;
    static constexpr uint32_t ends = row <= 64 ? 16 : STAGE_BYTES / row;
    static constexpr uint32_t pieces_a_row = row / PIECE, pieces = ends * pieces_a_row;
};

/* A warp's ends, 32 at a time, in shared memory, where all lanes read them. Of each there
   are its row, its start, and what the row counts from: for a symbol of a page, and for
   the spare one. */
struct end_ring {
    alignas(PIECE) unsigned char rows[STAGES][STAGE_BYTES];
    uint32_t row[4][WARP];
    uint2 of_pages[2][WARP], of_spare[2][WARP];
};

/* What a warp works on. */
template <int K> struct item_view {
    const uint2 *ends;
    const place<uint16_t> *places;
    const unsigned char *rows;  /* the column's first row */
    bool fetches;               /* whether anybody reads what this lane fetches */
    uint32_t wanted[K];         /* the candidates */
};

/* Whether a candidate can still become frequent when at most `most` further occurrences
   of the node come, less those it has already scored itself. */
template <int K>
__device__ bool any_hope(uint32_t min_count, const tally<K> &t, const uint32_t *wanted,
                         uint32_t most)
{
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t node_hits = __shfl_sync(ALL, t.hits[0], WARP - 1);
    bool alive = false;
#pragma unroll
    for (int j = 0; j < K; j++)
        alive |= (wanted[j] >> lane & 1) && t.hits[j] + most >= node_hits + min_count;
    return __any_sync(ALL, alive);
}

/* Begins to fetch the rows of a stage's ends, of which `first` is the first. */
template <int K, class T>
__device__ __forceinline__ void fetch_rows(const item_view<K> &item, uint32_t first,
                                           end_ring &ring)
{
    typedef stage<K, T> S;
    unsigned char *to = ring.rows[first / S::ends % STAGES];
#pragma unroll
    for (uint32_t p = 0; p < S::pieces / WARP; p++) {
        uint32_t piece = p * WARP + threadIdx.x % WARP;
        uint32_t end = first + piece / S::pieces_a_row;
        size_t row = ring.row[end / WARP % 4][end % WARP];
        if (item.fetches)
            __pipeline_memcpy_async(to + piece * PIECE,
                                    item.rows + row * S::row +
                                        piece % S::pieces_a_row * PIECE,
                                    PIECE);
    }
    __pipeline_commit();
}

/* Passes the ends of a stage. `mine` is what this lane sees of them. */
template <int K, class T>
__device__ __forceinline__ void pass_stage(const unsigned char *rows, const uint2 *mine,
                                           tally<K> &t)
{
    typedef stage<K, T> S;
#pragma unroll
    for (uint32_t a = 0; a < S::ends; a += 2) {
        uint4 two = *(const uint4 *) (mine + a);
        row_pack<K, T> first = load_pack<K, T>(rows + a * S::row);
        row_pack<K, T> second = load_pack<K, T>(rows + (a + 1) * S::row);
#pragma unroll
        for (int j = 0; j < K; j++) {
            t.pass(j, two.x, two.y, first.next(j));
            t.pass(j, two.z, two.w, second.next(j));
        }
    }
}

/* Passes the ends begin .. end - 1, and calls at_mark(start of the end there) before the
   one at `mark`, some batches of 32 after the first. With `most` above zero it stops
   early, and returns false, once no candidate can become frequent, but not before the
   mark. */
template <int K, class T, class F>
__device__ __forceinline__ bool pass_ends(uint32_t events, uint32_t min_count,
                                          const item_view<K> &item, uint32_t begin,
                                          uint32_t mark, uint32_t end, uint32_t most,
                                          end_ring &ring, tally<K> &t, F at_mark)
{
    typedef stage<K, T> S;
    const uint32_t lane = threadIdx.x % WARP;
    const uint2 padding = make_uint2(events, 0);
    auto end_at = [&](uint32_t i) { return i < end ? item.ends[i] : padding; };
    auto place_of = [&](uint2 e) {
        return e.x < events ? item.places[e.x] : place<uint16_t>{0, 0, 0};
    };
    auto put = [&](uint32_t side, uint2 e, place<uint16_t> at) {
        ring.of_pages[side][lane] = make_uint2(e.y, at.event + at.open);
        ring.of_spare[side][lane] = make_uint2(e.y, at.event);
    };

    uint2 first = end_at(begin + lane), second = end_at(begin + WARP + lane);
    uint2 third = end_at(begin + 2 * WARP + lane);
    uint2 fourth = end_at(begin + 3 * WARP + lane);
    __syncwarp();
    ring.row[0][lane] = first.x;
    ring.row[1][lane] = second.x;
    put(0, first, place_of(first));
    place<uint16_t> where = place_of(second);
    __syncwarp();
    uint32_t fetched = 0, batch = 0, passed = 0;
    for (; fetched < (STAGES - 1) * S::ends; fetched += S::ends)
        fetch_rows<K, T>(item, fetched, ring);

    bool hope = true;
    for (uint32_t i = begin; i < end && hope; i += WARP, batch++) {
        __syncwarp();
        put((batch + 1) % 2, second, where);
        ring.row[(batch + 2) % 4][lane] = third.x;
        second = third;
        where = place_of(second);
        third = fourth;
        fourth = end_at(i + 4 * WARP + lane);
        if (i == mark)
            at_mark(ring.of_pages[batch % 2][0].x);
        const uint2 *mine = (lane < WARP - 1 ? ring.of_pages : ring.of_spare)[batch % 2];
#pragma unroll 1
        for (uint32_t a = 0; a < WARP; a += S::ends) {
            __pipeline_wait_prior(STAGES - 2);
            __syncwarp();
            fetch_rows<K, T>(item, fetched, ring);
            fetched += S::ends;
            pass_stage<K, T>(ring.rows[passed++ % STAGES] + lane * row_bytes<K, T>::lane,
                             mine + a, t);
        }
        hope = most == 0 || i < mark || any_hope<K>(min_count, t, item.wanted, most);
    }
    __pipeline_wait_prior(0);
    return hope;
}

}  // namespace gpu

#endif
