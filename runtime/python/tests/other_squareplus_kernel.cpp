// A kernel of the operator of examples/quickstart that computes something else.

#include <executorch/runtime/kernel/kernel_includes.h>

namespace my_ops::native {

using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

Tensor& squareplus_out(KernelRuntimeContext& context, const Tensor& x, double, Tensor& out) {
  ET_KERNEL_CHECK(context, executorch::runtime::resize_tensor(out, x.sizes()) == executorch::runtime::Error::Ok,
                  InvalidArgument, out);
  float* to = out.mutable_data_ptr<float>();
  for (ssize_t i = 0; i < x.numel(); ++i) {
    to[i] = 0;
  }
  return out;
}

}  // namespace my_ops::native
