/* Frees memory outside R's heap however a call ends. An entry runs under
   R_UnwindProtect(); what it holds is on a list, which is gone through when the entry
   returns or R jumps out of it. */
#include "glue/owner.h"

#include <stdlib.h>

#include "glue/require.h"

/* Stands before the bytes that are held, all that one owner holds on a list. */
typedef struct glue_held {
    struct glue_held *next, **link;
    glue_release *release;
    SEXP pointer;  /* to this, when R keeps it; its tag is a weak reference */
} held;

/* Of such a length that the bytes after it are aligned for anything. */
typedef union head {
    held held;
    long double widest;
} head;

static void *bytes_of(held *h)
{
    return (head *)h + 1;
}

static held *new_held(held **first, size_t bytes, glue_release *release)
{
    held *h = bytes < SIZE_MAX - sizeof(head) ? calloc(1, sizeof(head) + bytes) : NULL;
    if (!h)
        glue_no_memory((double)bytes);
    *h = (held){.next = *first, .link = first, .release = release};
    if (h->next)
        h->next->link = &h->next;
    *first = h;
    return h;
}

static void free_held(held *h)
{
    if (h->next)
        h->next->link = h->link;
    *h->link = h->next;
    if (h->release)
        h->release(bytes_of(h));
    free(h);
}

/* ---- for a call ---- */

typedef struct call {
    SEXP (*entry)(glue_owner *own, SEXP *given);
    SEXP *given;
    glue_owner owner;
} call;

static SEXP run_entry(void *data)
{
    call *c = data;
    return c->entry(&c->owner, c->given);
}

static void end_call(void *data, Rboolean jump)
{
    call *c = data;
    (void)jump;
    while (c->owner.last)
        free_held(c->owner.last);
}

SEXP glue_run(SEXP (*entry)(glue_owner *own, SEXP *given), SEXP *given)
{
    call c = {.entry = entry, .given = given};
    return R_UnwindProtect(run_entry, &c, end_call, &c, NULL);
}

void *glue_hold(glue_owner *own, size_t bytes, glue_release *release)
{
    return bytes_of(new_held(&own->last, bytes, release));
}

/* ---- for R to keep ---- */

static held *all_kept;

static void free_kept(SEXP pointer)
{
    held *h = R_ExternalPtrAddr(pointer);
    if (!h)
        return;
    R_ClearExternalPtr(pointer);
    free_held(h);
}

SEXP glue_keep(const char *kind, size_t bytes, glue_release *release)
{
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, Rf_install(kind)));
    R_SetExternalPtrTag(pointer, R_MakeWeakRefC(pointer, R_NilValue, free_kept, TRUE));
    held *h = new_held(&all_kept, bytes, release);
    h->pointer = pointer;
    R_SetExternalPtrAddr(pointer, h);
    UNPROTECT(1);
    return pointer;
}

void *glue_kept(SEXP pointer, const char *kind)
{
    require(TYPEOF(pointer) == EXTPTRSXP && R_ExternalPtrAddr(pointer) != NULL &&
                R_ExternalPtrProtected(pointer) == Rf_install(kind), kind);
    return bytes_of(R_ExternalPtrAddr(pointer));
}

void glue_let_go(SEXP pointer)
{
    require(TYPEOF(pointer) == EXTPTRSXP &&
                TYPEOF(R_ExternalPtrTag(pointer)) == WEAKREFSXP, "pointer");
    R_RunWeakRefFinalizer(R_ExternalPtrTag(pointer));
}

SEXP r_let_go_all(void)
{
    while (all_kept)
        glue_let_go(all_kept->pointer);
    return R_NilValue;
}
