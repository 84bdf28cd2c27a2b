/* The inner loops of sift.h, compiled once for each kind of processor. Numbers come in
   blocks of SYN_BLOCK. */
#ifndef SYN_EDM_NEIGHBOURS_SIFT_KIND_H
#define SYN_EDM_NEIGHBOURS_SIFT_KIND_H

#include <stddef.h>
#include <stdint.h>

/* What numbers up to a limit are there. */
typedef struct syn_split {
    uint32_t n;       /* how many */
    double largest;   /* the largest of them, 0 for none */
    double next;      /* the least of the others, INFINITY for none */
} syn_split;

typedef struct syn_sift_kind {
    /* Squared distances of a point to those of `blocks` blocks, `x`: [blocks][dims][64].
       The last bits of the rough ones differ from kind to kind. */
    void (*rough)(const float *point, uint32_t dims, const float *x, uint32_t blocks,
                  float *squared);
    void (*all)(const double *point, uint32_t dims, const double *x, uint32_t blocks,
                double *squared);

    /* The same of the points at `n` places alone. */
    void (*some)(const double *point, uint32_t dims, const double *x,
                 const uint32_t *place, uint32_t n, double *squared);

    /* A number that at least k, up to 64, do not exceed, and hardly more; INFINITY where
       that is not found. */
    float (*bound)(const float *x, uint32_t blocks, uint32_t k);

    /* Fill `place` with the places of numbers up to `limit`, in order, unless these are
       more than `most`. Return how many there are, or more than `most`. */
    uint32_t (*within_rough)(const float *x, uint32_t blocks, float limit, uint32_t most,
                             uint32_t *place);
    uint32_t (*within)(const double *x, uint32_t blocks, double limit, uint32_t most,
                       uint32_t *place);

    /* Splits numbers that are not negative. */
    syn_split (*split)(const double *x, uint32_t blocks, double limit);
} syn_sift_kind;

extern const syn_sift_kind syn_sift_kind_any, syn_sift_kind_256, syn_sift_kind_512;

/* The kind for syn_neighbour_options.vector_bits. */
const syn_sift_kind *syn_sift_fastest(int vector_bits);

#endif
