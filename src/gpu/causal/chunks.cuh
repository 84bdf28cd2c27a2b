/* Tiles of targets in half precision, as tensor cores read them: chunks of eight targets
   of a step, and the products in which they are a factor. gpu/causal/halves.cuh says how
   these make up predictions.

   Chunks of a step lie in planes of their own; or rows of 128 bytes, eight chunks, are
   read by turns: point i of eight reads chunk c ^ i, so that eight always read from
   different banks. */
#ifndef SYN_GPU_CAUSAL_CHUNKS_CUH
#define SYN_GPU_CAUSAL_CHUNKS_CUH

#include "gpu/causal/lookup.cuh"

namespace gpu {

enum { CHUNK_TARGETS = 8 };

/* ---- products ---- */

/* Reads 16 bytes at an address from each lane: matrices of eight such rows, of which a
   lane gets columns of two rows ... */
__device__ inline void read_columns(uint32_t at, uint32_t (&to)[4])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at));
}

/* ... from the first 16 lanes only ... */
__device__ inline void read_columns(uint32_t at, uint32_t (&to)[2])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(at));
}

/* ... or two columns of a row. */
__device__ inline void read_rows(uint32_t at, uint32_t (&to)[4])
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at));
}

/* sum[16][8] += a[16][8] b[8][8] */
__device__ inline void add_narrow_product(float (&sum)[4], uint32_t a_top, uint32_t a_low,
                                          uint32_t b)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a_top), "r"(a_low), "r"(b));
}

/* sum[16][8] += a[16][16] b[16][8]; parts of a: upper left, lower left, upper right,
   lower right. */
__device__ inline void add_product(float (&sum)[4], const uint32_t (&a)[4],
                                   uint32_t b_top, uint32_t b_low)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_top), "r"(b_low));
#else
    add_narrow_product(sum, a[0], a[1], b_top);
    add_narrow_product(sum, a[2], a[3], b_low);
#endif
}

/* ---- how a tile is read ---- */

/* Halves of two numbers. */
__device__ inline float half_of(uint32_t two, int i)
{
    __half2 both = *(const __half2 *) &two;
    return i ? __high2float(both) : __low2float(both);
}

/* A tile in shared memory, as a lane sees it that gives the address of row lane % 8 of a
   matrix. Bit 3 of a lane's number tells which of two chunks it reads. */
template <int CHUNKS, bool TURNED> struct chunk_tile {
    uint32_t base;         /* of what the lane reads of step 0 in the first chunks */
    uint32_t plane;        /* bytes */
    uint32_t single;       /* address of the chunk that is left over */

    __device__ chunk_tile(uint32_t values, uint32_t plane_bytes, uint32_t lane)
        : plane(plane_bytes)
    {
        uint32_t second = lane >> 3 & 1;
        base = values + (TURNED ? (second ^ lane % 8) * VECTOR_BYTES : second * plane);
        base = held(base);
        single = held(values + (CHUNKS - 1) * plane);
    }

    /* Chunks 2 m and 2 m + 1 of a step; of point row ^ 2 q if these are turned. */
    __device__ uint32_t at(uint32_t step, int m, int q) const
    {
        if (TURNED)
            return step * ROW_BYTES + (base ^ 2 * VECTOR_BYTES * (m ^ q));
        return step * VECTOR_BYTES + base + 2 * m * plane;
    }

    __device__ uint32_t left_over(uint32_t step) const
    {
        return step * VECTOR_BYTES + single;
    }
};

/* Which of two neighbours' weights a lane gives, and where in the product. */
struct lane_weights {
    uint32_t first, second;  /* selectors of bytes */
    uint32_t group[GROUPS];  /* all bits for that whose weights it has, else none */

    __device__ explicit lane_weights(uint32_t lane)
    {
        uint32_t g = lane / 4;
        first = held(g % 2 ? 0x1044 : 0x4410);
        second = held(g % 2 ? 0x3244 : 0x4432);
#pragma unroll
        for (uint32_t q = 0; q < GROUPS; q++)
            group[q] = held((lane % 4 ^ g / 2) == q ? ~0u : 0);
    }
};

/* Entries of 32 points and two neighbours of each: steps of the rows that a lane gives
   the address of, and the weights of one point. Lanes whose numbers differ in bit 3 read
   the same steps. */
struct entry_pair {
    uint2 steps;           /* groups 0 and 2, 1 and 3 */
    uint32_t weights;

    /* Where a lane's steps are among the words of a pair. */
    static __device__ uint32_t steps_at(uint32_t lane)
    {
        return 2 * (lane % 8 + lane / 16 * 8);
    }

    __device__ void read(const uint32_t *steps_there, const uint32_t *weights_there)
    {
        steps = *(const uint2 *) steps_there;
        weights = *weights_there;
    }

    __device__ uint32_t step(int q) const
    {
        uint32_t two = q % 2 ? steps.y : steps.x;
        return q < 2 ? two & 0xffff : two >> 16;
    }

    /* Of group q or q + 1, as bit 3 of the lane tells. */
    __device__ uint32_t either_step(int q, uint32_t lane) const
    {
        uint32_t two = lane & 8 ? steps.y : steps.x;
        return q < 2 ? two & 0xffff : two >> 16;
    }
};

/* What a lane has of 32 points. Of two chunks: targets lane / 4 of each, points
   2 (lane % 4) and the next of each group. Of the one left over: point lane / 4 of each
   group, targets 2 (lane % 4) and the next. */
template <int CHUNKS> struct chunk_predictions {
    enum { PAIRS = CHUNKS / 2, LEFT = CHUNKS % 2 };
    float pair[PAIRS][GROUPS][4];
    float left[GROUPS / 2][4];

    __device__ void clear()
    {
#pragma unroll
        for (int q = 0; q < GROUPS; q++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int m = 0; m < PAIRS; m++)
                    pair[m][q][i] = 0;
                if (LEFT)
                    left[q / 2][i] = 0;
            }
    }

    /* Adds two neighbours of each point, or ONE. */
    template <bool ONE, bool TURNED>
    __device__ void add(const chunk_tile<CHUNKS, TURNED> &tile,
                        const entry_pair &entry, const lane_weights &of,
                        uint32_t lane)
    {
        uint32_t a = __byte_perm(entry.weights, 0, of.first);
        uint32_t b = __byte_perm(entry.weights, 0, of.second);
#pragma unroll
        for (int q = 0; q < GROUPS; q++) {
            uint32_t step = entry.step(q);
            uint32_t first = a & of.group[q], second = b & of.group[q];
#pragma unroll
            for (int m = 0; m < PAIRS; m++) {
                uint32_t x[ONE ? 2 : 4];
                read_columns(tile.at(step, m, q), x);
                if constexpr (ONE)
                    add_narrow_product(pair[m][q], x[0], x[1], first);
                else
                    add_product(pair[m][q], x, first, second);
            }
        }
#pragma unroll
        for (int q = 0; q < LEFT * GROUPS; q += 2) {
            uint32_t x[ONE ? 2 : 4];
            read_columns(tile.left_over(entry.either_step(q, lane)), x);
            uint32_t first[4] = {a & of.group[q], 0, 0, a & of.group[q + 1]};
            add_product(left[q / 2], first, x[0], x[1]);
            if constexpr (!ONE) {
                uint32_t second[4] = {b & of.group[q], 0, 0, b & of.group[q + 1]};
                add_product(left[q / 2], second, x[2], x[3]);
            }
        }
    }
};

}  // namespace gpu

#endif
