/* Jobs that are cut into shares, so that one parallel loop goes through the shares of all
   of them: those of job i are its items begin[i] .. begin[i + 1] - 1. */
#ifndef SYN_EDM_MODEL_SHARES_H
#define SYN_EDM_MODEL_SHARES_H

#include <stddef.h>
#include <stdint.h>

/* The job, of n, that has this share. Jobs without shares are passed over. */
static inline uint32_t syn_job_of_share(const uint32_t *begin, uint32_t n, size_t share)
{
    uint32_t low = 0, high = n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (begin[middle] <= share)
            low = middle;
        else
            high = middle;
    }
    return low;
}

#endif
