/* Large pages for large arrays, where the system has them. */
#ifndef SYN_BASE_PAGES_H
#define SYN_BASE_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

/* Memory that is new is paid for page by page when it is first written to. Of an array
   that is not written to yet, this makes the pages large. */
static inline void syn_large_pages(void *array, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t page = (uintptr_t)1 << 21;
    uintptr_t from = ((uintptr_t)array + page - 1) / page * page;
    uintptr_t to = ((uintptr_t)array + bytes) / page * page;
    if (from < to)
        madvise((void *)from, to - from, MADV_HUGEPAGE);
#else
    (void)array;
    (void)bytes;
#endif
}

/* Memory of malloc() whose pages are large; NULL where there is none. */
static inline void *syn_large_malloc(size_t bytes)
{
    void *array = malloc(bytes);
    if (array)
        syn_large_pages(array, bytes);
    return array;
}

#endif
