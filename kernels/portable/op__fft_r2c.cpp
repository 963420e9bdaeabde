#include <algorithm>
#include <optional>

#include "kernels/fourier/dims.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& _fft_r2c_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> dim, int64_t normalization,
                     bool onesided, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_fft_r2c.out");

  // Check
  ET_KERNEL_CHECK(ctx, in.scalar_type() == ScalarType::Float || in.scalar_type() == ScalarType::Double, InvalidArgument,
                  out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == toComplexType(in.scalar_type()), InvalidArgument, out);
  FourierDims dims;
  ET_KERNEL_CHECK(ctx, make_fourier_dims(in, dim, std::nullopt, normalization, dims), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, dims.count > 0, InvalidArgument, out);

  // Resize
  Tensor::SizesType sizes[kTensorDimensionLimit];
  std::copy_n(in.sizes().data(), in.dim(), sizes);
  if (onesided) {
    sizes[dims.last()] = sizes[dims.last()] / 2 + 1;
  }
  ET_KERNEL_CHECK(ctx, resize_to(out, {sizes, static_cast<size_t>(in.dim())}), InvalidArgument, out);

  // Compute
  ET_SWITCH_COMPLEX_TYPES(out.scalar_type(), ctx, op_name, CTYPE, [&] {
    using Part = typename CTYPE::value_type;
    const bool is_done = transform_dims<Part>(ctx, FourierKind::kRealToComplex, dims, in, out);
    ET_KERNEL_CHECK(ctx, is_done, MemoryAllocationFailed, );
  });
  return out;
}

}  // namespace torch::executor::native
