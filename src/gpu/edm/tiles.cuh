/* Points as the filter takes them: moved to the middle of the library, scaled, in single
   precision, 128 rows a tile. */
#ifndef SYN_GPU_EDM_TILES_CUH
#define SYN_GPU_EDM_TILES_CUH

#include "gpu/edm/near.cuh"
#include "gpu/edm/neighbours.cuh"

#include <cmath>

namespace gpu {

enum { TILE = 128 };

inline uint32_t tiles_of(uint32_t rows)
{
    return (rows + TILE - 1) / TILE;
}

/* How the coordinates of a library lie. */
struct axis_range {
    double low, high, sum;
    int32_t unit;   /* all are multiples of 2^unit */
};

/* Where the filter's coordinates come from: (x - centre[d]) * scale. */
struct filter_frame {
    const double *centre;  /* [dims] */
    double scale;          /* a power of two */
    double whole_most;     /* coordinates no larger, in whole numbers, have sums of
                              products without rounding; -1: coordinates are not whole */
};

/* Finds the middle of a library, and the scale in which nothing overflows or vanishes;
   whole numbers times a power of two become whole numbers. Owns what the frame points
   to. Waits for the stream. In neighbours.cu. */
class frame_maker {
    array<double> centre_;
    array<axis_range> ranges_;
public:
    filter_frame make(const placed_points &points, const placed_rows &library,
                      cudaStream_t stream);
};

/* Larger coordinates than this have squares beyond single precision, or nearly so. */
constexpr double FRAME_MOST = 1e15;

struct row_tiles {
    float *x;       /* [tiles][dims][TILE] */
    float *half;    /* [tiles][TILE] minus half the squared norm, for no row minus
                       infinity */
    double *norm;   /* [tiles][TILE] of predicted rows: its square, negative for a row
                       that the filter cannot take */
    uint32_t *whole;/* [tiles][TILE] of predicted rows: whether nothing is rounded */
};

/* The exponent of the last bit that a number has; a large one for 0. */
__device__ inline int32_t unit_of(double x)
{
    int64_t bits = __double_as_longlong(x) & 0x7fffffffffffffffll;
    if (bits == 0)
        return 2000;
    int32_t exponent = (int32_t) (bits >> 52);
    int64_t digits = (bits & 0xfffffffffffffll) | (exponent ? 1ll << 52 : 0);
    return (exponent ? exponent : 1) - 1075 + (__ffsll(digits) - 1);
}

enum { RANGE_THREADS = 1024, RANGE_BLOCKS = 16 };

/* Blocks of x: parts of the library; of y: coordinates. `out`: [dims][RANGE_BLOCKS]. */
static __global__ void find_ranges(placed_points points, placed_rows library,
                                   axis_range *out)
{
    __shared__ axis_range warps[RANGE_THREADS / WARP];
    for (uint32_t d = blockIdx.y; d < points.dims; d += gridDim.y) {
        const double *x = points.coordinate + (size_t) d * points.rows;
        axis_range mine = {1e308, -1e308, 0, 2000};
        for (uint32_t i = blockIdx.x * RANGE_THREADS + threadIdx.x; i < library.n;
             i += RANGE_BLOCKS * RANGE_THREADS) {
            double v = x[library.row[i]];
            if (!isfinite(v))
                continue;
            mine.low = fmin(mine.low, v);
            mine.high = fmax(mine.high, v);
            mine.sum += v;
            mine.unit = min(mine.unit, unit_of(v));
        }
        auto with = [&](const axis_range &o) {
            mine.low = fmin(mine.low, o.low);
            mine.high = fmax(mine.high, o.high);
            mine.sum += o.sum;
            mine.unit = min(mine.unit, o.unit);
        };
        for (int s = WARP / 2; s > 0; s /= 2)
            with({__shfl_xor_sync(WHOLE_WARP, mine.low, s),
                  __shfl_xor_sync(WHOLE_WARP, mine.high, s),
                  __shfl_xor_sync(WHOLE_WARP, mine.sum, s),
                  __shfl_xor_sync(WHOLE_WARP, mine.unit, s)});
        if (threadIdx.x % WARP == 0)
            warps[threadIdx.x / WARP] = mine;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (uint32_t w = 1; w < RANGE_THREADS / WARP; w++)
                with(warps[w]);
            out[(size_t) d * RANGE_BLOCKS + blockIdx.x] = mine;
        }
        __syncthreads();
    }
}

/* Fills tiles of library or predicted rows, a thread a row; `by_row` gets them in double
   precision, [rows][dims, made even], where it is not NULL. */
static __global__ void fill_tiles(placed_points points, placed_rows rows,
                                  filter_frame frame, row_tiles out, double *by_row)
{
    uint32_t i = blockIdx.x * TILE + threadIdx.x;
    bool there = i < rows.n;
    size_t tile = (size_t) blockIdx.x * points.dims * TILE;
    uint32_t row = there ? rows.row[i] : 0;
    double norm = 0, most = 0;
    bool whole = frame.whole_most >= 0;
    for (uint32_t d = 0; d < points.dims; d++) {
        double x = there ? points.coordinate[(size_t) d * points.rows + row] : 0;
        if (by_row && there)
            by_row[(size_t) i * ((points.dims + 1) & ~1u) + d] = x;
        double v = there ? (x - frame.centre[d]) * frame.scale : 0;
        float f = (float) v;
        most = isfinite(v) ? fmax(most, fabs(v)) : INFINITY;
        whole = whole && rint(v) == v;
        norm += (double) f * f;
        out.x[tile + d * TILE + threadIdx.x] = isfinite(v) ? f : 0;
    }
    bool use = there && most <= FRAME_MOST;
    if (out.half)
        out.half[i] = use ? (float) (-norm / 2) : -INFINITY;
    if (out.norm) {
        out.norm[i] = use ? norm : -1;
        out.whole[i] = whole && use && most <= frame.whole_most;
    }
}

/* The sorted places of each tile of a library, a block a tile. */
static __global__ void sort_tiles(placed_rows library, uint32_t *shuffled)
{
    __shared__ uint32_t place[TILE];
    uint32_t first = blockIdx.x * TILE;
    sort_places(library.row + first, min(library.n - first, (uint32_t) TILE), place,
                shuffled + first);
}

}  // namespace gpu

#endif
