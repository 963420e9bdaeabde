// other_custom_ops::matmul with the stable ABI alone: the file that is built loads in PyTorch 2.10 and in what follows.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/ScalarType.h>
#include <torch/headeronly/util/Exception.h>

namespace {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

Tensor Matmul(const Tensor& a, const Tensor& b) {
  STD_TORCH_CHECK(a.dim() == 2 && b.dim() == 2, "matmul takes two matrices, not tensors of ", a.dim(), " and ", b.dim(),
                  " dimensions");
  STD_TORCH_CHECK(a.size(1) == b.size(0), "matmul: the inner sizes ", a.size(1), " and ", b.size(0), " differ");
  STD_TORCH_CHECK(a.scalar_type() == ScalarType::Float && b.scalar_type() == ScalarType::Float,
                  "matmul takes float32 only");
  const int64_t rows = a.size(0), inner = a.size(1), columns = b.size(1);
  const Tensor left = torch::stable::contiguous(a), right = torch::stable::contiguous(b);
  Tensor out = torch::stable::new_empty(a, {rows, columns});
  const float* x = left.const_data_ptr<float>();
  const float* y = right.const_data_ptr<float>();
  float* result = out.mutable_data_ptr<float>();
  // One element after another, where matmul.cpp goes row by row.
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < inner; ++k) {
        sum += x[i * inner + k] * y[k * columns + j];
      }
      result[i * columns + j] = sum;
    }
  }
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY(other_custom_ops, m) { m.def("matmul(Tensor a, Tensor b) -> Tensor"); }

STABLE_TORCH_LIBRARY_IMPL(other_custom_ops, CPU, m) { m.impl("matmul", TORCH_BOX(&Matmul)); }
