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

/* The room of a warp that searches: NEAR words of shared memory, my->near, and then its
   `room` words of `arena`. SEARCH is the structure that has these members; its fail()
   gives up what is searched where the room is full. */
template <class SEARCH, uint32_t NEAR> struct warp_room {
    __device__ const SEARCH &own() const { return *(const SEARCH *) this; }

    __device__ uint32_t *words_at(uint32_t at) const
    {
        return at < NEAR ? own().my->near + at : own().arena + (at - NEAR);
    }

    /* A place for that many words that stays where it is between launches. NO_PLACE
       without room. */
    __device__ uint32_t reserve_far(room_top *top, uint64_t words) const
    {
        words = whole_words(words);
        if (words > own().room - top->far) {
            own().fail();
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

/* Sets the cycles that a launch goes on for, and says how many blocks of a kernel a
   device runs at a time. */
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
