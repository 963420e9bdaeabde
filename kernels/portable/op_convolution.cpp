#include <algorithm>
#include <cstring>

#include "kernels/common/convert.h"
#include "kernels/common/matmul.h"
#include "kernels/common/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

constexpr int64_t kMaxSpatialDims = 3;

/// One spatial dimension. Strides between elements are in bytes.
struct Axis {
  int64_t in_size = 1;
  int64_t kernel_size = 1;
  int64_t out_size = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;
  int64_t output_padding = 0;
  int64_t in_stride = 0;
  int64_t weight_stride = 0;
  int64_t out_stride = 0;

  /// Whether each output element is made of the input element at its own index.
  bool is_pointwise() const { return kernel_size == 1 && stride == 1 && padding == 0 && in_size == out_size; }
};

/// Outputs of an axis that meet input elements: every `step`-th of [begin, end), from input `in_begin` on.
struct Overlap {
  int64_t begin;
  int64_t end;
  int64_t step;
  int64_t in_begin;
  int64_t in_step;
};

/// a / b, rounded up; b is positive, and mostly 1.
int64_t divide_up(int64_t a, int64_t b) { return b == 1 ? a : a >= 0 ? (a + b - 1) / b : -(-a / b); }

/// The outputs of [begin, end) that position `k` of the kernel connects with an input.
Overlap find_overlap(const Axis& axis, bool transposed, int64_t k, int64_t begin, int64_t end) {
  const int64_t offset = axis.padding - k * axis.dilation;
  Overlap overlap;
  if (transposed) {
    // out = in * stride - offset
    overlap.in_begin = std::max<int64_t>(divide_up(begin + offset, axis.stride), 0);
    overlap.in_step = 1;
    overlap.begin = overlap.in_begin * axis.stride - offset;
    overlap.end = std::min(end, (axis.in_size - 1) * axis.stride - offset + 1);
    overlap.step = axis.stride;
  } else {
    // in = out * stride - offset
    overlap.begin = std::max(begin, divide_up(offset, axis.stride));
    overlap.end = std::min(end, divide_up(axis.in_size + offset, axis.stride));
    overlap.step = 1;
    overlap.in_begin = overlap.begin * axis.stride - offset;
    overlap.in_step = axis.stride;
  }
  return overlap;
}

/// `totals += bias` for `n` elements.
using AddBias = void (*)(void* totals, const void* bias, int64_t n);

template <typename T>
void add_bias(void* totals, const void* bias, int64_t n) {
  const T value = *static_cast<const T*>(bias);
  for (int64_t i = 0; i < n; ++i) {
    static_cast<T*>(totals)[i] += value;
  }
}

/// A convolution's shape, which is the same for all batch elements and groups.
struct Shape {
  ScalarType dtype;
  bool transposed;
  Axis axes[kMaxSpatialDims];
  int64_t in_channels;   // of a group
  int64_t out_channels;  // of a group
  int64_t in_channel_stride;
  int64_t weight_in_stride;
  int64_t weight_out_stride;
  int64_t out_channel_stride;

  int64_t kernel_numel() const { return axes[0].kernel_size * axes[1].kernel_size * axes[2].kernel_size; }
  int64_t out_numel() const { return axes[0].out_size * axes[1].out_size * axes[2].out_size; }
};

/// The convolution of one group of one batch element: the product of a matrix of weights, with a row for each output
/// channel, and a matrix with a row for each weight of an output channel and a column for each output position, whose
/// elements are the inputs that the two bring together, or 0 where that is none.
class ConvolutionProduct final : public MatrixProduct {
 public:
  ConvolutionProduct(const Shape& shape, const char* in, const char* weight, const char* bias, char* out,
                     AddBias add_bias)
      : MatrixProduct(compute_type(shape.dtype), shape.out_channels, shape.in_channels * shape.kernel_numel(),
                      shape.out_numel()),
        shape_(shape),
        in_(in),
        weight_(weight),
        bias_(bias),
        out_(out),
        add_bias_(add_bias),
        element_size_(static_cast<int64_t>(elementSize(shape.dtype))),
        compute_size_(static_cast<int64_t>(elementSize(type()))) {}

 private:
  void load_a(int64_t row, int64_t column, int64_t n, void* target) const override;
  void load_b(int64_t row, int64_t column, int64_t n, void* target) const override;
  void store(int64_t row, int64_t column, int64_t n, void* totals) const override;

  /// Reads the inputs of `n` outputs of the innermost axis, from `begin` on.
  void load_part(const char* in, int64_t k, int64_t begin, int64_t n, char* target) const;

  const Shape& shape_;
  const char* in_;
  const char* weight_;
  const char* bias_;
  char* out_;
  AddBias add_bias_;
  int64_t element_size_;
  int64_t compute_size_;
};

/// Splits `index` in row-major order of the sizes `size(axis)`. Returns what is left for the dimension before them.
template <typename Size>
int64_t unravel(int64_t index, const Axis* axes, const Size& size, int64_t* position) {
  for (int64_t d = kMaxSpatialDims - 1; d >= 0; --d) {
    const int64_t count = size(axes[d]);
    position[d] = index;
    index = 0;
    if (position[d] >= count) {
      index = position[d] / count;
      position[d] -= index * count;
    }
  }
  return index;
}

constexpr auto kernel_size = [](const Axis& axis) { return axis.kernel_size; };
constexpr auto out_size = [](const Axis& axis) { return axis.out_size; };

/// Calls `visit(position, offset, part)` for the parts of `n` elements from `start` on that lie in one row of the
/// innermost axis.
template <typename Size, typename Visit>
void for_each_row_part(int64_t start, int64_t n, const Axis* axes, const Size& size, const Visit& visit) {
  int64_t position[kMaxSpatialDims];
  for (int64_t offset = 0; offset < n;) {
    const int64_t outer = unravel(start + offset, axes, size, position);
    const int64_t part = std::min(n - offset, size(axes[kMaxSpatialDims - 1]) - position[kMaxSpatialDims - 1]);
    visit(outer, position, offset, part);
    offset += part;
  }
}

void ConvolutionProduct::load_a(int64_t row, int64_t column, int64_t n, void* target) const {
  const Axis* axes = shape_.axes;
  const char* weight = weight_ + row * shape_.weight_out_stride;
  char* to = static_cast<char*>(target);
  if (shape_.kernel_numel() == 1) {
    load_block(shape_.dtype, weight + column * shape_.weight_in_stride, shape_.weight_in_stride, type(), to, n);
    return;
  }
  for_each_row_part(column, n, axes, kernel_size, [&](int64_t channel, const int64_t* k, int64_t offset, int64_t part) {
    const char* from = weight + channel * shape_.weight_in_stride + k[0] * axes[0].weight_stride +
                       k[1] * axes[1].weight_stride + k[2] * axes[2].weight_stride;
    load_block(shape_.dtype, from, axes[2].weight_stride, type(), to + offset * compute_size_, part);
  });
}

void ConvolutionProduct::load_b(int64_t row, int64_t column, int64_t n, void* target) const {
  const Axis* axes = shape_.axes;
  int64_t k[kMaxSpatialDims];
  const int64_t channel = unravel(row, axes, kernel_size, k);
  const char* in = in_ + channel * shape_.in_channel_stride;
  for_each_row_part(column, n, axes, out_size, [&](int64_t, const int64_t* out, int64_t offset, int64_t part) {
    char* to = static_cast<char*>(target) + offset * compute_size_;
    const char* from = in;
    for (int64_t d = 0; d < kMaxSpatialDims - 1; ++d) {
      const Overlap overlap = find_overlap(axes[d], shape_.transposed, k[d], out[d], out[d] + 1);
      if (overlap.begin >= overlap.end) {
        std::memset(to, 0, part * compute_size_);
        return;
      }
      from += overlap.in_begin * axes[d].in_stride;
    }
    load_part(from, k[kMaxSpatialDims - 1], out[kMaxSpatialDims - 1], part, to);
  });
}

void ConvolutionProduct::load_part(const char* in, int64_t k, int64_t begin, int64_t n, char* target) const {
  const Axis& axis = shape_.axes[kMaxSpatialDims - 1];
  const Overlap overlap = find_overlap(axis, shape_.transposed, k, begin, begin + n);
  const int64_t count = divide_up(overlap.end - overlap.begin, overlap.step);
  if (count < n) {
    std::memset(target, 0, n * compute_size_);
  }
  if (count <= 0) {
    return;
  }
  const char* from = in + overlap.in_begin * axis.in_stride;
  char* to = target + (overlap.begin - begin) * compute_size_;
  if (overlap.step == 1) {
    load_block(shape_.dtype, from, overlap.in_step * axis.in_stride, type(), to, count);
  } else {
    Block block;
    load_block(shape_.dtype, from, overlap.in_step * axis.in_stride, type(), block.data, count);
    copy_elements(block.data, compute_size_, to, overlap.step * compute_size_, compute_size_, count);
  }
}

void ConvolutionProduct::store(int64_t row, int64_t column, int64_t n, void* totals) const {
  if (bias_ != nullptr) {
    Block bias;
    load_block(shape_.dtype, bias_ + row * element_size_, 0, type(), bias.data, 1);
    add_bias_(totals, bias.data, n);
  }
  const Axis* axes = shape_.axes;
  char* out = out_ + row * shape_.out_channel_stride;
  const char* from = static_cast<const char*>(totals);
  for_each_row_part(column, n, axes, out_size, [&](int64_t, const int64_t* position, int64_t offset, int64_t part) {
    char* to =
        out + position[0] * axes[0].out_stride + position[1] * axes[1].out_stride + position[2] * axes[2].out_stride;
    store_block(type(), from + offset * compute_size_, shape_.dtype, to, axes[2].out_stride, part);
  });
}

/// The operator's arguments for the spatial dimensions: one for all of them, or one for each.
struct Parameters {
  const ArrayRef<int64_t>& stride;
  const ArrayRef<int64_t>& padding;
  const ArrayRef<int64_t>& dilation;
  const ArrayRef<int64_t>& output_padding;
  bool transposed;
};

bool read_parameter(const ArrayRef<int64_t>& values, const char* name, int64_t min, int64_t d, int64_t rank,
                    int64_t& value) {
  const int64_t count = static_cast<int64_t>(values.size());
  ET_CHECK_OR_RETURN_FALSE(count == 1 || count == rank, "%s has %d elements for %d spatial dimensions", name,
                           int(count), int(rank));
  value = values[count == 1 ? 0 : d];
  ET_CHECK_OR_RETURN_FALSE(value >= min, "%s of %d, must be at least %d", name, int(value), int(min));
  return true;
}

/// Reads spatial dimension `d` of `rank`. False where there is no such convolution.
bool read_axis(const Tensor& in, const Tensor& weight, const Parameters& parameters, int64_t d, int64_t rank,
               Axis& axis) {
  ET_LOG_AND_RETURN_IF_FALSE(read_parameter(parameters.stride, "stride", 1, d, rank, axis.stride));
  ET_LOG_AND_RETURN_IF_FALSE(read_parameter(parameters.padding, "padding", 0, d, rank, axis.padding));
  ET_LOG_AND_RETURN_IF_FALSE(read_parameter(parameters.dilation, "dilation", 1, d, rank, axis.dilation));
  ET_LOG_AND_RETURN_IF_FALSE(
      read_parameter(parameters.output_padding, "output_padding", 0, d, rank, axis.output_padding));
  axis.in_size = in.sizes()[d + 2];
  axis.kernel_size = weight.sizes()[d + 2];
  ET_CHECK_OR_RETURN_FALSE(axis.kernel_size > 0, "a kernel size is 0");
  ET_CHECK_OR_RETURN_FALSE(axis.in_size > 0 || in.numel() == 0, "an input size is 0");
  const int64_t extent = axis.dilation * (axis.kernel_size - 1) + 1;
  if (parameters.transposed) {
    ET_CHECK_OR_RETURN_FALSE(axis.output_padding < std::max(axis.stride, axis.dilation),
                             "output_padding is not smaller than stride or dilation");
    axis.out_size = (axis.in_size - 1) * axis.stride - 2 * axis.padding + extent + axis.output_padding;
    ET_CHECK_OR_RETURN_FALSE(axis.out_size > 0 || (axis.out_size == 0 && in.numel() == 0),
                             "the output size is not positive");
  } else {
    ET_CHECK_OR_RETURN_FALSE(axis.in_size + 2 * axis.padding >= extent, "the kernel is larger than the padded input");
    axis.out_size = (axis.in_size + 2 * axis.padding - extent) / axis.stride + 1;
  }
  return true;
}

/// Checks shapes and parameters, and resizes `out`.
bool resize_to_convolution(Tensor& out, const Tensor& in, const Tensor& weight, const std::optional<Tensor>& bias,
                           const Parameters& parameters, int64_t groups, Shape& shape) {
  const int64_t rank = in.dim() - 2;
  ET_CHECK_OR_RETURN_FALSE(rank >= 1 && rank <= kMaxSpatialDims, "input has %d dimensions, not 3 to 5", int(in.dim()));
  ET_LOG_AND_RETURN_IF_FALSE(tensors_have_same_rank(in, weight));
  const int64_t channels = in.sizes()[1];
  const int64_t weight_sizes[] = {weight.sizes()[0], weight.sizes()[1]};
  ET_CHECK_OR_RETURN_FALSE(groups > 0 && weight_sizes[0] >= groups && weight_sizes[0] % groups == 0,
                           "%d groups do not divide weight's size of %d", int(groups), int(weight_sizes[0]));
  shape.transposed = parameters.transposed;
  shape.in_channels = shape.transposed ? weight_sizes[0] / groups : weight_sizes[1];
  shape.out_channels = shape.transposed ? weight_sizes[1] : weight_sizes[0] / groups;
  ET_CHECK_OR_RETURN_FALSE(channels == shape.in_channels * groups, "input has %d channels, weight is for %d",
                           int(channels), int(shape.in_channels * groups));
  const int64_t out_channels = shape.out_channels * groups;
  ET_CHECK_OR_RETURN_FALSE(!bias.has_value() || (bias->dim() == 1 && bias->sizes()[0] == out_channels),
                           "bias is not of shape [%d]", int(out_channels));

  // PyTorch has no output channels where there are no input channels.
  shape.out_channels = channels == 0 ? 0 : shape.out_channels;

  Tensor::SizesType sizes[kTensorDimensionLimit];
  sizes[0] = in.sizes()[0];
  sizes[1] = static_cast<Tensor::SizesType>(shape.out_channels * groups);
  for (int64_t d = 0; d < rank; ++d) {
    Axis& axis = shape.axes[kMaxSpatialDims - rank + d];
    ET_LOG_AND_RETURN_IF_FALSE(read_axis(in, weight, parameters, d, rank, axis));
    sizes[d + 2] = static_cast<Tensor::SizesType>(axis.out_size);
  }
  return resize_to(out, {sizes, static_cast<size_t>(in.dim())});
}

/// Sets all strides, and merges spatial dimensions that the kernel does not tell apart.
void read_strides(const StridedShape& in, const StridedShape& weight, const StridedShape& out, Shape& shape) {
  const int64_t size = in.element_size();
  shape.in_channel_stride = in.strides[1] * size;
  shape.weight_in_stride = weight.strides[shape.transposed ? 0 : 1] * size;
  shape.weight_out_stride = weight.strides[shape.transposed ? 1 : 0] * size;
  shape.out_channel_stride = out.strides[1] * size;
  for (int64_t d = 2; d < in.rank; ++d) {
    Axis& axis = shape.axes[kMaxSpatialDims - in.rank + d];
    axis.in_stride = in.strides[d] * size;
    axis.weight_stride = weight.strides[d] * size;
    axis.out_stride = out.strides[d] * size;
  }
  Axis& inner = shape.axes[kMaxSpatialDims - 1];
  for (int64_t d = kMaxSpatialDims - 2; d >= 0; --d) {
    Axis& axis = shape.axes[d];
    if (axis.is_pointwise() && inner.is_pointwise() && axis.in_stride == inner.in_stride * inner.in_size &&
        axis.out_stride == inner.out_stride * inner.out_size) {
      inner.in_size *= axis.in_size;
      inner.out_size *= axis.out_size;
      axis = Axis();
    }
  }
}

}  // namespace

Tensor& convolution_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight,
                        const std::optional<Tensor>& bias, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                        ArrayRef<int64_t> dilation, bool transposed, ArrayRef<int64_t> output_padding, int64_t groups,
                        Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "convolution.out");

  // Check
  ET_KERNEL_CHECK(ctx, ::executorch::runtime::isRealHBF16Type(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, weight, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, !bias.has_value() || tensors_have_same_dtype(in, *bias), InvalidArgument, out);

  // Resize
  Shape shape;
  shape.dtype = in.scalar_type();
  const Parameters parameters{stride, padding, dilation, output_padding, transposed};
  ET_KERNEL_CHECK(ctx, resize_to_convolution(out, in, weight, bias, parameters, groups, shape), InvalidArgument, out);

  // Compute
  const ConstStridedView in_view(in);
  const ConstStridedView weight_view(weight);
  const StridedView out_view(out);
  read_strides(in_view, weight_view, out_view, shape);
  MultiplyAdd multiply = nullptr;
  AddBias add = nullptr;
  ET_SWITCH_REAL_TYPES(compute_type(shape.dtype), ctx, op_name, CTYPE, [&] {
    multiply = &multiply_add<CTYPE>;
    add = &add_bias<CTYPE>;
  });
  if (multiply == nullptr) {
    return out;  // The switch has failed.
  }
  const int64_t size = in_view.element_size();
  for (int64_t n = 0; n < in_view.sizes[0]; ++n) {
    for (int64_t g = 0; g < groups; ++g) {
      ConvolutionProduct(
          shape, in_view.data + n * in_view.strides[0] * size + g * shape.in_channels * shape.in_channel_stride,
          weight_view.data + g * (transposed ? shape.in_channels * shape.weight_in_stride
                                             : shape.out_channels * shape.weight_out_stride),
          bias.has_value() ? static_cast<const char*>(bias->const_data_ptr()) + g * shape.out_channels * size : nullptr,
          out_view.data + n * out_view.strides[0] * size + g * shape.out_channels * shape.out_channel_stride, add)
          .compute(multiply);
    }
  }
  return out;
}

}  // namespace torch::executor::native
