/* What devices there are, and whether code built here runs on them. */
#include "gpu/base/devices.h"

#include "gpu/base/device.cuh"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>
#include <unistd.h>

#define TEXT(...) #__VA_ARGS__
#define TEXT_OF(...) TEXT(__VA_ARGS__)

namespace {

/* The process that loaded the library; zero before syn_gpu_init(). */
pid_t owner = 0;

void say(char *text, const char *what)
{
    std::snprintf(text, SYN_GPU_TEXT, "%s", what);
}

/* Whether CUDA fails from now on, whatever it is asked: a kernel went wrong, and the
   contexts of this process cannot be mended. */
bool is_final(cudaError_t error)
{
    const std::initializer_list<cudaError_t> all = {
        cudaErrorIllegalAddress, cudaErrorLaunchTimeout, cudaErrorAssert,
        cudaErrorHardwareStackError, cudaErrorIllegalInstruction,
        cudaErrorMisalignedAddress, cudaErrorInvalidAddressSpace, cudaErrorInvalidPc,
        cudaErrorLaunchFailure, cudaErrorECCUncorrectable, cudaErrorNvlinkUncorrectable,
        cudaErrorContextIsDestroyed, cudaErrorDeviceUninitialized,
        cudaErrorCudartUnloading};
    return std::find(all.begin(), all.end(), error) != all.end();
}

/* CUDA's own wording misleads most where users meet it most: a machine without any
   driver gets the answer that its version is insufficient. */
void explain(cudaError_t error, int driver, char *text)
{
    const char *visible = std::getenv("CUDA_VISIBLE_DEVICES");
    switch (error) {
    case cudaErrorInsufficientDriver:
    case cudaErrorStubLibrary:
        if (driver == 0)
            say(text, "no NVIDIA driver is installed on this machine");
        else
            std::snprintf(text, SYN_GPU_TEXT,
                          "the NVIDIA driver supports CUDA up to %d.%d, but synfire was "
                          "built with CUDA %d.%d: update the driver",
                          driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000,
                          CUDART_VERSION % 1000 / 10);
        break;
    case cudaErrorNoDevice:
        if (visible != NULL)
            std::snprintf(text, SYN_GPU_TEXT,
                          "the NVIDIA driver shows no device (the environment variable "
                          "CUDA_VISIBLE_DEVICES is \"%.40s\")", visible);
        else
            say(text, "the NVIDIA driver finds no device on this machine");
        break;
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
        say(text, "synfire was not built for this kind of device: reinstall it here");
        break;
    case cudaErrorDevicesUnavailable:
        say(text, "the device is busy or reserved for another process");
        break;
    case cudaErrorMemoryAllocation:
        say(text, "the device has no memory left");
        break;
    default:
        std::snprintf(text, SYN_GPU_TEXT, "CUDA says: %s (%s)%s",
                      cudaGetErrorString(error), cudaGetErrorName(error),
                      is_final(error) ? "; to use the GPU again, restart R" : "");
    }
}

int driver_version()
{
    int driver = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess)
        driver = 0;
    return driver;
}

__host__ __device__ inline uint32_t expected(uint32_t i)
{
    return (i ^ (i >> 7)) * 2654435761u + 12345u;
}

__global__ void fill(uint32_t *out, uint32_t n)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = expected(i);
}

void test_device(int index, syn_gpu_device *device)
{
    /* Not a multiple of the block size, so that the last block is a partial one. */
    std::vector<uint32_t> host((1u << 16) + 77u, 0u);
    uint32_t n = (uint32_t) host.size();
    gpu::device_scope scope;
    device->tested = 1;
    try {
        gpu::check(cudaSetDevice(index));
        gpu::array<uint32_t> filled;
        device->memory_free = gpu::free_memory();
        gpu::launch(fill, gpu::blocks_for(n, 256), 256, 0, nullptr, filled.ensure(n), n);
        gpu::check(cudaMemcpy(host.data(), filled.get(), n * sizeof(uint32_t),
                              cudaMemcpyDeviceToHost));
    } catch (const gpu::failure &why) {
        explain(why.error, driver_version(), device->trouble);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (host[i] != expected(i)) {
            say(device->trouble, "the test kernel ran but wrote wrong values");
            return;
        }
    }
    device->works = 1;
}

}  // namespace

bool syn_gpu_forked()
{
    return owner != 0 && getpid() != owner;
}

/* The driver knows, and only it; its library is there already when CUDA has been used. */
bool syn_gpu_in_use(int device)
{
    typedef int get_device(int *, int);
    typedef int get_state(int, unsigned *, int *);
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!driver)
        return false;
    get_device *by_number = (get_device *) dlsym(driver, "cuDeviceGet");
    get_state *state_of = (get_state *) dlsym(driver, "cuDevicePrimaryCtxGetState");
    int handle = 0, active = 0;
    unsigned flags = 0;
    bool known = by_number && state_of && by_number(&handle, device) == 0 &&
                 state_of(handle, &flags, &active) == 0;
    dlclose(driver);
    return known && active;
}

void syn_gpu_explain(cudaError_t error, char *text)
{
    explain(error, driver_version(), text);
}

extern "C" void syn_gpu_init(void)
{
    owner = getpid();
}

extern "C" void syn_gpu_look(syn_gpu_survey *survey)
{
    std::memset(survey, 0, sizeof *survey);
    survey->built = 1;
    survey->runtime = CUDART_VERSION;
#ifdef __CUDA_ARCH_LIST__
    say(survey->architectures, TEXT_OF(__CUDA_ARCH_LIST__));
#endif
    if (syn_gpu_forked()) {
        say(survey->reason, "this is a forked process, where CUDA cannot be used");
        return;
    }
    survey->driver = driver_version();
    cudaError_t error = cudaGetDeviceCount(&survey->devices);
    if (error != cudaSuccess) {
        survey->devices = 0;
        explain(error, survey->driver, survey->reason);
        cudaGetLastError();
    } else if (survey->devices == 0) {
        explain(cudaErrorNoDevice, survey->driver, survey->reason);
    }
}

extern "C" void syn_gpu_examine(int index, int test, syn_gpu_device *device)
{
    std::memset(device, 0, sizeof *device);
    if (syn_gpu_forked()) {
        say(device->trouble, "this is a forked process, where CUDA cannot be used");
        return;
    }
    cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, index);
    if (error != cudaSuccess) {
        explain(error, driver_version(), device->trouble);
        cudaGetLastError();
        return;
    }
    say(device->name, properties.name);
    device->major = properties.major;
    device->minor = properties.minor;
    device->multiprocessors = properties.multiProcessorCount;
    device->memory = properties.totalGlobalMem;
    if (test)
        test_device(index, device);
}
