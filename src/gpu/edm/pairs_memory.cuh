/* Device memory of a batch: what pairwise S-maps and conditional forecasts have in
   common. */
#ifndef SYN_GPU_EDM_PAIRS_MEMORY_CUH
#define SYN_GPU_EDM_PAIRS_MEMORY_CUH

#include "gpu/base/device.cuh"
#include "gpu/edm/pairs_types.cuh"

namespace gpu {

/* Gives an array room for n elements, and returns where they are. */
template <class T> T *put(array<T> &memory, size_t n)
{
    memory.ensure(n);
    return memory.get();
}

/* The arrays of a pairs_job that the kernels of gpu/edm/pairs_launch.cuh use. */
struct pairs_memory {
    array<double> feature, square, part, products, sums;
    array<uint32_t> before;
    array<pair_library> library;
    array<pair_fall> falls;
    array<unsigned char> state;

    /* Memory for the libraries of a job, with the sums of so many rows of each. */
    void place(pairs_job *job, size_t rows)
    {
        size_t n = job->libraries, padded = job->padded;
        size_t columns = product_columns(*job);
        job->feature = put(feature, n * padded * 4 * job->quads);
        job->square = put(square, n * padded);
        job->part = put(part, n * padded);
        job->before = put(before, n * (padded + 1));
        job->library = put(library, n);
        job->falls = put(falls, n * padded);
        job->state = put(state, n * padded);
        job->products = put(products, n * columns * padded);
        job->sums = put(sums, n * columns * rows);
    }
};

/* Bytes that all this takes for one library, about. */
inline double bytes_of_pairs(const pairs_job &job, double rows)
{
    double columns = product_columns(job);
    return 8.0 * (job.padded * (columns + 4 * job.quads + 6) + rows * columns);
}

}  // namespace gpu

#endif
