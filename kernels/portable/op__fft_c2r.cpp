#include <algorithm>

#include "kernels/fourier/dims.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& _fft_c2r_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> dim, int64_t normalization,
                     int64_t last_dim_size, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_fft_c2r.out");

  // Check
  ET_KERNEL_CHECK(ctx, isComplexType(in.scalar_type()) && in.scalar_type() != ScalarType::ComplexHalf, InvalidArgument,
                  out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == toRealValueType(in.scalar_type()), InvalidArgument, out);
  FourierDims dims;
  ET_KERNEL_CHECK(ctx, make_fourier_dims(in, dim, last_dim_size, normalization, dims), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, dims.count > 0, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, last_dim_size / 2 < in.sizes()[dims.last()], InvalidArgument, out);

  // Resize
  int64_t sizes[kTensorDimensionLimit];
  std::copy_n(in.sizes().data(), in.dim(), sizes);
  sizes[dims.last()] = last_dim_size;
  ET_KERNEL_CHECK(ctx, resize_to_size(out, {sizes, static_cast<size_t>(in.dim())}), InvalidArgument, out);

  // Compute
  ET_SWITCH_COMPLEX_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    using Part = typename CTYPE::value_type;
    const bool is_done = transform_dims<Part>(ctx, FourierKind::kComplexToReal, dims, in, out);
    ET_KERNEL_CHECK(ctx, is_done, MemoryAllocationFailed, );
  });
  return out;
}

}  // namespace torch::executor::native
