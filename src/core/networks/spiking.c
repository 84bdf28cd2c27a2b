/* The steps of a network of spiking units. Currents that are on their way wait in a ring
   of as many steps as the longest delay. Units are taken in blocks of eight, which one
   block of the cipher gives noise for, by loops of a fixed length without branches;
   spikes are looked for only in a block that has one.

   Before the recording, the mean drive of each unit is tuned by stochastic approximation
   with averaging (Polyak & Juditsky 1992): it rises a little each step, and a spike takes
   back what the steps between two spikes at the target rate add. */
#include "core/networks/spiking.h"

#include <math.h>
#include <string.h>

#include "core/base/arrays.h"
#include "core/base/philox.h"
/* A spike that comes a step later changes all that follow. */
#include "core/base/unfused.h"

enum {
    LANES = 8,          /* units of a block: the half words of a block of the cipher */
    OFTEN = 1 << 21     /* updates of units between two polls */
};

/* Streams of random numbers. */
enum { NOISE = SYN_SPIKING_STREAM, WITHIN };

typedef struct block {
    float potential[LANES], excitation[LANES], inhibition[LANES], adaptation[LANES];
    float drive[LANES], leak[LANES], kick[LANES];
    int32_t idle[LANES];  /* steps that are left of the refractory time */
} block;

/* Currents that come in at one step. */
typedef struct arrivals {
    float excitation[LANES], inhibition[LANES];
} arrivals;

typedef struct run {
    const syn_spiking *network;
    syn_spiking_found *found;
    uint32_t blocks;    /* of units; those beyond the last unit never fire */
    uint32_t depth;     /* steps of the rings */
    uint32_t key[2];
    uint64_t step;
    float gain;         /* of tuning; 0 in the recording */
    block *block;       /* [blocks] */
    arrivals *ring;     /* [depth][blocks], step t at t % depth */
    uint32_t inputs;    /* shared inputs and, last, bursts */
    float *load;        /* [blocks][inputs][LANES] */
    float *level;       /* [inputs] now */
    double *phase;      /* [inputs] of oscillations */
    double *tuned;      /* [units] sum of drives */
    uint32_t burst;     /* the first that is not over */
    syn_arrays memory;
} run;

/* ---- random numbers ---- */

static void draw(const run *r, uint32_t block, uint32_t stream, uint32_t word[4])
{
    uint32_t counter[4] = {(uint32_t)r->step, (uint32_t)(r->step >> 32), block, stream};
    syn_philox(counter, r->key, word);
}

/* Uniform numbers around 0 with a standard deviation of 2^16 / sqrt(12): their sum over
   many steps has a normal distribution. */
static void draw_noise(const run *r, uint32_t block, float noise[LANES])
{
    uint32_t word[4];
    draw(r, block, NOISE, word);
    for (int k = 0; k < LANES / 2; k++) {
        noise[2 * k] = (float)(word[k] & 0xFFFF) - 32767.5f;
        noise[2 * k + 1] = (float)(word[k] >> 16) - 32767.5f;
    }
}

static double noise_unit(void) { return sqrt(12.0) / 65536; }

/* ---- before the first step ---- */

/* What input `c` adds to the drive of a unit, where there is room for it. */
static float *load_of(const run *r, uint32_t unit, uint32_t c)
{
    return r->load + ((size_t)(unit / LANES) * r->inputs + c) * LANES + unit % LANES;
}

static void set_unit(run *r, uint32_t i)
{
    const syn_spiking *network = r->network;
    const syn_spiking_inputs *in = &network->inputs;
    block *b = r->block + i / LANES;
    uint32_t l = i % LANES;
    b->potential[l] = (float)network->units.start[i];
    b->leak[l] = (float)network->units.leak[i];
    b->kick[l] = (float)(network->units.kick[i] * noise_unit());
    b->drive[l] = (float)network->drive;
    for (uint32_t c = 0; c < in->n; c++)
        *load_of(r, i, c) = (float)in->load[(size_t)c * network->synapses.nodes + i];
    *load_of(r, i, in->n) = (float)in->burst_load[i];
}

static syn_status begin(run *r)
{
    uint32_t n = r->network->synapses.nodes;
    r->blocks = (n + LANES - 1) / LANES;
    r->depth = syn_longest_delay(&r->network->synapses);
    r->inputs = r->network->inputs.n + 1;
    SYN_ARRAY(&r->memory, r->block, r->blocks);
    SYN_ARRAY(&r->memory, r->ring, (size_t)r->depth * r->blocks);
    SYN_ARRAY(&r->memory, r->load, (size_t)r->blocks * r->inputs * LANES);
    SYN_ARRAY(&r->memory, r->level, r->inputs);
    SYN_ARRAY(&r->memory, r->phase, r->inputs);
    SYN_ARRAY(&r->memory, r->tuned, n);
    for (uint32_t i = 0; i < n; i++)
        set_unit(r, i);
    r->key[0] = (uint32_t)r->network->key;
    r->key[1] = (uint32_t)(r->network->key >> 32);
    return SYN_OK;
}

/* ---- inputs that units share ---- */

static float burst_now(run *r)
{
    const syn_spiking_inputs *in = &r->network->inputs;
    double now = (double)r->step, sum = 0;
    while (r->burst < in->bursts && in->burst_start[r->burst] +
           in->burst_length[r->burst] <= now)
        r->burst++;
    for (uint32_t k = r->burst; k < in->bursts && in->burst_start[k] <= now; k++) {
        double part = (now - in->burst_start[k]) / in->burst_length[k];
        if (part < 1)
            sum += in->burst_size[k] * (part * 7 < 1 ? part * 7 : (1 - part) * 7 / 6);
    }
    return (float)sum;
}

static void share(run *r)
{
    const syn_spiking_inputs *in = &r->network->inputs;
    float noise[LANES];
    for (uint32_t c = 0; c < in->n; c++) {
        if (c % LANES == 0)
            draw_noise(r, r->blocks + c / LANES, noise);
        double add = in->wander[c] * noise_unit() * noise[c % LANES];
        if (in->swings[c]) {
            r->phase[c] += in->pace[c] + add;
            r->level[c] = (float)(sqrt(2.0) * sin(r->phase[c]));
        } else {
            r->level[c] = (float)(in->pace[c] * r->level[c] + add);
        }
    }
    r->level[in->n] = burst_now(r);
}

/* ---- units ---- */

/* The drive of a block of units now, without their synapses. */
static void drive_now(const run *r, uint32_t at, float drive[LANES])
{
    const float *load = r->load + (size_t)at * r->inputs * LANES;
    memcpy(drive, r->block[at].drive, LANES * sizeof *drive);
    for (uint32_t c = 0; c < r->inputs; c++, load += LANES) {
        float level = r->level[c];
        for (int l = 0; l < LANES; l++)
            drive[l] += load[l] * level;
    }
}

/* A block of units goes on by one step. Whether any potential is above the threshold. */
static int advance(block *restrict b, const arrivals *restrict come,
                   const float *restrict drive, const float *restrict noise,
                   const float keeps[3])
{
    float keeps_e = keeps[0], keeps_i = keeps[1], keeps_a = keeps[2];
    for (int l = 0; l < LANES; l++)
        b->excitation[l] = b->excitation[l] * keeps_e + come->excitation[l];
    for (int l = 0; l < LANES; l++)
        b->inhibition[l] = b->inhibition[l] * keeps_i + come->inhibition[l];
    for (int l = 0; l < LANES; l++)
        b->adaptation[l] *= keeps_a;
    int32_t above = 0;
    for (int l = 0; l < LANES; l++) {
        int32_t active = b->idle[l] == 0;
        float to = drive[l] + b->excitation[l] + b->inhibition[l] - b->adaptation[l];
        float next = b->potential[l] + b->leak[l] * (to - b->potential[l]) +
                     b->kick[l] * noise[l];
        b->potential[l] = next * (float)active;
        b->idle[l] += active - 1;
        above |= b->potential[l] > 1;
    }
    return above;
}

static syn_status record(run *r, uint32_t unit)
{
    syn_spiking_found *found = r->found;
    if (found->n == r->network->most_spikes)
        return SYN_TOO_LARGE;
    SYN_GROW(&found->budget, found->time, found->time_room, found->n + 1);
    SYN_GROW(&found->budget, found->unit, found->unit_room, found->n + 1);
    uint32_t word[4];
    draw(r, unit, WITHIN, word);
    found->time[found->n] = (double)(r->step - r->network->tuning) +
                            (word[0] + 0.5) / 4294967296.0;
    found->unit[found->n++] = (int)unit;
    return SYN_OK;
}

static syn_status fire(run *r, uint32_t unit)
{
    const syn_spiking *network = r->network;
    const syn_links *synapses = &network->synapses;
    block *own = r->block + unit / LANES;
    uint32_t l = unit % LANES, now = (uint32_t)(r->step % r->depth);
    own->potential[l] = 0;
    own->idle[l] = (int32_t)network->refractory;
    own->adaptation[l] += (float)network->adaptation;
    own->drive[l] -= r->gain / (float)network->units.target[unit];
    for (int k = synapses->first[unit]; k < synapses->first[unit + 1]; k++) {
        uint32_t slot = (now + (uint32_t)synapses->delay[k]) % r->depth;
        uint32_t to = (uint32_t)synapses->other[k];
        arrivals *come = r->ring + (size_t)slot * r->blocks + to / LANES;
        float *current = synapses->weight[k] > 0 ? come->excitation : come->inhibition;
        current[to % LANES] += (float)synapses->weight[k];
    }
    if (r->step >= network->tuning && unit < network->observed)
        return record(r, unit);
    return SYN_OK;
}

/* All units take their step before any of them fires, so a delay of as many steps as the
   ring has comes into a slot that is empty. */
static syn_status step(run *r, uint8_t *above)
{
    const syn_spiking *network = r->network;
    const float keeps[3] = {(float)network->keeps_excitation,
                            (float)network->keeps_inhibition,
                            (float)network->keeps_adaptation};
    arrivals *come = r->ring + (size_t)(r->step % r->depth) * r->blocks;
    float noise[LANES], drive[LANES];
    share(r);
    for (uint32_t b = 0; b < r->blocks; b++) {
        draw_noise(r, b, noise);
        drive_now(r, b, drive);
        above[b] = advance(r->block + b, come + b, drive, noise, keeps) != 0;
    }
    memset(come, 0, r->blocks * sizeof *come);
    for (uint32_t b = 0; b < r->blocks; b++)
        for (uint32_t l = 0; above[b] && l < LANES; l++)
            if (r->block[b].potential[l] > 1)
                SYN_TRY(fire(r, b * LANES + l));
    return SYN_OK;
}

static void tune(run *r)
{
    const syn_spiking *network = r->network;
    double early = network->early, t = (double)r->step;
    r->gain = (float)(sqrt(early / (t + early)) / (network->slope * early));
    for (uint32_t b = 0; b < r->blocks; b++)
        for (int l = 0; l < LANES; l++)
            r->block[b].drive[l] += r->gain;
    if (r->step < network->tuning / 2)
        return;
    for (uint32_t i = 0; i < network->synapses.nodes; i++)
        r->tuned[i] += r->block[i / LANES].drive[i % LANES];
}

/* The drives of the recording are the mean of those in the second half of tuning. */
static void end_tuning(run *r)
{
    size_t steps = r->network->tuning - r->network->tuning / 2;
    r->gain = 0;
    for (uint32_t i = 0; i < r->network->synapses.nodes && steps > 0; i++)
        r->block[i / LANES].drive[i % LANES] = (float)(r->tuned[i] / (double)steps);
}

static syn_status run_all(run *r, const syn_watch *watch)
{
    const syn_spiking *network = r->network;
    SYN_TRY(begin(r));
    uint8_t *above;
    SYN_ARRAY(&r->memory, above, r->blocks);
    size_t all = network->tuning + network->steps, since = 0;
    for (r->step = 0; r->step < all; r->step++) {
        if (r->step < network->tuning)
            tune(r);
        else if (r->step == network->tuning)
            end_tuning(r);
        SYN_TRY(step(r, above));
        since += (size_t)r->blocks * LANES;
        if (since >= OFTEN) {
            since = 0;
            SYN_TRY(syn_poll(watch, "steps", (double)r->step, (double)all));
        }
    }
    syn_spiking_found *found = r->found;
    SYN_TAKE(&found->budget, found->drive, network->synapses.nodes);
    for (uint32_t i = 0; i < network->synapses.nodes; i++)
        found->drive[i] = r->block[i / LANES].drive[i % LANES];
    return SYN_OK;
}

syn_status syn_spiking_run(const syn_spiking *network, const syn_watch *watch,
                           syn_spiking_found *found)
{
    run r = {.network = network, .found = found};
    *found = (syn_spiking_found){.budget = {.limit = SIZE_MAX}};
    syn_status status = run_all(&r, watch);
    syn_give_back(&r.memory);
    return status;
}
