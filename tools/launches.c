/* Writes down which kernels are launched, for tools/sanitize-gpu.sh, which links this
   into a copy of the package. The linker's option --wrap sends calls of the CUDA runtime
   here first: __wrap_NAME is called in place of NAME, and __real_NAME is what NAME was.

   A line of the file that the variable LAUNCHES names is "CASE KERNEL": the variable CASE
   as it was at the launch, and the kernel's name as the compiler wrote it into the object
   file. A kernel has one line for each case that launches it. */
#include <cuda_runtime_api.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 14, CASE_LENGTH = 128 };

/* A pointer by which the runtime knows a kernel: the function on the host, or a handle
   that newer toolkits ask for once and then launch. */
struct known {
    const void *key;
    const char *name;
    char said_in[CASE_LENGTH]; /* the case of the last line */
};

static struct known kernels[MOST];
static int n_kernels;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct known *find(const void *key)
{
    for (int i = 0; i < n_kernels; i++)
        if (kernels[i].key == key)
            return &kernels[i];
    return NULL;
}

static void add(const void *key, const char *name)
{
    if (find(key))
        return;
    if (n_kernels == MOST) {
        fprintf(stderr, "tools/launches.c: more than %d kernels\n", (int) MOST);
        exit(1);
    }
    kernels[n_kernels++] = (struct known){key, name, ""};
}

/* An unknown kernel is written down too: no case expects it, so it is seen. */
static void write_down(const void *key)
{
    const char *file = getenv("LAUNCHES"), *now = getenv("CASE");
    if (!file || !now)
        return;
    pthread_mutex_lock(&lock);
    struct known *kernel = find(key);
    if (!kernel || strcmp(kernel->said_in, now) != 0) {
        FILE *out = fopen(file, "a");
        if (out) {
            fprintf(out, "%s %s\n", now, kernel ? kernel->name : "unknown");
            fclose(out);
        }
        if (kernel)
            snprintf(kernel->said_in, CASE_LENGTH, "%s", now);
    }
    pthread_mutex_unlock(&lock);
}

/* Called for each kernel when the library is loaded. */
void __real___cudaRegisterFunction(void **, const char *, char *, const char *, int,
                                   void *, void *, void *, void *, int *);
void __wrap___cudaRegisterFunction(void **module, const char *host, char *device,
                                   const char *name, int limit, void *thread, void *block,
                                   void *block_size, void *grid_size, int *warp)
{
    pthread_mutex_lock(&lock);
    add(host, name);
    pthread_mutex_unlock(&lock);
    __real___cudaRegisterFunction(module, host, device, name, limit, thread, block,
                                  block_size, grid_size, warp);
}

cudaError_t __real_cudaLaunchKernel(const void *, dim3, dim3, void **, size_t,
                                    cudaStream_t);
cudaError_t __wrap_cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **given,
                                    size_t shared, cudaStream_t stream)
{
    write_down(host);
    return __real_cudaLaunchKernel(host, grid, block, given, shared, stream);
}

cudaError_t __real_cudaLaunchCooperativeKernel(const void *, dim3, dim3, void **, size_t,
                                               cudaStream_t);
cudaError_t __wrap_cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block,
                                               void **given, size_t shared,
                                               cudaStream_t stream)
{
    write_down(host);
    return __real_cudaLaunchCooperativeKernel(host, grid, block, given, shared, stream);
}

#if CUDART_VERSION >= 11080
cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *how, const void *host,
                                       void **given)
{
    write_down(host);
    return __real_cudaLaunchKernelExC(how, host, given);
}
#endif

#if CUDART_VERSION >= 12000
cudaError_t __real___cudaGetKernel(cudaKernel_t *, const void *);
cudaError_t __wrap___cudaGetKernel(cudaKernel_t *handle, const void *host)
{
    cudaError_t error = __real___cudaGetKernel(handle, host);
    pthread_mutex_lock(&lock);
    struct known *kernel = find(host);
    if (error == cudaSuccess && kernel)
        add(*handle, kernel->name);
    pthread_mutex_unlock(&lock);
    return error;
}

cudaError_t __real___cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t,
                                      cudaStream_t);
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t handle, dim3 grid, dim3 block,
                                      void **given, size_t shared, cudaStream_t stream)
{
    write_down(handle);
    return __real___cudaLaunchKernel(handle, grid, block, given, shared, stream);
}
#endif
