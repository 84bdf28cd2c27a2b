/* Groups of units whose peaks agree: the search that the recording and every surrogate
   go through alike. */
#ifndef SYN_ASSEMBLIES_CANDIDATES_H
#define SYN_ASSEMBLIES_CANDIDATES_H

#include "core/assemblies/groups.h"
#include "core/assemblies/peaks.h"

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

enum {
    SYN_CANDIDATES = 12, /* groups that are grown on a rung, at most */
    SYN_SIZES = 12       /* classes of sizes that evidence is compared in */
};

/* Members of the largest group in a class: 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64. */
uint32_t syn_size_of_class(uint32_t size_class);

/* A group that was grown member by member: the first three are the triangle it began
   with. Sums are over all pairs of the first k members, in parts of SYN_PEAK_SCALE. */
typedef struct syn_candidate {
    syn_assembly group;
    int32_t sum[SYN_ASSEMBLY_MOST + 1];    /* of z, each cut */
    int32_t whole[SYN_ASSEMBLY_MOST + 1];  /* of z, not cut */
} syn_candidate;

/* What the pairs of a group of at most the size of a class say together: the sum of cut z
   over the root of the number of pairs that a group of this size has. A smaller group is
   one of this size to which the others have no pairs. */
double syn_candidate_evidence(const syn_candidate *candidate, uint32_t size_class);

/* The least that a triangle has, and what is taken where there is none. */
double syn_candidate_least(uint32_t size_class);

/* What the pairs of the first members say, not cut, over the root of their number. */
double syn_candidate_whole(const syn_candidate *candidate, uint32_t size);

/* Memory of one worker. */
typedef struct syn_searcher {
    const syn_ladder *ladder;
    const syn_peaks *peaks;
    uint32_t rung;
    size_t *start;     /* [pairs + 1] hints of a pair: of b after a, then of a after b */
    syn_hint *hint;
    struct syn_hinted {
        uint32_t a, b;
    } *hinted;         /* [hinteds] pairs with hints, in the order of pairs */
    size_t hinteds, hint_room, hinted_room;
    int16_t *strongest;  /* [units * units] cut z of the strongest hint of a pair, or
                            that there is none */
    struct syn_edge {
        const syn_hint *hint;
        uint32_t a, b;
    } *edge;           /* [edges] pairs that triangles are looked for with */
    uint32_t edges, edge_room;
    uint32_t *third;   /* [units] those that may make a triangle with a pair */
    syn_ballot *ballot;  /* [units] votes for each, to become a member */
    syn_budget *budget;
} syn_searcher;

/* Peaks are asked for with at least this z. */
enum { SYN_HINT_LEAST = 5 * SYN_PEAK_SCALE / 2 };

/* Room for `units` units. */
syn_status syn_searcher_make(syn_searcher *out, const syn_ladder *ladder, uint32_t units,
                             syn_budget *budget);

/* Grows groups from the best triangles on a rung, to out[0] ... out[*n - 1], at most
   SYN_CANDIDATES. SYN_OVER_BUDGET, SYN_NO_MEMORY. */
syn_status syn_candidates_find(syn_searcher *searcher, const syn_peaks *peaks,
                               uint32_t rung, syn_candidate *out, uint32_t *n);

#endif
