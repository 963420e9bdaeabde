#include <executorch/runtime/kernel/kernel_includes.h>

namespace app::native {

using executorch::aten::Tensor;

// scale.out(Tensor x, float factor, *, Tensor(a!) out) -> Tensor(a!)
Tensor& scale_out(const Tensor& x, double factor, Tensor& out) {
  for (ssize_t i = 0; i < x.numel(); ++i) {
    out.mutable_data_ptr<float>()[i] = x.const_data_ptr<float>()[i] * static_cast<float>(factor);
  }
  return out;
}

}  // namespace app::native
