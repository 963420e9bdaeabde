#include <executorch/runtime/kernel/kernel_includes.h>

namespace custom {
namespace native {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

// mul3.out(Tensor input, *, Tensor(a!) output) -> Tensor(a!)
Tensor& mul3_out_impl(KernelRuntimeContext& context, const Tensor& input, Tensor& output) {
  ET_KERNEL_CHECK(context, input.scalar_type() == ScalarType::Float, InvalidArgument, output);
  ET_KERNEL_CHECK(context, output.scalar_type() == ScalarType::Float, InvalidArgument, output);
  ET_KERNEL_CHECK(context, output.numel() == input.numel(), InvalidArgument, output);
  for (ssize_t i = 0; i < input.numel(); ++i) {
    output.mutable_data_ptr<float>()[i] = input.const_data_ptr<float>()[i] * 3;
  }
  return output;
}

}  // namespace native
}  // namespace custom
