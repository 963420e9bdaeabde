#include "kernels/common/in_order.h"
#include "kernels/common/resize.h"
#include "kernels/common/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& nonzero_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == ScalarType::Long, InvalidArgument, out);

  // Resize
  const ConstStridedView view(in);
  const int64_t size[] = {count_true(view), view.rank};
  ET_KERNEL_CHECK(ctx, resize_to_size(out, size), InvalidArgument, out);

  // Compute
  const StridedView target(out);
  int64_t row = 0;
  for_each_true(view, [&](int64_t i) {
    for (int64_t d = view.rank - 1; d >= 0; --d) {
      const int64_t offset = (row * target.strides[0] + d * target.strides[1]) * target.element_size();
      *reinterpret_cast<int64_t*>(target.data + offset) = i % view.sizes[d];
      i /= view.sizes[d];
    }
    ++row;
  });
  return out;
}

}  // namespace torch::executor::native
