#include "codegen/tests/specialized_kernels/1.alike/RegisterKernels.h"

executorch::runtime::Span<const executorch::runtime::Kernel> special_kernels() {
  return torch::executor::_1_alike_kernels();
}
