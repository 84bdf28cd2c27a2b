/* Groups of units that fire together or in sequence, grown from pairs. */
#ifndef SYN_ASSEMBLIES_GROUPS_H
#define SYN_ASSEMBLIES_GROUPS_H

#include "core/assemblies/pairs.h"

enum { SYN_ASSEMBLY_MOST = 64 };  /* members at most */

/* A member fires in a window around its lag from a common moment. */
typedef struct syn_member {
    uint32_t unit;
    int32_t lag;    /* bins: middle of the window */
    uint32_t rung;  /* of its width */
} syn_member;

typedef struct syn_assembly {
    uint32_t rung;  /* that it was found on */
    double score;   /* standard deviations above what surrogates have at most */
    uint32_t size;
    syn_member member[SYN_ASSEMBLY_MOST];
} syn_assembly;

/* The member that a unit is; NULL where it is none. */
static inline const syn_member *syn_assembly_member(const syn_assembly *group,
                                                    uint32_t unit)
{
    for (uint32_t m = 0; m < group->size; m++)
        if (group->member[m].unit == unit)
            return group->member + m;
    return NULL;
}

/* The unit that may become a member, at its best lag and width, and the evidence. */
typedef struct syn_extension {
    syn_member member;
    double evidence;
} syn_extension;

/* Room that growing works in. */
typedef struct syn_grower {
    const syn_lagged *pairs;
    const syn_assembly *among;  /* whose members alone may be added; NULL for all units */
    size_t lags;           /* a unit may have: 4 * ladder.lags + 1 */
    uint8_t *may;          /* [threads * lags] members that may have an excess there */
    syn_extension *best;   /* [units] */
} syn_grower;

syn_status syn_grower_make(syn_grower *out, const syn_lagged *pairs, syn_budget *budget);

/* Grows a group further: adds the unit, lag and width whose pairs with the members have
   the largest excess together, as long as it is more than chance and most members agree;
   then places all members anew, and takes out those that others do not support. As
   syn_lagged_keep(). */
syn_status syn_assembly_grow(const syn_grower *grower, syn_assembly *group,
                             const syn_watch *watch);

/* What the pairs of member `m` with the others say of it: the sum of z, each cut, over
   the standard deviation that it has by chance; 0 where too few of them have an
   excess. */
double syn_assembly_support(const syn_lagged *pairs, const syn_assembly *group,
                            uint32_t m);

/* Puts members in the order of their lags, the first at 0. */
void syn_assembly_tidy(syn_assembly *group);

/* Whether both units are members whose lags differ by about as much as `lag`, that of the
   second after the first. */
int syn_assembly_has_pair(const syn_assembly *group, uint32_t a, uint32_t b, int32_t lag,
                          uint32_t rung, const syn_ladder *ladder);

/* The members of `a` that are members of `b` as well, at the same lags from each other,
   about: bit m stands for member m. */
uint64_t syn_assembly_common(const syn_assembly *a, const syn_assembly *b,
                             const syn_ladder *ladder);

/* How many these are. */
static inline uint32_t syn_assembly_shared(const syn_assembly *a, const syn_assembly *b,
                                           const syn_ladder *ladder)
{
    return (uint32_t)__builtin_popcountll(syn_assembly_common(a, b, ladder));
}

#endif
