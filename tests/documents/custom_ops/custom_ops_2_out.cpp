// Compiled for both modes: executorch::aten::Tensor is the runtime's own, or PyTorch's at::Tensor with USE_ATEN_LIB.
#include <executorch/runtime/kernel/kernel_includes.h>

namespace custom {
namespace native {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext;
using executorch::ET_RUNTIME_NAMESPACE::resize_tensor;

// mul4.out(Tensor input, *, Tensor(a!) output) -> Tensor(a!)
Tensor& mul4_out_impl(const Tensor& input, Tensor& output) {
  ET_CHECK_MSG(input.scalar_type() == ScalarType::Float && output.scalar_type() == ScalarType::Float,
               "Expected dtype Float, not %d and %d", static_cast<int>(input.scalar_type()),
               static_cast<int>(output.scalar_type()));
  ET_CHECK_MSG(resize_tensor(output, input.sizes()) == executorch::runtime::Error::Ok, "The output cannot be resized");
  for (ssize_t i = 0; i < input.numel(); ++i) {
    output.mutable_data_ptr<float>()[i] = input.const_data_ptr<float>()[i] * 4;
  }
  return output;
}

// The same for ExecuTorch's runtime, which has a context.
Tensor& mul4_out_impl(ET_UNUSED KernelRuntimeContext& context, const Tensor& input, Tensor& output) {
  return mul4_out_impl(input, output);
}

}  // namespace native
}  // namespace custom
