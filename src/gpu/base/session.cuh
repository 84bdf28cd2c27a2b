/* What this process keeps of GPUs from one call to the next: memory of devices, and
   page-locked memory of the host. A call of a millisecond takes some forty blocks, each
   of which would cost 0.07 ms on a device, and 1 ms or more page-locked.

   It keeps little, as other processes use the same devices: see session.cu. What it keeps
   is given back where memory runs short, by syn_gpu_release(), and at the end of the
   process. A forked child neither uses nor frees what its parent keeps. */
#ifndef SYN_GPU_BASE_SESSION_CUH
#define SYN_GPU_BASE_SESSION_CUH

#include <cstddef>

namespace gpu {

enum class memory { device, host };  /* the second is page-locked */

/* How many times as long a device takes in double precision as in single. The driver
   needs milliseconds to say that, so it is asked once. */
int double_ratio(int device);

/* Memory that one array holds. */
struct block {
    void *data = nullptr;
    size_t bytes = 0;  /* at least those asked for, and a sixteenth more at the most */
    int device = 0;    /* that was current when it was taken */
};

/* Throws a failure. What the memory holds is anything. */
block take_block(memory kind, size_t bytes);

/* Work that uses the block may still be under way: the block is not given to another
   array before that has ended. */
void give_block(memory kind, const block &given) noexcept;

/* Bytes of the current device that can be taken, because they are unused or only kept
   here; and bytes that are in use. */
size_t free_memory();
size_t memory_in_use();

/* While it lives, what is kept makes room for what is held: both together stay within
   so many bytes of each device, as far as those that are held do. */
class memory_limit {
    size_t before_;
public:
    explicit memory_limit(size_t bytes);
    ~memory_limit();
    memory_limit(const memory_limit &) = delete;
    memory_limit &operator=(const memory_limit &) = delete;
};

}  // namespace gpu

#endif
