/* The inner loops of many S-map models at a time: squared weights of the library, a row
   for each prediction, times products of the library's coordinates. */
#ifndef SYN_EDM_SMAP_PRODUCT_H
#define SYN_EDM_SMAP_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/kinds.h"
#include "core/edm/smap/near.h"

enum {
    SYN_SMAP_ROWS = 12,     /* predictions come in multiples of these, */
    SYN_SMAP_PRODUCTS = 8,  /* products in multiples of these, */
    SYN_SMAP_COLUMNS = 16,  /* targets in multiples of these, */
    SYN_SMAP_POINTS = 128,  /* and so many points of the library are taken at a time */
    SYN_SMAP_PITCH = SYN_SMAP_POINTS + 8, /* doubles from one row of weights to another */
    SYN_SMAP_SPARE = 4      /* rows of products, room for those in the making */
};

/* What is multiplied: 1, the coordinates and the target of each point of the library, the
   terms, any two of them. Products of the first term come first, with itself and all
   after it; then those of the second, with itself and all after it. */
typedef struct syn_smap_terms {
    uint32_t n;           /* dims + 2 */
    size_t pitch;         /* n, made a multiple of SYN_SMAP_PADDING */
    size_t products;      /* n (n + 1) / 2, made a multiple of SYN_SMAP_PRODUCTS */
    const double *value;  /* [points][pitch], and SYN_SMAP_PADDING more */
} syn_smap_terms;

/* The products of `terms` of them, padded. */
static inline size_t syn_smap_products(uint32_t terms)
{
    return syn_smap_padded((size_t)terms * (terms + 1) / 2, SYN_SMAP_PRODUCTS);
}

/* Compiled once for each kind of processor. */
typedef struct syn_smap_product {
    /* The weights of points `from` .. `from` + `n` - 1 as of syn_smap_kind, 0 for those
       that are not neighbours, and their squares; `n` up to SYN_SMAP_POINTS. Fills
       SYN_SMAP_POINTS of both. */
    void (*weigh)(const syn_smap_near *near, double rate, size_t from, size_t n,
                  double *weight, double *square);

    /* Adds the sums of `n` weights, of weights times target less `centre`, and of weights
       times the square of that to `sum`, [3][SYN_SMAP_PADDING]: each is the sum of the
       numbers side by side there. Weights are 0 up to SYN_SMAP_PADDING after them. */
    void (*spread)(const double *weight, const double *target, size_t n, double centre,
                   double *sum);

    /* Adds the sums over these points of squared weight times products to `sum`
       ([rows][products]). `square`: [rows][SYN_SMAP_PITCH], with `rows` a multiple of
       SYN_SMAP_ROWS. `panel`: room for SYN_SMAP_POINTS + SYN_SMAP_SPARE times all
       products. */
    void (*multiply)(const syn_smap_terms *terms, size_t from, size_t n,
                     const double *square, uint32_t rows, double *panel, double *sum);

    /* The same with columns that are panels already, `columns` of them: a multiple of
       SYN_SMAP_PRODUCTS. `panel`: [columns / wide][SYN_SMAP_POINTS][wide], and after
       these [SYN_SMAP_POINTS][wide / 2] if as many columns are left. */
    void (*add)(const double *panel, size_t columns, const double *square, uint32_t rows,
                double *sum);
    size_t wide;

    /* Makes of the squared weights of SYN_SMAP_POINTS points what each target adds to a
       prediction, and adds to `strength` what it adds to its coefficient; `value` and
       `slope` are those of syn_smap_normal_hat(). `coordinate`: [dims][stride], less
       their centre. */
    void (*hat)(const double *coordinate, size_t stride, uint32_t dims,
                const double *value, const double *slope, double *square,
                double *strength);

    /* Adds to the lower half of `gram`, [dims + 1][dims + 1], the sums over these points
       of squared weight times u u', of syn_smap_normal_turn(). `room`: [dims + 1]
       [SYN_SMAP_POINTS]. */
    void (*turn)(const double *coordinate, size_t stride, uint32_t dims,
                 const double *inverse, const double *square, double *room, double *gram);
} syn_smap_product;

SYN_KIND_TABLES(syn_smap_product, syn_smap_product);

#endif
