// Kernels of both.yaml with PyTorch's tensors. kernels.cpp has the kernels for programs.

#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>

#include <cstdint>
#include <tuple>

namespace bridge::native {

at::Tensor& scale_out(const at::Tensor& x, const at::Scalar& by, at::Tensor& out) {
  TORCH_CHECK(out.scalar_type() == x.scalar_type(), "the result has another dtype");
  at::native::resize_output(out, x.sizes());
  return out.copy_(x.mul(by));
}

std::tuple<at::Tensor&, at::Tensor&> largest_out(const at::Tensor& x, int64_t dim, at::Tensor& values,
                                                 at::Tensor& indices) {
  TORCH_CHECK(values.scalar_type() == x.scalar_type() && indices.scalar_type() == at::kLong, "of other dtypes");
  const std::tuple<at::Tensor, at::Tensor> found = x.max(dim);
  at::native::resize_output(values, std::get<0>(found).sizes());
  at::native::resize_output(indices, std::get<1>(found).sizes());
  values.copy_(std::get<0>(found));
  indices.copy_(std::get<1>(found));
  return {values, indices};
}

}  // namespace bridge::native
