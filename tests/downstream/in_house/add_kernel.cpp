#include <executorch/runtime/kernel/kernel_includes.h>

#ifndef OUR_RUNTIME
#error "compiled for another runtime than the toolchain's"
#endif

namespace in_house::native {

using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

// add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!), of floats in one shape.
Tensor& add_out(KernelRuntimeContext& context, const Tensor& a, const Tensor& b, const Scalar& alpha, Tensor& out) {
  ET_KERNEL_CHECK(context, a.scalar_type() == ScalarType::Float && alpha.isIntegral(false), InvalidArgument, out);
  ET_KERNEL_CHECK(context, executorch::runtime::tensors_have_same_shape_and_dtype(a, b, out), InvalidArgument, out);
  const float factor = static_cast<float>(alpha.to<int64_t>());
  for (ssize_t i = 0; i < a.numel(); ++i) {
    out.mutable_data_ptr<float>()[i] = a.const_data_ptr<float>()[i] + factor * b.const_data_ptr<float>()[i];
  }
  return out;
}

}  // namespace in_house::native
