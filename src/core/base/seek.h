/* The first place in something sorted that is not before what is looked for. Macros, as
   host and device look through arrays of many kinds, and none of it may cost a call. */
#ifndef SYN_BASE_SEEK_H
#define SYN_BASE_SEEK_H

#include <stdint.h>

/* Moves the variable `low` on to the first place below `high` that `before` does not hold
   for, or to `high`, which is not less than `low`. `before` is an expression in `at`, a
   place, whose name and type are given; it holds for the places up to some one, and for
   none after that. */
#define SYN_SEEK(type, at, low, high, before)                                            \
    do {                                                                                 \
        for (type syn_end = (high); (low) < syn_end;) {                                  \
            type at = (low) + (syn_end - (low)) / 2;                                     \
            if (before)                                                                  \
                (low) = at + 1;                                                          \
            else                                                                         \
                syn_end = at;                                                            \
        }                                                                                \
    } while (0)

/* The same where the place wanted is near `low` as a rule: in steps that double, until
   one is too far. */
#define SYN_SEEK_NEAR(type, at, low, high, before)                                       \
    do {                                                                                 \
        type syn_most = (high);                                                          \
        for (type syn_step = 1; syn_most - (low) >= syn_step; syn_step *= 2) {           \
            type at = (low) + (syn_step - 1);                                            \
            if (!(before)) {                                                             \
                syn_most = at;                                                           \
                break;                                                                   \
            }                                                                            \
            (low) += syn_step;                                                           \
        }                                                                                \
        SYN_SEEK(type, at, low, syn_most, before);                                       \
    } while (0)

#endif
