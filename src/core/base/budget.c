/* Counts the bytes that all threads of a search hold, against one limit. The counter is
   changed by atomic operations, so that threads need no lock. Memory from
   syn_budget_alloc() has its size in front of it, which is subtracted when the memory is
   freed. */
#include "core/base/budget.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { A_FEW = 16 };  /* things that memory which grows has room for at first */

/* Threads only ever add and subtract, so no order between them is needed. */
#define ORDER __ATOMIC_RELAXED

static void refuse(syn_budget *budget, syn_status why)
{
    __atomic_store_n(&budget->refused, (int)why, ORDER);
}

static void note_most(syn_budget *budget, size_t held)
{
    size_t most = __atomic_load_n(&budget->most, ORDER);
    while (held > most &&
           !__atomic_compare_exchange_n(&budget->most, &most, held, 1, ORDER, ORDER))
        ;
}

int syn_budget_take(syn_budget *budget, size_t bytes)
{
    size_t held = __atomic_load_n(&budget->held, ORDER);
    do {
        if (held > budget->limit || bytes > budget->limit - held) {
            refuse(budget, SYN_OVER_BUDGET);
            return 0;
        }
    } while (!__atomic_compare_exchange_n(&budget->held, &held, held + bytes, 1, ORDER,
                                          ORDER));
    note_most(budget, held + bytes);
    return 1;
}

void syn_budget_give(syn_budget *budget, size_t bytes)
{
    __atomic_fetch_sub(&budget->held, bytes, ORDER);
}

size_t syn_budget_left(const syn_budget *budget)
{
    size_t held = __atomic_load_n(&budget->held, ORDER);
    return held < budget->limit ? budget->limit - held : 0;
}

syn_status syn_budget_refusal(const syn_budget *budget)
{
    return (syn_status)__atomic_load_n(&budget->refused, ORDER);
}

/* Stands before the memory; as long as keeps that aligned. */
typedef union head {
    size_t bytes;
    long double widest;
    void *pointer;
} head;

/* `memory` with bytes for `n` things, or NULL: then it is as it was. */
static void *resize(syn_budget *budget, void *memory, size_t n, size_t size, int zero)
{
    head *start = memory ? (head *)memory - 1 : NULL;
    size_t before = start ? start->bytes : 0;
    if (size > 0 && n > (SIZE_MAX - sizeof(head)) / size) {
        refuse(budget, SYN_OVER_BUDGET);
        return NULL;
    }
    size_t bytes = n * size + sizeof(head), more = bytes > before ? bytes - before : 0;
    if (!syn_budget_take(budget, more))
        return NULL;
    start = zero ? calloc(1, bytes) : realloc(start, bytes);
    if (!start) {
        syn_budget_give(budget, more);
        refuse(budget, SYN_NO_MEMORY);
        return NULL;
    }
    start->bytes = before + more;
    return start + 1;
}

void *syn_budget_alloc(syn_budget *budget, size_t n, size_t size)
{
    return resize(budget, NULL, n, size, 0);
}

void *syn_budget_zeros(syn_budget *budget, size_t n, size_t size)
{
    return resize(budget, NULL, n, size, 1);
}

void *syn_budget_renew(syn_budget *budget, void *memory, size_t *room, size_t n,
                       size_t size)
{
    if (memory && n <= *room)
        return memory;
    syn_budget_free(budget, memory);
    memory = syn_budget_alloc(budget, n, size);
    *room = memory ? n : 0;
    return memory;
}

void syn_budget_free(syn_budget *budget, void *memory)
{
    if (!memory)
        return;
    head *start = (head *)memory - 1;
    syn_budget_give(budget, start->bytes);
    free(start);
}

void syn_budget_free_all(syn_budget *budget, void *const *memory, size_t n)
{
    for (size_t i = 0; i < n; i++)
        syn_budget_free(budget, memory[i]);
}

int syn_budget_grow_at(syn_budget *budget, void *at, size_t *room, size_t n, size_t size)
{
    void *memory;
    memcpy(&memory, at, sizeof memory);
    if (memory && n <= *room)
        return 1;
    size_t wanted = n + n / 2 + A_FEW;
    void *grown = resize(budget, memory, wanted, size, 0);
    if (!grown) {
        wanted = n;
        grown = resize(budget, memory, wanted, size, 0);
    }
    if (!grown)
        return 0;
    *room = wanted;
    memcpy(at, &grown, sizeof grown);
    return 1;
}
