// The kernel for matrices of Float.

#include <executorch/runtime/kernel/kernel_includes.h>

namespace pruned::native {

using executorch::aten::Scalar;
using executorch::aten::Tensor;

Tensor& add_float(const Tensor& self, const Tensor&, const Scalar&, Tensor& out) {
  out.mutable_data_ptr<float>()[0] = self.const_data_ptr<float>()[0] + 100;
  return out;
}

}  // namespace pruned::native
