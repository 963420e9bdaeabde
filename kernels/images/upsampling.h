#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "kernels/math/vector_math.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// The dtype for the interpolation of elements of dtype `type`. It represents all values of `type` exactly, except
/// large values of Long.
inline ScalarType interpolation_type(ScalarType type) {
  return isFloatingType(type) ? compute_type(type) : elementSize(type) < 4 ? ScalarType::Float : ScalarType::Double;
}

/// Rounds an interpolated value to an integer.
template <typename T>
T round_interpolated(T value) {
  return std::min(math::rint(value), static_cast<T>(0x1.fffffep62));
}

/// An upsampling of the last two of four dimensions.
struct Upsampling {
  int64_t in_size[2];
  int64_t out_size[2];
  double scale[2];  // 0 if only the sizes are given

  /// Reads the arguments. Exactly one must be given. Returns false if the arguments are invalid.
  bool init(const Tensor& in, const std::optional<ArrayRef<int64_t>>& output_size,
            const std::optional<ArrayRef<double>>& scale_factors);

  /// Resizes `out` to the shape of `in`, with the new height and width.
  bool resize(Tensor& out, const Tensor& in) const;

  /// The number of input elements for each output element in dimension `d`, computed in `T` as in PyTorch.
  template <typename T>
  T step(int64_t d) const {
    return scale[d] > 0 ? static_cast<T>(1 / scale[d]) : static_cast<T>(in_size[d]) / static_cast<T>(out_size[d]);
  }

  /// The same with align_corners: the centers of the first and of the last elements of input and output coincide.
  template <typename T>
  T aligned_step(int64_t d) const {
    return out_size[d] > 1 ? static_cast<T>(in_size[d] - 1) / static_cast<T>(out_size[d] - 1) : T(0);
  }
};

}  // namespace rules_executorch::kernels
