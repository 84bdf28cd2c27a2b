/* Kinds of processors, and what vectors do that C has no operator for. */
#include "core/base/simd.h"

#include "check.h"

static void check_kinds(void)
{
    CHECK(syn_kind_here(1) == SYN_KIND_ANY);
    CHECK(syn_kind_here(256) <= SYN_KIND_256);
    CHECK(syn_kind_here(0) == syn_kind_here(512));
}

/* The largest error of exp(x), as a share of it, for many x from `least` to 0. */
static double worst_exp(double least, int floats, int fused)
{
    double worst = 0;
    for (int i = 0; i <= 100000; i++) {
        double x = floats ? (float)(least * i / 100000) : least * i / 100000;
        double found = floats ? syn_f32_exp(syn_f32_all((float)x))[1]
                              : syn_f64_exp(syn_f64_all(x), fused)[1];
        worst = fmax(worst, fabs(found / exp(x) - 1));
    }
    return worst;
}

static void check_exp(void)
{
    CHECK(worst_exp(-708, 0, 0) < 4.5e-16);
    CHECK(worst_exp(-708, 0, 1) < 4.5e-16);
    CHECK(worst_exp(-87, 1, 0) < 2e-7);
    CHECK(syn_f64_exp(syn_f64_all(0), 0)[0] == 1);
    CHECK(syn_f64_exp(syn_f64_all(-1e9), 0)[0] == syn_f64_exp(syn_f64_all(-708), 0)[0]);
    CHECK(isnan(syn_f64_exp(syn_f64_all(NAN), 0)[0]));
    CHECK(syn_f32_exp(syn_f32_all(0))[0] == 1);
    CHECK(syn_f32_exp(syn_f32_all(-88))[0] == 0);
}

/* The second of two numbers where they cannot be compared, as the header says. */
static void check_nan(void)
{
    syn_f64 nan = syn_f64_all(NAN), one = syn_f64_all(1);
    CHECK(isnan(syn_f64_max(one, nan)[0]) && syn_f64_max(nan, one)[1] == 1);
    CHECK(isnan(syn_f64_min(one, nan)[1]) && syn_f64_min(nan, one)[0] == 1);
    CHECK(syn_f64_within(one, nan) == 0 && syn_f64_within(one, one) == 3);
}

static void check_packing(void)
{
    const float x[] = {4, 1, 3, 2}, limit = 3;
    const uint32_t number[] = {7, 8, 9, 10};
    float packed[4];
    uint32_t numbers[4];
    syn_flags in = syn_f32_within(syn_f32_load(x), syn_f32_all(limit));
    CHECK(syn_flag_bits(in) == 14 && syn_how_many(in) == 3);
    CHECK(syn_f32_pack(in, syn_f32_load(x), number, packed, numbers) == 3);
    CHECK(packed[0] == 1 && packed[1] == 3 && packed[2] == 2);
    CHECK(numbers[0] == 8 && numbers[1] == 9 && numbers[2] == 10);
    CHECK(syn_f32_least(syn_f32_load(x)) == 1);
}

void test_simd(void)
{
    check_kinds();
    check_exp();
    check_nan();
    check_packing();
}
