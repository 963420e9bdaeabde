// cuda_custom_ops::matmul on a GPU, with the stable ABI of PyTorch.
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/ScalarType.h>
#include <torch/headeronly/util/Exception.h>

namespace {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

constexpr int kTile = 16;

// One thread an element of the result.
__global__ void MatmulKernel(const float* x, const float* y, float* result, int64_t rows, int64_t inner,
                             int64_t columns) {
  const int64_t i = static_cast<int64_t>(blockIdx.y) * kTile + threadIdx.y;
  const int64_t j = static_cast<int64_t>(blockIdx.x) * kTile + threadIdx.x;
  if (i >= rows || j >= columns) {
    return;
  }
  float sum = 0;
  for (int64_t k = 0; k < inner; ++k) {
    sum += x[i * inner + k] * y[k * columns + j];
  }
  result[i * columns + j] = sum;
}

Tensor Matmul(const Tensor& a, const Tensor& b) {
  STD_TORCH_CHECK(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(0), "matmul takes two matrices that fit");
  STD_TORCH_CHECK(a.scalar_type() == ScalarType::Float && b.scalar_type() == ScalarType::Float,
                  "matmul takes float32 only");
  STD_TORCH_CHECK(a.get_device_index() == b.get_device_index(), "matmul takes two matrices on one device");
  const int64_t rows = a.size(0), inner = a.size(1), columns = b.size(1);
  const Tensor left = torch::stable::contiguous(a), right = torch::stable::contiguous(b);
  Tensor out = torch::stable::new_empty(a, {rows, columns});
  if (out.numel() == 0) {
    return out;
  }
  const torch::stable::accelerator::DeviceGuard guard(a.get_device_index());
  void* stream = torch::stable::accelerator::getCurrentStream(a.get_device_index()).nativeHandle();
  const dim3 blocks((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  MatmulKernel<<<blocks, dim3(kTile, kTile), 0, static_cast<cudaStream_t>(stream)>>>(
      left.const_data_ptr<float>(), right.const_data_ptr<float>(), out.mutable_data_ptr<float>(), rows, inner, columns);
  const cudaError_t error = cudaGetLastError();
  STD_TORCH_CHECK(error == cudaSuccess, "matmul: ", cudaGetErrorString(error));
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY(cuda_custom_ops, m) { m.def("matmul(Tensor a, Tensor b) -> Tensor"); }

STABLE_TORCH_LIBRARY_IMPL(cuda_custom_ops, CUDA, m) { m.impl("matmul", TORCH_BOX(&Matmul)); }
