/* Threads that sleep until a loop asks for help. A thread that wakes up late finds the
   loop over and sleeps on; nobody waits for it. Threads of OpenMP all have to arrive at
   the end of a loop, also those that wake up when it is over: with 16 processors that was
   some milliseconds after each short loop. */
#if defined(__linux__)
#define _GNU_SOURCE
#else
#define _POSIX_C_SOURCE 200112L
#endif

#include "core/base/workers.h"

#include <stdlib.h>

/* Where a build is linked with threads for certain. */
#if defined(_OPENMP) || defined(__APPLE__)
#define HAVE_THREADS 1
#include <pthread.h>
#if defined(__unix__) || defined(__APPLE__)
#define HAVE_SIGNALS 1
#include <signal.h>
#endif
#endif

#if defined(HAVE_THREADS)

/* A call of syn_workers_run() that wants help. */
typedef struct asking {
    struct asking *next;
    int places, taken, busy;  /* places that threads have begun, and not ended */
    syn_help *help;
    void *context;
} asking;

/* Only the process itself can remember its threads. */
static struct pool {
    pthread_mutex_t lock;
    pthread_cond_t asked, done;
    asking *open;              /* calls that have places left */
    int threads, idle, ends;
    pthread_t *thread;         /* [threads] */
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER,
          NULL, 0, 0, 0, NULL};

static __thread int here;

/* The lock of the pool is held by whoever calls the functions below. */

static void withdraw(const asking *call)
{
    asking **at = &pool.open;
    while (*at && *at != call)
        at = &(*at)->next;
    if (*at)
        *at = call->next;
}

static void help_one(asking *call)
{
    int place = call->taken++;
    if (call->taken == call->places)
        withdraw(call);
    call->busy++;
    pthread_mutex_unlock(&pool.lock);
    call->help(call->context, place);
    pthread_mutex_lock(&pool.lock);
    if (--call->busy == 0)
        pthread_cond_broadcast(&pool.done);
}

static void *live(void *none)
{
    here = 1;
    pthread_mutex_lock(&pool.lock);
    while (!pool.ends) {
        if (pool.open) {
            help_one(pool.open);
            continue;
        }
        pool.idle++;
        pthread_cond_wait(&pool.asked, &pool.lock);
        pool.idle--;
    }
    pthread_mutex_unlock(&pool.lock);
    return none;
}

/* Makes threads until there are so many, or until the system gives no more. Signals are
   for the thread of R. */
static void make_threads(int most)
{
    pthread_t *thread = realloc(pool.thread, (size_t)most * sizeof *thread);
    if (!thread)
        return;
    pool.thread = thread;
#if defined(HAVE_SIGNALS)
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return;
#endif
    while (pool.threads < most &&
           pthread_create(&thread[pool.threads], NULL, live, NULL) == 0)
        pool.threads++;
#if defined(HAVE_SIGNALS)
    pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
}

static void ask(asking *call)
{
    int wanted = call->places - 1;
    if (pool.threads < wanted)
        make_threads(wanted);
    call->next = pool.open;
    pool.open = call;
    if (wanted >= pool.idle)
        pthread_cond_broadcast(&pool.asked);
    else
        for (int i = 0; i < wanted; i++)
            pthread_cond_signal(&pool.asked);
}

static void run_with_others(asking *call)
{
    pthread_mutex_lock(&pool.lock);
    ask(call);
    pthread_mutex_unlock(&pool.lock);
    here = 1;
    call->help(call->context, 0);
    pthread_mutex_lock(&pool.lock);
    while (call->taken < call->places)
        help_one(call);
    while (call->busy > 0)
        pthread_cond_wait(&pool.done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    here = 0;
}

void syn_workers_run(int places, syn_help *help, void *context)
{
    asking call = {NULL, places, 1, 0, help, context};
    if (places > 1 && !here) {
        run_with_others(&call);
        return;
    }
    for (int place = 0; place < places; place++)
        help(context, place);
}

int syn_workers_are_here(void) { return here; }

void syn_workers_end(void)
{
    pthread_mutex_lock(&pool.lock);
    pool.ends = 1;
    pthread_cond_broadcast(&pool.asked);
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < pool.threads; i++)
        pthread_join(pool.thread[i], NULL);
    free(pool.thread);
    pool.thread = NULL;
    pool.threads = pool.ends = 0;
}

#else

void syn_workers_run(int places, syn_help *help, void *context)
{
    for (int place = 0; place < places; place++)
        help(context, place);
}

int syn_workers_are_here(void) { return 0; }

void syn_workers_end(void) {}

#endif
