/* Finds how many threads this process may use, and runs loops on them. The number is the
   smallest of what the affinity, the control group and the environment variables of
   OpenMP allow. A loop hands out items in order; about every 80 ms all threads pause, so
   that the calling thread can poll the watch for Ctrl-C. */
#if defined(__linux__)
#define _GNU_SOURCE
#else
#define _POSIX_C_SOURCE 200112L
#define _DARWIN_C_SOURCE  /* macOS hides the number of processors otherwise */
#endif

#include "core/base/parallel.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/memory.h"
#include "core/base/workers.h"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <unistd.h>
#define HAVE_FORK 1
#endif
#if defined(__linux__)
#include <sched.h>
#endif

/* A fork can happen anywhere in the process, so nothing but the process itself can
   remember it. The quota of the control group is read from its files once, as every call
   that leaves the number of threads open asks for it; negative before. */
static volatile int in_forked_child = 0;
static int cgroup_quota = -1;

#if defined(HAVE_FORK)
static void after_fork_in_child(void)
{
    in_forked_child = 1;
}
#endif

void syn_parallel_init(void)
{
#if defined(HAVE_FORK)
    static int registered = 0;
    if (!registered)
        registered = pthread_atfork(NULL, NULL, after_fork_in_child) == 0;
#endif
}

void syn_parallel_end(void)
{
    if (!in_forked_child)
        syn_workers_end();
}

double syn_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int online_processors(void)
{
#if defined(_SC_NPROCESSORS_ONLN)
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    if (n >= 1)
        return n < INT_MAX ? (int)n : INT_MAX;
#endif
    return 1;
}

static int bound_processors(void)
{
#if defined(__linux__)
    /* The kernel refuses a set smaller than its own, which may exceed cpu_set_t. */
    for (int room = 1024; room <= 1 << 20; room *= 4) {
        cpu_set_t *set = CPU_ALLOC(room);
        if (set == NULL)
            return 0;
        size_t bytes = CPU_ALLOC_SIZE(room);
        int count = 0;
        if (sched_getaffinity(0, bytes, set) == 0)
            count = CPU_COUNT_S(bytes, set);
        CPU_FREE(set);
        if (count > 0)
            return count;
    }
#endif
    return 0;
}

/* Reads the first line of `folder`/`name`; 0 on failure. */
static int read_line(const char *folder, const char *name, char *line, int room)
{
    char path[PATH_MAX + 64];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return 0;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    int found = fgets(line, room, file) != NULL;
    fclose(file);
    return found;
}

/* Processors that the quota of one control group allows; 0 where there is none. */
static double group_quota(const char *folder)
{
    char line[128];
    double quota = 0, period = 0;
    if (read_line(folder, "cpu.max", line, sizeof line)) {
        if (sscanf(line, "%lf %lf", &quota, &period) != 2)
            return 0;
    } else if (read_line(folder, "cpu.cfs_quota_us", line, sizeof line)) {
        quota = atof(line);
        if (read_line(folder, "cpu.cfs_period_us", line, sizeof line))
            period = atof(line);
    }
    return quota > 0 && period > 0 ? quota / period : 0;
}

/* The smallest quota of the group `path` below `mount` and of the groups around it. In a
   container the path is often that of the host and does not exist below the mount; its
   ancestors end at the mount itself, which then is the container's own group. */
static double smallest_quota(const char *mount, const char *path)
{
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof folder, "%s%s", mount, path);
    if (length < 0 || (size_t)length >= sizeof folder)
        return 0;
    size_t root = strlen(mount);
    double smallest = 0;
    for (;;) {
        double quota = group_quota(folder);
        if (quota > 0 && (smallest == 0 || quota < smallest))
            smallest = quota;
        char *slash = strrchr(folder, '/');
        if (slash == NULL || (size_t)(slash - folder) < root)
            return smallest;
        *slash = '\0';
    }
}

/* Whether the comma-separated list `names` holds `cpu`. */
static int lists_cpu(const char *names)
{
    for (;;) {
        size_t length = strcspn(names, ",");
        if (length == 3 && strncmp(names, "cpu", 3) == 0)
            return 1;
        if (names[length] == '\0')
            return 0;
        names += length + 1;
    }
}

int syn_cgroup_processors(const char *membership, const char *mount)
{
    FILE *file = fopen(membership, "r");
    if (file == NULL)
        return 0;
    char line[PATH_MAX];
    double smallest = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        /* hierarchy:controllers:path, with no controllers in version 2 */
        char *names = strchr(line, ':');
        char *path = names == NULL ? NULL : strchr(names + 1, ':');
        if (path == NULL)
            continue;
        *names++ = '\0';
        *path++ = '\0';
        char where[PATH_MAX + 64];
        double quota = 0;
        if (*names == '\0') {
            quota = smallest_quota(mount, path);
        } else if (lists_cpu(names)) {
            snprintf(where, sizeof where, "%s/%s", mount, names);
            quota = smallest_quota(where, path);
            if (quota == 0) {
                snprintf(where, sizeof where, "%s/cpu", mount);
                quota = smallest_quota(where, path);
            }
        }
        if (quota > 0 && (smallest == 0 || quota < smallest))
            smallest = quota;
    }
    fclose(file);
    if (smallest == 0)
        return 0;
    if (smallest >= INT_MAX)
        return INT_MAX;
    return smallest < 1 ? 1 : (int)smallest;
}

/* A limit from the environment: its first number (OMP_NUM_THREADS can be a list with one
   entry for each level of nesting); 0 where it is absent or not a number from 1. */
static int environment_limit(const char *name)
{
    const char *text = getenv(name);
    if (text == NULL)
        return 0;
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || value < 1)
        return 0;
    end += strspn(end, " \t");
    if (*end != '\0' && *end != ',')
        return 0;
    return value < INT_MAX ? (int)value : INT_MAX;
}

static int capped(int threads, int limit)
{
    return limit > 0 && limit < threads ? limit : threads;
}

int syn_threads(syn_thread_report *report)
{
    syn_thread_report found;
#if defined(_OPENMP)
    found.openmp = 1;
#else
    found.openmp = 0;
#endif
    found.processors = online_processors();
    found.affinity = bound_processors();
#if defined(__linux__)
    if (cgroup_quota < 0)
        cgroup_quota = syn_cgroup_processors("/proc/self/cgroup", "/sys/fs/cgroup");
#endif
    found.cgroup = cgroup_quota > 0 ? cgroup_quota : 0;
    found.omp_num_threads = environment_limit("OMP_NUM_THREADS");
    found.omp_thread_limit = environment_limit("OMP_THREAD_LIMIT");
    found.forked = in_forked_child;

    int threads = found.processors;
    threads = capped(threads, found.affinity);
    threads = capped(threads, found.cgroup);
    threads = capped(threads, found.omp_num_threads);
    threads = capped(threads, found.omp_thread_limit);
    if (!found.openmp || found.forked || threads < 1)
        threads = 1;
    found.threads = threads;
    if (report != NULL)
        *report = found;
    return threads;
}

#define NO_ITEM ((size_t)-1)

/* What a worker has begun: an item that is not finished or that failed, or NO_ITEM. */
typedef struct begun {
    size_t item;
    syn_status status;  /* SYN_UNFINISHED, or why it failed */
} begun;

typedef struct loop {
    size_t items;
    size_t next;      /* the next item to hand out; may pass `items` */
    begun *begun;     /* [workers] */
    int stop;         /* an item has failed */
    double deadline;  /* when the workers pause */
    syn_body *body;
    void *context;
} loop;

/* The item that a worker does next: the item that it has not finished, else a new one.
   NO_ITEM where no item is left. */
static size_t next_item(loop *l, const begun *mine)
{
    if (mine->item != NO_ITEM)
        return mine->item;
    size_t item = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED);
    return item < l->items ? item : NO_ITEM;
}

/* Works as `worker` until the deadline, or until nothing is left. */
static void work(void *context, int worker)
{
    loop *l = context;
    begun *mine = l->begun + worker;
    while (!__atomic_load_n(&l->stop, __ATOMIC_RELAXED) && syn_seconds() < l->deadline) {
        size_t item = next_item(l, mine);
        if (item == NO_ITEM)
            return;
        syn_status status = l->body(l->context, item, worker);
        *mine = (begun){status == SYN_OK ? NO_ITEM : item, status};
        if (status != SYN_OK && status != SYN_UNFINISHED)
            __atomic_store_n(&l->stop, 1, __ATOMIC_RELAXED);
    }
}

/* The status of the first item that failed; SYN_OK where none did. */
static syn_status status_of(const loop *l, int workers)
{
    syn_status status = SYN_OK;
    size_t first = NO_ITEM;
    for (int w = 0; w < workers; w++) {
        const begun *b = l->begun + w;
        if (b->item < first && b->status != SYN_UNFINISHED) {
            first = b->item;
            status = b->status;
        }
    }
    return status;
}

/* ---- the loop ---- */

/* Items that are done, about: those begun are not, yet. */
static size_t items_done(const loop *l, int workers)
{
    size_t done = l->next < l->items ? l->next : l->items;
    for (int w = 0; w < workers; w++)
        done -= l->begun[w].item != NO_ITEM;
    return done;
}

/* A loop of many items begins on the calling thread, and other threads are woken only
   when it is not over soon. With fewer items for each thread one of them could be much of
   the loop. */
enum { MANY_ITEMS = 16 };
#define ALONE_SECONDS 0.0005
#define TOGETHER_SECONDS 0.08  /* from one poll of the watch to the next */

static syn_status run_loop(loop *l, int workers, const syn_watch *watch,
                           const char *stage)
{
    int alone = l->items / MANY_ITEMS >= (size_t)workers;
    for (;; alone = 0) {
        size_t done = items_done(l, workers);
        if (done == l->items)
            return SYN_OK;
        l->deadline = syn_seconds() + (alone ? ALONE_SECONDS : TOGETHER_SECONDS);
        if (alone)
            work(l, 0);
        else
            syn_workers_run(workers, work, l);
        syn_status status = status_of(l, workers);
        if (status != SYN_OK)
            return status;
        done = items_done(l, workers);
        if (syn_poll(watch, stage, (double)done, (double)l->items) != SYN_OK)
            return SYN_INTERRUPTED;
    }
}

syn_status syn_parallel_for(size_t items, int threads, const syn_watch *watch,
                            const char *stage, syn_body *body, void *context)
{
    loop l = {.items = items, .body = body, .context = context};
    if (in_forked_child || threads < 1)
        threads = 1;
    if ((size_t)threads > items)
        threads = items > 0 ? (int)items : 1;
    /* In the middle of a loop the caller is one of many threads: none may poll. */
    if (syn_workers_are_here()) {
        threads = 1;
        watch = NULL;
    }
    SYN_NEW(l.begun, (size_t)threads);
    for (int w = 0; w < threads; w++)
        l.begun[w].item = NO_ITEM;
    syn_status status = run_loop(&l, threads, watch, stage);
    free(l.begun);
    return status;
}
