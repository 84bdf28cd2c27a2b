/* Frequent episodes of a window that moves on over a recording as it grows. An update
   takes the events that came and the tick after which the window begins, and counts
   again only what can have changed: its work is that of the events that come and go.

   How (vignettes/definitions.Rmd has the proof). The greedy rule goes through the
   ends of an episode in the order of time, and all that it has to remember is the last
   end that it counted. So events that come are counted by going on from where the rule
   stood. For events that go, the rule is run twice from the front on, from the old
   beginning of the window and from the new one, until both stand at the same end: from
   there on they are the same, and the difference up to there is what the count loses.
   Episodes that may have become frequent, and were not counted before, are counted over
   the whole window once. */
#ifndef SYN_EPISODES_STREAM_H
#define SYN_EPISODES_STREAM_H

#include "core/episodes/mine.h"

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

typedef struct syn_stream syn_stream;

typedef struct syn_stream_options {
    const syn_interval *intervals;
    uint32_t n_intervals;
    uint32_t units;       /* the units that may come: numbers below this */
    uint32_t max_size;
    int distinct_units;
    double events;        /* in the window, about, and how many of them follow one */
    double occupancy;     /* within the widest interval: for the way of counting alone */
    size_t max_memory;    /* bytes that the stream may hold */
    const syn_stream_device *device;  /* that counts, or NULL for the core; it is the
                                         stream's from then on */
} syn_stream_options;

/* An empty window. NULL without memory. The caller frees with syn_stream_free(). */
syn_stream *syn_stream_open(const syn_stream_options *options);

void syn_stream_free(syn_stream *stream);

/* Events that came, sorted by tick, from the last tick there was on, no unit twice on a
   tick. */
typedef struct syn_stream_block {
    size_t n;
    const double *tick;  /* [n] whole numbers */
    const int *unit;     /* [n] from 1 */
} syn_stream_block;

/* Moves the window on: appends a block, drops the events up to and including tick `cut`,
   and finds what occurs at least `min_count` times. After any status but SYN_OK the
   stream can only be freed: SYN_OVER_BUDGET and SYN_NO_MEMORY, SYN_INTERRUPTED by the
   watch, SYN_TOO_LARGE from 2^28 events in the window. */
syn_status syn_stream_update(syn_stream *stream, const syn_stream_block *block,
                             int64_t cut, uint32_t min_count, const syn_watch *watch);

/* Episodes have numbers, all below this one; stream_tree.h tells what they stand for. */
uint32_t syn_stream_ids(const syn_stream *stream);

/* This version changes whenever an episode gets a different number. */
uint64_t syn_stream_version(const syn_stream *stream);

/* Returns the count of each number, and 0 for a number without an episode. Counts below
   min_count are included. The array is valid until the next update. */
const uint32_t *syn_stream_counts(const syn_stream *stream);

/* Why a device failed, in one plain clause; empty where none did. */
const char *syn_stream_reason(const syn_stream *stream);

/* What the stream has done and holds. */
typedef struct syn_stream_report {
    size_t events;      /* in the window */
    size_t kept;        /* episodes whose extensions are counted */
    size_t candidates;  /* episodes that are counted */
    size_t anew;        /* of these, how many were counted over the whole window so far */
    size_t held, most;  /* bytes now, and at most so far */
} syn_stream_report;

syn_stream_report syn_stream_about(const syn_stream *stream);

#endif
