// Kernels without a custom_ops.yaml: each is declared where it is defined.

#include <executorch/runtime/kernel/kernel_includes.h>

#include <algorithm>
#include <tuple>

#include "runtime/operator.h"

namespace declared {
namespace {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::resize_tensor;

bool is_float(const Tensor& tensor) { return tensor.scalar_type() == ScalarType::Float; }

}  // namespace

Tensor& halve_out(KernelRuntimeContext& context, const Tensor& x, Tensor& out) {
  ET_KERNEL_CHECK(context, is_float(x) && is_float(out), InvalidArgument, out);
  ET_KERNEL_CHECK(context, resize_tensor(out, x.sizes()) == Error::Ok, InvalidArgument, out);
  for (ssize_t i = 0; i < x.numel(); ++i) out.mutable_data_ptr<float>()[i] = x.const_data_ptr<float>()[i] / 2;
  return out;
}

EXECUTORCH_OPERATOR("declared::halve.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", declared::halve_out);

// The smallest and the largest element.
std::tuple<Tensor&, Tensor&> range_out(const Tensor& x, Tensor& smallest, Tensor& largest) {
  ET_CHECK_MSG(is_float(x) && is_float(smallest) && is_float(largest) && x.numel() > 0, "no floats");
  ET_CHECK(resize_tensor(smallest, x.sizes().slice(0, 0)) == Error::Ok);
  ET_CHECK(resize_tensor(largest, x.sizes().slice(0, 0)) == Error::Ok);
  const float* begin = x.const_data_ptr<float>();
  const auto [least, most] = std::minmax_element(begin, begin + x.numel());
  smallest.mutable_data_ptr<float>()[0] = *least;
  largest.mutable_data_ptr<float>()[0] = *most;
  return {smallest, largest};
}

EXECUTORCH_OPERATOR(
    "declared::range.out(Tensor x, *, Tensor(a!) smallest, Tensor(b!) largest) -> (Tensor(a!), Tensor(b!))",
    declared::range_out);

// No model calls this operator, so that no library has it.
EXECUTORCH_OPERATOR("declared::unused.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", declared::halve_out);

}  // namespace declared
