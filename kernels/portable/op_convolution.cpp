#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/common/convert.h"
#include "kernels/common/matmul.h"
#include "kernels/common/resize.h"
#include "kernels/common/vectorize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

constexpr int64_t kMaxSpatialDims = 3;

/// One spatial dimension: output `o` and position `k` of the kernel meet at input `o * stride + k * dilation + offset`,
/// if there is such an input. Strides between elements are in bytes.
struct Axis {
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

/// a / b, rounded up; a is not negative, b is positive, and mostly 1.
int64_t divide_up(int64_t a, int64_t b) { return b == 1 ? a : (a + b - 1) / b; }

/// `totals += bias` for `n` elements.
using AddBias = void (*)(void* totals, const void* bias, int64_t n);

template <typename T>
void add_bias(void* totals, const void* bias, int64_t n) {
  const T value = *static_cast<const T*>(bias);
  T* total = static_cast<T*>(totals);
  vectorized_for(n, [=](int64_t i) { total[i] += value; });
}

/// A convolution of one batch element. Pointers are to the first elements.
struct Convolution {
  ScalarType dtype;
  Axis axes[kMaxSpatialDims];
  int64_t groups;
  int64_t in_channels;   // of a group
  int64_t out_channels;  // of a group
  int64_t in_channel_stride;
  int64_t weight_group_stride;
  int64_t weight_in_stride;
  int64_t weight_out_stride;
  int64_t out_channel_stride;
  const char* in;
  const char* weight;
  const char* bias;
  char* out;

  int64_t kernel_numel() const { return axes[0].kernel_size * axes[1].kernel_size * axes[2].kernel_size; }
  int64_t out_numel() const { return axes[0].out_size * axes[1].out_size * axes[2].out_size; }
};

/// The convolution as a product for each group: of a matrix of weights, with a row for each output channel, and a
/// matrix with a row for each weight of an output channel and a column for each output position, whose elements are the
/// inputs that the two bring together, or 0 where that is none.
class ConvolutionProduct final : public MatrixProduct {
 public:
  ConvolutionProduct(const ProductLoops& loops, AddBias add_bias, const Convolution& convolution);

 private:
  void load_a(int64_t group, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
              int64_t stride) const override;
  void load_b(int64_t group, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
              int64_t stride) const override;
  void store(int64_t group, int64_t row, int64_t column, int64_t n, char* totals) const override;

  /// Reads the inputs of `n` outputs of the innermost axis, from `begin` on, that meet position `k` of the kernel.
  void load_part(const char* in, int64_t k, int64_t begin, int64_t n, char* target) const;

  const Convolution& convolution_;
  AddBias add_bias_;
  Matrices out_;  // without data where the result is no matrix in memory
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

/// Calls `visit(position, offset, part)` for the parts of `n` outputs from `start` on that lie in one row of the
/// innermost axis, and in a Block.
template <typename Visit>
void for_each_row_part(int64_t start, int64_t n, const Axis* axes, const Visit& visit) {
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
bool is_uniform(const Axis* axes, const Size& size, const Stride& stride) {
  int64_t expected = stride(axes[kMaxSpatialDims - 1]);
  for (int64_t d = kMaxSpatialDims - 1; d >= 0; --d) {
    if (size(axes[d]) != 1 && stride(axes[d]) != expected) {
      return false;
    }
    expected *= size(axes[d]);
  }
  return true;
}

ConvolutionProduct::ConvolutionProduct(const ProductLoops& loops, AddBias add_bias, const Convolution& convolution)
    : MatrixProduct(loops, {convolution.groups, convolution.out_channels,
                            convolution.in_channels * convolution.kernel_numel(), convolution.out_numel()}),
      convolution_(convolution),
      add_bias_(add_bias) {
  const Axis* axes = convolution.axes;
  const Axis& inner = axes[kMaxSpatialDims - 1];
  const int64_t kernel_numel = convolution.kernel_numel();
  const auto weight_stride = [](const Axis& axis) { return axis.weight_stride; };
  if (kernel_numel == 1) {
    a_ = {convolution.weight, convolution.dtype, convolution.weight_group_stride, convolution.weight_out_stride,
          convolution.weight_in_stride};
  } else if (is_uniform(axes, kernel_size, weight_stride) &&
             convolution.weight_in_stride == kernel_numel * inner.weight_stride) {
    a_ = {convolution.weight, convolution.dtype, convolution.weight_group_stride, convolution.weight_out_stride,
          inner.weight_stride};
  }
  const auto in_stride = [](const Axis& axis) { return axis.in_stride; };
  if (std::all_of(axes, axes + kMaxSpatialDims, [](const Axis& axis) { return axis.is_pointwise(); }) &&
      is_uniform(axes, out_size, in_stride)) {
    b_ = {convolution.in, convolution.dtype, convolution.in_channels * convolution.in_channel_stride,
          convolution.in_channel_stride, inner.in_stride};
  }
  const auto out_stride = [](const Axis& axis) { return axis.out_stride; };
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
  const Axis* axes = convolution_.axes;
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
    return;
  }
  const Axis* axes = convolution_.axes;
  int64_t first_k[kMaxSpatialDims];
  const int64_t channel = unravel(row, axes, kernel_size, first_k);
  const char* first = convolution_.in + (group * convolution_.in_channels + channel) * convolution_.in_channel_stride;
  for_each_row_part(column, columns, axes, [&](const int64_t* out, int64_t offset, int64_t part) {
    const char* channel_in = first;
    int64_t k[] = {first_k[0], first_k[1], first_k[2]};
    char* to = target + offset * element_size();
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
        std::memset(to, 0, part * element_size());
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

void ConvolutionProduct::load_part(const char* in, int64_t k, int64_t begin, int64_t n, char* target) const {
  const Axis& axis = convolution_.axes[kMaxSpatialDims - 1];
  const int64_t size = element_size();
  const int64_t index = begin * axis.stride + k * axis.dilation + axis.offset;
  // The outputs of [from, to) meet inputs.
  const int64_t from = std::min(index < 0 ? divide_up(-index, axis.stride) : 0, n);
  const int64_t to = std::clamp(index < axis.in_size ? divide_up(axis.in_size - index, axis.stride) : 0, from, n);
  std::memset(target, 0, from * size);
  load_block(convolution_.dtype, in + (index + from * axis.stride) * axis.in_stride, axis.stride * axis.in_stride,
             type(), target + from * size, to - from);
  std::memset(target + to * size, 0, (n - to) * size);
}

void ConvolutionProduct::store(int64_t group, int64_t row, int64_t column, int64_t n, char* totals) const {
  const int64_t channel = group * convolution_.out_channels + row;
  if (convolution_.bias != nullptr) {
    Block bias;
    load_block(convolution_.dtype, convolution_.bias + channel * static_cast<int64_t>(elementSize(convolution_.dtype)),
               0, type(), bias.data, 1);
    add_bias_(totals, bias.data, n);
  }
  if (sums_.data != nullptr) {
    return;
  }
  const Axis* axes = convolution_.axes;
  char* out = convolution_.out + channel * convolution_.out_channel_stride;
  for_each_row_part(column, n, axes, [&](const int64_t* position, int64_t offset, int64_t part) {
    char* to =
        out + position[0] * axes[0].out_stride + position[1] * axes[1].out_stride + position[2] * axes[2].out_stride;
    store_block(type(), totals + offset * element_size(), convolution_.dtype, to, axes[2].out_stride, part);
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

/// Reads spatial dimension `d` of `rank`: of a transposed convolution as if it were none, and the size of the output.
/// False where there is no such convolution.
bool read_axis(const Tensor& in, const Tensor& weight, const Parameters& parameters, int64_t d, int64_t rank,
               Axis& axis) {
  int64_t padding;
  int64_t output_padding;
  ET_LOG_AND_RETURN_IF_FALSE(read_parameter(parameters.stride, "stride", 1, d, rank, axis.stride));
  ET_LOG_AND_RETURN_IF_FALSE(read_parameter(parameters.padding, "padding", 0, d, rank, padding));
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
    axis.out_size = (axis.in_size - 1) * axis.stride - 2 * padding + extent + output_padding;
    ET_CHECK_OR_RETURN_FALSE(axis.out_size > 0 || (axis.out_size == 0 && in.numel() == 0),
                             "the output size is not positive");
  } else {
    ET_CHECK_OR_RETURN_FALSE(axis.in_size + 2 * padding >= extent, "the kernel is larger than the padded input");
    axis.out_size = (axis.in_size + 2 * padding - extent) / axis.stride + 1;
  }
  return true;
}

/// Checks shapes and parameters, and resizes `out`.
bool resize_to_convolution(Tensor& out, const Tensor& in, const Tensor& weight, const std::optional<Tensor>& bias,
                           const Parameters& parameters, int64_t groups, Convolution& convolution) {
  const int64_t rank = in.dim() - 2;
  ET_CHECK_OR_RETURN_FALSE(rank >= 1 && rank <= kMaxSpatialDims, "input has %d dimensions, not 3 to 5", int(in.dim()));
  ET_LOG_AND_RETURN_IF_FALSE(tensors_have_same_rank(in, weight));
  const int64_t channels = in.sizes()[1];
  const int64_t weight_sizes[] = {weight.sizes()[0], weight.sizes()[1]};
  ET_CHECK_OR_RETURN_FALSE(groups > 0 && weight_sizes[0] >= groups && weight_sizes[0] % groups == 0,
                           "%d groups do not divide weight's size of %d", int(groups), int(weight_sizes[0]));
  convolution.groups = groups;
  convolution.in_channels = parameters.transposed ? weight_sizes[0] / groups : weight_sizes[1];
  convolution.out_channels = parameters.transposed ? weight_sizes[1] : weight_sizes[0] / groups;
  ET_CHECK_OR_RETURN_FALSE(channels == convolution.in_channels * groups, "input has %d channels, weight is for %d",
                           int(channels), int(convolution.in_channels * groups));
  const int64_t out_channels = convolution.out_channels * groups;
  ET_CHECK_OR_RETURN_FALSE(!bias.has_value() || (bias->dim() == 1 && bias->sizes()[0] == out_channels),
                           "bias is not of shape [%d]", int(out_channels));

  // PyTorch has no output channels where there are no input channels.
  convolution.out_channels = channels == 0 ? 0 : convolution.out_channels;

  Tensor::SizesType sizes[kTensorDimensionLimit];
  sizes[0] = in.sizes()[0];
  sizes[1] = static_cast<Tensor::SizesType>(convolution.out_channels * groups);
  for (int64_t d = 0; d < rank; ++d) {
    Axis& axis = convolution.axes[kMaxSpatialDims - rank + d];
    ET_LOG_AND_RETURN_IF_FALSE(read_axis(in, weight, parameters, d, rank, axis));
    sizes[d + 2] = static_cast<Tensor::SizesType>(axis.out_size);
  }
  return resize_to(out, {sizes, static_cast<size_t>(in.dim())});
}

/// Sets all pointers and strides.
void read_views(const ConstStridedView& in, const ConstStridedView& weight, const StridedView& out,
                const std::optional<Tensor>& bias, bool transposed, Convolution& convolution) {
  const int64_t size = in.element_size();
  convolution.in = in.data;
  convolution.weight = weight.data;
  convolution.bias = bias.has_value() ? static_cast<const char*>(bias->const_data_ptr()) : nullptr;
  convolution.out = out.data;
  convolution.in_channel_stride = in.strides[1] * size;
  convolution.weight_in_stride = weight.strides[transposed ? 0 : 1] * size;
  convolution.weight_out_stride = weight.strides[transposed ? 1 : 0] * size;
  convolution.weight_group_stride = transposed ? convolution.in_channels * convolution.weight_in_stride
                                               : convolution.out_channels * convolution.weight_out_stride;
  convolution.out_channel_stride = out.strides[1] * size;
  for (int64_t d = 2; d < in.rank; ++d) {
    Axis& axis = convolution.axes[kMaxSpatialDims - in.rank + d];
    axis.in_stride = in.strides[d] * size;
    axis.weight_stride = weight.strides[d] * size;
    axis.out_stride = out.strides[d] * size;
  }
}

/// Restricts axis `d` of a transposed convolution, where input and position of the kernel meet at output
/// `input * stride + k * dilation + offset`, to every stride-th output from `first` on: these are an ordinary
/// convolution of the inputs with some positions of the kernel, perhaps none.
void take_phase(int64_t d, int64_t first, Convolution& convolution) {
  Axis& axis = convolution.axes[d];
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

/// Computes the convolution of one batch element.
void convolve(const ProductLoops& loops, AddBias add_bias, const Convolution& convolution, bool transposed,
              ProductScratch& scratch) {
  const int64_t phases[] = {transposed ? convolution.axes[0].stride : 1, transposed ? convolution.axes[1].stride : 1,
                            transposed ? convolution.axes[2].stride : 1};
  for (int64_t i = 0; i < phases[0] * phases[1] * phases[2]; ++i) {
    Convolution phase = convolution;
    if (transposed) {
      take_phase(0, i / phases[2] / phases[1], phase);
      take_phase(1, i / phases[2] % phases[1], phase);
      take_phase(2, i % phases[2], phase);
    }
    ConvolutionProduct(loops, add_bias, phase).compute(scratch);
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
  Convolution convolution;
  convolution.dtype = in.scalar_type();
  const Parameters parameters{stride, padding, dilation, output_padding, transposed};
  ET_KERNEL_CHECK(ctx, resize_to_convolution(out, in, weight, bias, parameters, groups, convolution), InvalidArgument,
                  out);

  // Compute
  const ConstStridedView in_view(in);
  const StridedView out_view(out);
  read_views(in_view, ConstStridedView(weight), out_view, bias, transposed, convolution);
  const ProductLoops* loops = nullptr;
  AddBias add = nullptr;
  ET_SWITCH_REAL_TYPES(compute_type(convolution.dtype), ctx, op_name, CTYPE, [&] {
    loops = &product_loops<ProductType<CTYPE>>();
    add = &add_bias<ProductType<CTYPE>>;
  });
  if (loops == nullptr) {
    return out;  // The switch has failed.
  }
  ProductScratch scratch(ctx);
  for (int64_t n = 0; n < in_view.sizes[0]; ++n) {
    convolve(*loops, add, convolution, transposed, scratch);
    convolution.in += in_view.strides[0] * in_view.element_size();
    convolution.out += out_view.strides[0] * out_view.element_size();
  }
  return out;
}

}  // namespace torch::executor::native
