#pragma once

#include <cstdint>

/// Elements that loops convert or stage at a time, which decides how much stack a kernel uses. Set by
/// `//kernels/parallel:block_size`.
#ifndef KERNELS_BLOCK_SIZE
#define KERNELS_BLOCK_SIZE 256
#endif

namespace rules_executorch::kernels {

inline constexpr int64_t kBlockSize = KERNELS_BLOCK_SIZE;
static_assert(kBlockSize == 64 || kBlockSize == 128 || kBlockSize == 256, "block_size is 64, 128 or 256");

/// Memory for one block of elements of any dtype, half a block of ComplexDouble: 2 KiB, unless block_size says less.
struct alignas(16) Block {
  char data[kBlockSize * sizeof(int64_t)];
};

/// How many elements of `element_size` bytes are a block.
constexpr int64_t block_length(int64_t element_size) {
  return element_size <= int64_t{sizeof(int64_t)} ? kBlockSize : int64_t{sizeof(Block)} / element_size;
}

}  // namespace rules_executorch::kernels
