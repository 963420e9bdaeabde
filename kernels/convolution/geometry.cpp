#include "kernels/convolution/geometry.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"

namespace rules_executorch::kernels {
namespace {

// Without ET_LOG, nothing reads the name.
bool read_parameter(const ArrayRef<int64_t>& values, [[maybe_unused]] const char* name, int64_t min, int64_t d,
                    int64_t rank, int64_t& value) {
  const int64_t count = static_cast<int64_t>(values.size());
  ET_CHECK_OR_RETURN_FALSE(count == 1 || count == rank, "%s has %d elements, expected 1 or %d", name, int(count),
                           int(rank));
  value = values[count == 1 ? 0 : d];
  // With this limit, the product of two parameters does not overflow.
  ET_CHECK_OR_RETURN_FALSE(value >= min && value <= std::numeric_limits<int32_t>::max(),
                           "%s is out of range: got %lld, expected at least %d", name, static_cast<long long>(value),
                           int(min));
  return true;
}

/// Reads spatial dimension `d` of `rank` and computes the size of the output. A transposed convolution is read like an
/// ordinary one. Returns false if the parameters are invalid.
bool read_axis(const Tensor& in, const Tensor& weight, const ConvolutionParameters& parameters, int64_t d, int64_t rank,
               ConvolutionAxis& axis) {
  int64_t padding;
  int64_t end_padding;
  int64_t output_padding;
  ET_LOG_AND_RETURN_IF_FALSE(read_parameter(parameters.stride, "stride", 1, d, rank, axis.stride));
  ET_LOG_AND_RETURN_IF_FALSE(read_parameter(parameters.padding, "padding", 0, d, rank, padding));
  const ArrayRef<int64_t>& ends = parameters.end_padding.empty() ? parameters.padding : parameters.end_padding;
  ET_LOG_AND_RETURN_IF_FALSE(read_parameter(ends, "end_padding", 0, d, rank, end_padding));
  ET_LOG_AND_RETURN_IF_FALSE(read_parameter(parameters.dilation, "dilation", 1, d, rank, axis.dilation));
  ET_LOG_AND_RETURN_IF_FALSE(read_parameter(parameters.output_padding, "output_padding", 0, d, rank, output_padding));
  axis.offset = -padding;
  axis.in_size = in.sizes()[d + 2];
  axis.kernel_size = weight.sizes()[d + 2];
  ET_CHECK_OR_RETURN_FALSE(axis.kernel_size > 0, "expected kernel sizes of at least 1, got 0");
  ET_CHECK_OR_RETURN_FALSE(axis.in_size > 0 || in.numel() == 0, "expected input sizes of at least 1, got 0");
  const int64_t extent = axis.dilation * (axis.kernel_size - 1) + 1;
  if (parameters.transposed) {
    ET_CHECK_OR_RETURN_FALSE(output_padding < std::max(axis.stride, axis.dilation),
                             "output_padding must be smaller than stride or dilation");
    axis.out_size = (axis.in_size - 1) * axis.stride - padding - end_padding + extent + output_padding;
    ET_CHECK_OR_RETURN_FALSE(axis.out_size > 0 || (axis.out_size == 0 && in.numel() == 0),
                             "the output size is less than 1");
  } else {
    ET_CHECK_OR_RETURN_FALSE(axis.in_size + padding + end_padding >= extent,
                             "the kernel is larger than the padded input");
    axis.out_size = (axis.in_size + padding + end_padding - extent) / axis.stride + 1;
  }
  return true;
}

}  // namespace

bool Convolution::init(const Tensor& in_tensor, const Tensor& weight_tensor, const ConvolutionParameters& parameters) {
  const int64_t spatial = in_tensor.dim() - 2;
  ET_CHECK_OR_RETURN_FALSE(spatial >= 1 && spatial <= kMaxSpatialDims, "the input has %d dimensions, expected 3 to 5",
                           int(in_tensor.dim()));
  ET_LOG_AND_RETURN_IF_FALSE(tensors_have_same_rank(in_tensor, weight_tensor));
  dtype = in_tensor.scalar_type();
  transposed = parameters.transposed;
  rank = in_tensor.dim();
  batch = in_tensor.sizes()[0];
  groups = parameters.groups;
  const int64_t channels = in_tensor.sizes()[1];
  const int64_t weight_sizes[] = {weight_tensor.sizes()[0], weight_tensor.sizes()[1]};
  ET_CHECK_OR_RETURN_FALSE(groups > 0 && weight_sizes[0] >= groups && weight_sizes[0] % groups == 0,
                           "%d groups do not divide the weight's size of %d", int(groups), int(weight_sizes[0]));
  in_channels = transposed ? weight_sizes[0] / groups : weight_sizes[1];
  out_channels = transposed ? weight_sizes[1] : weight_sizes[0] / groups;
  ET_CHECK_OR_RETURN_FALSE(channels == in_channels * groups, "the input has %d channels, the weight is for %d",
                           int(channels), int(in_channels * groups));
  for (int64_t d = 0; d < spatial; ++d) {
    ET_LOG_AND_RETURN_IF_FALSE(
        read_axis(in_tensor, weight_tensor, parameters, d, spatial, axes[kMaxSpatialDims - spatial + d]));
  }
  return true;
}

int64_t Convolution::out_size(int64_t d) const {
  return d == 0 ? batch : d == 1 ? out_channels * groups : axes[kMaxSpatialDims - rank + d].out_size;
}

Convolution Convolution::backward() const {
  Convolution result = *this;
  result.transposed = !transposed;
  std::swap(result.in_channels, result.out_channels);
  for (ConvolutionAxis& axis : result.axes) {
    std::swap(axis.in_size, axis.out_size);
  }
  return result;
}

void Convolution::set_strides(const StridedShape& in_shape, const StridedShape& weight_shape,
                              const StridedShape& out_shape) {
  const int64_t size = in_shape.element_size();
  in_batch_stride = in_shape.strides[0] * size;
  in_channel_stride = in_shape.strides[1] * size;
  out_batch_stride = out_shape.strides[0] * size;
  out_channel_stride = out_shape.strides[1] * size;
  weight_in_stride = weight_shape.strides[transposed ? 0 : 1] * size;
  weight_out_stride = weight_shape.strides[transposed ? 1 : 0] * size;
  weight_group_stride = transposed ? in_channels * weight_in_stride : out_channels * weight_out_stride;
  for (int64_t d = 2; d < rank; ++d) {
    ConvolutionAxis& axis = axes[kMaxSpatialDims - rank + d];
    axis.in_stride = in_shape.strides[d] * size;
    axis.weight_stride = weight_shape.strides[d] * size;
    axis.out_stride = out_shape.strides[d] * size;
  }
}

bool prepare_convolution(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight,
                         const std::optional<Tensor>& bias, const ConvolutionParameters& parameters, Tensor& out,
                         Convolution& convolution) {
  // Check
  ET_KERNEL_CHECK(ctx, ::executorch::runtime::isRealHBF16Type(in.scalar_type()), InvalidArgument, false);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, weight, out), InvalidArgument, false);
  ET_KERNEL_CHECK(ctx, convolution.init(in, weight, parameters), InvalidArgument, false);
  if (bias.has_value()) {
    ET_KERNEL_CHECK(ctx, ::executorch::runtime::isRealHBF16Type(bias->scalar_type()), InvalidArgument, false);
    ET_KERNEL_CHECK(ctx, bias->dim() == 1 && bias->sizes()[0] == convolution.out_size(1), InvalidArgument, false);
  }
  if (in.sizes()[1] == 0) {
    // As in PyTorch, there are no output channels if there are no input channels.
    convolution.out_channels = 0;
  }

  // Resize
  int64_t sizes[kTensorDimensionLimit];
  for (int64_t d = 0; d < in.dim(); ++d) {
    sizes[d] = convolution.out_size(d);
  }
  ET_KERNEL_CHECK(ctx, resize_to_size(out, {sizes, static_cast<size_t>(in.dim())}), InvalidArgument, false);

  // Converts a bias of another dtype to the dtype of the input.
  const void* biases = bias.has_value() ? bias->const_data_ptr() : nullptr;
  if (biases != nullptr && bias->scalar_type() != in.scalar_type()) {
    const auto memory = ctx.allocate_temp(static_cast<size_t>(bias->numel() * in.element_size()));
    ET_KERNEL_CHECK_MSG(ctx, memory.ok(), MemoryAllocationFailed, false, "not enough temporary memory for the bias");
    convert_elements(bias->scalar_type(), biases, in.scalar_type(), memory.get(), bias->numel());
    biases = memory.get();
  }

  const ConstStridedView source(in);
  const ConstStridedView weights(weight);
  const StridedView target(out);
  convolution.set_strides(source, weights, target);
  convolution.in = source.data;
  convolution.weight = weights.data;
  convolution.bias = static_cast<const char*>(biases);
  convolution.out = target.data;
  return true;
}

}  // namespace rules_executorch::kernels
