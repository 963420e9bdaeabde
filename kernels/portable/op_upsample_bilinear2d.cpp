#include <algorithm>
#include <optional>

#include "kernels/images/resampling.h"
#include "kernels/images/upsampling.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The two input elements next to an output element. The weights of both add up to 1.
template <typename T>
class Neighbors {
 public:
  Neighbors() = default;
  Neighbors(const Upsampling& upsampling, int64_t d, bool align_corners, int64_t i) {
    const int64_t in_size = upsampling.in_size[d];
    T position;
    if (align_corners) {
      position = upsampling.aligned_step<T>(d) * static_cast<T>(i);
    } else {
      position = std::max(upsampling.step<T>(d) * (static_cast<T>(i) + T(0.5)) - T(0.5), T(0));
    }
    first_ = std::min(static_cast<int64_t>(position), in_size - 1);
    second_ = std::min(first_ + 1, in_size - 1);
    weight_ = std::min(std::max(position - static_cast<T>(first_), T(0)), T(1));
  }

  int64_t begin() const { return first_; }
  int64_t end() const { return second_ + 1; }

  template <typename Visit>
  void for_each(const Visit& visit) const {
    visit(first_, 1 - weight_);
    visit(second_, weight_);
  }

 private:
  int64_t first_;
  int64_t second_;
  T weight_;
};

}  // namespace

Tensor& upsample_bilinear2d_vec_out(KernelRuntimeContext& ctx, const Tensor& in,
                                    std::optional<ArrayRef<int64_t>> output_size, bool align_corners,
                                    std::optional<ArrayRef<double>> scale_factors, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "upsample_bilinear2d.vec_out");

  // Check
  const ScalarType type = in.scalar_type();
  Upsampling upsampling;
  ET_KERNEL_CHECK(ctx, is_supported(type) && type != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, upsampling.init(in, output_size, scale_factors), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, upsampling.resize(out, in), InvalidArgument, out);

  // Compute: results are rounded for integer dtypes.
  const bool is_integral = !isFloatingType(type);
  ET_SWITCH_FLOAT_TYPES(interpolation_type(type), ctx, op_name, CTYPE, [&] {
    const auto rounded = [&](CTYPE sum) { return is_integral ? round_interpolated(sum) : sum; };
    resample<CTYPE, Neighbors<CTYPE>>(in, upsampling, align_corners, /*work=*/8, rounded, out);
  });
  return out;
}

}  // namespace torch::executor::native
