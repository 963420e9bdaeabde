#include "kernels/common/matmul.h"
#include "kernels/common/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& bmm_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "bmm.out");

  // Check
  ET_KERNEL_CHECK(ctx, ::executorch::runtime::isRealHBF16Type(a.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(a, b, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensor_is_rank(a, 3) && tensor_is_rank(b, 3), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_size_at_dims(a, 0, b, 0), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_size_at_dims(a, 2, b, 1), InvalidArgument, out);

  // Resize
  const Tensor::SizesType sizes[] = {a.sizes()[0], a.sizes()[1], b.sizes()[2]};
  ET_KERNEL_CHECK(ctx, resize_to(out, sizes), InvalidArgument, out);

  // Compute
  const ScalarType type = compute_type(a.scalar_type());
  MultiplyAdd function = nullptr;
  ET_SWITCH_REAL_TYPES(type, ctx, op_name, CTYPE, [&] { function = &multiply_add<CTYPE>; });
  if (function == nullptr) {
    return out;  // The switch has failed.
  }
  const ConstStridedView a_view(a);
  const ConstStridedView b_view(b);
  const StridedView out_view(out);
  for (int64_t i = 0; i < out_view.sizes[0]; ++i) {
    ViewProduct(type, a_view.select(0, i), b_view.select(0, i), out_view.select(0, i)).compute(function);
  }
  return out;
}

}  // namespace torch::executor::native
