/* How a computation reports its progress, and learns that the user wants it to stop. */
#ifndef SYN_BASE_WATCH_H
#define SYN_BASE_WATCH_H

#include <stddef.h>

#include "core/base/status.h"

/* `poll` is called on the calling thread only, never inside a parallel region, at least
   every 100 ms: `done` of `total` steps of the stage called `stage` are finished. It
   returns non-zero to stop the work. A watch of NULL is never polled. */
typedef struct syn_watch {
    int (*poll)(void *data, const char *stage, double done, double total);
    void *data;
} syn_watch;

static inline syn_status syn_poll(const syn_watch *watch, const char *stage, double done,
                                  double total)
{
    if (watch == NULL || !watch->poll(watch->data, stage, done, total))
        return SYN_OK;
    return SYN_INTERRUPTED;
}

#endif
