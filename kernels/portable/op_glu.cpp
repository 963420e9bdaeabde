#include "kernels/elementwise/elementwise.h"
#include "kernels/math/vector_math.h"
#include "kernels/tensors/dims.h"
#include "kernels/views/view_shape.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& glu_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "glu.out");

  // Check
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(in.scalar_type(), out.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.dim() > 0 && normalize_dim(dim, in.dim()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.sizes()[dim] % 2 == 0, InvalidArgument, out);

  // Resize
  const int64_t half = in.sizes()[dim] / 2;
  const ConstStridedView view(in);
  const ConstStridedView values = view.slice(dim, 0, half);
  const ConstStridedView gates = view.slice(dim, half, half);
  ET_KERNEL_CHECK(ctx, resize_to_shape_of(out, values), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    elementwise(wide([](CTYPE x, CTYPE gate) KERNELS_ALWAYS_INLINE -> CTYPE { return x * math::sigmoid(gate); }), out,
                values, gates);
  });
  return out;
}

}  // namespace torch::executor::native
