/* The levels of the result, in host memory. */
#ifndef SYN_GPU_EPISODES_RESULTS_CUH
#define SYN_GPU_EPISODES_RESULTS_CUH

#include "core/episodes/mine.h"
#include "gpu/base/outcome.cuh"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace gpu {

/* Fresh memory is paid for page by page when results are copied into it: for large arrays
   in large pages, where the system has them. */
inline void *allocate_array(size_t bytes)
{
#ifdef MADV_HUGEPAGE
    constexpr size_t page = (size_t) 1 << 21;
    if (bytes >= page) {
        void *array = std::aligned_alloc(page, (bytes + page - 1) / page * page);
        if (array)
            madvise(array, bytes, MADV_HUGEPAGE);
        return array;
    }
#endif
    return std::malloc(bytes);
}

inline void allocate(syn_episode_level *level, size_t n)
{
    size_t bytes = (n + 1) * sizeof(uint32_t);
    std::memset(level, 0, sizeof *level);
    level->n = n;
    uint32_t **all[] = {&level->parent, &level->suffix, &level->unit, &level->interval,
                        &level->count, &level->child};
    for (uint32_t **one : all)
        *one = (uint32_t *) allocate_array(bytes);
    for (uint32_t **one : all)
        if (!*one)
            throw refusal(SYN_NO_MEMORY, "the episodes do not fit in host memory");
    if (n == 0)
        level->child[0] = 0;
}

/* The new level is part of `episodes` before it can fail, and so freed with them. */
inline syn_episode_level *append_level(syn_episodes *episodes, size_t n)
{
    size_t bytes = (episodes->n_levels + 1) * sizeof *episodes->level;
    void *level = std::realloc(episodes->level, bytes);
    if (!level)
        throw refusal(SYN_NO_MEMORY, "the episodes do not fit in host memory");
    episodes->level = (syn_episode_level *) level;
    syn_episode_level *last = &episodes->level[episodes->n_levels++];
    std::memset(last, 0, sizeof *last);
    allocate(last, n);
    return last;
}

/* The last level is empty when nothing of that size is frequent: it only says so. */
inline void drop_empty_level(syn_episodes *episodes)
{
    syn_episode_level *last = &episodes->level[episodes->n_levels - 1];
    if (last->n > 0 || last->candidates > 0)
        return;
    void *all[] = {last->parent, last->suffix, last->unit, last->interval, last->count,
                   last->child};
    for (void *one : all)
        std::free(one);
    episodes->n_levels--;
}

}  // namespace gpu

#endif
