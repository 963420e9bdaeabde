#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "kernels/images/resampling.h"
#include "kernels/images/upsampling.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// A triangle with the width of two elements.
struct TriangleFilter {
  static constexpr int kRadius = 1;

  template <typename T>
  static T weight(T x) {
    return std::max(1 - std::abs(x), T(0));
  }
};

/// Keys' cubic convolution with a = -0.5, as antialiasing uses it.
struct CubicFilter {
  static constexpr int kRadius = 2;

  template <typename T>
  static T weight(T x) {
    constexpr T kA = T(-0.5);
    x = std::abs(x);
    if (x < 1) {
      return ((kA + 2) * x - (kA + 3)) * x * x + 1;
    }
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * kA : T(0);
  }
};

/// The taps of output element `i` in dimension `d`: the input elements under a filter around the center of the output
/// element. The filter is as wide as output elements are, but at least as wide as input elements.
template <typename T, typename Filter>
class FilterTaps {
 public:
  FilterTaps() = default;
  FilterTaps(const Upsampling& upsampling, int64_t d, bool align_corners, int64_t i) {
    const T step = align_corners ? upsampling.aligned_step<T>(d) : upsampling.step<T>(d);
    const T scale = std::max(step, T(1));
    const T radius = Filter::kRadius * scale;
    slope_ = 1 / scale;
    middle_ = step * (static_cast<T>(i) + T(0.5));
    // With some scales, the filter is outside of the input.
    const auto bound = [size = static_cast<T>(upsampling.in_size[d])](T x) {
      return x > 0 ? static_cast<int64_t>(std::min(x, size)) : 0;
    };
    begin_ = bound(middle_ - radius + T(0.5));
    end_ = bound(middle_ + radius + T(0.5));
    T total = 0;
    for (int64_t k = begin_; k < end_; ++k) {
      total += weight(k);
    }
    end_ = total > 0 ? end_ : begin_;
    scale_ = 1 / total;
  }

  int64_t begin() const { return begin_; }
  int64_t end() const { return end_; }

  /// Calls `visit(k, weight)` for each tap. The sum of the weights is 1.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (int64_t k = begin_; k < end_; ++k) {
      visit(k, weight(k) * scale_);
    }
  }

 private:
  T weight(int64_t k) const { return Filter::weight((static_cast<T>(k) - middle_ + T(0.5)) * slope_); }

  T middle_;
  T slope_;
  T scale_;
  int64_t begin_;
  int64_t end_;
};

/// Resizes images with antialiasing. Results are rounded for integer dtypes.
template <ET_OPERATOR_NAME_TYPE op_name, typename Filter>
Tensor& antialiased_out(KernelRuntimeContext& ctx, const Tensor& in, const ArrayRef<int64_t>& output_size,
                        bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w,
                        Tensor& out) {
  // Check
  const ScalarType type = in.scalar_type();
  Upsampling upsampling;
  ET_KERNEL_CHECK(ctx, is_supported(type) && type != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, upsampling.init(in, output_size, std::nullopt), InvalidArgument, out);
  upsampling.scale[0] = scales_h.value_or(0);
  upsampling.scale[1] = scales_w.value_or(0);

  // Resize
  ET_KERNEL_CHECK(ctx, upsampling.resize(out, in), InvalidArgument, out);

  // Compute
  const bool is_integral = !isFloatingType(type);
  const bool is_byte = type == ScalarType::Byte;
  ET_SWITCH_FLOAT_TYPES(interpolation_type(type), ctx, op_name, CTYPE, [&] {
    const auto rounded = [&](CTYPE sum) {
      // A cubic filter has negative weights.
      const CTYPE in_range = is_byte ? std::clamp(sum, CTYPE(0), CTYPE(255)) : sum;
      return is_integral ? round_interpolated(in_range) : in_range;
    };
    resample<CTYPE, FilterTaps<CTYPE, Filter>>(in, upsampling, align_corners, /*work=*/32, rounded, out);
  });
  return out;
}

}  // namespace rules_executorch::kernels
