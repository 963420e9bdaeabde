#include "kernels/convolution/convolution_product.h"

#include <algorithm>
#include <cstring>

#include "kernels/math/divide_up.h"
#include "kernels/parallel/block.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {
namespace {

/// a / b, rounded up. a is not negative. b is a stride, which is usually 1.
int64_t divide_by_stride(int64_t a, int64_t b) { return b == 1 ? a : divide_up(a, b); }

/// Splits the row-major `index` into a position in dimensions of the sizes `size(axis)`. Returns the remaining index of
/// the dimension before them.
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

/// Calls `visit(position, offset, part)` for parts of the `n` outputs from `start` on. Each part is in one row of the
/// innermost axis and has at most kBlockSize outputs.
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

/// Whether the elements of the three axes have a uniform stride, `stride(innermost)` bytes, in row-major order of the
/// sizes.
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

/// The outputs [from, to), of `n` outputs of an axis from `begin` on, for which kernel position `k` is inside the
/// input. `index` is the input position of the first of the `n` outputs; it may be outside.
struct Meeting {
  int64_t index;
  int64_t from;
  int64_t to;

  Meeting(const ConvolutionAxis& axis, int64_t k, int64_t begin, int64_t n)
      : index(begin * axis.stride + k * axis.dilation + axis.offset),
        from(std::min(index < 0 ? divide_by_stride(-index, axis.stride) : 0, n)),
        to(std::clamp(index < axis.in_size ? divide_by_stride(axis.in_size - index, axis.stride) : 0, from, n)) {}
};

/// The im2col matrix of each group: a row for each weight of an output channel (input channel and kernel position) and
/// a column for each output position. An element is the input under the kernel position, or 0 outside of the input.
class Patches {
 public:
  Patches(const Convolution& convolution, ScalarType type)
      : convolution_(convolution), type_(type), size_(static_cast<int64_t>(elementSize(type))) {}

  /// Reads elements of the matrix of batch element `in`, from (row, column) on, to rows of dtype `type`, `stride` bytes
  /// apart.
  void load(const char* in, int64_t group, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
            int64_t stride) const;

 private:
  /// Reads the inputs of `n` outputs of the innermost axis, from `begin` on, at kernel position `k`.
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

/// The convolution of one batch element as a matrix product for each group: the weights, with a row for each output
/// channel, times the im2col matrix.
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
  Matrices out_;  // no data if the result is not a matrix in memory
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
  // Copies all channels of one kernel position together.
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

/// The gradient of the weights as a matrix product for each group: the im2col matrix of all batch elements, times a
/// matrix with a row for each output position of each batch element and a column for each output channel.
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

}  // namespace

void convolve_by_products(const ConvolutionLoops& loops, const Convolution& convolution, ProductScratch& scratch) {
  Convolution image = convolution;
  for (int64_t n = 0; n < convolution.batch; ++n) {
    ConvolutionProduct(loops.product, loops.add_bias, image).compute(scratch);
    image.in += image.in_batch_stride;
    image.out += image.out_batch_stride;
  }
}

void compute_weight_gradient_by_products(const ConvolutionLoops& loops, const Convolution& convolution,
                                         const char* grad_out, char* grad_weight, ProductScratch& scratch) {
  WeightGradient(loops.product, convolution, grad_out, grad_weight).compute(scratch);
}

}  // namespace rules_executorch::kernels
