/* The HDF5 library divides by numbers that it reads from a file, and a damaged file may
   say 0. Where the processor traps that, the system sends SIGFPE, which ends R.

   While R code that reads a file is guarded, the signal becomes R's error, which leaves
   the library by a jump, as R itself leaves its handler of stack overflow. That is safe
   enough here: the signal comes from the very instruction that divides, so it never
   interrupts memory management or a lock, and all that is lost is a file handle
   that stays open. Processors that give 0 for such a quotient need no guard; on Windows
   there is none. */
#if !defined(_WIN32)
#define _XOPEN_SOURCE 700
#endif

#include "glue/glue.h"

#ifdef _WIN32
SEXP r_guard_division(SEXP on)
{
    return on;
}
#else
#include <pthread.h>
#include <signal.h>

/* One in a process, as signals are: R's own thread guards, and only that. */
static int guarded = 0;
static pthread_t guarded_thread;
static struct sigaction former;

static void on_division(int signal)
{
    /* R's errors are for R's thread. Another one meets the former handler at once. */
    if (!pthread_equal(pthread_self(), guarded_thread)) {
        sigaction(signal, &former, NULL);
        return;
    }
    Rf_error("a number was divided by zero");
}

/* Turns the guard on or off, and says whether it was on, so that guarded code can call
   guarded code. */
SEXP r_guard_division(SEXP on)
{
    int before = guarded;
    guarded = Rf_asLogical(on) == TRUE;
    if (guarded && !before) {
        struct sigaction ours = {.sa_handler = on_division};
        sigemptyset(&ours.sa_mask);
        /* The jump passes by what would let the signal through again. */
        ours.sa_flags = SA_NODEFER;
        guarded_thread = pthread_self();
        if (sigaction(SIGFPE, &ours, &former) != 0)
            guarded = 0;
    } else if (before && !guarded) {
        sigaction(SIGFPE, &former, NULL);
    }
    return Rf_ScalarLogical(before);
}
#endif
