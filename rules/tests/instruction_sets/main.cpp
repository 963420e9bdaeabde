// Prints what `my_ops::levels.out` writes in its second call, and what an inline function of this file returns; in
// another line, what it writes in its third call, by the typed function.

#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdio>

#include "rules/tests/instruction_sets/level.h"
#include "rules/tests/instruction_sets/library/Functions.h"

using executorch::runtime::EValue;

int main() {
  executorch::runtime::runtime_init();
  const auto tensor = executorch::extension::zeros({4}, executorch::aten::ScalarType::Int);
  EValue value(*tensor);
  EValue result;
  EValue* stack[] = {&value, &result};
  executorch::runtime::KernelRuntimeContext context;
  const auto kernel = executorch::runtime::get_op_function_from_registry("my_ops::levels.out", {});
  for (int call = 0; call < 2; ++call) {
    (*kernel)(context, {stack, 2});
  }
  const int32_t* const levels = tensor->const_data_ptr<int32_t>();
  std::printf("%d %d %d %d %d\n", levels[0], levels[1], levels[2], levels[3], inline_level());
  torch::executor::my_ops::levels_outf(context, *tensor);
  std::printf("%d %d %d %d\n", levels[0], levels[1], levels[2], levels[3]);
  return 0;
}
