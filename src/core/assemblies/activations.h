/* When a group is active: moments at which more of its members fire in their windows than
   chance brings together. */
#ifndef SYN_ASSEMBLIES_ACTIVATIONS_H
#define SYN_ASSEMBLIES_ACTIVATIONS_H

#include "core/assemblies/groups.h"
#include "core/assemblies/locked.h"
#include "core/assemblies/segments.h"

/* Trials are cut into cells of equal lengths, each with one speed of the clock. */
typedef struct syn_pace {
    const syn_segments *segments;
    int64_t cell;      /* ticks of a cell, about */
    size_t cells;
    uint32_t *spikes;  /* [cells] of all units */
    uint32_t *others;  /* [cells] of those that it goes by */
    double *shown;     /* [cells + trials] what it shows, in cells from 0 in each trial,
                          where a cell begins and where the trial ends */
    size_t spikes_room, others_room, shown_room;
    syn_budget *budget;
} syn_pace;

/* One activation: the moment that lags are counted from. */
typedef struct syn_activation {
    int64_t tick;
    double score;  /* sum over members of how surprising their spikes there are */
} syn_activation;

/* Where activations are looked for, and memory that is used again. */
typedef struct syn_detector {
    const syn_segments *segments;
    const syn_ladder *ladder;
    int64_t bin;
    int64_t step;            /* least ticks of the cells of the clock */
    syn_locked *locked;  /* NULL where responses to events are not known */
    syn_pace pace;          /* set by the units that are no members */
    syn_activation *found;   /* the highest score first */
    size_t n, room;
    uint64_t *key, *other;
    size_t key_room, other_room;
    syn_activation *kept;
    size_t kept_room;
    int64_t *moved;          /* trains that were moved, one after the other */
    size_t moved_room;
    double *null;            /* scores of what was found in moved trains */
    size_t nulls, null_room;
    struct syn_detector *worker;  /* [threads] which look through moved trains */
    int threads;
    syn_budget *budget;
} syn_detector;

/* More spikes of a member in its window are as many. */
enum { SYN_SURPRISE_SPIKES = 16 };

/* What numbers of spikes of each member of a group speak for an activation. */
typedef struct syn_surprise {
    double of[SYN_ASSEMBLY_MOST][SYN_SURPRISE_SPIKES];
} syn_surprise;

/* What was found at a threshold of the score. */
typedef struct syn_detected {
    size_t n;          /* the first n of `found` reach it */
    double expected;   /* how many do by chance */
    double threshold;
} syn_detected;

/* Gives a detector whose other fields are set its workers. The caller frees, also after
   an error: SYN_OVER_BUDGET, SYN_NO_MEMORY. */
syn_status syn_detector_make(syn_detector *detector);
void syn_detector_free(syn_detector *detector);

/* What spikes speak for while no activation is known: how surprising they are. */
void syn_surprise_before(const syn_detector *detector, const syn_assembly *group,
                         syn_surprise *out);

/* Finds activations with what is known, learns from them how many spikes members have
   there, less what they have where the members are moved apart, and so what spikes speak
   for: the log of how much more probable a number of them is at an activation than
   elsewhere. Nothing is learnt from few. */
syn_status syn_surprise_learn(syn_detector *detector, const syn_assembly *group,
                              uint32_t moves, syn_surprise *surprise);

/* Lists activations of a group, without those of a member `but` (its size for none), and
   sets the threshold where the number of activations stands out most from the expected
   one. This is the mean number that reach it when the members are moved apart, in each of
   `moves` ways, around trials and by some of the widest windows, so that what rates do
   over longer times remains; or, where responses are known, by some events, so that they
   remain. It may be wrong by a share `unsure`. SYN_OVER_BUDGET, SYN_NO_MEMORY. */
syn_status syn_detect(syn_detector *detector, const syn_assembly *group, uint32_t but,
                      const syn_surprise *surprise, uint32_t moves, double unsure,
                      syn_detected *out);

/* Lists activations of a group that reach a threshold that was set elsewhere, and says
   how many do when the members are moved apart in each of `moves` ways, which differ by
   more than those of syn_detect(), so that a rank among them is a p value. */
syn_status syn_detect_at(syn_detector *detector, const syn_assembly *group,
                         const syn_surprise *surprise, double threshold, uint32_t moves,
                         uint32_t *moved, size_t *n, const syn_watch *watch);

/* Spikes of a member in its window at an activation. */
uint32_t syn_window_spikes(const syn_detector *detector, syn_member member, int64_t tick);

/* First tick of a member's window, from an activation on, and its length. */
static inline int64_t syn_window_start(const syn_ladder *l, int64_t bin, syn_member m)
{
    int64_t low = 2 * ((int64_t)m.lag - (int64_t)l->half[m.rung]) - 1;
    return low * bin / 2;
}

static inline int64_t syn_window_length(const syn_ladder *l, int64_t bin, syn_member m)
{
    return bin * syn_ladder_width(l, m.rung);
}

#endif
