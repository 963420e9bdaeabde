#include <executorch/runtime/kernel/kernel_includes.h>

using executorch::aten::Scalar;
using executorch::aten::Tensor;

// add.cpp
namespace custom {
namespace native {

Tensor& add_out(const Tensor& a, const Tensor& b, const Scalar& alpha, Tensor& out) {
  const float factor = static_cast<float>(alpha.isFloatingPoint() ? alpha.to<double>() : alpha.to<int64_t>());
  for (ssize_t i = 0; i < out.numel(); ++i) {
    out.mutable_data_ptr<float>()[i] = a.const_data_ptr<float>()[i] + factor * b.const_data_ptr<float>()[i];
  }
  return out;
}

}  // namespace native
}  // namespace custom
