#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/common/dtype.h"
#include "kernels/common/planes.h"
#include "kernels/common/upsampling.h"
#include "kernels/common/vector_math.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The input elements in dimension `d` that output element `i` is made of: those under a triangle around its middle,
/// which is as wide as two output elements, or as two input elements where these are wider.
template <typename T>
class Triangle {
 public:
  Triangle(const Upsampling& upsampling, int64_t d, bool align_corners, int64_t i) {
    const T step = align_corners ? upsampling.aligned_step<T>(d) : upsampling.step<T>(d);
    const T half_width = std::max(step, T(1));
    slope_ = 1 / half_width;
    middle_ = step * (static_cast<T>(i) + T(0.5));
    // A scale may put the triangle outside.
    const auto bound = [size = static_cast<T>(upsampling.in_size[d])](T x) {
      return x > 0 ? static_cast<int64_t>(std::min(x, size)) : 0;
    };
    begin_ = bound(middle_ - half_width + T(0.5));
    end_ = bound(middle_ + half_width + T(0.5));
    for (int64_t k = begin_; k < end_; ++k) {
      total_ += weight(k);
    }
  }

  /// The mean of `value(k)` for these elements, by their weights; 0 if there are none.
  template <typename Value>
  T mean(const Value& value) const {
    T sum = 0;
    for (int64_t k = begin_; k < end_; ++k) {
      sum += weight(k) * value(k);
    }
    return total_ > 0 ? sum / total_ : T(0);
  }

 private:
  T weight(int64_t k) const { return std::max(1 - std::abs(static_cast<T>(k) - middle_ + T(0.5)) * slope_, T(0)); }

  T middle_;
  T slope_;
  T total_ = 0;
  int64_t begin_;
  int64_t end_;
};

/// The dtype to calculate in: one whose numbers hold all values of dtype `type`, but for the largest of Long.
ScalarType working_type(ScalarType type) {
  return isFloatingType(type) ? compute_type(type) : elementSize(type) < 4 ? ScalarType::Float : ScalarType::Double;
}

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

  // Compute: integers are rounded.
  const bool is_integral = !isFloatingType(type);
  ET_SWITCH_FLOAT_TYPES(working_type(type), ctx, op_name, CTYPE, [&] {
    constexpr CTYPE kLargest = static_cast<CTYPE>(0x1.fffffep62);
    for_each_plane<CTYPE>(in, out, /*work=*/64, [&](const auto& source, const auto& target) {
      for (int64_t i = 0; i < upsampling.out_size[0]; ++i) {
        const Triangle<CTYPE> rows(upsampling, 0, align_corners, i);
        for (int64_t j = 0; j < upsampling.out_size[1]; ++j) {
          const Triangle<CTYPE> columns(upsampling, 1, align_corners, j);
          const CTYPE mean =
              rows.mean([&](int64_t y) { return columns.mean([&source, y](int64_t x) { return source.load(y, x); }); });
          target.store(i, j, is_integral ? std::min(math::rint(mean), kLargest) : mean);
        }
      }
    });
  });
  return out;
}

}  // namespace torch::executor::native
