#pragma once

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/attention/heads.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels::attention {

/// The part of a mask for one query and several keys. It is not a view, because creating a view takes longer than a
/// short row.
struct MaskRow {
  ScalarType dtype;
  const char* data;
  int64_t stride;  // in bytes
  int64_t size;
};

/// The row of a mask for query `row` of a head, from `key` on.
inline MaskRow mask_row(const Heads& heads, int64_t head, int64_t row, int64_t key, int64_t keys) {
  const ConstStridedView& mask = heads.mask;
  const int64_t of_head = heads.first_head + head * heads.heads_apart + row / heads.queries;
  const int64_t offset = of_head * mask.strides[0] + row % heads.queries * mask.strides[1] + key * mask.strides[2];
  return {mask.dtype, mask.data + offset * mask.element_size(), mask.strides[2] * mask.element_size(), keys};
}

/// The number of keys up to the last one that a mask does not exclude, at least `least`.
template <typename T>
int64_t last_seen(const MaskRow& mask, int64_t least) {
  const T excluded = mask.dtype == ScalarType::Bool ? T(0) : -std::numeric_limits<T>::infinity();
  for (int64_t end = mask.size; end > least;) {
    const int64_t start = std::max(least, end - kBlockSize);
    Block block;
    load_block(mask.dtype, mask.data + start * mask.stride, mask.stride, CppTypeToScalarType<T>::value, block.data,
               end - start);
    const T* const values = reinterpret_cast<const T*>(block.data);
    for (; end > start; --end) {
      if (values[end - 1 - start] != excluded) {
        return end;
      }
    }
  }
  return least;
}

/// Whether all elements of a row of a Bool mask are true. Many models have such masks.
inline bool masks_nothing(const MaskRow& mask) {
  const int64_t n = mask.stride == 0 ? std::min<int64_t>(mask.size, 1) : mask.size;
  return mask.dtype == ScalarType::Bool && (n <= 1 || mask.stride == 1) &&
         std::memchr(mask.data, 0, static_cast<size_t>(n)) == nullptr;
}

/// Adds a row of a mask to scores. For a Bool mask, scores that it excludes become -infinity.
template <typename T>
void add_mask(const MaskRow& mask, T* x) {
  for (int64_t start = 0; start < mask.size; start += kBlockSize) {
    const int64_t n = std::min(kBlockSize, mask.size - start);
    Block block;
    load_block(mask.dtype, mask.data + start * mask.stride, mask.stride, CppTypeToScalarType<T>::value, block.data, n);
    const T* const values = reinterpret_cast<const T*>(block.data);
    T* const scores = x + start;
    if (mask.dtype == ScalarType::Bool) {
      constexpr T kMasked = -std::numeric_limits<T>::infinity();
      vectorized_for(n, [=](int64_t i) { scores[i] = values[i] != 0 ? scores[i] : kMasked; });
    } else {
      vectorized_for(n, [=](int64_t i) { scores[i] += values[i]; });
    }
  }
}

}  // namespace rules_executorch::kernels::attention
