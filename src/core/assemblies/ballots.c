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

/* Puts votes of member `m` for lags of a unit among those of others, by lag. */
static syn_status merge_votes(syn_ballot *ballot, uint32_t m, int32_t at,
                              const syn_hint *hint, size_t n, syn_budget *budget)
{
    size_t votes = ballot->n + n;
    if (votes > ballot->room) {
        SYN_GROW(budget, ballot->vote, ballot->room, votes);
    }
    size_t to = votes, from = ballot->n;
    while (n > 0) {  /* from the end, as both are by lag */
        int32_t lag = at + hint[n - 1].lag;
        if (from > 0 && ballot->vote[from - 1].lag > lag)
            ballot->vote[--to] = ballot->vote[--from];
        else
            ballot->vote[--to] = (syn_vote){.lag = lag, .z = hint[--n].z, .member = m};
    }
    ballot->n = votes;
    return SYN_OK;
}

/* Sees whether a lag near one of the new votes is now the best. */
static void look_near(syn_ballot *ballot, int32_t at, const syn_hint *hint, size_t n,
                      int32_t off)
{
    const syn_vote *vote = ballot->vote;
    size_t i = 0, low = 0;
    for (size_t k = 0; k < n; k++) {
        int32_t lag = at + hint[k].lag, whole;
        while (vote[i].lag < lag - off)
            i++;
        for (; i < ballot->n && vote[i].lag <= lag + off; i++) {
            while (vote[low].lag < vote[i].lag - off)
                low++;
            int32_t sum = sum_votes(vote, low, ballot->n, vote[i].lag + off, &whole);
            if (sum < ballot->sum || (sum == ballot->sum && whole <= ballot->whole))
                continue;
            ballot->lag = vote[i].lag;
            ballot->sum = sum;
            ballot->whole = whole;
        }
    }
}

syn_status syn_ballot_add(syn_ballot *ballot, uint32_t member, int32_t at,
                          const syn_hint *hint, size_t n, int32_t tolerance,
                          syn_budget *budget)
{
    if (n == 0)
        return SYN_OK;
    SYN_TRY(merge_votes(ballot, member, at, hint, n, budget));
    look_near(ballot, at, hint, n, tolerance);
    return SYN_OK;
}
