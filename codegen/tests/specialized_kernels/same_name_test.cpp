// Two libraries of one name in C++, in one binary: each source has the kernels of the library whose header it includes.

#include <executorch/runtime/kernel/operator_registry.h>

#include <vector>

#include "codegen/tests/specialized_kernels/1-alike/RegisterKernels.h"
#include "codegen/tests/specialized_kernels/adder.h"
#include "runtime/testing/check.h"

executorch::runtime::Span<const executorch::runtime::Kernel> special_kernels();

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
  CHECK(load(program, "float_2d", special_kernels()) == Error::Ok);
  CHECK(load(program, "half_2d", torch::executor::_1_alike_kernels()) == Error::Ok);
  CHECK(mark_of(program, "float_2d") == 1);
  CHECK(mark_of(program, "half_2d") == 8);
  return 0;
}
