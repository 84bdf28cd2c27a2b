/* Counts votes. Only lags near new votes are looked at again, as sums never fall. */
#include "core/assemblies/ballots.h"

#include "core/assemblies/groups.h"

/* Sum of the votes from `low` on that are at most at lag `last`: the largest of each
   member. */
static int32_t sum_votes(const syn_vote *vote, size_t low, size_t votes, int32_t last,
                         int32_t *whole)
{
    int32_t most[SYN_ASSEMBLY_MOST], sum = 0;
    uint64_t voted = 0;
    *whole = 0;
    for (size_t i = low; i < votes && vote[i].lag <= last; i++) {
        uint32_t m = vote[i].member;
        int32_t before = voted >> m & 1 ? most[m] : 0;
        if (before >= vote[i].z)
            continue;
        sum += syn_hint_cut(vote[i].z) - syn_hint_cut(before);
        *whole += vote[i].z - before;
        most[m] = vote[i].z;
        voted |= (uint64_t)1 << m;
    }
    return sum;
}

syn_status syn_ballot_add(syn_ballot *ballot, uint32_t member, int32_t at,
                          const syn_hint *hint, size_t n, int32_t tolerance,
                          syn_budget *budget)
{
    if (n == 0)
        return SYN_OK;
    /* The votes go among those that are there. Both are by lag: from the end. */
    size_t votes = ballot->n + n, to = votes, from = ballot->n, left = n;
    if (votes > ballot->room)
        SYN_GROW(budget, ballot->vote, ballot->room, votes);
    while (left > 0) {
        int32_t lag = at + hint[left - 1].lag;
        if (from > 0 && ballot->vote[from - 1].lag > lag)
            ballot->vote[--to] = ballot->vote[--from];
        else
            ballot->vote[--to] =
                (syn_vote){.lag = lag, .z = hint[--left].z, .member = member};
    }
    ballot->n = votes;
    /* A lag near one of the new votes may be the best now. */
    const syn_vote *vote = ballot->vote;
    size_t i = 0, low = 0;
    for (size_t k = 0; k < n; k++) {
        int32_t lag = at + hint[k].lag, whole;
        while (vote[i].lag < lag - tolerance)
            i++;
        for (; i < ballot->n && vote[i].lag <= lag + tolerance; i++) {
            while (vote[low].lag < vote[i].lag - tolerance)
                low++;
            int32_t sum =
                sum_votes(vote, low, ballot->n, vote[i].lag + tolerance, &whole);
            if (sum < ballot->sum || (sum == ballot->sum && whole <= ballot->whole))
                continue;
            ballot->lag = vote[i].lag;
            ballot->sum = sum;
            ballot->whole = whole;
        }
    }
    return SYN_OK;
}
