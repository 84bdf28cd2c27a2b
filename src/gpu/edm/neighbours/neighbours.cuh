/* Nearest neighbours on a device: what syn_find_neighbours() and syn_simplex_sweep()
   need, from points that are in the device's memory already, to arrays that stay
   there. */
#pragma once

#include "gpu/base/device.cuh"
#include "gpu/edm/neighbours/near.cuh"

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

/* Rows that are used with up to `steps[i]` dimensions. */
struct placed_reach {
    placed_rows rows;
    const uint32_t *steps;
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

    /* Whether a library of so many rows is searched for k neighbours without looking at
       every pair of rows in double precision. */
    static bool filters(uint32_t library, uint32_t k);

    /* Prediction rows that take about a twentieth of a second together, and room that
       there is: callers that want to end soon when they are told to hand out so many at
       a time. */
    uint32_t batch(uint32_t k) const;

    /* The k nearest library rows of each row in `prediction`, in the order of
       core/edm/neighbours/neighbours.h; library rows at most `exclusion` rows away are
       left out. May wait for the stream. */
    void find(const placed_rows &prediction, uint32_t k, uint32_t exclusion,
              const placed_neighbours &out);
};

/* The same in 1 to E_max dimensions at once; `points` have a coordinate for each. */
class sweep_search {
    struct work;
    std::unique_ptr<work> work_;
public:
    /* Whether a library of so many rows is searched like this on a device. */
    static bool fits(uint32_t library, uint32_t dims, int device);

    sweep_search(const placed_points &points, const placed_reach &library,
                 cudaStream_t stream);
    ~sweep_search();

    uint32_t batch() const;

    /* The nearest E + 1 library rows of each prediction row with each E: out.found is
       [E_max][n], the others [E_max][n][E_max + 1]; none where a row does not reach E.
       Waits for the stream. */
    void find(const placed_reach &prediction, uint32_t exclusion,
              const placed_neighbours &out);
};

/* ---- every library row ---- */

/* State spaces, searched side by side. */
struct spaces {
    uint32_t n;
    const uint32_t *column;  /* [n][dims] which coordinates; NULL: the first of them */
    uint32_t dims;           /* coordinates of a space, */
    uint32_t more;           /* and of each next one so many more */
    const uint32_t *reach;   /* [library] rows are only in the first so many; or NULL */
    const uint32_t *reach_of;/* [prediction] likewise */
    uint32_t k, more_k;      /* neighbours, likewise */
};

struct exact_job {
    placed_points points;
    placed_rows library, prediction;
    spaces in;
    const uint32_t *which;  /* [prediction.n] which rows; NULL: all of them */
    const uint32_t *number; /* of prediction rows: their places in `out`; may be NULL */
    uint32_t exclusion;
    uint32_t k;             /* places of a row in `out` */
    placed_neighbours out;  /* [spaces][stride] */
    uint32_t stride;        /* at least the prediction rows */
    uint32_t room = 0;      /* of a list: a power of two, at least k + 2 * WARP */
    near_place *lists = nullptr;  /* [warps of the grid][room]; NULL: in shared memory */
};

/* The search of every library row, in one or many state spaces: for small libraries, for
   k too large for the filter, and for the few rows whose lists of candidates overflow
   there. Fills in `room` and `lists`, for which it may take memory. */
void search_all(exact_job job, array<near_place> *lists, cudaStream_t stream);

}  // namespace gpu
