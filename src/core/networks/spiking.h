/* Networks of integrate-and-fire units whose synapses are known.

   Potentials are in units of the threshold distance: 0 at rest and after a spike, 1 at
   the threshold. Each step, a unit's potential moves by the share `leak` of its distance
   from what drives it: a mean drive, the currents of its synapses, inputs that it shares
   with other units, and its adaptation, which is taken off; and by a kick of noise. */
#ifndef SYN_NETWORKS_SPIKING_H
#define SYN_NETWORKS_SPIKING_H

#include "core/base/budget.h"
#include "core/base/watch.h"
#include "core/networks/links.h"

/* What differs between units, [units] each. */
typedef struct syn_spiking_units {
    const double *leak;
    const double *kick;    /* standard deviation of the noise of a step */
    const double *target;  /* spikes a step that the drive is tuned for, above 0 */
    const double *start;   /* potential before the first step */
} syn_spiking_units;

/* Inputs that units share, each with a standard deviation of 1; [n], and
   load[n][units] says by how much each moves the drive of a unit. The size of a burst
   rises over a seventh of its length, and falls over the rest. */
typedef struct syn_spiking_inputs {
    uint32_t n;
    const int *swings;     /* whether it is an oscillation */
    const double *pace;    /* what a step keeps of a fluctuation; of an oscillation,
                              radians a step */
    const double *wander;  /* standard deviation of what a step adds to the fluctuation,
                              or to the phase */
    const double *load;
    uint32_t bursts;
    const double *burst_start;   /* in steps, in rising order */
    const double *burst_length;  /* in steps, above 0 */
    const double *burst_size;    /* what it adds to the drive at its peak, by load */
    const double *burst_load;    /* [units] */
} syn_spiking_inputs;

typedef struct syn_spiking {
    syn_links synapses;     /* by the unit that they come from: a spike in step s adds the
                               weight, above 0 to the excitatory current, else to the
                               inhibitory one, of the other unit in step s + delay */
    syn_spiking_units units;
    syn_spiking_inputs inputs;
    double keeps_excitation, keeps_inhibition, keeps_adaptation;  /* shares, a step */
    double adaptation;      /* what a spike adds */
    uint32_t refractory;    /* steps after a spike in which the potential stays at 0 */
    double drive;           /* mean drive of all units before it is tuned */
    double slope;           /* how the logarithm of the rate may depend on the drive */
    double early;           /* steps after which tuning becomes slower */
    size_t tuning;          /* steps before the recording, in which drives are tuned */
    size_t steps;           /* steps of the recording */
    uint32_t observed;      /* units that are recorded, the first ones */
    size_t most_spikes;     /* SYN_TOO_LARGE where there are more */
    uint64_t key;           /* of all random numbers: streams SYN_SPIKING_STREAM << 32 and
                               as many above it */
} syn_spiking;

enum { SYN_SPIKING_STREAM = 70 };

/* Spikes in the order of steps, and of units within a step. */
typedef struct syn_spiking_found {
    double *time;  /* in steps since the recording began: uniform within the step */
    int *unit;
    double *drive; /* [units], as it was tuned */
    size_t n, time_room, unit_room;
    syn_budget budget;
} syn_spiking_found;

/* Fills `found`. Each random number depends on the key, the step and the
   unit alone. SYN_NO_MEMORY; SYN_TOO_LARGE; SYN_INTERRUPTED. The end of its budget frees
   `found`, after any. */
syn_status syn_spiking_run(const syn_spiking *network, const syn_watch *watch,
                           syn_spiking_found *found);

#endif
