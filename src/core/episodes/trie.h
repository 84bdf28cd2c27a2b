/* A tree of episodes: episodes that begin with the same events share the nodes of these.
   */
#ifndef SYN_EPISODES_TRIE_H
#define SYN_EPISODES_TRIE_H

#include <stddef.h>
#include <stdint.h>

#include "core/episodes/occurrences.h"
#include "core/base/status.h"

/* A node is a prefix of an episode. Nodes are numbered so that a node comes before its
   children, and all below a node lie side by side. The children of a node are sorted by
   interval, then unit. An interval is two bounds: a lag is more than bound[open] and at
   most bound[shut]. */
typedef struct syn_trie {
    uint32_t nodes, roots, bounds;
    uint32_t depth;       /* events of the longest episode */
    int64_t *bound;       /* [bounds] ticks, increasing */
    uint32_t *unit;       /* [nodes] last unit */
    uint32_t *level;      /* [nodes] events but one */
    uint32_t *open;       /* [nodes] bounds of the last lag; of roots 0 */
    uint32_t *shut;       /* [nodes] */
    uint32_t *after;      /* [nodes] the first node that is not below it */
    uint32_t *child;      /* [nodes + 1] where the children of a node begin in `of` */
    uint32_t *of;         /* [nodes - roots] nodes by parent */
    uint32_t *root;       /* [roots] increasing */
    uint32_t *node;       /* [episodes] the node of each episode */
} syn_trie;

/* The tree of `n` episodes, in any order, repeats allowed. The caller frees `out` with
   syn_trie_free(), also after an error. SYN_TOO_LARGE from 2^31 - 1 nodes. */
syn_status syn_trie_make(const syn_episode *episode, size_t n, syn_trie *out);

void syn_trie_free(syn_trie *trie);

#endif
