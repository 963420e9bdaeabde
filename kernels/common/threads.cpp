#include "kernels/common/threads.h"

// Without this definition, ExecuTorch's header has a sequential loop in place of the function that its threads provide.
#define ET_USE_THREADPOOL
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace rules_executorch::kernels {

void run_on_threads(int64_t begin, int64_t end, int64_t grain, RangeFunction function) {
  ET_CHECK_MSG(::executorch::extension::parallel_for(begin, end, grain, function), "ExecuTorch's threads failed");
}

}  // namespace rules_executorch::kernels
