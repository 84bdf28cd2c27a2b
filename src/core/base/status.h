/* What every core function that can fail returns. */
#ifndef SYN_BASE_STATUS_H
#define SYN_BASE_STATUS_H

typedef enum syn_status {
    SYN_OK = 0,
    SYN_INTERRUPTED,   /* the watch asked to stop; everything allocated is freed */
    SYN_NO_MEMORY,     /* malloc failed */
    SYN_OVER_BUDGET,   /* would need more than the options' max_memory */
    SYN_TOO_LARGE,     /* the input is beyond a documented limit */
    SYN_NO_DEVICE,     /* there is no such GPU, or it failed */
    SYN_UNFINISHED     /* a step of a parallel loop wants to go on after the next poll */
} syn_status;

#endif
