#include <cstring>

#include "kernels/common/copy.h"
#include "kernels/common/in_order.h"
#include "kernels/common/resize.h"
#include "kernels/common/strided_view.h"

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
  const InOrder places(target);
  const InOrder sources(values);
  const size_t size = static_cast<size_t>(target.element_size());
  int64_t next = 0;
  for_each_true(chosen, [&](int64_t i) {
    std::memcpy(target.data + places.offset(i), values.data + sources.offset(next), size);
    ++next;
  });
  return out;
}

}  // namespace torch::executor::native
