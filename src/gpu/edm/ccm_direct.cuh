/* The search in many random libraries, each by itself, all in one kernel. A block takes
   rows that follow each other, a thread each, and goes through one library from the rows
   that are nearest in time outwards. Distances are those of the processor, to the last
   bit. What is nearer than the k-th neighbour so far is held until some thread of the
   warp holds many, and then put in order. */
#ifndef SYN_GPU_EDM_CCM_DIRECT_CUH
#define SYN_GPU_EDM_CCM_DIRECT_CUH

#include "gpu/edm/ccm.cuh"

namespace gpu {

enum {
    DIRECT_THREADS = 128,  /* of a block */
    DIRECT_TILE = 128,     /* library rows that are in shared memory */
    DIRECT_STEP = 8,       /* of which so many are looked at together */
    DIRECT_HELD = 16,      /* rows that a thread holds, at least twice the step */
    DIRECT_MOST = 32       /* most neighbours */
};

/* Libraries that are side by side: number l has rows first[l] to first[l + 1]. */
struct ccm_libraries {
    const uint64_t *first;     /* [libraries + 1] */
    const uint32_t *row;       /* increasing in each library */
    const double *coordinate;  /* of library l from dims * first[l] on: [dims][rows] */
};

/* Shared memory of a block, in bytes. */
inline size_t direct_shared(uint32_t dims, uint32_t k)
{
    size_t doubles = (size_t) dims * (DIRECT_TILE + DIRECT_THREADS) +
                     (size_t) (DIRECT_HELD + k) * DIRECT_THREADS;
    size_t words = DIRECT_TILE + (size_t) (DIRECT_HELD + k) * DIRECT_THREADS;
    return doubles * sizeof(double) + words * sizeof(uint32_t);
}

/* Puts the coordinates of libraries side by side. */
__global__ void ccm_gather(SYN_GPU_JOB ccm_place p, const uint64_t *first,
                           const uint32_t *row, uint32_t libraries, double *coordinate)
{
    for (uint32_t l = blockIdx.y; l < libraries; l += gridDim.y) {
        uint64_t from = first[l], size = first[l + 1] - from;
        double *to = coordinate + from * p.dims;
        for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < size * p.dims;
             i += (uint64_t) gridDim.x * blockDim.x)
            to[i] = p.coordinate[i / size * p.rows + row[from + i % size]];
    }
}

/* One thread's search. Its arrays have its elements DIRECT_THREADS apart. */
struct direct_search {
    uint32_t me, k, exclusion;
    bool there;                /* whether the thread has a row */
    const double *own;         /* [dims] coordinates of the row */
    double *held, *near;       /* squared distances */
    uint32_t *held_at, *near_row;
    uint32_t n, found;         /* how many are held, and in order */
    uint32_t tied_within;      /* rows so many rows away may be as near as the last */
    double last;               /* squared distance of the k-th */

    __device__ static double infinite()
    {
        return __longlong_as_double(0x7ff0000000000000ll);
    }

    __device__ void start()
    {
        n = found = 0;
        last = infinite();
        tied_within = UINT32_MAX;
    }

    __device__ uint32_t apart(uint32_t row) const
    {
        return row > me ? row - me : me - row;
    }

    __device__ bool in_order(double square, uint32_t row, uint32_t at) const
    {
        double other = near[at * DIRECT_THREADS];
        if (square != other)
            return square < other;
        uint32_t other_row = near_row[at * DIRECT_THREADS];
        uint32_t a = apart(row), b = apart(other_row);
        return a != b ? a < b : row < other_row;
    }

    __device__ void insert(double square, uint32_t row)
    {
        if (apart(row) <= exclusion || (found == k && !in_order(square, row, k - 1)))
            return;
        uint32_t at = found < k ? found++ : k - 1;
        for (; at > 0 && in_order(square, row, at - 1); at--) {
            near[at * DIRECT_THREADS] = near[(at - 1) * DIRECT_THREADS];
            near_row[at * DIRECT_THREADS] = near_row[(at - 1) * DIRECT_THREADS];
        }
        near[at * DIRECT_THREADS] = square;
        near_row[at * DIRECT_THREADS] = row;
    }

    /* Puts what is held of a tile in order. */
    __device__ void settle(const uint32_t *row)
    {
        for (uint32_t j = 0; j < n; j++)
            insert(held[j * DIRECT_THREADS], row[held_at[j * DIRECT_THREADS]]);
        n = 0;
        if (found == k) {
            last = near[(k - 1) * DIRECT_THREADS];
            tied_within = apart(near_row[(k - 1) * DIRECT_THREADS]);
        }
    }

    /* Rows from `low` to `high` are of use where their squared distance is below this. */
    __device__ double limit(uint32_t low, uint32_t high) const
    {
        if (!there || max(apart(low), apart(high)) <= exclusion)
            return 0;
        uint32_t nearest = low > me ? low - me : me > high ? me - high : 0;
        bool tied = nearest <= tied_within && last < infinite();
        /* The next double: ties count. */
        return tied ? __longlong_as_double(__double_as_longlong(last) + 1) : last;
    }

    /* Squared distances to DIRECT_STEP rows of a tile, added up as the processor does. */
    __device__ void measure(const double *tile, uint32_t dims, double *sum) const
    {
        for (uint32_t d = 0; d < dims; d++) {
            double mine = own[d * DIRECT_THREADS];
            const double2 *from = (const double2 *) (tile + d * DIRECT_TILE);
#pragma unroll
            for (int q = 0; q < DIRECT_STEP; q += 2) {
                double2 two = from[q / 2];
                double off = __dsub_rn(two.x, mine), other = __dsub_rn(two.y, mine);
                sum[q] = __dadd_rn(sum[q], __dmul_rn(off, off));
                sum[q + 1] = __dadd_rn(sum[q + 1], __dmul_rn(other, other));
            }
        }
    }

    /* The first `n_rows` rows of a tile. */
    __device__ void search(const double *tile, const uint32_t *row, uint32_t n_rows,
                           uint32_t dims)
    {
        double below = limit(row[0], row[n_rows - 1]);
        for (uint32_t c = 0; c < n_rows; c += DIRECT_STEP) {
            double sum[DIRECT_STEP] = {};
            measure(tile + c, dims, sum);
#pragma unroll
            for (int q = 0; q < DIRECT_STEP; q++)
                if (sum[q] < below) {
                    held[n * DIRECT_THREADS] = sum[q];
                    held_at[n * DIRECT_THREADS] = c + q;
                    n++;
                }
            if (__any_sync(WHOLE_WARP, n > DIRECT_HELD - DIRECT_STEP)) {
                settle(row);
                below = limit(row[0], row[n_rows - 1]);
            }
        }
        settle(row);
    }
};

/* The tiles of one library, from rows near `middle` in time outwards. */
struct direct_tiles {
    const uint32_t *row;       /* [size] */
    const double *coordinate;  /* [dims][size] */
    uint32_t size, n;
    uint32_t below, above;     /* the last tile before those that were taken, and the
                                  first after them */

    __device__ direct_tiles(const ccm_libraries &all, uint32_t library, uint32_t dims,
                            uint32_t middle)
    {
        uint64_t first = all.first[library];
        row = all.row + first;
        coordinate = all.coordinate + first * dims;
        size = (uint32_t) (all.first[library + 1] - first);
        n = (size + DIRECT_TILE - 1) / DIRECT_TILE;
        uint32_t low = 0;
        for (uint32_t high = size; low < high;) {
            uint32_t at = (low + high) / 2;
            if (row[at] < middle)
                low = at + 1;
            else
                high = at;
        }
        above = min(low / DIRECT_TILE, n - 1);
        below = above - 1;
    }

    __device__ uint32_t next(uint32_t middle)
    {
        if (above >= n)
            return below--;
        if (below == UINT32_MAX)
            return above++;
        uint32_t before = row[below * DIRECT_TILE + DIRECT_TILE - 1];
        uint32_t after = row[above * DIRECT_TILE];
        bool up = after < middle || (before < middle && after - middle < middle - before);
        return up ? above++ : below--;
    }

    /* Copies a tile to shared memory, infinitely far rows after its last; returns how
       many rows it has. */
    __device__ uint32_t load(uint32_t tile, uint32_t dims, double *to,
                             uint32_t *to_row) const
    {
        uint32_t begin = tile * DIRECT_TILE;
        uint32_t end = min(size - begin, (uint32_t) DIRECT_TILE);
        for (uint32_t c = threadIdx.x; c < DIRECT_TILE; c += DIRECT_THREADS) {
            to_row[c] = row[begin + min(c, end - 1)];
            for (uint32_t d = 0; d < dims; d++)
                to[d * DIRECT_TILE + c] = c < end
                                              ? coordinate[(size_t) d * size + begin + c]
                                              : direct_search::infinite();
        }
        return end;
    }
};

/* The k nearest of each library of each row `of`[n], into `near`. */
__global__ void __launch_bounds__(DIRECT_THREADS)
    ccm_direct(SYN_GPU_JOB ccm_place p, const uint32_t *of, uint32_t n,
               SYN_GPU_JOB ccm_libraries libraries, SYN_GPU_JOB ccm_near near)
{
    extern __shared__ double memory[];
    uint32_t k = p.k, t = threadIdx.x;
    double *tile = memory, *own = tile + (size_t) p.dims * DIRECT_TILE;
    double *held = own + (size_t) p.dims * DIRECT_THREADS;
    double *squares = held + DIRECT_HELD * DIRECT_THREADS;
    uint32_t *tile_row = (uint32_t *) (squares + (size_t) k * DIRECT_THREADS);
    uint32_t *held_at = tile_row + DIRECT_TILE;
    uint32_t *rows = held_at + DIRECT_HELD * DIRECT_THREADS;

    uint32_t block = blockIdx.x * DIRECT_THREADS, i = block + t;
    direct_search s = {of[min(i, n - 1)], k, p.exclusion, i < n, own + t, held + t,
                       squares + t, held_at + t, rows + t};
    for (uint32_t d = 0; d < p.dims; d++)
        own[d * DIRECT_THREADS + t] = p.coordinate[(size_t) d * p.rows + s.me];
    uint32_t middle = of[min(block + DIRECT_THREADS / 2, n - 1)];

    for (uint32_t l = blockIdx.y; l < near.libraries; l += gridDim.y) {
        direct_tiles tiles(libraries, l, p.dims, middle);
        s.start();
        for (uint32_t left = tiles.n; left > 0; left--) {
            __syncthreads();
            uint32_t n_rows = tiles.load(tiles.next(middle), p.dims, tile, tile_row);
            __syncthreads();
            s.search(tile, tile_row, n_rows, p.dims);
        }
        if (!s.there)
            continue;
        size_t pair = (size_t) l * n + i;
        near.found[pair] = s.found;
        for (uint32_t j = 0; j < s.found; j++) {
            near.row[pair * k + j] = s.near_row[j * DIRECT_THREADS];
            near.distance[pair * k + j] = __dsqrt_rn(s.near[j * DIRECT_THREADS]);
        }
    }
}

}  // namespace gpu

#endif
