#include "kernels/gemm/matmul.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& bmm_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "bmm.out");

  // Check
  ET_KERNEL_CHECK(ctx, a.scalar_type() != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(a, b, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensor_is_rank(a, 3) && tensor_is_rank(b, 3), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_size_at_dims(a, 0, b, 0), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_size_at_dims(a, 2, b, 1), InvalidArgument, out);

  // Resize
  const Tensor::SizesType sizes[] = {a.sizes()[0], a.sizes()[1], b.sizes()[2]};
  ET_KERNEL_CHECK(ctx, resize_to(out, sizes), InvalidArgument, out);

  // Compute
  const ProductLoops* loops = nullptr;
  KERNELS_SWITCH_REALB_AND_COMPLEX_TYPES(compute_type(a.scalar_type()), ctx, op_name, CTYPE,
                                         [&] { loops = &product_loops<ProductType<CTYPE>>(); });
  if (loops != nullptr) {  // the switch supports the dtype
    ProductScratch scratch(ctx);
    ViewProduct(*loops, ConstStridedView(a), ConstStridedView(b), StridedView(out)).compute(scratch);
  }
  return out;
}

}  // namespace torch::executor::native
