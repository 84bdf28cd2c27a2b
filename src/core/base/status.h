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

/* Takes a step that returns a status. A step that fails ends the function, which returns
   the status of that step. */
#define SYN_TRY(step)                                                                    \
    do {                                                                                 \
        syn_status syn_tried = (step);                                                   \
        if (syn_tried != SYN_OK)                                                         \
            return syn_tried;                                                            \
    } while (0)

/* Takes a step only where no step before it failed, for functions that clean up before
   they return: `status` keeps the status of the first step that fails. */
#define SYN_NEXT(status, step)                                                           \
    do {                                                                                 \
        if ((status) == SYN_OK)                                                          \
            (status) = (step);                                                           \
    } while (0)

#endif
