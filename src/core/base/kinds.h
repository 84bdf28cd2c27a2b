/* Kinds of processors, and how a kernel is compiled for each of them.

   A kernel is a file of inner loops that ends with a table of functions named
   SYN_KIND_NAME(subject). Compiled by itself it is for any processor; the files of
   core/kinds include it once more for processors with wider registers. */
#ifndef SYN_BASE_KINDS_H
#define SYN_BASE_KINDS_H

/* GCC for 64-bit Windows does not align wide registers in memory (bug 54412). */
#if defined(__x86_64__) && defined(__GNUC__) && (defined(__clang__) || !defined(_WIN64))
#define SYN_WIDE_KINDS 1
#else
#define SYN_WIDE_KINDS 0
#endif

typedef enum syn_kind {
    SYN_KIND_ANY,
    SYN_KIND_256,    /* x86-64 with AVX2, FMA, BMI, BMI2 and POPCNT */
    SYN_KIND_512,    /* and with AVX-512 F, BW, DQ and VL */
    SYN_KIND_COUNTS  /* and with VPOPCNTDQ, which counts bits */
} syn_kind;

/* The best kind that this processor is, with registers of at most `vector_bits` bits; of
   any width with 0. */
syn_kind syn_kind_here(int vector_bits);

/* A kernel's tables in the order of the kinds. */
#if SYN_WIDE_KINDS
#define SYN_KINDS(any, wide256, wide512, counts) {any, wide256, wide512, counts}
#else
#define SYN_KINDS(any, wide256, wide512, counts) {any, any, any, any}
#endif

/* Defines name_fastest(), which gives one of the things name_any, name_256 and name_512:
   that for the widest registers of at most `vector_bits` bits that this processor has; of
   any width with 0. */
#define SYN_FASTEST(type, name)                                                          \
    type *name##_fastest(int vector_bits)                                                \
    {                                                                                    \
        type *kinds[] = SYN_KINDS(&name##_any, &name##_256, &name##_512, &name##_512);   \
        return kinds[syn_kind_here(vector_bits)];                                        \
    }

/* What a file is compiled for: bits of the registers, 0 for any; and whether they count
   bits. The files of core/kinds define these. */
#ifndef SYN_WIDTH
#define SYN_WIDTH 0
#endif
#ifndef SYN_COUNTS
#define SYN_COUNTS 0
#endif

#if SYN_WIDTH == 512
#define SYN_KIND_NAME(subject) subject##_512
#elif SYN_WIDTH == 256
#define SYN_KIND_NAME(subject) subject##_256
#else
#define SYN_KIND_NAME(subject) subject##_any
#endif

/* Declares the tables of a kernel, and subject_fastest(), which gives that for this
   processor with registers of at most `vector_bits` bits; of any width with 0. */
#define SYN_KIND_TABLES(type, subject)                                                   \
    extern const type subject##_any, subject##_256, subject##_512;                       \
    const type *subject##_fastest(int vector_bits)

/* SYN_KIND_TABLE(type, subject) = {...} defines the table of the kind that a file is
   compiled for; the file for any processor defines subject_fastest() as well. */
#if SYN_WIDTH == 0
#define SYN_KIND_TABLE(type, subject)                                                    \
    const type *subject##_fastest(int vector_bits)                                       \
    {                                                                                    \
        const type *kinds[] =                                                            \
            SYN_KINDS(&subject##_any, &subject##_256, &subject##_512, &subject##_512);   \
        return kinds[syn_kind_here(vector_bits)];                                        \
    }                                                                                    \
    const type SYN_KIND_NAME(subject)
#else
#define SYN_KIND_TABLE(type, subject) const type SYN_KIND_NAME(subject)
#endif

#define SYN_PRAGMA(text) _Pragma(#text)

/* Tells the compiler that the steps of a loop may be taken several at a time. `how` may
   be empty. */
#ifdef _OPENMP
#define SYN_SIMD(how) SYN_PRAGMA(omp simd how)
#else
#define SYN_SIMD(how)
#endif

/* Around what is compiled for processors that have more than every one has. */
#if defined(__clang__)
#define SYN_TARGET_BEGIN(has)                                                            \
    SYN_PRAGMA(clang attribute push(__attribute__((target(has))), apply_to = function))
#define SYN_TARGET_END SYN_PRAGMA(clang attribute pop)
#else
#define SYN_TARGET_BEGIN(has) SYN_PRAGMA(GCC push_options) SYN_PRAGMA(GCC target(has))
#define SYN_TARGET_END SYN_PRAGMA(GCC pop_options)
#endif

#endif
