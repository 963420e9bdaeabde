#include "kernels/copy/in_order.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

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
  const int64_t last = view.rank - 1;
  int64_t* to = reinterpret_cast<int64_t*>(target.data);
  int64_t index[kTensorDimensionLimit] = {};
  int64_t row = 0;  // the row-major number of the first element of the row of `index`
  for_each_chosen(view, numbers_of(view), [&](const int64_t* numbers, int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
      const int64_t i = numbers[k];
      if (last >= 0 && i - row >= view.sizes[last]) {
        int64_t left = i / view.sizes[last];
        row = left * view.sizes[last];
        for (int64_t d = last - 1; d >= 0; --d) {
          index[d] = left % view.sizes[d];
          left /= view.sizes[d];
        }
      }
      for (int64_t d = 0; d <= last; ++d) {
        to[d * target.strides[1]] = d == last ? i - row : index[d];
      }
      to += target.strides[0];
    }
  });
  return out;
}

}  // namespace torch::executor::native
