/* Threads of a process that work besides the one that asks for it. Each takes the next
   item from a common list until there is none. */
#if defined(__linux__)
#define _GNU_SOURCE
#else
#define _POSIX_C_SOURCE 200112L
#endif

#include "core/base/background.h"

#include "core/base/memory.h"

/* Where a build is linked with threads for certain. */
#if (defined(__unix__) && defined(_OPENMP)) || defined(__APPLE__)
#include <pthread.h>
#include <signal.h>
#include <time.h>
#define HAVE_THREADS 1
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif
#if defined(__linux__)
#include <sys/resource.h>
#endif

struct syn_background {
    size_t items, next;
    size_t *again;         /* [items] those that lacked memory */
    size_t n_again;
    int threads, running;  /* threads that were made, and those that still work */
    syn_status status;
    int stop;
    long process;
    syn_background_body *body;
    void *context;
#if defined(HAVE_THREADS)
    pthread_mutex_t lock;
    pthread_cond_t idle;   /* no thread works any more */
    pthread_t *thread;     /* [threads] */
#endif
};

static long this_process(void)
{
#if defined(__unix__) || defined(__APPLE__)
    return (long)getpid();
#else
    return 0;
#endif
}

#if defined(HAVE_THREADS)

/* ---- a thread ---- */

static int is_stopped(void *data, const char *stage, double done, double total)
{
    syn_background *b = data;
    (void)stage, (void)done, (void)total;
    pthread_mutex_lock(&b->lock);
    int stop = b->stop;
    pthread_mutex_unlock(&b->lock);
    return stop;
}

/* Does an item; the lock is held before and after, and not meanwhile. */
static void do_item(syn_background *b, size_t item, int together)
{
    syn_watch watch = {is_stopped, b};
    pthread_mutex_unlock(&b->lock);
    syn_status status = b->body(b->context, item, together, &watch);
    pthread_mutex_lock(&b->lock);
    if (together > 1 && (status == SYN_OVER_BUDGET || status == SYN_NO_MEMORY)) {
        b->again[b->n_again++] = item;
    } else if (status != SYN_OK && b->status == SYN_OK) {
        b->status = status;
        b->stop = 1;
    }
}

static void *work(void *data)
{
    syn_background *b = data;
#if defined(__linux__)
    /* Of this thread alone, on Linux. Not less, lest other programs keep it from its work
       while somebody waits for it. */
    setpriority(PRIO_PROCESS, 0, 5);
#endif
    pthread_mutex_lock(&b->lock);
    while (!b->stop && b->next < b->items)
        do_item(b, b->next++, b->threads);
    if (b->running == 1)
        while (!b->stop && b->n_again > 0)
            do_item(b, b->again[--b->n_again], 1);
    if (--b->running == 0)
        pthread_cond_broadcast(&b->idle);
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* Signals are for the thread of R. */
static void make_threads(syn_background *b, int threads)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return;
    pthread_mutex_lock(&b->lock);
    while (b->threads < threads &&
           pthread_create(&b->thread[b->threads], NULL, work, b) == 0)
        b->threads++;
    b->running = b->threads;
    pthread_mutex_unlock(&b->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Until no thread works, or for 50 ms; whether none does. */
static int is_idle_soon(syn_background *b)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 50000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&b->lock);
    if (b->running > 0)
        pthread_cond_timedwait(&b->idle, &b->lock, &until);
    int idle = b->running == 0;
    pthread_mutex_unlock(&b->lock);
    return idle;
}

static void end_threads(syn_background *b)
{
    pthread_mutex_lock(&b->lock);
    b->stop = 1;
    pthread_mutex_unlock(&b->lock);
    for (int t = 0; t < b->threads; t++)
        pthread_join(b->thread[t], NULL);
    pthread_cond_destroy(&b->idle);
    pthread_mutex_destroy(&b->lock);
}
#endif

/* ---- the work ---- */

static void free_work(syn_background *b)
{
#if defined(HAVE_THREADS)
    free(b->thread);
#endif
    SYN_FREE(b->again, b);
}

syn_background *syn_background_start(size_t items, int threads,
                                     syn_background_body *body, void *context)
{
    syn_background *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->items = items;
    b->body = body;
    b->context = context;
    b->process = this_process();
    b->again = malloc((items + 1) * sizeof *b->again);
    int sound = b->again != NULL;
#if defined(HAVE_THREADS)
    if ((size_t)threads > items)
        threads = (int)items;
    b->thread = malloc(((size_t)threads + 1) * sizeof *b->thread);
    sound = sound && b->thread && pthread_mutex_init(&b->lock, NULL) == 0;
    if (sound && pthread_cond_init(&b->idle, NULL) != 0) {
        pthread_mutex_destroy(&b->lock);
        sound = 0;
    }
    if (sound)
        make_threads(b, threads);
#else
    (void)threads;
#endif
    if (sound)
        return b;
    free_work(b);
    return NULL;
}

/* Where there are no threads. */
static syn_status do_here(syn_background *b, const syn_watch *watch)
{
    while (b->next < b->items && b->status == SYN_OK) {
        syn_status status = b->body(b->context, b->next, 1, watch);
        if (status == SYN_INTERRUPTED)
            return status;
        b->status = status;
        b->next++;
        if (syn_poll(watch, "items", (double)b->next, (double)b->items) != SYN_OK)
            return SYN_INTERRUPTED;
    }
    return b->status;
}

syn_status syn_background_wait(syn_background *b, const syn_watch *watch)
{
    if (b->threads == 0)
        return do_here(b, watch);
#if defined(HAVE_THREADS)
    while (!is_idle_soon(b))
        if (syn_poll(watch, "items", (double)b->next, (double)b->items) != SYN_OK)
            return SYN_INTERRUPTED;
#endif
    return b->status;
}

int syn_background_is_here(const syn_background *b)
{
    return b->process == this_process();
}

void syn_background_stop(syn_background *b)
{
    if (!b)
        return;
    /* In a forked process the threads are not there, and the lock may be held. */
#if defined(HAVE_THREADS)
    if (syn_background_is_here(b))
        end_threads(b);
#endif
    free_work(b);
}
