/* Which lag the members of a group vote for, of a unit that may become one. */
#ifndef SYN_ASSEMBLIES_BALLOTS_H
#define SYN_ASSEMBLIES_BALLOTS_H

#include <stddef.h>
#include <stdint.h>

#include "core/assemblies/peaks.h"
#include "core/base/budget.h"

/* A peak as the search holds it. */
typedef struct syn_hint {
    int32_t lag, z;
} syn_hint;

enum { SYN_HINT_CAP = 6 * SYN_PEAK_SCALE };  /* no pair has more evidence */

static inline int32_t syn_hint_cut(int32_t z)
{
    return z < SYN_HINT_CAP ? z : SYN_HINT_CAP;
}

typedef struct syn_vote {
    int32_t lag, z;
    uint32_t member;  /* below SYN_ASSEMBLY_MOST */
} syn_vote;

/* Votes for lags of a unit, and the lag with the largest sum of them: a member has one
   vote within the tolerance, and sums are of z that are cut; of equal ones that is larger
   of which the sum of z that are not cut is. */
typedef struct syn_ballot {
    syn_vote *vote;  /* [n] by lag */
    size_t n, room;
    int32_t lag, sum, whole;
} syn_ballot;

static inline void syn_ballot_empty(syn_ballot *ballot)
{
    ballot->n = 0;
    ballot->sum = ballot->whole = 0;
}

/* Adds votes of a member at lag `at`: hints of the unit after it, by lag. The caller
   frees ballot->vote. SYN_OVER_BUDGET, SYN_NO_MEMORY. */
syn_status syn_ballot_add(syn_ballot *ballot, uint32_t member, int32_t at,
                          const syn_hint *hint, size_t n, int32_t tolerance,
                          syn_budget *budget);

#endif
