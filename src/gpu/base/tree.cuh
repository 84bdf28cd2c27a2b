/* Searches in trees of sets, by warps: each keeps the nodes on its way down in a room of
   its own, and what is not done when a launch ends goes on in the next one. */
#pragma once

#include "gpu/base/launch.cuh"

namespace gpu {

constexpr uint32_t NO_PLACE = 0xffffffffu;

enum { TREE_WARPS = 4 };  /* of a block */

/* How much of a warp's room is given out: in shared memory, and beyond. */
struct room_top {
    uint32_t near, far;
};

/* Room is given out on whole 16 bytes. */
__device__ inline uint64_t whole_words(uint64_t words)
{
    return (words + 3) / 4 * 4;
}

/* The tasks still to be taken, and what each warp keeps from one launch to the next. */
template <class STATE> struct tree_queue {
    unsigned long long *next;  /* task to be taken */
    STATE *state;              /* [warps] */
    uint32_t *arena;           /* [warps][room] */
    uint32_t room;
    long long cycles;          /* that a launch goes on for */
};

/* All that a warp searches with. Its room has NEAR words of shared memory, my->near, and
   then its part of the queue's arena. SEARCH is the structure that has these members; its
   fail() gives up what is searched where the room is full. */
template <class SEARCH, class JOB, class BATCH, class QUEUE, class STATE, uint32_t NEAR>
struct tree_search {
    const JOB &job;
    const BATCH &batch;
    const QUEUE &queue;
    STATE *my;
    uint32_t *arena;
    uint32_t lane;

    /* Goes on with what the warp had under way; `states` are those of the block. */
    __device__ tree_search(const JOB &j, const BATCH &b, const QUEUE &q, void *states)
        : job(j), batch(b), queue(q), my((STATE *) states + threadIdx.x / WARP),
          arena(q.arena + (size_t) number() * q.room), lane(threadIdx.x % WARP)
    {
        copy_words(my, q.state + number());
        __syncwarp();
    }

    /* The number of this warp among all. */
    __device__ static uint32_t number()
    {
        return blockIdx.x * TREE_WARPS + threadIdx.x / WARP;
    }

    /* Whether the launch, which began at the cycle `begun`, is to end. */
    __device__ bool is_late(long long begun) const
    {
        bool late = clock64() - begun > queue.cycles;
        return __any_sync(WHOLE_WARP, late);
    }

    /* Keeps what the warp has under way for the next launch. */
    __device__ void leave() const
    {
        __syncwarp();
        copy_words(queue.state + number(), my);
    }

    __device__ uint32_t *words_at(uint32_t at) const
    {
        return at < NEAR ? my->near + at : arena + (at - NEAR);
    }

    /* A place for that many words that stays where it is between launches. NO_PLACE
       without room. */
    __device__ uint32_t reserve_far(room_top *top, uint64_t words) const
    {
        words = whole_words(words);
        if (words > queue.room - top->far) {
            ((const SEARCH *) this)->fail();
            return NO_PLACE;
        }
        top->far += (uint32_t) words;
        return NEAR + top->far - (uint32_t) words;
    }

    __device__ uint32_t reserve(room_top *top, uint64_t words) const
    {
        words = whole_words(words);
        if (words > NEAR - top->near)
            return reserve_far(top, words);
        top->near += (uint32_t) words;
        return top->near - (uint32_t) words;
    }
};

/* How many blocks of a kernel a device runs at a time. */
template <class KERNEL>
uint32_t blocks_on(int device, KERNEL kernel, size_t shared)
{
    int each = blocks_at_once(kernel, TREE_WARPS * WARP, shared);
    return (uint32_t) (processors_of(device) * each);
}

inline long long cycles_in(double seconds, int device)
{
    return (long long) (seconds * 1000 * attribute_of(device, cudaDevAttrClockRate));
}

}  // namespace gpu
