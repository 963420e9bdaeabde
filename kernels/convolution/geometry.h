#pragma once

#include <cstdint>
#include <optional>

#include "kernels/math/activation.h"
#include "kernels/tensors/dtype.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

inline constexpr int64_t kMaxSpatialDims = 3;

/// The operator's arguments. Lists have one number for all spatial dimensions, or one for each.
struct ConvolutionParameters {
  ArrayRef<int64_t> stride;
  ArrayRef<int64_t> padding;
  ArrayRef<int64_t> dilation;
  ArrayRef<int64_t> output_padding;
  bool transposed;
  int64_t groups;
  /// Behind the last elements; empty where `padding` is at both ends.
  ArrayRef<int64_t> end_padding = {};
};

/// One spatial dimension: output `o` and position `k` of the kernel meet at input `o * stride + k * dilation + offset`,
/// if there is such an input; in a transposed convolution, input and output change places. Strides between elements are
/// in bytes.
struct ConvolutionAxis {
  int64_t in_size = 1;
  int64_t kernel_size = 1;
  int64_t out_size = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t offset = 0;
  int64_t in_stride = 0;
  int64_t weight_stride = 0;
  int64_t out_stride = 0;

  /// Whether each output element is made of the input element at its own index.
  bool is_pointwise() const { return kernel_size == 1 && stride == 1 && offset == 0 && in_size == out_size; }
};

/// A convolution of one to three spatial dimensions. Pointers are to the first elements.
struct Convolution {
  ScalarType dtype;
  bool transposed;
  int64_t rank;  // of its tensors
  int64_t batch;
  ConvolutionAxis axes[kMaxSpatialDims];
  int64_t groups;
  int64_t in_channels;   // of a group
  int64_t out_channels;  // of a group
  int64_t in_batch_stride;
  int64_t in_channel_stride;
  int64_t weight_group_stride;
  int64_t weight_in_stride;
  int64_t weight_out_stride;
  int64_t out_batch_stride;
  int64_t out_channel_stride;
  const char* in = nullptr;
  const char* weight = nullptr;
  const char* bias = nullptr;
  char* out = nullptr;
  /// Of values of the type to multiply in.
  Activation activation;

  /// Reads dtype, sizes and parameters. False where there is no such convolution.
  bool init(const Tensor& in_tensor, const Tensor& weight_tensor, const ConvolutionParameters& parameters);

  /// Size `d` of the result.
  int64_t out_size(int64_t d) const;

  /// The convolution that takes a gradient of the result to one of the input: without strides and pointers.
  Convolution backward() const;

  /// Reads where elements lie.
  void set_strides(const StridedShape& in_shape, const StridedShape& weight_shape, const StridedShape& out_shape);

  int64_t kernel_numel() const { return axes[0].kernel_size * axes[1].kernel_size * axes[2].kernel_size; }
  int64_t out_numel() const { return axes[0].out_size * axes[1].out_size * axes[2].out_size; }
};

/// The common part of operators: checks their arguments, resizes `out` and makes `convolution` one to compute. False
/// after a failure, which `ctx` knows.
bool prepare_convolution(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight,
                         const std::optional<Tensor>& bias, const ConvolutionParameters& parameters, Tensor& out,
                         Convolution& convolution);

}  // namespace rules_executorch::kernels
