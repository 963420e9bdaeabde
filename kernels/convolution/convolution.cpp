#include "kernels/convolution/convolution.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "kernels/convolution/channels_last_convolution.h"
#include "kernels/convolution/direct_convolution.h"
#include "kernels/parallel/block.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"

namespace rules_executorch::kernels {
namespace {

/// a / b, rounded up; a is not negative, b is positive, and mostly 1.
int64_t divide_up(int64_t a, int64_t b) { return b == 1 ? a : (a + b - 1) / b; }

/// Splits `index` in row-major order of the sizes `size(axis)`. Returns what is left for the dimension before them.
template <typename Size>
int64_t unravel(int64_t index, const ConvolutionAxis* axes, const Size& size, int64_t* position) {
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

constexpr auto kernel_size = [](const ConvolutionAxis& axis) { return axis.kernel_size; };
constexpr auto out_size = [](const ConvolutionAxis& axis) { return axis.out_size; };

/// Calls `visit(position, offset, part)` for the parts of `n` outputs from `start` on that lie in one row of the
/// innermost axis, and in a Block.
template <typename Visit>
void for_each_row_part(int64_t start, int64_t n, const ConvolutionAxis* axes, const Visit& visit) {
  int64_t position[kMaxSpatialDims];
  for (int64_t offset = 0; offset < n;) {
    unravel(start + offset, axes, out_size, position);
    const int64_t left = axes[kMaxSpatialDims - 1].out_size - position[kMaxSpatialDims - 1];
    const int64_t part = std::min({n - offset, left, kBlockSize});
    visit(position, offset, part);
    offset += part;
  }
}

/// Whether elements of the three axes lie `stride(innermost)` bytes apart, in row-major order of the sizes.
template <typename Size, typename Stride>
bool is_uniform(const ConvolutionAxis* axes, const Size& size, const Stride& stride) {
  int64_t expected = stride(axes[kMaxSpatialDims - 1]);
  for (int64_t d = kMaxSpatialDims - 1; d >= 0; --d) {
    if (size(axes[d]) != 1 && stride(axes[d]) != expected) {
      return false;
    }
    expected *= size(axes[d]);
  }
  return true;
}

/// Which of `n` outputs of an axis, from `begin` on, meet inputs at position `k` of the kernel: those of [from, to).
/// The first of all would meet input `index`.
struct Meeting {
  int64_t index;
  int64_t from;
  int64_t to;

  Meeting(const ConvolutionAxis& axis, int64_t k, int64_t begin, int64_t n)
      : index(begin * axis.stride + k * axis.dilation + axis.offset),
        from(std::min(index < 0 ? divide_up(-index, axis.stride) : 0, n)),
        to(std::clamp(index < axis.in_size ? divide_up(axis.in_size - index, axis.stride) : 0, from, n)) {}
};

/// The inputs that outputs meet, as a matrix for each group: with a row for each weight of an output channel and a
/// column for each output position, whose elements are the inputs that the two bring together, or 0 where that is none.
class Patches {
 public:
  Patches(const Convolution& convolution, ScalarType type)
      : convolution_(convolution), type_(type), size_(static_cast<int64_t>(elementSize(type))) {}

  /// Reads elements of the matrix for `in`, a batch element, from (row, column) on, as rows of dtype `type`, `stride`
  /// bytes apart.
  void load(const char* in, int64_t group, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
            int64_t stride) const;

 private:
  /// Reads the inputs of `n` outputs of the innermost axis, from `begin` on, that meet position `k` of the kernel.
  void load_part(const char* in, int64_t k, int64_t begin, int64_t n, char* target) const;

  const Convolution& convolution_;
  ScalarType type_;
  int64_t size_;
};

void Patches::load(const char* in_data, int64_t group, int64_t row, int64_t rows, int64_t column, int64_t columns,
                   char* target, int64_t stride) const {
  const ConvolutionAxis* axes = convolution_.axes;
  int64_t first_k[kMaxSpatialDims];
  const int64_t channel = unravel(row, axes, kernel_size, first_k);
  const char* first = in_data + (group * convolution_.in_channels + channel) * convolution_.in_channel_stride;
  for_each_row_part(column, columns, axes, [&](const int64_t* out, int64_t offset, int64_t part) {
    const char* channel_in = first;
    int64_t k[] = {first_k[0], first_k[1], first_k[2]};
    char* to = target + offset * size_;
    for (int64_t p = 0; p < rows; ++p, to += stride) {
      const char* in = channel_in;
      bool is_inside = true;
      for (int64_t d = 0; d < kMaxSpatialDims - 1; ++d) {
        const int64_t index = out[d] * axes[d].stride + k[d] * axes[d].dilation + axes[d].offset;
        is_inside = is_inside && index >= 0 && index < axes[d].in_size;
        in += index * axes[d].in_stride;
      }
      if (is_inside) {
        load_part(in, k[kMaxSpatialDims - 1], out[kMaxSpatialDims - 1], part, to);
      } else {
        std::memset(to, 0, part * size_);
      }
      int64_t d = kMaxSpatialDims - 1;
      for (; d >= 0 && ++k[d] == axes[d].kernel_size; --d) {
        k[d] = 0;
      }
      if (d < 0) {
        channel_in += convolution_.in_channel_stride;
      }
    }
  });
}

void Patches::load_part(const char* in, int64_t k, int64_t begin, int64_t n, char* target) const {
  const ConvolutionAxis& axis = convolution_.axes[kMaxSpatialDims - 1];
  const Meeting meeting(axis, k, begin, n);
  const int64_t from = meeting.from;
  const int64_t to = meeting.to;
  std::memset(target, 0, from * size_);
  load_block(convolution_.dtype, in + (meeting.index + from * axis.stride) * axis.in_stride,
             axis.stride * axis.in_stride, type_, target + from * size_, to - from);
  std::memset(target + to * size_, 0, (n - to) * size_);
}

/// The convolution of one batch element as a product for each group: of a matrix of weights, with a row for each output
/// channel, and the patches.
class ConvolutionProduct final : public MatrixProduct {
 public:
  ConvolutionProduct(const ProductLoops& loops, ConvolutionLoops::AddBias add_bias, const Convolution& convolution);

 private:
  void load_a(int64_t group, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
              int64_t stride) const override;
  void load_b(int64_t group, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
              int64_t stride) const override;
  void store(int64_t group, int64_t row, int64_t column, int64_t n, char* totals) const override;

  const Convolution& convolution_;
  ConvolutionLoops::AddBias add_bias_;
  Matrices out_;  // without data where the result is no matrix in memory
};

ConvolutionProduct::ConvolutionProduct(const ProductLoops& loops, ConvolutionLoops::AddBias add_bias,
                                       const Convolution& convolution)
    : MatrixProduct(loops, {convolution.groups, convolution.out_channels,
                            convolution.in_channels * convolution.kernel_numel(), convolution.out_numel()}),
      convolution_(convolution),
      add_bias_(add_bias) {
  const ConvolutionAxis* axes = convolution.axes;
  const ConvolutionAxis& inner = axes[kMaxSpatialDims - 1];
  const int64_t kernel_numel = convolution.kernel_numel();
  const auto weight_stride = [](const ConvolutionAxis& axis) { return axis.weight_stride; };
  if (kernel_numel == 1) {
    a_ = {convolution.weight, convolution.dtype, convolution.weight_group_stride, convolution.weight_out_stride,
          convolution.weight_in_stride};
  } else if (is_uniform(axes, kernel_size, weight_stride) &&
             convolution.weight_in_stride == kernel_numel * inner.weight_stride) {
    a_ = {convolution.weight, convolution.dtype, convolution.weight_group_stride, convolution.weight_out_stride,
          inner.weight_stride};
  }
  const auto in_stride = [](const ConvolutionAxis& axis) { return axis.in_stride; };
  if (std::all_of(axes, axes + kMaxSpatialDims, [](const ConvolutionAxis& axis) { return axis.is_pointwise(); }) &&
      is_uniform(axes, out_size, in_stride)) {
    b_ = {convolution.in, convolution.dtype, convolution.in_channels * convolution.in_channel_stride,
          convolution.in_channel_stride, inner.in_stride};
  }
  const auto out_stride = [](const ConvolutionAxis& axis) { return axis.out_stride; };
  if (is_uniform(axes, out_size, out_stride)) {
    out_ = {convolution.out, convolution.dtype, convolution.out_channels * convolution.out_channel_stride,
            convolution.out_channel_stride, inner.out_stride};
  }
  if (is_in_place(out_)) {
    sums_ = out_;
  }
}

void ConvolutionProduct::load_a(int64_t group, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
                                int64_t stride) const {
  if (a_.data != nullptr) {
    MatrixProduct::load_a(group, row, rows, column, columns, target, stride);
    return;
  }
  const ConvolutionAxis* axes = convolution_.axes;
  const int64_t size = element_size();
  const int64_t step = convolution_.kernel_numel();
  const char* weight = convolution_.weight + group * convolution_.weight_group_stride;
  // What one position of the kernel has in all channels is copied together.
  for (int64_t first = 0; first < std::min(step, columns); ++first) {
    int64_t k[kMaxSpatialDims];
    const int64_t channel = unravel(column + first, axes, kernel_size, k);
    const char* from = weight + channel * convolution_.weight_in_stride + k[0] * axes[0].weight_stride +
                       k[1] * axes[1].weight_stride + k[2] * axes[2].weight_stride;
    const int64_t count = divide_up(columns - first, step);
    for (int64_t i = 0; i < rows; ++i) {
      Block block;
      load_block(convolution_.dtype, from + (row + i) * convolution_.weight_out_stride, convolution_.weight_in_stride,
                 type(), block.data, count);
      copy_elements(block.data, size, target + i * stride + first * size, step * size, size, count);
    }
  }
}

void ConvolutionProduct::load_b(int64_t group, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
                                int64_t stride) const {
  if (b_.data != nullptr) {
    MatrixProduct::load_b(group, row, rows, column, columns, target, stride);
  } else {
    Patches(convolution_, type()).load(convolution_.in, group, row, rows, column, columns, target, stride);
  }
}

void ConvolutionProduct::store(int64_t group, int64_t row, int64_t column, int64_t n, char* totals) const {
  const int64_t channel = group * convolution_.out_channels + row;
  if (convolution_.bias != nullptr) {
    Block bias;
    load_block(convolution_.dtype, convolution_.bias + channel * static_cast<int64_t>(elementSize(convolution_.dtype)),
               0, type(), bias.data, 1);
    add_bias_(totals, bias.data, n);
  }
  convolution_.activation(totals, n);
  if (sums_.data != nullptr) {
    return;
  }
  const ConvolutionAxis* axes = convolution_.axes;
  char* out = convolution_.out + channel * convolution_.out_channel_stride;
  for_each_row_part(column, n, axes, [&](const int64_t* position, int64_t offset, int64_t part) {
    char* to =
        out + position[0] * axes[0].out_stride + position[1] * axes[1].out_stride + position[2] * axes[2].out_stride;
    store_block(type(), totals + offset * element_size(), convolution_.dtype, to, axes[2].out_stride, part);
  });
}

/// The gradient of the weights as a product for each group: of the patches of all batch elements, and a matrix with a
/// row for each output position of each batch element and a column for each output channel.
class WeightGradient final : public MatrixProduct {
 public:
  WeightGradient(const ProductLoops& loops, const Convolution& convolution, const char* grad_out, char* grad_weight)
      : MatrixProduct(loops, {convolution.groups, convolution.in_channels * convolution.kernel_numel(),
                              convolution.batch * convolution.out_numel(), convolution.out_channels}),
        convolution_(convolution),
        grad_out_(grad_out),
        grad_weight_(grad_weight) {
    const auto out_stride = [](const ConvolutionAxis& axis) { return axis.out_stride; };
    if (convolution.batch == 1 && is_uniform(convolution.axes, out_size, out_stride)) {
      b_ = {grad_out, convolution.dtype, convolution.out_channels * convolution.out_channel_stride,
            convolution.axes[kMaxSpatialDims - 1].out_stride, convolution.out_channel_stride};
    }
  }

 private:
  void load_a(int64_t group, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
              int64_t stride) const override;
  void load_b(int64_t group, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
              int64_t stride) const override;
  void store(int64_t group, int64_t row, int64_t column, int64_t n, char* totals) const override;

  const Convolution& convolution_;
  const char* grad_out_;
  char* grad_weight_;
};

void WeightGradient::load_a(int64_t group, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
                            int64_t stride) const {
  const Patches patches(convolution_, type());
  const int64_t positions = convolution_.out_numel();
  for (int64_t offset = 0; offset < columns;) {
    const int64_t n = (column + offset) / positions;
    const int64_t first = (column + offset) % positions;
    const int64_t part = std::min(columns - offset, positions - first);
    patches.load(convolution_.in + n * convolution_.in_batch_stride, group, row, rows, first, part,
                 target + offset * element_size(), stride);
    offset += part;
  }
}

void WeightGradient::load_b(int64_t group, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
                            int64_t stride) const {
  if (b_.data != nullptr) {
    MatrixProduct::load_b(group, row, rows, column, columns, target, stride);
    return;
  }
  const ConvolutionAxis* axes = convolution_.axes;
  const int64_t step = convolution_.out_channel_stride;
  const char* first = grad_out_ + (group * convolution_.out_channels + column) * step;
  for (int64_t i = 0; i < rows; ++i, target += stride) {
    int64_t position[kMaxSpatialDims];
    const int64_t n = unravel(row + i, axes, out_size, position);
    const char* from = first + n * convolution_.out_batch_stride + position[0] * axes[0].out_stride +
                       position[1] * axes[1].out_stride + position[2] * axes[2].out_stride;
    for (int64_t j = 0; j < columns; j += kBlockSize) {
      load_block(convolution_.dtype, from + j * step, step, type(), target + j * element_size(),
                 std::min(kBlockSize, columns - j));
    }
  }
}

void WeightGradient::store(int64_t group, int64_t row, int64_t column, int64_t n, char* totals) const {
  const ConvolutionAxis* axes = convolution_.axes;
  const int64_t step = convolution_.weight_out_stride;
  int64_t k[kMaxSpatialDims];
  const int64_t channel = unravel(row, axes, kernel_size, k);
  char* to = grad_weight_ + group * convolution_.weight_group_stride + channel * convolution_.weight_in_stride +
             k[0] * axes[0].weight_stride + k[1] * axes[1].weight_stride + k[2] * axes[2].weight_stride + column * step;
  for (int64_t j = 0; j < n; j += kBlockSize) {
    store_block(type(), totals + j * element_size(), convolution_.dtype, to + j * step, step,
                std::min(kBlockSize, n - j));
  }
}

bool read_parameter(const ArrayRef<int64_t>& values, const char* name, int64_t min, int64_t d, int64_t rank,
                    int64_t& value) {
  const int64_t count = static_cast<int64_t>(values.size());
  ET_CHECK_OR_RETURN_FALSE(count == 1 || count == rank, "%s has %d elements for %d spatial dimensions", name,
                           int(count), int(rank));
  value = values[count == 1 ? 0 : d];
  // No product of two such numbers overflows.
  ET_CHECK_OR_RETURN_FALSE(value >= min && value <= std::numeric_limits<int32_t>::max(),
                           "%s of %lld, must be at least %d", name, static_cast<long long>(value), int(min));
  return true;
}

/// Reads spatial dimension `d` of `rank`: of a transposed convolution as if it were none, and the size of the output.
/// False where there is no such convolution.
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
  ET_CHECK_OR_RETURN_FALSE(axis.kernel_size > 0, "a kernel size is 0");
  ET_CHECK_OR_RETURN_FALSE(axis.in_size > 0 || in.numel() == 0, "an input size is 0");
  const int64_t extent = axis.dilation * (axis.kernel_size - 1) + 1;
  if (parameters.transposed) {
    ET_CHECK_OR_RETURN_FALSE(output_padding < std::max(axis.stride, axis.dilation),
                             "output_padding is not smaller than stride or dilation");
    axis.out_size = (axis.in_size - 1) * axis.stride - padding - end_padding + extent + output_padding;
    ET_CHECK_OR_RETURN_FALSE(axis.out_size > 0 || (axis.out_size == 0 && in.numel() == 0),
                             "the output size is not positive");
  } else {
    ET_CHECK_OR_RETURN_FALSE(axis.in_size + padding + end_padding >= extent,
                             "the kernel is larger than the padded input");
    axis.out_size = (axis.in_size + padding + end_padding - extent) / axis.stride + 1;
  }
  return true;
}

/// Restricts axis `d` of a transposed convolution, where input and position of the kernel meet at output
/// `input * stride + k * dilation + offset`, to every stride-th output from `first` on: these are an ordinary
/// convolution of the inputs with some positions of the kernel, perhaps none.
void take_phase(int64_t d, int64_t first, Convolution& convolution) {
  ConvolutionAxis& axis = convolution.axes[d];
  const int64_t step = axis.stride / std::gcd(axis.stride, axis.dilation);
  int64_t first_k = 0;
  while (first_k < std::min(step, axis.kernel_size) &&
         (first - axis.offset - first_k * axis.dilation) % axis.stride != 0) {
    ++first_k;
  }
  const bool meets = first_k < std::min(step, axis.kernel_size);
  convolution.out += first * axis.out_stride;
  convolution.weight += meets ? first_k * axis.weight_stride : 0;
  axis.out_size = divide_up(std::max<int64_t>(axis.out_size - first, 0), axis.stride);
  axis.kernel_size = meets ? divide_up(axis.kernel_size - first_k, step) : 0;
  axis.offset = meets ? (first - axis.offset - first_k * axis.dilation) / axis.stride : 0;
  axis.dilation = -(step * axis.dilation / axis.stride);
  axis.out_stride *= axis.stride;
  axis.weight_stride *= step;
  axis.stride = 1;
}

}  // namespace

bool Convolution::init(const Tensor& in_tensor, const Tensor& weight_tensor, const ConvolutionParameters& parameters) {
  const int64_t spatial = in_tensor.dim() - 2;
  ET_CHECK_OR_RETURN_FALSE(spatial >= 1 && spatial <= kMaxSpatialDims, "input has %d dimensions, not 3 to 5",
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
                           "%d groups do not divide weight's size of %d", int(groups), int(weight_sizes[0]));
  in_channels = transposed ? weight_sizes[0] / groups : weight_sizes[1];
  out_channels = transposed ? weight_sizes[1] : weight_sizes[0] / groups;
  ET_CHECK_OR_RETURN_FALSE(channels == in_channels * groups, "input has %d channels, weight is for %d", int(channels),
                           int(in_channels * groups));
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
    // PyTorch has no output channels where there are no input channels.
    convolution.out_channels = 0;
  }

  // Resize
  int64_t sizes[kTensorDimensionLimit];
  for (int64_t d = 0; d < in.dim(); ++d) {
    sizes[d] = convolution.out_size(d);
  }
  ET_KERNEL_CHECK(ctx, resize_to_size(out, {sizes, static_cast<size_t>(in.dim())}), InvalidArgument, false);

  // A bias of another dtype becomes one of the input's.
  const void* biases = bias.has_value() ? bias->const_data_ptr() : nullptr;
  if (biases != nullptr && bias->scalar_type() != in.scalar_type()) {
    const auto memory = ctx.allocate_temp(static_cast<size_t>(bias->numel() * in.element_size()));
    ET_KERNEL_CHECK_MSG(ctx, memory.ok(), MemoryAllocationFailed, false, "no memory for the bias");
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

void internal::convolve(const ConvolutionLoops& loops, const Convolution& convolution, ProductScratch& scratch) {
  int64_t phases[] = {1, 1, 1};
  for (int64_t d = 0; convolution.transposed && d < kMaxSpatialDims; ++d) {
    phases[d] = std::min(convolution.axes[d].stride, convolution.axes[d].out_size);
  }
  for (int64_t i = 0; i < phases[0] * phases[1] * phases[2]; ++i) {
    Convolution phase = convolution;
    if (convolution.transposed) {
      take_phase(0, i / phases[2] / phases[1], phase);
      take_phase(1, i / phases[2] % phases[1], phase);
      take_phase(2, i % phases[2], phase);
    }
    if (convolve_channels_last(loops, phase, scratch) || convolve_directly(loops, phase, scratch)) {
      continue;
    }
    for (int64_t n = 0; n < convolution.batch; ++n) {
      ConvolutionProduct(loops.product, loops.add_bias, phase).compute(scratch);
      phase.in += phase.in_batch_stride;
      phase.out += phase.out_batch_stride;
    }
  }
}

void internal::compute_weight_gradient(const ConvolutionLoops& loops, const Convolution& convolution,
                                       const char* grad_out, char* grad_weight, ProductScratch& scratch) {
  if (!compute_weight_gradient_directly(loops, convolution, grad_out, grad_weight, scratch)) {
    WeightGradient(loops.product, convolution, grad_out, grad_weight).compute(scratch);
  }
}

}  // namespace rules_executorch::kernels
