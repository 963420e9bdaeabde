#pragma once

#include <cstdint>

#include "kernels/common/parallel_for.h"

namespace rules_executorch::kernels {

/// `parallel_for` on ExecuTorch's threads. The reference is weak, so that programs link without threads.
[[gnu::weak]] void run_on_threads(int64_t begin, int64_t end, int64_t grain, RangeFunction function);

}  // namespace rules_executorch::kernels
