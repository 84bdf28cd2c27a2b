/* Nearest neighbours on a device: what syn_find_neighbours() finds, from points that are
   in the device's memory already, to arrays that stay there. */
#ifndef SYN_GPU_EDM_NEIGHBOURS_CUH
#define SYN_GPU_EDM_NEIGHBOURS_CUH

#include "gpu/base/device.cuh"

#include <cstdint>
#include <memory>

namespace gpu {

/* syn_points in the memory of a device. */
struct placed_points {
    uint32_t rows, dims;
    const double *coordinate;  /* [dims][rows] */
};

/* syn_rows in the memory of a device: rows of the data, increasing. */
struct placed_rows {
    uint32_t n;
    const uint32_t *row;
};

/* syn_neighbours in the memory of a device. What is after the last that was found is
   anything. */
struct placed_neighbours {
    uint32_t *found;   /* [n] */
    uint32_t *row;     /* [n][k] rows of the data */
    double *distance;  /* [n][k] Euclidean */
};

/* A library on the device that is current, ready to be searched. `points` and `library`
   must outlive it. Everything is done in the order of `stream`; errors are thrown. */
class neighbour_search {
    struct work;
    std::unique_ptr<work> work_;
public:
    neighbour_search(const placed_points &points, const placed_rows &library,
                     cudaStream_t stream);
    ~neighbour_search();
    neighbour_search(const neighbour_search &) = delete;
    neighbour_search &operator=(const neighbour_search &) = delete;

    /* Whether a library of so many rows is searched for k neighbours without looking at
       every pair of rows in double precision. */
    static bool filters(uint32_t library, uint32_t k);

    /* Prediction rows that take about a twentieth of a second together, and room that
       there is: callers that want to end soon when they are told to hand out so many at
       a time. */
    uint32_t batch(uint32_t k) const;

    /* The k nearest library rows of each row in `prediction`, in the order of
       core/edm/edm.h; library rows at most `exclusion` rows away are left out. May wait
       for the stream. */
    void find(const placed_rows &prediction, uint32_t k, uint32_t exclusion,
              const placed_neighbours &out);
};

}  // namespace gpu

#endif
