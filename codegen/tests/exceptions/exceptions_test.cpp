// What a kernel throws is the failure of its call.

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

#include <array>
#include <cstdio>

namespace {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;

bool fails_with(const char* name, Error expected) {
  float data = 0;
  TensorImpl impl(ScalarType::Float, 0, nullptr, &data, nullptr, nullptr);
  EValue value{Tensor(&impl)};
  std::array<EValue*, 3> stack{&value, &value, &value};
  KernelRuntimeContext context;
  const auto op = executorch::runtime::get_op_function_from_registry(name);
  if (!op.ok()) return false;
  (*op)(context, {stack.data(), stack.size()});
  if (context.failure_state() == expected) return true;
  std::fprintf(stderr, "%s: 0x%x\n", name, static_cast<unsigned>(context.failure_state()));
  return false;
}

}  // namespace

int main() {
  executorch::runtime::runtime_init();
#ifdef WITHOUT_EXCEPTIONS
  return fails_with("throwing::nothing.out", Error::Ok) ? 0 : 1;
#else
  const bool right = fails_with("throwing::error.out", Error::Internal) &&
                     fails_with("throwing::number.out", Error::Internal) &&
                     fails_with("throwing::nothing.out", Error::Ok);
  return right ? 0 : 1;
#endif
}
