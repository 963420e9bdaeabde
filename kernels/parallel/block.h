#pragma once

#include <cstdint>

/// The number of elements that loops convert or stage at a time. It determines how much stack a kernel needs. Set by
/// `//kernels/parallel:block_size`.
#ifndef KERNELS_BLOCK_SIZE
#define KERNELS_BLOCK_SIZE 256
#endif

namespace rules_executorch::kernels {

inline constexpr int64_t kBlockSize = KERNELS_BLOCK_SIZE;
static_assert(kBlockSize == 64 || kBlockSize == 128 || kBlockSize == 256, "block_size must be 64, 128 or 256");

/// Memory for one block of elements of any dtype; for ComplexDouble, half a block. 2 KiB with the default of
/// block_size.
struct alignas(16) Block {
  char data[kBlockSize * sizeof(int64_t)];
};

/// The number of elements of `element_size` bytes in a block.
constexpr int64_t block_length(int64_t element_size) {
  return element_size <= int64_t{sizeof(int64_t)} ? kBlockSize : int64_t{sizeof(Block)} / element_size;
}

}  // namespace rules_executorch::kernels
