#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/gemm/layouts.h"
#include "kernels/simd/run_time.h"
#include "kernels/simd/simd.h"
#include "kernels/simd/width.h"

namespace rules_executorch::kernels {

/// The number of vectors of sums of a product of one row, which hide the latency of additions.
inline constexpr int kRowVectors = 8;

/// `sums[j] = sum over p < k of a[p] * panels[p][j]` for the columns of adjacent panels, in vectors of kBytes bytes.
template <typename T, int64_t kBytes, int... I>
KERNELS_ALWAYS_INLINE inline void multiply_row(const T* a, int64_t k, const T* panels, T* sums,
                                               std::integer_sequence<int, I...>) {
  using V = simd::Vector<T, kBytes>;
  constexpr int64_t kVectorColumns = kBytes / int64_t{sizeof(T)};
  constexpr int64_t kOfPanel = kFloatPanelColumns / kVectorColumns;
  const T* const at[] = {panels + I / kOfPanel * k * kFloatPanelColumns + I % kOfPanel * kVectorColumns...};
  V totals[] = {((void)I, V{})...};
  for (int64_t p = 0; p < k; ++p) {
    // Not load_as(): a function cannot return a vector that the file's instruction set lacks.
    V row[sizeof...(I)];
    (std::memcpy(&row[I], at[I] + p * kFloatPanelColumns, sizeof(V)), ...);
    ((totals[I] += a[p] * row[I]), ...);
  }
  (std::memcpy(sums + I * kVectorColumns, &totals[I], sizeof(V)), ...);
}

/// The same for `panels` panels, kVectors vectors at a time.
template <typename T, int64_t kBytes, int kVectors = kRowVectors>
KERNELS_ALWAYS_INLINE inline void multiply_row_by(const T* a, int64_t k, const T* panels, int64_t count, T* sums) {
  constexpr int kOfPanel = static_cast<int>(kFloatPanelColumns / (kBytes / int64_t{sizeof(T)}));
  constexpr int kPanels = kVectors / kOfPanel;
  for (; count >= kPanels; count -= kPanels) {
    multiply_row<T, kBytes>(a, k, panels, sums, std::make_integer_sequence<int, kVectors>());
    panels += kPanels * k * kFloatPanelColumns;
    sums += kPanels * kFloatPanelColumns;
  }
  if constexpr (kPanels > 1) {
    multiply_row_by<T, kBytes, kVectors / 2>(a, k, panels, count, sums);
  }
}

#if defined(KERNELS_MAY_HAVE_WIDE_VECTORS)

template <typename T>
KERNELS_WIDE_VECTORS void multiply_row_wide(const T* a, int64_t k, const T* panels, int64_t count, T* sums) {
  multiply_row_by<T, 2 * kVectorBytes>(a, k, panels, count, sums);
}

#endif

template <typename T>
void multiply_row_by_panels(const T* a, int64_t k, const T* panels, int64_t count, T* sums) {
#if defined(KERNELS_MAY_HAVE_WIDE_VECTORS)
  if (simd::has_wide_vectors()) {
    multiply_row_wide(a, k, panels, count, sums);
    return;
  }
#endif
  multiply_row_by<T, kVectorBytes>(a, k, panels, count, sums);
}

}  // namespace rules_executorch::kernels
