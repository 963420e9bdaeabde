#include <executorch/runtime/kernel/kernel_includes.h>

#include <cmath>

namespace my_ops::native {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

// squareplus.out(Tensor x, float b, *, Tensor(a!) out) -> Tensor(a!)
Tensor& squareplus_out(KernelRuntimeContext& context, const Tensor& x, double b, Tensor& out) {
  ET_KERNEL_CHECK(context, x.scalar_type() == ScalarType::Float && out.scalar_type() == ScalarType::Float,
                  InvalidArgument, out);
  ET_KERNEL_CHECK(context, executorch::runtime::resize_tensor(out, x.sizes()) == executorch::runtime::Error::Ok,
                  InvalidArgument, out);
  const float* from = x.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (ssize_t i = 0; i < x.numel(); ++i) {
    to[i] = (from[i] + std::sqrt(from[i] * from[i] + static_cast<float>(b))) / 2;
  }
  return out;
}

}  // namespace my_ops::native
