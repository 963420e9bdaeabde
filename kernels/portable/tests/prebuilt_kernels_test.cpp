// Tests a binary with the wheel's prebuilt kernels and those of kernels/portable: each registry has its own kernels,
// and both work.

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include <cstring>
#include <vector>

#include "kernels/portable/tests/portable_beside_prebuilt/RegisterKernels.h"
#include "runtime/testing/check.h"
#include "runtime/testing/registry_call.h"

namespace {

using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Kernel;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::OpFunction;
using executorch::runtime::Span;
using runtime_testing::Values;

OpFunction prebuilt(const char* name) {
  const auto kernel = executorch::runtime::get_op_function_from_registry(name);
  CHECK(kernel.ok());
  return *kernel;
}

OpFunction portable(const char* name) {
  for (const Kernel& kernel : torch::executor::portable_beside_prebuilt_kernels()) {
    if (std::strcmp(kernel.name_, name) == 0) {
      return kernel.op_;
    }
  }
  CHECK(false);
  return nullptr;
}

void call(OpFunction kernel, std::vector<EValue> values) {
  std::vector<EValue*> stack;
  for (EValue& value : values) stack.push_back(&value);
  KernelRuntimeContext context;
  kernel(context, Span<EValue*>(stack.data(), stack.size()));
  CHECK(context.failure_state() == Error::Ok);
}

}  // namespace

int main() {
  for (const auto get : {&prebuilt, &portable}) {
    Values a({1, 2, 3, 4}), b({10, 20, 30, 40}), sum({}), product({}), exponential({});
    call(get("aten::add.out"), {a.tensor(), b.tensor(), EValue(int64_t{2}), sum.tensor(), sum.tensor()});
    CHECK(sum.start_with({21, 42, 63, 84}));
    call(get("aten::mul.out"), {a.tensor(), b.tensor(), product.tensor(), product.tensor()});
    CHECK(product.start_with({10, 40, 90, 160}));
    Values zeros({0, 0, 0, 0});
    call(get("aten::exp.out"), {zeros.tensor(), exponential.tensor(), exponential.tensor()});
    CHECK(exponential.start_with({1, 1, 1, 1}));
  }
  CHECK(prebuilt("aten::add.out") != portable("aten::add.out"));
  return 0;
}
