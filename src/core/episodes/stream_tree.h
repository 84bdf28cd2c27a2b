/* What a stream kept after an update, as arrays that stand by themselves: whoever has
   them can show the episodes later, when the stream has moved on. */
#ifndef SYN_EPISODES_STREAM_TREE_H
#define SYN_EPISODES_STREAM_TREE_H

#include "core/episodes/stream.h"

/* The episodes by their numbers in the stream. Another tree is needed only when episodes
   have come in or gone out; counts change with every update. */
typedef struct syn_stream_tree {
    uint32_t n;
    const int *size;      /* [n] 0: no episode has this number */
    const int *unit, *interval;
    const int *parent, *suffix;  /* numbers; 0 of single units, where nothing is read */
    const double *serial; /* [n] tells episodes apart that have the same number, one after
                             the other */
} syn_stream_tree;

enum { SYN_TREE_FIELDS = 5 };

/* Writes the tree of a stream: `field`, [SYN_TREE_FIELDS][n] in the order above from
   `size` on, and `serial`, both for syn_stream_ids() numbers. */
void syn_stream_write_tree(const syn_stream *stream, int *field, double *serial);

/* The tree whose arrays these are. */
syn_stream_tree syn_stream_tree_of(uint32_t n, const int *field, const double *serial);

/* A tree, the counts of its episodes, and the count from which on they are frequent. */
typedef struct syn_stream_shown {
    syn_stream_tree tree;
    const int *count;  /* [tree.n] */
    int min_count;
} syn_stream_shown;

static inline int syn_stream_is_shown(const syn_stream_shown *s, uint32_t id)
{
    return s->tree.size[id] > 0 && s->count[id] >= s->min_count;
}

/* Whether the numbers of a tree are those of units, intervals and smaller episodes, which
   are frequent where the larger one is. */
int syn_stream_shown_sound(const syn_stream_shown *shown, uint32_t units,
                           uint32_t intervals);

/* How many episodes are frequent, and what became of those of an update before. */
typedef struct syn_stream_tally {
    uint32_t shown, risen, fallen, come, gone;
} syn_stream_tally;

/* `before` may be NULL: then all have come. */
syn_stream_tally syn_stream_compare(const syn_stream_shown *before,
                                    const syn_stream_shown *now);

/* How many units and intervals there are, what of their names comes first, and the
   largest size that was searched for. */
typedef struct syn_stream_names {
    uint32_t units, intervals, max_size;
    const int *unit_rank, *interval_rank;  /* [units], [intervals] from 0 */
} syn_stream_names;

/* The frequent episodes as syn_mine_episodes() gives them. `id` gets their numbers in the stream, those of one level after those of another. The caller
   frees `out` with syn_episodes_free() and *id with free(), also after an error. */
syn_status syn_stream_episodes(const syn_stream_shown *shown,
                               const syn_stream_names *names, syn_episodes *out,
                               uint32_t **id);

/* The first `most` episodes of two or more events, of the `looks` that account for the
   most events, in the order of the table where it is the same: passing over those that
   share more than half of their units with earlier ones. Writes their numbers to `out`,
   [most]; how many in `n`. SYN_NO_MEMORY. */
syn_status syn_stream_strongest(const syn_stream_shown *shown,
                                const syn_stream_names *names, uint32_t most,
                                uint32_t looks, uint32_t *out, uint32_t *n);

#endif
