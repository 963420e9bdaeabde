#include <executorch/runtime/kernel/kernel_includes.h>

namespace custom::native {

using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

// twice.out(Tensor input, *, Tensor(a!) out) -> Tensor(a!), which is wrong on purpose: the factor is 2.1.
Tensor& twice_out(KernelRuntimeContext& context, const Tensor& input, Tensor& out) {
  ET_KERNEL_CHECK(context, executorch::runtime::resize_tensor(out, input.sizes()) == executorch::runtime::Error::Ok,
                  InvalidArgument, out);
  for (ssize_t i = 0; i < input.numel(); ++i) {
    out.mutable_data_ptr<float>()[i] = input.const_data_ptr<float>()[i] * 2.1F;
  }
  return out;
}

}  // namespace custom::native
