/* From here to the end of a file, no product is fused with a sum. A processor that has an
   instruction for both rounds once less, and gives other bits than the others. */
#ifndef SYN_BASE_UNFUSED_H
#define SYN_BASE_UNFUSED_H

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#endif
