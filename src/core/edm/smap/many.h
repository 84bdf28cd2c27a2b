/* S-maps of many predictions at a time. */
#ifndef SYN_EDM_SMAP_MANY_H
#define SYN_EDM_SMAP_MANY_H

#include "core/edm/smap/call.h"

/* Whether the call is made so: with the whole library, at least twice as many points as
   there are coefficients, and 8 predictions or more. It then takes two thirds to a fifth
   of the time (two and twenty coordinates); where all models have to be made again, a
   tenth more. */
int syn_smap_worth(const syn_smap_call *s);

/* Makes all predictions of a call whose benches are made. */
syn_status syn_smap_many(const syn_smap_call *s, const syn_watch *watch);

#endif
