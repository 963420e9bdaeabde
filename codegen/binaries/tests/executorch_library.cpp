// Registers two operators by ExecuTorch's macro, for object_files_test.py.

#include <executorch/extension/kernel_util/make_boxed_from_unboxed_functor.h>
#include <executorch/runtime/kernel/kernel_includes.h>

using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

namespace {

Tensor& Twice(KernelRuntimeContext&, const Tensor&, Tensor& out) {
  ET_LOG(Info, "my_ops::not_an_operator.out");
  return out;
}

}  // namespace

EXECUTORCH_LIBRARY(my_ops, "twice.out", Twice);
EXECUTORCH_LIBRARY(other_ops, "same", Twice);
