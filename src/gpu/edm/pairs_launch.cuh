/* Which kernels take a job of pairwise S-maps, and how they are launched. */
#ifndef SYN_GPU_EDM_PAIRS_LAUNCH_CUH
#define SYN_GPU_EDM_PAIRS_LAUNCH_CUH

#include "gpu/base/device.cuh"
#include "gpu/edm/pairs_multiply.cuh"

#include <type_traits>

namespace gpu {

template <int N> using constant = std::integral_constant<int, N>;

/* Calls body with a constant: for how many features there are kernels, from `features`
   on, in fours. */
template <class F> void with_quads(uint32_t features, F body)
{
    if (features <= 8)
        body(constant<2>());
    else if (features <= 16)
        body(constant<4>());
    else if (features <= 24)
        body(constant<6>());
    else
        body(constant<8>());
}

/* The most tiles whose sums fit registers beside the features of predictions. */
inline constexpr int most_tiles(int quads)
{
    return quads <= 2 ? 13 : quads <= 6 ? 9 : 6;
}

/* The same for tiles, from `tiles` on. There are few kinds, as compilers take long. */
template <int QUADS, class F> void with_tiles(uint32_t tiles, F body)
{
    if (tiles <= 3)
        body(constant<3>());
    else if (tiles <= 6)
        body(constant<6>());
    else
        body(constant<most_tiles(QUADS)>());
}

template <class KERNEL>
void launch(KERNEL kernel, const pairs_job &job, dim3 grid, size_t shared,
            cudaStream_t stream)
{
    allow_shared(kernel, shared);
    kernel<<<grid, PAIR_THREADS, shared, stream>>>(job);
    check(cudaGetLastError());
}

/* Seconds for a pair of a prediction and a point, roughly, on a large device: of so many
   tiles of columns in so many groups. */
double seconds_of_pair(double tiles, double groups, uint32_t quads);

/* How columns are cut into groups of tiles, so that a block can hold them and the product
   takes the least time. */
void cut_columns(uint32_t columns, uint32_t features, size_t shared, uint32_t *tiles,
                 uint32_t *groups);

/* Fills in what a job has from its rows. */
void put_rows(const rows_shape &rows, pairs_job *job);

/* Decides which kernels make the normal equations of a job: of E coordinates, with so
   many columns of products. */
void choose_products(uint32_t E, uint32_t columns, size_t shared, pairs_job *job);

void launch_survey(const pairs_job &job, cudaStream_t stream);
void launch_products(const pairs_job &job, cudaStream_t stream);

}  // namespace gpu

#endif
