/* Threads that the process keeps, and that help any loop which asks for help. */
#ifndef SYN_BASE_WORKERS_H
#define SYN_BASE_WORKERS_H

typedef void syn_help(void *context, int place);

/* Runs help(context, place) once for each place from 0 to `places` - 1: place 0 on the
   calling thread, the others on threads that are kept, as soon as these wake up. The
   calling thread takes the places that nobody has begun when it is done itself; it waits
   for no thread but those that have begun. Several threads may call at a time. No help
   comes in a forked child, to a thread that helps already, and where the system has no
   more threads to give. */
void syn_workers_run(int places, syn_help *help, void *context);

/* Whether the calling thread is in the middle of a call with several places. */
int syn_workers_are_here(void);

/* Before the library is unloaded: ends all threads. Nobody may be calling. */
void syn_workers_end(void);

#endif
