/* Threads: how many this process may use, and the one loop that uses them. */
#ifndef SYN_BASE_PARALLEL_H
#define SYN_BASE_PARALLEL_H

#include "core/base/watch.h"

/* What decided the number of threads; 0 where a limit is not set. */
typedef struct syn_thread_report {
    int openmp;           /* 1 when built with OpenMP */
    int processors;       /* online processors of the machine */
    int affinity;         /* processors this process is bound to */
    int cgroup;           /* whole processors its control group may use */
    int omp_num_threads;  /* environment variable OMP_NUM_THREADS */
    int omp_thread_limit; /* environment variable OMP_THREAD_LIMIT */
    int forked;           /* 1 in a forked child, which gets one thread */
    int threads;          /* the outcome, at least 1 */
} syn_thread_report;

/* Call once when the library is loaded: after fork() the child keeps to one thread,
   because no other survives a fork. */
void syn_parallel_init(void);

/* Call before the library is unloaded: ends the threads that loops have left. */
void syn_parallel_end(void);

/* The threads this process may use; fills `report` unless it is NULL. */
int syn_threads(syn_thread_report *report);

/* Whole processors allowed by the cpu quotas (control groups version 1 or 2) of the
   groups that the file `membership` lists, mounted at `mount`; 0 without a quota. */
int syn_cgroup_processors(const char *membership, const char *mount);

/* One step of a parallel loop: `worker` is in [0, threads) and owns what it indexes. A
   step that has run for SYN_SLICE_SECONDS may return SYN_UNFINISHED: it is called again,
   with the same item and worker, and the watch is polled in between when it is time. */
typedef syn_status syn_body(void *context, size_t item, int worker);

/* Seconds of a clock that only goes forward. */
double syn_seconds(void);

/* How long the body of a loop should run before it returns SYN_UNFINISHED. All workers
   wait for the last one when the watch is polled, so this is short beside the time from
   one poll to the next: with equal times 8 threads waited for half of theirs. */
#define SYN_SLICE_SECONDS 0.005

/* Runs body(context, item, worker) once for each item in [0, items), handed out in
   increasing order to up to `threads` workers (fewer in a forked child, and where the
   system has no more threads to give). Every 80 ms or so all workers pause between items
   and `watch` is polled, so one item should take well under 20 ms, or be cut short by
   SYN_UNFINISHED. The first other status than that and SYN_OK ends the loop and is
   returned. */
syn_status syn_parallel_for(size_t items, int threads, const syn_watch *watch,
                            const char *stage, syn_body *body, void *context);

#endif
