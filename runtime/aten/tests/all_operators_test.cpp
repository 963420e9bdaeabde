// Tests that all operators that a program can call exist in PyTorch, and that they refuse invalid values with a message
// with their name.

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/runtime.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>

#include "runtime/aten/tests/all_lib/RegisterKernels.h"
#include "runtime/testing/check.h"

namespace {

using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;

// more than the arguments of any operator
constexpr size_t kMostValues = 48;

std::string logged;

void keep(et_timestamp_t, et_pal_log_level_t, const char*, const char*, size_t, const char* message, size_t length) {
  logged.assign(message, length);
}

}  // namespace

int main() {
  executorch::runtime::runtime_init();
  executorch::runtime::register_pal(executorch::runtime::PalImpl::create(keep, __FILE__));
  std::array<EValue, kMostValues> values;
  std::array<EValue*, kMostValues> stack;
  const auto kernels = torch::executor::all_lib_kernels();
  CHECK(kernels.size() > 1400);
  for (const auto& kernel : kernels) {
    size_t counts_taken = 0;
    for (size_t count = 1; count <= kMostValues; ++count) {
      // Resets the values, because a call may change them.
      for (size_t i = 0; i < kMostValues; ++i) {
        values[i] = EValue();
        stack[i] = &values[i];
      }
      logged.clear();
      KernelRuntimeContext context;
      kernel.op_(context, {stack.data(), count});
      const Error error = context.failure_state();
      const bool is_named = logged.find(std::string(kernel.name_) + ": ") == 0;
      if (error != Error::Ok && (error != Error::InvalidArgument || !is_named)) {
        std::fprintf(stderr, "%s with %zu values: error 0x%x, %s\n", kernel.name_, count, static_cast<unsigned>(error),
                     logged.c_str());
        return 1;
      }
      counts_taken += error == Error::Ok || logged.find(": it takes ") == std::string::npos ? 1 : 0;
    }
    // An operator that returns nothing accepts two numbers of values: with and without a value for the result.
    if (counts_taken != 1 && counts_taken != 2) {
      std::fprintf(stderr, "%s takes %zu numbers of values\n", kernel.name_, counts_taken);
      return 1;
    }
  }
  return 0;
}
