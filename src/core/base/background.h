/* Items that are worked on while the caller does other things. */
#ifndef SYN_BASE_BACKGROUND_H
#define SYN_BASE_BACKGROUND_H

#include "core/base/watch.h"

typedef struct syn_background syn_background;

/* One item, on one thread, while at most `together` items are worked on at a time. The
   watch stops it. An item that lacks memory, as SYN_OVER_BUDGET or SYN_NO_MEMORY says, is
   done again when all others are done, with `together` of 1. */
typedef syn_status syn_background_body(void *context, size_t item, int together,
                                       const syn_watch *watch);

/* Begins with the items on up to `threads` threads, which give way to the others of the
   process where the system knows how. Where it gives no thread, the items wait for
   syn_background_wait(). NULL without memory. `context` is the caller's, to be kept until
   syn_background_stop(). */
syn_background *syn_background_start(size_t items, int threads,
                                     syn_background_body *body, void *context);

/* Waits until all items are done, and does them itself where there are no threads. The
   first status other than SYN_OK that an item ended with; SYN_INTERRUPTED by the watch,
   after which the work goes on and can be waited for again. */
syn_status syn_background_wait(syn_background *work, const syn_watch *watch);

/* Whether the work was begun by this process: a process that was forked since has no part
   in it, and may only stop it. */
int syn_background_is_here(const syn_background *work);

/* Stops what is not done, and frees. NULL is allowed. */
void syn_background_stop(syn_background *work);

#endif
