/* S-maps of many predictions at a time. */
#ifndef SYN_EDM_SMAP_MANY_H
#define SYN_EDM_SMAP_MANY_H

#include "core/edm/smap_call.h"

/* Whether the call is made so: it takes the whole library, and as many coordinates and
   predictions as make it the faster way. */
int syn_smap_worth(const syn_smap_call *s);

/* Makes all predictions of a call whose benches are made. */
syn_status syn_smap_many(const syn_smap_call *s, const syn_watch *watch);

#endif
