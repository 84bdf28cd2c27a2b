/* The episodes of a table in which no unit comes twice. */
#ifndef SYN_EPISODES_DISTINCT_H
#define SYN_EPISODES_DISTINCT_H

#include "core/episodes/mine.h"

/* Leaves out the others, and all sizes after the first that is left without an episode:
   the same table, to the last count, as of a search with options->distinct_units.
   Candidates stay as they were counted. After an error `episodes` can only be freed. */
syn_status syn_episodes_distinct(syn_episodes *episodes, const syn_watch *watch);

#endif
