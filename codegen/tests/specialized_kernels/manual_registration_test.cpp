// Two libraries of kernels in one binary: for one method each, and registered for all.

#include <executorch/runtime/kernel/operator_registry.h>

#include <vector>

#include "codegen/tests/specialized_kernels/adder.h"
#include "codegen/tests/specialized_kernels/general/RegisterKernels.h"
#include "codegen/tests/specialized_kernels/special/RegisterKernels.h"
#include "runtime/testing/check.h"

namespace {

using executorch::extension::Module;
using executorch::runtime::Error;
using executorch::runtime::Kernel;
using executorch::runtime::Span;

Error load(Module& program, const char* method, Span<const Kernel> kernels) {
  return program.load_method(method, /*planned_memory=*/nullptr, /*event_tracer=*/nullptr, /*backend_options=*/nullptr,
                             std::vector<Kernel>(kernels.begin(), kernels.end()));
}

}  // namespace

int main(int, char** argv) {
  Module program(argv[1]);
  CHECK(!executorch::runtime::registry_has_op_function("aten::add.out"));
  CHECK(program.load_method("float_2d") == Error::OperatorMissing);

  CHECK(load(program, "float_2d", torch::executor::special_kernels()) == Error::Ok);
  CHECK(load(program, "half_2d", torch::executor::general_kernels()) == Error::Ok);
  CHECK(load(program, "double_2d", torch::executor::special_kernels()) == Error::Ok);
  CHECK(mark_of(program, "float_2d") == 1);
  CHECK(mark_of(program, "half_2d") == 8);
  CHECK(mark_of(program, "double_2d") == 8);
  CHECK(!executorch::runtime::registry_has_op_function("aten::add.out"));

  CHECK(torch::executor::register_special_kernels() == Error::Ok);
  CHECK(executorch::runtime::registry_has_op_function("aten::add.out"));
  CHECK(mark_of(program, "int_2d") == 3);
  return 0;
}
