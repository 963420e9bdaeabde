#include <optional>

#include "kernels/fourier/dims.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& _fft_c2c_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> dim, int64_t normalization,
                     bool forward, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_fft_c2c.out");

  // Check
  ET_KERNEL_CHECK(ctx, isComplexType(in.scalar_type()) && in.scalar_type() != ScalarType::ComplexHalf, InvalidArgument,
                  out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  FourierDims dims;
  ET_KERNEL_CHECK(ctx, make_fourier_dims(in, dim, std::nullopt, normalization, dims), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  ET_SWITCH_COMPLEX_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    const FourierKind kind = forward ? FourierKind::kForward : FourierKind::kBackward;
    const bool is_done = transform_dims<typename CTYPE::value_type>(ctx, kind, dims, in, out);
    ET_KERNEL_CHECK(ctx, is_done, MemoryAllocationFailed, );
  });
  return out;
}

}  // namespace torch::executor::native
