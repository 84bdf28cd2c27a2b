/* Sockets that listen at an address of this computer, which R's own cannot choose, and
   what is sent to them. */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200112L
#endif
#include "glue/glue.h"

#include <string.h>

#include "glue/require.h"

#if defined(__unix__) || defined(__APPLE__)
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WAITING = 16, MOST_POLLED = 64 };

static int make_socket(const char *address, int port)
{
    struct sockaddr_in at = {0};
    at.sin_family = AF_INET;
    at.sin_port = htons((unsigned short)port);
    int yes = 1, made = socket(AF_INET, SOCK_STREAM, 0);
    if (made < 0)
        return -1;
    if (inet_pton(AF_INET, address, &at.sin_addr) == 1 &&
        setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        bind(made, (struct sockaddr *)&at, sizeof at) == 0 &&
        listen(made, WAITING) == 0 && fcntl(made, F_SETFL, O_NONBLOCK) == 0 &&
        fcntl(made, F_SETFD, FD_CLOEXEC) == 0)
        return made;
    close(made);
    return -1;
}

static int accept_one(int server)
{
    int made = accept(server, NULL, NULL);
    if (made >= 0) {
        fcntl(made, F_SETFL, O_NONBLOCK);
        fcntl(made, F_SETFD, FD_CLOEXEC);
    }
    return made;
}

/* Bytes that came, 0 for none now, -1 where the other end has gone. */
static R_xlen_t receive(int from, unsigned char *bytes, size_t size)
{
    ssize_t n = recv(from, bytes, size, 0);
    if (n > 0)
        return (R_xlen_t)n;
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? 0 : -1;
}

static void await(const int *sockets, int n, int milliseconds)
{
    struct pollfd polled[MOST_POLLED];
    for (int i = 0; i < n; i++)
        polled[i] = (struct pollfd){.fd = sockets[i], .events = POLLIN};
    poll(polled, (nfds_t)n, milliseconds);
}

static void shut(int one)
{
    close(one);
}
#else
enum { MOST_POLLED = 64 };

static int make_socket(const char *address, int port)
{
    return (void)address, (void)port, -2;
}
static int accept_one(int server)
{
    return (void)server, -1;
}
static R_xlen_t receive(int from, unsigned char *bytes, size_t size)
{
    return (void)from, (void)bytes, (void)size, -1;
}
static void await(const int *sockets, int n, int milliseconds)
{
    (void)sockets, (void)n, (void)milliseconds;
}
static void shut(int one)
{
    (void)one;
}
#endif

/* A socket that listens; -1 where it cannot be made, -2 where the system has no such. */
SEXP r_listen(SEXP address, SEXP port)
{
    numbers(address, STRSXP, 1, "address");
    int at = (int)within(Rf_asReal(port), 1, 65535, "port");
    return Rf_ScalarInteger(make_socket(CHAR(STRING_ELT(address, 0)), at));
}

/* A socket to the next program that has called, or -1. */
SEXP r_accept(SEXP server)
{
    return Rf_ScalarInteger(accept_one(Rf_asInteger(server)));
}

/* Up to `most` bytes that have come, or NULL where the program has gone. */
SEXP r_receive(SEXP from, SEXP most)
{
    size_t size = (size_t)within(Rf_asReal(most), 1, 1 << 24, "bytes");
    SEXP out = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)size));
    R_xlen_t n = receive(Rf_asInteger(from), RAW(out), size);
    out = n < 0 ? R_NilValue : Rf_xlengthgets(out, n);
    UNPROTECT(1);
    return out;
}

/* Waits until something comes to some sockets, or for so many seconds. */
SEXP r_await(SEXP sockets, SEXP seconds)
{
    int n = (int)Rf_xlength(numbers(sockets, INTSXP, 0, "sockets"));
    require(n <= MOST_POLLED, "sockets");
    await(INTEGER(sockets), n, (int)(1e3 * within(Rf_asReal(seconds), 0, 60, "seconds")));
    return R_NilValue;
}

SEXP r_shut(SEXP socket)
{
    shut(Rf_asInteger(socket));
    return R_NilValue;
}
