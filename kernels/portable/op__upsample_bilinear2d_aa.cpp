#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/images/resampling.h"
#include "kernels/images/upsampling.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The taps of output element `i` in dimension `d`: the input elements under a triangle around the center of the output
/// element. The triangle has the width of two output elements, but at least the width of two input elements.
template <typename T>
class Triangle {
 public:
  Triangle() = default;
  Triangle(const Upsampling& upsampling, int64_t d, bool align_corners, int64_t i) {
    const T step = align_corners ? upsampling.aligned_step<T>(d) : upsampling.step<T>(d);
    const T half_width = std::max(step, T(1));
    slope_ = 1 / half_width;
    middle_ = step * (static_cast<T>(i) + T(0.5));
    // With some scales, the triangle is outside of the input.
    const auto bound = [size = static_cast<T>(upsampling.in_size[d])](T x) {
      return x > 0 ? static_cast<int64_t>(std::min(x, size)) : 0;
    };
    begin_ = bound(middle_ - half_width + T(0.5));
    end_ = bound(middle_ + half_width + T(0.5));
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
  T weight(int64_t k) const { return std::max(1 - std::abs(static_cast<T>(k) - middle_ + T(0.5)) * slope_, T(0)); }

  T middle_;
  T slope_;
  T scale_;
  int64_t begin_;
  int64_t end_;
};

}  // namespace

Tensor& _upsample_bilinear2d_aa_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> output_size,
                                    bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w,
                                    Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_upsample_bilinear2d_aa.out");

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

  // Compute: results are rounded for integer dtypes.
  const bool is_integral = !isFloatingType(type);
  ET_SWITCH_FLOAT_TYPES(interpolation_type(type), ctx, op_name, CTYPE, [&] {
    const auto rounded = [&](CTYPE sum) { return is_integral ? round_interpolated(sum) : sum; };
    resample<CTYPE, Triangle<CTYPE>>(in, upsampling, align_corners, /*work=*/32, rounded, out);
  });
  return out;
}

}  // namespace torch::executor::native
