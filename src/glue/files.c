/* For files of causal maps: checksums of rows, and whether the process that locks a file
   lives. */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200112L
#endif
#include "glue/glue.h"

#include "core/base/checksum.h"
#include "glue/require.h"

/* Sums of the rows of a double matrix, `width` columns at a time: a double matrix, rows x
   groups of columns. `places`: double, a number for each row. */
SEXP r_row_sums(SEXP values, SEXP places, SEXP kind, SEXP width, SEXP whole)
{
    require(TYPEOF(values) == REALSXP && Rf_isMatrix(values), "values");
    size_t rows = (size_t)Rf_nrows(values), columns = (size_t)Rf_ncols(values);
    require(Rf_xlength(numbers(places, REALSXP, (R_xlen_t)rows, "places")) ==
                (R_xlen_t)rows, "places");
    for (size_t i = 0; i < rows; i++)
        within(REAL(places)[i], 0, 9007199254740992.0, "place");
    unsigned number = (unsigned)within(Rf_asReal(kind), 0, 1000, "kind");
    size_t each = (size_t)within(Rf_asReal(width), 1, INT32_MAX, "width");
    size_t groups = (columns + each - 1) / each;
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, (int)rows, (int)groups));
    for (size_t g = 0; g < groups; g++) {
        size_t left = columns - g * each;
        syn_row_sums(REAL(values) + g * each * rows, rows, left < each ? left : each,
                     REAL(places), number, Rf_asLogical(whole) == 1,
                     REAL(out) + g * rows);
    }
    UNPROTECT(1);
    return out;
}

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
