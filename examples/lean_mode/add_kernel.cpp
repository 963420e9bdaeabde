#include <executorch/runtime/kernel/kernel_includes.h>

namespace custom::native {

using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;

// add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
//
// Without a context there is no way to report a failure: a kernel for inputs that are known to fit.
Tensor& add_out_impl(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  ET_CHECK(self.scalar_type() == ScalarType::Float && other.numel() == self.numel());
  const float factor = static_cast<float>(alpha.isFloatingPoint() ? alpha.to<double>() : alpha.to<int64_t>());
  const float* a = self.const_data_ptr<float>();
  const float* b = other.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (ssize_t i = 0; i < self.numel(); ++i) {
    to[i] = a[i] + factor * b[i];
  }
  return out;
}

}  // namespace custom::native
