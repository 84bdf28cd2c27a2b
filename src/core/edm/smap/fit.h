/* The inner loops of S-maps, which reduce a weighted least squares problem to a small
   one. */
#ifndef SYN_EDM_SMAP_FIT_H
#define SYN_EDM_SMAP_FIT_H

#include "core/base/arrays.h"
#include "core/base/simd.h"

enum { SYN_SMAP_PARTS = 3, SYN_SMAP_PADDING = 8, SYN_SMAP_SIDE = 4 };

/* `n` made a multiple of `to`. */
static inline size_t syn_smap_padded(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* What one prediction is made from: points side by side, those of the neighbours and, in
   between, others. Neighbours are points begin[i] .. end[i] - 1 of each part, some of
   which may be empty. Arrays are readable to `stride`, which is at least SYN_SMAP_PADDING
   above the number of points. */
typedef struct syn_smap_near {
    uint32_t dims;
    size_t stride;
    const double *coordinate;  /* [dims][stride] */
    const double *target;      /* [stride] 0 where it is missing */
    const double *known;       /* [stride] 1, or 0 where the target is missing; NULL where
                                  none is */
    double *distance;          /* [stride] to the point of the prediction */
    uint32_t begin[SYN_SMAP_PARTS], end[SYN_SMAP_PARTS];
    uint32_t n;                /* neighbours whose target is known */
    double mean;               /* distance of all neighbours, */
    double least;              /* and the least one of those whose target is known */
} syn_smap_near;

/* What a worker uses for one prediction after the other. */
typedef struct syn_smap_space {
    double *weight;    /* [stride], the largest is 1 */
    double *block;     /* [unknowns + 1][block_stride] */
    double *triangle;  /* [unknowns][unknowns + 1] */
    double *factor;    /* [2][unknowns + 1] */
    size_t block_rows, block_stride, block_top;
} syn_smap_space;

/* Makes a space for points to `stride` in `dims` dimensions. */
syn_status syn_smap_space_make(syn_smap_space *space, size_t stride, uint32_t dims,
                               syn_arrays *memory);

/* Compiled once for each kind of processor. */
typedef struct syn_smap_kind {
    /* The distances of points `from` .. `from` + `n` - 1, and of fewer than
       SYN_SMAP_PADDING more, for `rows` predictions of the same library, best a multiple
       of SYN_SMAP_SIDE; `to`: [dims][rows] their points. */
    void (*measure)(const syn_smap_near *near, uint32_t rows, const double *to,
                    size_t from, size_t n);

    /* Fills `n`, `mean` and `least` from the parts. */
    void (*survey)(syn_smap_near *near);

    /* The weights w = exp(rate (least - distance)) of the neighbours, 0 where the target
       is missing, and the triangle R | c whose least squares problem R b = c is that of
       w (1, coordinates) b = w target, with `ridge` times the neighbours' sum of w^2
       times the sum of squares of all of b but its first added to the squares. */
    void (*reduce)(const syn_smap_near *near, double rate, double ridge,
                   syn_smap_space *space);

    /* The weighted mean square distance of the neighbours' targets from `value`. */
    double (*spread)(const syn_smap_near *near, const double *weight, double value);
} syn_smap_kind;

SYN_KIND_TABLES(syn_smap_kind, syn_smap_kind);

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
       `slope` are those of syn_smap_hat. `coordinate`: [dims][stride], less
       their centre. */
    void (*hat)(const double *coordinate, size_t stride, uint32_t dims,
                const double *value, const double *slope, double *square,
                double *strength);

    /* Adds to the lower half of `gram`, [dims + 1][dims + 1], the sums over these points
       of squared weight times u u', of syn_smap_turned. `room`: [dims + 1]
       [SYN_SMAP_POINTS]. */
    void (*turn)(const double *coordinate, size_t stride, uint32_t dims,
                 const double *inverse, const double *square, double *room, double *gram);
} syn_smap_product;

SYN_KIND_TABLES(syn_smap_product, syn_smap_product);

/* Of points `i` and those after it: 0 where the target is missing. */
SYN_INLINE syn_f64 syn_smap_weights(const syn_smap_near *near, double rate, size_t i)
{
    syn_f64 apart = syn_f64_all(near->least) - syn_f64_load(near->distance + i);
    /* Points that are no neighbours, or whose target is missing, may be nearer than the
       nearest. */
    syn_f64 x = syn_f64_min(syn_f64_all(rate) * apart, syn_f64_all(0));
    syn_f64 w = syn_f64_exp(x, 1);
    return near->known ? w * syn_f64_load(near->known + i) : w;
}

enum { SYN_SMAP_PANEL_WIDE = 2 * SYN_F64_LANES };  /* columns of a panel */

/* Copies the columns of point i, of n, to where its panels are; the last one may have
   half the width. */
SYN_INLINE void syn_smap_put_panels(const double *row, size_t columns, size_t n, size_t i,
                                    double *panel)
{
    size_t c = 0;
    for (; c + SYN_SMAP_PANEL_WIDE <= columns; c += SYN_SMAP_PANEL_WIDE) {
        double *to = panel + c * n + i * SYN_SMAP_PANEL_WIDE;
        syn_f64_store(to, syn_f64_load(row + c));
        syn_f64_store(to + SYN_F64_LANES, syn_f64_load(row + c + SYN_F64_LANES));
    }
    if (c < columns)
        syn_f64_store(panel + c * n + i * SYN_F64_LANES, syn_f64_load(row + c));
}

#endif
