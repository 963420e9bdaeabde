#include <algorithm>

#include "kernels/copy/copy.h"
#include "kernels/copy/in_order.h"
#include "kernels/copy/offset_copy.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& masked_scatter_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& mask, const Tensor& source,
                           Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_movable(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, source), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, mask.scalar_type() == ScalarType::Bool, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, in, mask), InvalidArgument, out);
  const StridedView target(out);
  const ConstStridedView chosen = ConstStridedView(mask).broadcast_to(target);
  const ConstStridedView values(source);
  ET_KERNEL_CHECK(ctx, count_true(chosen) <= values.numel(), InvalidArgument, out);

  // Compute
  copy(ConstStridedView(in).broadcast_to(target), target);
  const InOrder sources(values);
  int64_t next = 0;
  for_each_chosen(chosen, target, [&](const int64_t* offsets, int64_t n) {
    for (int64_t done = 0; done < n;) {
      const InOrder::Run run = sources.from(next);
      const int64_t count = std::min(n - done, run.n);
      scatter_elements(values.data + run.offset, run.stride, target.data, offsets + done, target.element_size(), count);
      done += count;
      next += count;
    }
  });
  return out;
}

}  // namespace torch::executor::native
