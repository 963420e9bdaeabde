#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "kernels/math/vector_math.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// The dtype to interpolate elements of dtype `type` in: its numbers hold all their values, but for Long's largest.
inline ScalarType interpolation_type(ScalarType type) {
  return isFloatingType(type) ? compute_type(type) : elementSize(type) < 4 ? ScalarType::Float : ScalarType::Double;
}

/// An interpolated value as an integer.
template <typename T>
T round_interpolated(T value) {
  return std::min(math::rint(value), static_cast<T>(0x1.fffffep62));
}

/// An upsampling of the last two of four dimensions.
struct Upsampling {
  int64_t in_size[2];
  int64_t out_size[2];
  double scale[2];  // 0 where only the sizes are given

  /// Reads the arguments, of which one is given. False where there is no such upsampling.
  bool init(const Tensor& in, const std::optional<ArrayRef<int64_t>>& output_size,
            const std::optional<ArrayRef<double>>& scale_factors);

  /// Resizes `out` to in's shape with these sizes.
  bool resize(Tensor& out, const Tensor& in) const;

  /// Input elements for an output element in dimension `d`, as PyTorch calculates in `T`.
  template <typename T>
  T step(int64_t d) const {
    return scale[d] > 0 ? static_cast<T>(1 / scale[d]) : static_cast<T>(in_size[d]) / static_cast<T>(out_size[d]);
  }

  /// The same where the first and the last elements of input and output have the same place.
  template <typename T>
  T aligned_step(int64_t d) const {
    return out_size[d] > 1 ? static_cast<T>(in_size[d] - 1) / static_cast<T>(out_size[d] - 1) : T(0);
  }
};

}  // namespace rules_executorch::kernels
