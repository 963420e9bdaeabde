#pragma once

#include <cstdint>
#include <optional>

#include "kernels/math/activation.h"
#include "kernels/tensors/dtype.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

inline constexpr int64_t kMaxSpatialDims = 3;

/// The arguments of the operator. A list has one number for all spatial dimensions, or one for each.
struct ConvolutionParameters {
  ArrayRef<int64_t> stride;
  ArrayRef<int64_t> padding;
  ArrayRef<int64_t> dilation;
  ArrayRef<int64_t> output_padding;
  bool transposed;
  int64_t groups;
  /// The padding after the last elements. If empty, `padding` is used at both ends.
  ArrayRef<int64_t> end_padding = {};
};

/// One spatial dimension. Output `o` reads kernel position `k` at input `o * stride + k * dilation + offset`, if there
/// is such an input. In a transposed convolution, input and output are exchanged. Strides between elements are in
/// bytes.
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

  /// Whether each output element only depends on the input element at the same index.
  bool is_pointwise() const { return kernel_size == 1 && stride == 1 && offset == 0 && in_size == out_size; }
};

/// A convolution with one to three spatial dimensions. Pointers are to the first elements.
struct Convolution {
  ScalarType dtype;
  bool transposed;
  int64_t rank;  // of the tensors
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
  /// The activation, for values of the product's type.
  Activation activation;

  /// Reads dtype, sizes and parameters. Returns false if the arguments are invalid.
  bool init(const Tensor& in_tensor, const Tensor& weight_tensor, const ConvolutionParameters& parameters);

  /// Size `d` of the result.
  int64_t out_size(int64_t d) const;

  /// The convolution that computes the gradient of the input from a gradient of the result, without strides and
  /// pointers.
  Convolution backward() const;

  /// Sets the strides.
  void set_strides(const StridedShape& in_shape, const StridedShape& weight_shape, const StridedShape& out_shape);

  int64_t kernel_numel() const { return axes[0].kernel_size * axes[1].kernel_size * axes[2].kernel_size; }
  int64_t out_numel() const { return axes[0].out_size * axes[1].out_size * axes[2].out_size; }
};

/// The common part of convolution operators: checks the arguments, resizes `out` and initializes `convolution`. Returns
/// false and sets the error of `ctx` if an argument is invalid.
bool prepare_convolution(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight,
                         const std::optional<Tensor>& bias, const ConvolutionParameters& parameters, Tensor& out,
                         Convolution& convolution);

}  // namespace rules_executorch::kernels
