/* The three walks of an update through the kept episodes: for events that came, for
   events that go, and for candidates that were not counted before. */
#ifndef SYN_EPISODES_STREAM_WALK_H
#define SYN_EPISODES_STREAM_WALK_H

#include "core/base/parallel.h"
#include "core/episodes/stream_kept.h"

/* Counts what ends at the events from `since` on, which were appended. */
syn_status syn_stream_walk_back(syn_stream *s, uint32_t since);

/* Counts no longer what starts before event `begin`, which is where the window will
   begin. */
syn_status syn_stream_walk_front(syn_stream *s, uint32_t begin);

/* Counts over the whole window what is not counted yet of the episodes of one size. */
syn_status syn_stream_walk_whole(syn_stream *s, size_t size);

/* What a walk will need is fetched so many steps ahead. */
enum { SYN_STREAM_AHEAD = 6 };

#if defined(__GNUC__)
#define SYN_STREAM_FETCH(address) __builtin_prefetch(address)
#else
#define SYN_STREAM_FETCH(address) ((void)0)
#endif

/* Polls the watch now and then. */
static inline syn_status syn_stream_look_up(syn_stream *s)
{
    double now = syn_seconds();
    if (now - s->polled < SYN_SLICE_SECONDS)
        return SYN_OK;
    s->polled = now;
    return syn_poll(s->watch, "stream", 0, 0);
}

#endif
