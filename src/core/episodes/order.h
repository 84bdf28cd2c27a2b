/* The order in which episodes are shown: by size, then from frequent to rare, then by
   name. */
#ifndef SYN_EPISODES_ORDER_H
#define SYN_EPISODES_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "core/episodes/mine.h"

/* order[k][i] is the i-th episode of level k to be shown. Names compare unit by unit and
   interval by interval, each by its rank among all. Polls `watch` once a level.
   The caller frees `order` and its episodes->n_levels parts with
   syn_episodes_order_free(), also after an error. */
syn_status syn_episodes_order(const syn_episodes *episodes, const uint32_t *unit_rank,
                              const uint32_t *interval_rank, const syn_watch *watch,
                              uint32_t ***order);

void syn_episodes_order_free(const syn_episodes *episodes, uint32_t **order);

#endif
