/* Batches of work on one device. While one of them is computed, the host collects the
   results of the batch before it and makes the next one ready. */
#ifndef SYN_GPU_BASE_SLOTS_CUH
#define SYN_GPU_BASE_SLOTS_CUH

#include <cstddef>

namespace gpu {

/* Works through batches with several slots. A slot holds the memory and the stream of
   one batch, and two numbers: `first`, the first item of the batch, and `n`, how many it
   has. next(&first) says where the next batch begins and how many items it has, or 0
   where none is left. start(slot) queues the work of a batch. collect(slot) waits for it
   and takes its results, when the slot is needed again or at the end. Batches are
   collected in the order in which they were started. */
template <size_t SLOTS, class SLOT, class NEXT, class START, class COLLECT>
void keep_busy(SLOT (&slot)[SLOTS], NEXT next, START start, COLLECT collect)
{
    auto end = [&](SLOT *s) {
        if (s->n > 0)
            collect(s);
        s->n = 0;
    };
    size_t turn = 0;
    for (;; turn++) {
        SLOT *s = &slot[turn % SLOTS];
        end(s);
        auto n = next(&s->first);
        if (n == 0)
            break;
        s->n = n;
        start(s);
    }
    for (size_t i = 1; i < SLOTS; i++)
        end(&slot[(turn + i) % SLOTS]);
}

}  // namespace gpu

#endif
