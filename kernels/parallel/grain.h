#pragma once

#include <cstdint>

/// Set by `//kernels/parallel:grain_size`. The default is the same as PyTorch's.
#ifndef KERNELS_GRAIN_SIZE
#define KERNELS_GRAIN_SIZE 32768
#endif

namespace rules_executorch::kernels {

/// The lowest number of items for a thread, if the cost of an item is about one addition.
inline constexpr int64_t kGrain = KERNELS_GRAIN_SIZE;

}  // namespace rules_executorch::kernels
