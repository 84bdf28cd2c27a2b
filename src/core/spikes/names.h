/* Names that are met again and again, such as those of units: each gets a number. */
#ifndef SYN_SPIKES_NAMES_H
#define SYN_SPIKES_NAMES_H

#include <stddef.h>
#include <stdint.h>

typedef struct syn_name {
    const char *text;
    size_t length;
} syn_name;

/* The distinct names so far, `n` of them, in the order in which they came. The memory is
   the caller's: `name` has room for all that will come, and `slot` for twice as many, a
   power of two, all 0 at first. Texts are not copied. */
typedef struct syn_names {
    syn_name *name;
    uint32_t *slot;
    size_t slots, n;
} syn_names;

/* How many slots `most` names need. */
size_t syn_names_slots(size_t most);

/* The number of a name, counted from 1; a new one if it was not there. */
uint32_t syn_names_add(syn_names *names, const char *text, size_t length);

#endif
