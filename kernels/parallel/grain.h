#pragma once

#include <algorithm>
#include <cstdint>

/// Set by `//kernels/parallel:grain_size`. The default is the same as PyTorch's.
#ifndef KERNELS_GRAIN_SIZE
#define KERNELS_GRAIN_SIZE 32768
#endif

namespace rules_executorch::kernels {

/// The lowest number of items of a part, if the cost of an item is about one addition.
inline constexpr int64_t kGrain = KERNELS_GRAIN_SIZE;
/// The lowest number of bytes of a part, if its thread reads the bytes from memory.
inline constexpr int64_t kGrainBytes = 4 * kGrain;
/// The number of multiplications of a matrix product that take as long as one addition of elements in memory.
inline constexpr int64_t kProductsOfAddition = 16;

/// The lowest number of items of a part.
///
/// Args:
///   work: the cost of an item, in additions.
///   bytes: the number of bytes of weights that an item reads. Products of few rows wait for weights from memory.
constexpr int64_t grain_of(int64_t work, int64_t bytes) {
  return std::max<int64_t>(std::min(kGrain / std::max<int64_t>(work, 1), kGrainBytes / std::max<int64_t>(bytes, 1)), 1);
}

}  // namespace rules_executorch::kernels
