#pragma once

#include <cstdint>

/// Set by `//kernels/parallel:grain_size`. PyTorch has the same as here.
#ifndef KERNELS_GRAIN_SIZE
#define KERNELS_GRAIN_SIZE 32768
#endif

namespace rules_executorch::kernels {

/// Items that a thread takes at least, where each costs as little as one addition.
inline constexpr int64_t kGrain = KERNELS_GRAIN_SIZE;

}  // namespace rules_executorch::kernels
