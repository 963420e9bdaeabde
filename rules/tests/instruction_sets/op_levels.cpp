#include <executorch/runtime/kernel/kernel_includes.h>

#include "rules/tests/instruction_sets/level.h"

namespace my_ops::native {

using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

/// Writes the instruction set of this file, of an inline function, of another file of the library; and the number of
/// the call.
Tensor& levels_out(KernelRuntimeContext&, Tensor& out) {
  int32_t* const levels = out.mutable_data_ptr<int32_t>();
  levels[0] = COMPILED_LEVEL;
  levels[1] = inline_level();
  levels[2] = shared_level();
  levels[3] = ++counter();
  return out;
}

}  // namespace my_ops::native
