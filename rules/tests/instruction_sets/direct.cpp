// Prints the instruction set of a kernel that is called without a registry.

#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdio>

namespace my_ops::native {
executorch::aten::Tensor& levels_out(executorch::runtime::KernelRuntimeContext& context, executorch::aten::Tensor& out);
}

int main() {
  executorch::runtime::runtime_init();
  const auto tensor = executorch::extension::zeros({4}, executorch::aten::ScalarType::Int);
  executorch::runtime::KernelRuntimeContext context;
  my_ops::native::levels_out(context, *tensor);
  std::printf("%d\n", tensor->const_data_ptr<int32_t>()[0]);
  return 0;
}
