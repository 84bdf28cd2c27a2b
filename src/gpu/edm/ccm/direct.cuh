/* The search in many random libraries, each by itself, all in one kernel. A block takes
   rows that follow each other, a thread each, and goes through one library from the rows
   that are nearest in time outwards. Distances in single precision say which rows may be
   nearer than the k-th neighbour so far; these are held until some thread of the warp
   holds many, and then put in order by their distances in double precision, which are
   those of the processor to the last bit. */
#pragma once

#include "gpu/edm/ccm/lists.cuh"

namespace gpu {

enum {
    DIRECT_THREADS = 128,  /* of a block */
    DIRECT_TILE = 128,     /* library rows that are in shared memory */
    DIRECT_STEP = 8,       /* of which so many are looked at together */
    DIRECT_HELD = 16,      /* that a thread holds, at least twice the step */
    DIRECT_MOST = 32       /* most neighbours */
};

/* Coordinates in single precision: (x - centre) * scale, at most 1 in size, or whole
   numbers. */
struct ccm_frame {
    const double *centre;      /* [dims] */
    double scale;
    double slack;              /* how much farther two rows may seem than they are, */
    double stretch;            /* and a factor of the square */
    bool whole;                /* all squared distances are whole numbers, and exact */
};

/* Libraries that are side by side: number l has rows first[l] to first[l + 1]. */
struct ccm_libraries {
    const uint64_t *first;     /* [libraries + 1] */
    const uint32_t *row;       /* increasing in each library */
    double *coordinate;        /* of library l from dims * first[l] on: [dims][rows] */
    float *rounded;            /* the same in a ccm_frame */
    uint32_t *shuffled;        /* of library l from first[l] on: the places of the rows of
                                  each tile in the order of ties, sorted */
};

/* Shared memory of a block, in bytes. */
inline size_t direct_shared(uint32_t dims, uint32_t k)
{
    size_t words = (size_t) dims * (DIRECT_TILE + DIRECT_THREADS) +
                   (size_t) (DIRECT_HELD + k) * DIRECT_THREADS;
    return (size_t) k * DIRECT_THREADS * sizeof(double) + words * sizeof(uint32_t);
}

__device__ inline float round_into(const ccm_frame &frame, double x, uint32_t d)
{
    return (float) ((x - frame.centre[d]) * frame.scale);
}

/* Puts the coordinates of libraries side by side. */
__global__ void ccm_gather(SYN_GPU_JOB ccm_place p, SYN_GPU_JOB ccm_frame frame,
                           SYN_GPU_JOB ccm_libraries all, uint32_t libraries)
{
    for (uint32_t l = blockIdx.y; l < libraries; l += gridDim.y) {
        uint64_t from = all.first[l], size = all.first[l + 1] - from;
        uint64_t to = from * p.dims;
        for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < size * p.dims;
             i += (uint64_t) gridDim.x * blockDim.x) {
            uint32_t d = (uint32_t) (i / size);
            double x = p.coordinate[(size_t) d * p.rows + all.row[from + i % size]];
            all.coordinate[to + i] = x;
            all.rounded[to + i] = round_into(frame, x, d);
        }
    }
}

/* Sorts the places in the order of ties of the rows of each tile of libraries, a block a
   tile. */
__global__ void ccm_sort_tiles(SYN_GPU_JOB ccm_libraries all, uint32_t libraries)
{
    __shared__ uint32_t place[DIRECT_TILE];
    for (uint32_t l = blockIdx.y; l < libraries; l += gridDim.y) {
        uint64_t first = all.first[l];
        uint32_t size = (uint32_t) (all.first[l + 1] - first);
        for (uint32_t at = blockIdx.x * DIRECT_TILE; at < size;
             at += gridDim.x * DIRECT_TILE)
            sort_places(all.row + first + at, min(size - at, (uint32_t) DIRECT_TILE),
                        place, all.shuffled + first + at);
    }
}

/* One thread's search in one library after the other. Its arrays in shared memory have
   its elements DIRECT_THREADS apart. */
struct direct_search {
    const ccm_place &place;
    const ccm_frame &frame;
    uint32_t me;
    bool there;                /* whether the thread has a row */
    const float *own;          /* [dims] rounded coordinates of the row */
    double *near;              /* [k] squared distances */
    uint32_t *near_row, *held; /* [k] rows, and places in the library */
    uint32_t n, found;         /* how many are held, and in order */
    uint32_t last_rank;        /* of the k-th, */
    double last;               /* and its squared distance */

    __device__ void start()
    {
        n = found = 0;
        last = __longlong_as_double(0x7ff0000000000000ll);
        last_rank = UINT32_MAX;
    }

    __device__ uint32_t rank(uint32_t row) const
    {
        return syn_rank_after(row, syn_row_rank(me));
    }

    __device__ bool in_order(double square, uint32_t row, uint32_t at) const
    {
        double other = near[at * DIRECT_THREADS];
        if (square != other)
            return square < other;
        return rank(row) < rank(near_row[at * DIRECT_THREADS]);
    }

    __device__ void insert(double square, uint32_t row)
    {
        uint32_t at = found < place.k ? found++ : place.k - 1;
        for (; at > 0 && in_order(square, row, at - 1); at--) {
            near[at * DIRECT_THREADS] = near[(at - 1) * DIRECT_THREADS];
            near_row[at * DIRECT_THREADS] = near_row[(at - 1) * DIRECT_THREADS];
        }
        near[at * DIRECT_THREADS] = square;
        near_row[at * DIRECT_THREADS] = row;
    }

    /* Puts the rows that are held in order. */
    template <class T> __device__ void settle(const T &tiles)
    {
        uint32_t k = place.k;
        for (uint32_t j = 0; j < n; j++) {
            uint32_t at = held[j * DIRECT_THREADS], row = tiles.row[at];
            if (rows_apart(row, me) <= place.exclusion)
                continue;
            double square = 0;
            for (uint32_t d = 0; d < place.dims; d++)
                square = add_square(square,
                                    tiles.coordinate[(size_t) d * tiles.size + at],
                                    place.coordinate[(size_t) d * place.rows + me]);
            if (isfinite(square) && (found < k || in_order(square, row, k - 1)))
                insert(square, row);
        }
        n = 0;
        if (found == k) {
            last = near[(k - 1) * DIRECT_THREADS];
            last_rank = rank(near_row[(k - 1) * DIRECT_THREADS]);
        }
    }

    /* The rows of a tile, from `first` to `end`, are of use where their rounded squared
       distance is not above this. */
    template <class T>
    __device__ float limit(const T &tiles, uint32_t first, uint32_t end) const
    {
        uint32_t low = tiles.row[first], high = tiles.row[end - 1];
        if (!there || max(rows_apart(low, me), rows_apart(high, me)) <= place.exclusion)
            return -1;
        if (frame.whole || last == 0) {
            bool tied = syn_least_after(tiles.shuffled + first, end - first,
                                        syn_row_rank(me)) <= last_rank;
            if (frame.whole)
                return (float) (tied ? last : last - 0.5);
            if (!tied)
                return -1;
        }
        double most = sqrt(last) * frame.scale + frame.slack;
        return __double2float_ru(most * most * frame.stretch);
    }

    /* Rounded squared distances to DIRECT_STEP rows of a tile. */
    __device__ void measure(const float *tile, float *sum) const
    {
        for (uint32_t d = 0; d < place.dims; d++) {
            float mine = own[d * DIRECT_THREADS];
            const float4 *from = (const float4 *) (tile + d * DIRECT_TILE);
#pragma unroll
            for (int q = 0; q < DIRECT_STEP; q += 4) {
                float4 four = from[q / 4];
                float off[4] = {four.x - mine, four.y - mine, four.z - mine,
                                four.w - mine};
                SYN_UNROLL(r, 4)
                    sum[q + r] = fmaf(off[r], off[r], sum[q + r]);
            }
        }
    }

    /* A tile with the rows from `first` to `end`. */
    template <class T>
    __device__ void search(const T &tiles, const float *tile, uint32_t first,
                           uint32_t end)
    {
        float within = limit(tiles, first, end);
        for (uint32_t c = 0; c < end - first; c += DIRECT_STEP) {
            float sum[DIRECT_STEP] = {};
            measure(tile + c, sum);
            SYN_UNROLL(q, DIRECT_STEP)
                if (sum[q] <= within)
                    held[n++ * DIRECT_THREADS] = first + c + q;
            if (__any_sync(WHOLE_WARP, n > DIRECT_HELD - DIRECT_STEP)) {
                settle(tiles);
                within = limit(tiles, first, end);
            }
        }
        settle(tiles);
    }
};

/* The tiles of one library, from rows near `middle` in time outwards. */
struct direct_tiles {
    const uint32_t *row;       /* [size] */
    const double *coordinate;  /* [dims][size] */
    const float *rounded;      /* the same */
    const uint32_t *shuffled;  /* [size] see ccm_libraries */
    uint32_t size, n;
    uint32_t below, above;     /* the last tile before those that were taken, and the
                                  first after them */

    __device__ direct_tiles(const ccm_libraries &all, uint32_t library, uint32_t dims,
                            uint32_t middle)
    {
        uint64_t first = all.first[library];
        row = all.row + first;
        coordinate = all.coordinate + first * dims;
        rounded = all.rounded + first * dims;
        shuffled = all.shuffled + first;
        size = (uint32_t) (all.first[library + 1] - first);
        n = (size + DIRECT_TILE - 1) / DIRECT_TILE;
        above = min(first_from(row, size, middle) / DIRECT_TILE, n - 1);
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

    /* Copies the rows of a tile to shared memory; after the last come rows that are no
       neighbours. */
    __device__ void load(uint32_t begin, uint32_t dims, float *to) const
    {
        const float none = __int_as_float(0x7fc00000);
        for (uint32_t c = threadIdx.x; c < DIRECT_TILE; c += DIRECT_THREADS)
            for (uint32_t d = 0; d < dims; d++)
                to[d * DIRECT_TILE + c] =
                    begin + c < size ? rounded[(size_t) d * size + begin + c] : none;
    }
};

/* The k nearest of each library of each row `of`[n], into `near`. */
__global__ void __launch_bounds__(DIRECT_THREADS)
    ccm_direct(SYN_GPU_JOB ccm_place p, SYN_GPU_JOB ccm_frame frame, const uint32_t *of,
               uint32_t n, SYN_GPU_JOB ccm_libraries libraries, SYN_GPU_JOB ccm_near near)
{
    extern __shared__ double memory[];
    uint32_t k = p.k, t = threadIdx.x;
    double *squares = memory;
    float *tile = (float *) (squares + (size_t) k * DIRECT_THREADS);
    float *own = tile + (size_t) p.dims * DIRECT_TILE;
    uint32_t *rows = (uint32_t *) (own + (size_t) p.dims * DIRECT_THREADS);
    uint32_t *held = rows + (size_t) k * DIRECT_THREADS;

    uint32_t block = blockIdx.x * DIRECT_THREADS, i = block + t;
    direct_search s = {p, frame, of[min(i, n - 1)], i < n, own + t, squares + t,
                       rows + t, held + t};
    for (uint32_t d = 0; d < p.dims; d++)
        own[d * DIRECT_THREADS + t] =
            round_into(frame, p.coordinate[(size_t) d * p.rows + s.me], d);
    uint32_t middle = of[min(block + DIRECT_THREADS / 2, n - 1)];

    for (uint32_t l = blockIdx.y; l < near.libraries; l += gridDim.y) {
        direct_tiles tiles(libraries, l, p.dims, middle);
        s.start();
        for (uint32_t left = tiles.n; left > 0; left--) {
            uint32_t first = tiles.next(middle) * DIRECT_TILE;
            __syncthreads();
            tiles.load(first, p.dims, tile);
            __syncthreads();
            s.search(tiles, tile, first, min(tiles.size, first + DIRECT_TILE));
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
