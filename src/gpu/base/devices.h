/* Which GPUs there are, and whether they work, for plain C. The functions are the same
   with and without CUDA: without it, gpu/none.c says that there is no GPU. */
#ifndef SYN_GPU_BASE_DEVICES_H
#define SYN_GPU_BASE_DEVICES_H

#ifdef __cplusplus
extern "C" {
#endif

#include "core/base/watch.h"

#include <stdint.h>

enum {
    SYN_GPU_TEXT = 256,  /* bytes of a reason */
    SYN_GPU_MOST = 16,   /* most devices that share a work */
    SYN_GPU_SIZES = 64   /* sizes of episodes that reports tell apart */
};

/* Both macros declare a function that works on devices. In a build without CUDA
   gpu/none.c defines them otherwise: as functions that say why there is no device. Those
   of SYN_GPU_MAKER first do `empty`, which clears what would be made. */
#ifndef SYN_GPU_MAKER
#define SYN_GPU_MAKER(name, empty, ...) syn_status name(__VA_ARGS__);
#define SYN_GPU_FUNCTION(name, ...) syn_status name(__VA_ARGS__);
#endif

/* A call of a function that works on devices. Of several devices each takes a share. Such
   a function returns SYN_NO_DEVICE when there is no such device or it failed, and
   SYN_NO_MEMORY when the host or a device has none left; SYN_TOO_LARGE beyond a limit. */
typedef struct syn_gpu_call {
    const int *devices;         /* [n] numbers from 0 */
    int n;                      /* 1 to SYN_GPU_MOST; 0 where the processor does the
                                   work */
    int threads;                /* of the host, which copy what is large; 0 counts as 1 */
    const syn_watch *watch;     /* polled while devices work */
    char reason[SYN_GPU_TEXT];  /* one plain clause after an error; empty after SYN_OK and
                                   SYN_INTERRUPTED */
} syn_gpu_call;

/* What the process can see of CUDA. Versions are 1000 * major + 10 * minor, 0 where
   there is none. */
typedef struct syn_gpu_survey {
    int built;                         /* 1 when the kernels are linked in */
    int runtime;                       /* CUDA version the kernels were built with */
    int driver;                        /* newest CUDA version the driver supports */
    int devices;                       /* devices that can be named in syn_gpu_examine */
    char architectures[SYN_GPU_TEXT];  /* built for, as "750,800,900"; may be empty */
    char reason[SYN_GPU_TEXT];         /* one plain clause where `devices` is 0 */
} syn_gpu_survey;

typedef struct syn_gpu_device {
    char name[SYN_GPU_TEXT];
    int major, minor;                  /* compute capability */
    int multiprocessors;
    uint64_t memory;                   /* bytes in all */
    uint64_t memory_free;              /* bytes; 0 unless tested */
    int tested;                        /* 1 when a kernel was tried */
    int works;                         /* 1 when it ran and every value was right */
    char trouble[SYN_GPU_TEXT];        /* one plain clause where something failed */
} syn_gpu_device;

/* Call once when the library is loaded. Touches no device: it only remembers the
   process, because a CUDA context does not survive a fork. In a forked child the
   functions below report no devices. */
void syn_gpu_init(void);

/* Fills `survey`; makes no context. */
void syn_gpu_look(syn_gpu_survey *survey);

/* Describes device `index` in [0, devices). With `test` it also makes a context there
   (0.2 s or more, the first time), runs a kernel and checks what it wrote. */
void syn_gpu_examine(int index, int test, syn_gpu_device *device);

/* Gives back the memory that is kept between calls, and nobody holds. The bytes: at most
   1.06 GB a device. Nothing in a forked child. Call before the library is unloaded. */
uint64_t syn_gpu_release(void);

#ifdef __cplusplus
}
#endif

#endif
