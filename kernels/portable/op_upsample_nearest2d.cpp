#include <algorithm>
#include <optional>

#include "kernels/copy/mapped_copy.h"
#include "kernels/images/upsampling.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& upsample_nearest2d_vec_out(KernelRuntimeContext& ctx, const Tensor& in,
                                   std::optional<ArrayRef<int64_t>> output_size,
                                   std::optional<ArrayRef<double>> scale_factors, Tensor& out) {
  // Check
  Upsampling upsampling;
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, upsampling.init(in, output_size, scale_factors), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, upsampling.resize(out, in), InvalidArgument, out);

  // Compute
  const float steps[] = {upsampling.step<float>(0), upsampling.step<float>(1)};
  copy_mapped(ConstStridedView(in), StridedView(out), [&](int64_t d, int64_t i) {
    if (d < 2) {
      return i;
    }
    const auto position = static_cast<int64_t>(static_cast<float>(i) * steps[d - 2]);
    return std::min(position, upsampling.in_size[d - 2] - 1);
  });
  return out;
}

}  // namespace torch::executor::native
