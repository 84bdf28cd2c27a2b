/* Who counts for a stream in place of the core: something that holds the events of the
   window, the ends of the kept episodes and the counts of their candidates elsewhere. The
   stream keeps the episodes, and tells it what changes among them. */
#ifndef SYN_EPISODES_STREAM_DEVICE_H
#define SYN_EPISODES_STREAM_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/status.h"

struct syn_stream;

enum { SYN_STREAM_TEXT = 256 };  /* bytes of a reason */

/* All functions get `self`. What they count they write into the counts of the stream, as
   far as these may matter: those below what is kept may be left as they were. They set
   `fallen` and `risen` of the stream, and `changed` of an episode. */
typedef struct syn_stream_device {
    void *self;

    /* Counts what the events from `since` on, which are in the ring, bring, and no longer
       what starts before event `begin`; writes all counts that matter with `all`, else
       those that changed. */
    syn_status (*move)(void *self, struct syn_stream *s, uint32_t since, uint32_t begin,
                       int all);

    /* Counts over the whole window what is not counted yet of episodes of one size. */
    syn_status (*count)(void *self, struct syn_stream *s, size_t size);

    /* Numbers events lower by `by`. */
    syn_status (*renumber)(void *self, struct syn_stream *s, uint32_t by);

    /* Notes that `width` candidates move from place `from` to place `to` for all that
       have the suffix; that an episode's candidates or what they are have changed; and
       that it is kept no longer. Where there is no memory for that, the next count says
       so. */
    void (*moved)(void *self, const struct syn_stream *s, uint32_t suffix, uint32_t from,
                  uint32_t to, uint32_t width);
    void (*touched)(void *self, uint32_t id);
    void (*left)(void *self, uint32_t id);

    void (*close)(void *self);
    char reason[SYN_STREAM_TEXT];  /* after an error of the device, one plain clause */
} syn_stream_device;

#endif
