/* Nearest neighbours in 1 to E_max dimensions at once, on a device: what
   syn_simplex_sweep() needs. */
#ifndef SYN_GPU_EDM_SWEEP_CUH
#define SYN_GPU_EDM_SWEEP_CUH

#include "gpu/edm/neighbours.cuh"

namespace gpu {

/* Rows that are used with up to `steps[i]` dimensions, in the memory of a device. */
struct placed_reach {
    placed_rows rows;
    const uint32_t *steps;
};

/* A library on the device that is current. `points`, a coordinate for each dimension, and
   `library` must outlive it. */
class sweep_search {
    struct work;
    std::unique_ptr<work> work_;
public:
    /* Whether a library of so many rows is searched like this on a device. */
    static bool fits(uint32_t library, uint32_t dims, int device);

    sweep_search(const placed_points &points, const placed_reach &library,
                 cudaStream_t stream);
    ~sweep_search();
    sweep_search(const sweep_search &) = delete;
    sweep_search &operator=(const sweep_search &) = delete;

    /* Prediction rows to hand out together, as neighbour_search::batch(). */
    uint32_t batch() const;

    /* The nearest E + 1 library rows of each prediction row with each E: out.found is
       [E_max][n], the others [E_max][n][E_max + 1]; none where a row does not reach E.
       Waits for the stream. */
    void find(const placed_reach &prediction, uint32_t exclusion,
              const placed_neighbours &out);
};

}  // namespace gpu

#endif
