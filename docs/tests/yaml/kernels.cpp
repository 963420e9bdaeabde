// Kernels for the examples of docs/yaml.md.
#include <executorch/runtime/kernel/kernel_includes.h>

namespace pages::native {

using executorch::aten::Scalar;
using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

Tensor& add_2d_out(KernelRuntimeContext&, const Tensor&, const Tensor&, const Scalar&, Tensor& out) { return out; }

Tensor& add_out(KernelRuntimeContext&, const Tensor&, const Tensor&, const Scalar&, Tensor& out) { return out; }

Tensor& mul_out(KernelRuntimeContext&, const Tensor&, const Tensor&, Tensor& out) { return out; }

Tensor& twice_out(KernelRuntimeContext&, const Tensor&, Tensor& out) { return out; }

}  // namespace pages::native
