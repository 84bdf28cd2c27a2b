/* A library to be loaded before others (LD_PRELOAD): memory that cannot be had.

   Once the file that FAULT_WHEN names is there, calls of malloc(), calloc(), realloc() and
   posix_memalign() for FAULT_SIZE bytes or more are counted, and number FAULT_NTH fails; with
   FAULT_ON=1 so do all after it. The count goes to the file at its end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static int (*real_memalign)(void **, size_t, size_t);
static const char *when;
static size_t least = 256;
static long nth, go_on;
static atomic_long counted;
static atomic_int armed;

/* Before dlsym() has answered, it may itself ask for memory. */
static char early[1 << 16];
static size_t early_used;

static void find_real(void)
{
    if (real_malloc)
        return;
    real_calloc = dlsym(RTLD_NEXT, "calloc");
    real_realloc = dlsym(RTLD_NEXT, "realloc");
    real_memalign = dlsym(RTLD_NEXT, "posix_memalign");
    real_malloc = dlsym(RTLD_NEXT, "malloc");
}

__attribute__((constructor)) static void read_settings(void)
{
    find_real();
    when = getenv("FAULT_WHEN");
    if (getenv("FAULT_SIZE"))
        least = strtoul(getenv("FAULT_SIZE"), NULL, 10);
    if (getenv("FAULT_NTH"))
        nth = strtol(getenv("FAULT_NTH"), NULL, 10);
    go_on = getenv("FAULT_ON") && getenv("FAULT_ON")[0] == '1';
}

static int fails(size_t size)
{
    if (size < least || !when || nth <= 0)
        return 0;
    if (!atomic_load(&armed)) {
        if (access(when, F_OK) != 0)
            return 0;
        atomic_store(&armed, 1);
    } else if (access(when, F_OK) != 0) {
        return 0;
    }
    long now = atomic_fetch_add(&counted, 1) + 1;
    int failed = now == nth || (go_on && now > nth);
    if (failed)
        errno = ENOMEM;
    return failed;
}

__attribute__((destructor)) static void say_count(void)
{
    const char *to = getenv("FAULT_COUNT");
    FILE *file = to ? fopen(to, "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", (long)atomic_load(&counted));
        fclose(file);
    }
}

void *malloc(size_t size)
{
    find_real();
    return fails(size) ? NULL : real_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    if (!real_calloc) {
        /* dlsym() itself: memory of 0 that is never given back. */
        size_t bytes = (n * size + 15) & ~(size_t)15;
        if (early_used + bytes > sizeof early)
            return NULL;
        early_used += bytes;
        return early + early_used - bytes;
    }
    return (size && n > (size_t)-1 / size) || fails(n * size) ? NULL : real_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    find_real();
    if ((char *)old >= early && (char *)old < early + sizeof early) {
        void *fresh = real_malloc(size);
        return fresh ? memcpy(fresh, old, size) : NULL;
    }
    return fails(size) ? NULL : real_realloc(old, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    find_real();
    return fails(size) ? ENOMEM : real_memalign(out, alignment, size);
}

void free(void *old)
{
    static void (*real_free)(void *);
    if (!real_free)
        real_free = dlsym(RTLD_NEXT, "free");
    if (!((char *)old >= early && (char *)old < early + sizeof early))
        real_free(old);
}
