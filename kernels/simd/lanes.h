#pragma once

#include <cstdint>

namespace rules_executorch::kernels {

/// Merges 2 * kHalf values into the first one. kHalf is a power of two.
template <int64_t kHalf, typename T, typename Merge>
inline void merge_lanes(T* lanes, const Merge& merge) {
  for (int64_t k = 0; k < kHalf; ++k) {
    merge(lanes[k], lanes[k + kHalf]);
  }
  if constexpr (kHalf > 1) {
    merge_lanes<kHalf / 2>(lanes, merge);
  }
}

}  // namespace rules_executorch::kernels
