// custom_ops::matmul with PyTorch's whole C++ API: it fits the version of PyTorch that it is compiled with.
#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

namespace {

at::Tensor Matmul(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.dim() == 2 && b.dim() == 2, "matmul takes two matrices, not tensors of ", a.dim(), " and ", b.dim(),
              " dimensions");
  TORCH_CHECK(a.size(1) == b.size(0), "matmul of ", a.sizes(), " and ", b.sizes(), ": the inner sizes differ");
  TORCH_CHECK(a.scalar_type() == at::kFloat && b.scalar_type() == at::kFloat, "matmul takes float32 only");
  const int64_t rows = a.size(0), inner = a.size(1), columns = b.size(1);
  at::Tensor out = at::zeros({rows, columns}, a.options());
  const at::Tensor left = a.contiguous(), right = b.contiguous();
  const float* x = left.const_data_ptr<float>();
  const float* y = right.const_data_ptr<float>();
  float* result = out.mutable_data_ptr<float>();
  // Row by row of the right matrix, which lies in memory in this order.
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < inner; ++k) {
      for (int64_t j = 0; j < columns; ++j) {
        result[i * columns + j] += x[i * inner + k] * y[k * columns + j];
      }
    }
  }
  return out;
}

// What torch.compile and torch.export need: the shape of the result, from symbolic shapes too.
at::Tensor MatmulMeta(const at::Tensor& a, const at::Tensor& b) {
  return a.new_empty_symint({a.sym_size(0), b.sym_size(1)});
}

}  // namespace

TORCH_LIBRARY(custom_ops, m) { m.def("matmul(Tensor a, Tensor b) -> Tensor"); }

TORCH_LIBRARY_IMPL(custom_ops, CPU, m) { m.impl("matmul", TORCH_FN(Matmul)); }

TORCH_LIBRARY_IMPL(custom_ops, Meta, m) { m.impl("matmul", TORCH_FN(MatmulMeta)); }
