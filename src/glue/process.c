/* Tells whether a process lives, for locks on files of causal maps. */
#include "glue/glue.h"

#include <stdint.h>

#include "glue/require.h"

#ifdef _WIN32
#include <windows.h>

static int lives(int pid)
{
    HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, (DWORD)pid);
    DWORD code = 0;
    if (!process)
        return GetLastError() == ERROR_ACCESS_DENIED;
    int running = !GetExitCodeProcess(process, &code) || code == STILL_ACTIVE;
    CloseHandle(process);
    return running;
}
#else
#include <errno.h>
#include <signal.h>
#include <sys/types.h>

static int lives(int pid)
{
    /* A process of another user may not be signalled, but it is there. */
    return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}
#endif

/* Whether there is a process of this number on this machine. */
SEXP r_process_lives(SEXP pid)
{
    int number = (int)within(Rf_asInteger(pid), 1, INT32_MAX, "process");
    return Rf_ScalarLogical(lives(number));
}
