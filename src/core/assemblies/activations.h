/* When a group is active: moments at which more of its members fire in their windows than
   chance brings together. */
#ifndef SYN_ASSEMBLIES_ACTIVATIONS_H
#define SYN_ASSEMBLIES_ACTIVATIONS_H

#include "core/assemblies/groups.h"
#include "core/assemblies/locked.h"
#include "core/assemblies/pace.h"

/* One activation: the moment that lags are counted from. */
typedef struct syn_activation {
    int64_t tick;
    double score;  /* sum over members of how surprising their spikes there are */
} syn_activation;

/* The trains of a group's members, as they are or moved apart, and all moments at which a
   spike begins or ceases to speak for an activation. */
typedef struct syn_way {
    syn_train train[SYN_ASSEMBLY_MOST];
    int64_t *moved;         /* trains that were moved, one after the other */
    uint64_t *key, *other;
    const uint64_t *event;  /* [events] in the order of time: one of the two */
    size_t events, moved_room, key_room, other_room;
    int64_t origin;         /* ticks that times of events count from */
} syn_way;

/* What one thread finds. */
typedef struct syn_finder {
    syn_activation *found, *kept;  /* those that are kept: the highest score first */
    uint64_t *key, *other;
    double *null;                  /* scores of what was found in moved trains */
    size_t n, nulls, found_room, kept_room, key_room, other_room, null_room;
} syn_finder;

/* Where activations are looked for. */
typedef struct syn_detector {
    const syn_segments *segments;
    const syn_ladder *ladder;
    int64_t bin;
    int64_t step;        /* least ticks of the cells of the clock */
    syn_locked *locked;  /* NULL where responses to events are not known */
    int threads;
    syn_budget *budget;
    syn_pace pace;       /* set by the units that are no members */
    syn_assembly group;  /* the group that is laid out, */
    int64_t separation;  /* the least ticks between its activations, */
    syn_way *way;        /* [ways] and its members: as they are, then moved apart */
    size_t ways;
    syn_finder *finder;  /* [threads] */
} syn_detector;

/* More spikes of a member in its window are as many. */
enum { SYN_SURPRISE_SPIKES = 16 };

/* What numbers of spikes of each member of a group speak for an activation. */
typedef struct syn_surprise {
    double of[SYN_ASSEMBLY_MOST][SYN_SURPRISE_SPIKES];
} syn_surprise;

/* What was found at a threshold of the score. */
typedef struct syn_detected {
    const syn_activation *found;  /* [n] until the finder is used again */
    size_t n;
    double expected;   /* how many there are by chance */
    double threshold;
} syn_detected;

/* Gives a detector, whose fields up to `budget` are set, its memory:
   SYN_OVER_BUDGET, SYN_NO_MEMORY. */
syn_status syn_detector_make(syn_detector *detector);

/* Lays out a group: its members as they are, and moved apart in each of `moves` ways,
   around trials and by some of the widest windows, so that what rates do over longer
   times remains; or, where responses are known, by some events, so that they remain. All
   that follows is about this group. SYN_OVER_BUDGET, SYN_NO_MEMORY. */
syn_status syn_detector_lay(syn_detector *detector, const syn_assembly *group,
                            uint32_t moves);

/* What spikes speak for while no activation is known: how surprising they are. */
void syn_surprise_before(const syn_detector *detector, syn_surprise *out);

/* Finds activations with the scores that are known, and learns new scores from them: the
   log of how much more probable a number of spikes is at an activation than elsewhere.
   Activations that members have by chance are taken off: those of the first `moves` ways
   to move members apart. Few activations change nothing. SYN_OVER_BUDGET,
   SYN_NO_MEMORY. */
syn_status syn_surprise_learn(syn_detector *detector, uint32_t moves,
                              syn_surprise *surprise);

/* Lists activations without those of a member `but` (the group's size for none), and sets
   the threshold where the number of activations stands out most from the expected one.
   This is the mean number that reach it in the first `moves` ways to move members apart.
   It may be wrong by a share `unsure`. Threads may call it at once, each with its number.
   SYN_OVER_BUDGET, SYN_NO_MEMORY. */
syn_status syn_detect(const syn_detector *detector, int thread, uint32_t but,
                      const syn_surprise *surprise, uint32_t moves, double unsure,
                      syn_detected *out);

/* Lays out a group, lists its activations that reach a threshold that was set elsewhere,
   and says how many do when the members are moved apart in each of `moves` ways, which
   differ by more than those of syn_detector_lay(), so that a rank among them is a p
   value. */
syn_status syn_detect_at(syn_detector *detector, const syn_assembly *group,
                         const syn_surprise *surprise, double threshold, uint32_t moves,
                         uint32_t *moved, syn_detected *out, const syn_watch *watch);

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
