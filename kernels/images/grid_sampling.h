#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "kernels/images/planes.h"
#include "kernels/math/vector_math.h"
#include "kernels/parallel/block.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {
namespace grid_sampling {

// The numbers of PyTorch's enumerations.
enum Interpolation : int64_t { kBilinear = 0, kNearest = 1, kBicubic = 2 };
enum GridPadding : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

/// One spatial dimension of the input. Positions are in elements.
template <typename T>
struct Axis {
  int64_t size;
  int64_t stride;  // in bytes
  GridPadding padding;
  bool align_corners;
  bool is_of_volume;

  /// Converts a grid coordinate to a position. -1 to 1 is the whole dimension: with align_corners from the center of
  /// the first element to the center of the last one, otherwise from border to border.
  T from_grid(T x) const {
    const T last = static_cast<T>(size - 1);
    return align_corners ? (x + 1) * (last / 2) : (x + 1) * (static_cast<T>(size) / 2) - T(0.5);
  }

  /// Moves positions outside of the input into the input, except with zero padding. NaN becomes the first position of
  /// an image and the last one of a volume, as in PyTorch.
  T pad(T x) const {
    if (padding == kZeros) {
      return x;
    }
    if (padding == kReflection) {
      const T low = align_corners ? T(0) : T(-0.5);
      const T span = static_cast<T>(align_corners ? size - 1 : size);
      const T distance = span > 0 ? std::fmod(std::abs(x - low), 2 * span) : T(0);
      x = low + std::min(distance, 2 * span - distance);
    }
    if (is_of_volume && std::isnan(x)) {
      return static_cast<T>(size - 1);
    }
    return std::min(x > 0 ? x : T(0), static_cast<T>(size - 1));
  }
};

/// The taps along one dimension: offsets in bytes, and weights. Taps outside of an image only add their weight to
/// `outside`, so that NaN propagates. Those outside of a volume are left out, as in PyTorch.
template <typename T>
struct Taps {
  int count = 0;
  int64_t offsets[4];
  T weights[4];
  T outside = 0;

  void add(const Axis<T>& axis, T position, T weight) {
    if (position >= 0 && position < static_cast<T>(axis.size)) {
      offsets[count] = static_cast<int64_t>(position) * axis.stride;
      weights[count++] = weight;
    } else if (!axis.is_of_volume) {
      outside += weight;
    }
  }
};

/// The number of positions of a row of the grid that are sampled together.
constexpr int64_t kPositions = kBlockSize / 16;

/// The weights of four neighbors for a position at a distance of `t` after the second neighbor.
template <typename T>
void cubic_weights(T t, T (&weights)[4]) {
  constexpr T kA = T(-0.75);
  const auto near = [](T x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
  const auto far = [](T x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
  weights[0] = far(t + 1);
  weights[1] = near(t);
  weights[2] = near(1 - t);
  weights[3] = far(2 - t);
}

/// The taps of a grid coordinate along one dimension.
template <typename T>
Taps<T> taps_of(const Axis<T>& axis, Interpolation interpolation, T coordinate) {
  Taps<T> taps;
  const T position = axis.from_grid(coordinate);
  if (interpolation == kNearest) {
    taps.add(axis, math::rint(axis.pad(position)), T(1));
  } else if (interpolation == kBilinear) {
    const T padded = axis.pad(position);
    const T first = std::floor(padded);
    taps.add(axis, first, first + 1 - padded);
    taps.add(axis, first + 1, padded - first);
  } else {
    const T second = std::floor(position);
    T weights[4];
    cubic_weights(position - second, weights);
    for (int k = 0; k < 4; ++k) {
      taps.add(axis, math::trunc(axis.pad(second + static_cast<T>(k - 1))), weights[k]);
    }
  }
  return taps;
}

/// The taps of a position in each image or volume.
template <typename T>
struct ImageTaps {
  int count = 1;
  int64_t offsets[16];
  T weights[16];
  T outside = 0;

  ImageTaps() {
    offsets[0] = 0;
    weights[0] = 1;
  }

  /// Adds a dimension. The taps of all dimensions are 4 by 4 at most, or 2 by 2 by 2.
  void multiply(const Taps<T>& dim) {
    int64_t old_offsets[8];
    T old_weights[8];
    const int old_count = std::exchange(count, 0);
    std::copy_n(offsets, old_count, old_offsets);
    std::copy_n(weights, old_count, old_weights);
    for (int i = 0; i < old_count; ++i) {
      for (int j = 0; j < dim.count; ++j) {
        offsets[count] = old_offsets[i] + dim.offsets[j];
        weights[count++] = old_weights[i] * dim.weights[j];
      }
    }
    outside += dim.outside * 0;
  }

  /// The weighted sum. NaN weights propagate.
  T interpolate(ScalarType type, const char* image) const {
    T sum = outside;
    if (type == CppTypeToScalarType<T>::value) {
      for (int k = 0; k < count; ++k) {
        sum += *reinterpret_cast<const T*>(image + offsets[k]) * weights[k];
      }
    } else {
      for (int k = 0; k < count; ++k) {
        sum += load_element<T>(type, image + offsets[k]) * weights[k];
      }
    }
    return sum;
  }
};

/// The images or volumes, a grid of positions in them, and the results. Images are volumes with a depth of 1: the views
/// `positions` and `target` have the dimensions of volumes.
template <typename T>
struct Sampling {
  const ConstStridedView& source;
  const ConstStridedView& positions;
  const StridedView& target;
  int64_t count;
  Interpolation interpolation;
  Axis<T> axes[3];

  static int64_t stride(const StridedShape& shape, int64_t d) { return shape.strides[d] * shape.element_size(); }

  ImageTaps<T> taps_at(const char* position) const {
    T coordinates[3];
    load_block(source.dtype, position, stride(positions, 4), CppTypeToScalarType<T>::value, coordinates, count);
    ImageTaps<T> taps;
    for (int64_t d = 0; d < count; ++d) {
      taps.multiply(taps_of(axes[d], interpolation, coordinates[count - 1 - d]));
    }
    return taps;
  }

  /// Computes the results of row `y` of slice `z` of volume `n`.
  void sample_row(int64_t n, int64_t z, int64_t y) const {
    const char* const position =
        positions.data + n * stride(positions, 0) + z * stride(positions, 1) + y * stride(positions, 2);
    char* const row = target.data + n * stride(target, 0) + z * stride(target, 2) + y * stride(target, 3);
    // Several positions at a time, so that an image stays in the cache.
    ImageTaps<T> taps[kPositions];
    for (int64_t start = 0; start < target.sizes[4]; start += kPositions) {
      const int64_t length = std::min(kPositions, target.sizes[4] - start);
      for (int64_t j = 0; j < length; ++j) {
        taps[j] = taps_at(position + (start + j) * stride(positions, 3));
      }
      for (int64_t c = 0; c < target.sizes[1]; ++c) {
        const char* const from = source.data + n * stride(source, 0) + c * stride(source, 1);
        char* const to = row + c * stride(target, 1) + start * stride(target, 4);
        for (int64_t j = 0; j < length; ++j) {
          store_element(taps[j].interpolate(source.dtype, from), source.dtype, to + j * stride(target, 4));
        }
      }
    }
  }

  void sample() const {
    const int64_t rows = target.sizes[2] * target.sizes[3];
    const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, 32 * target.sizes[1] * target.sizes[4]));
    parallel_for(0, target.sizes[0] * rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        sample_row(row / rows, row % rows / target.sizes[3], row % target.sizes[3]);
      }
    });
  }
};

}  // namespace grid_sampling

/// Samples images (`count` is 2) or volumes (3) at the positions of a grid, whose coordinates begin with that of the
/// last dimension.
template <ET_OPERATOR_NAME_TYPE op_name>
Tensor& grid_sampler_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& grid, int64_t count,
                         int64_t interpolation, int64_t padding, bool align_corners, Tensor& out) {
  using namespace grid_sampling;

  // Check
  const ScalarType type = in.scalar_type();
  ET_KERNEL_CHECK(ctx, isFloatingType(type), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, grid, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.dim() == count + 2 && grid.dim() == count + 2, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, grid.sizes()[0] == in.sizes()[0] && grid.sizes()[count + 1] == count, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, interpolation >= kBilinear && interpolation <= (count == 2 ? kBicubic : kNearest),
                  InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, padding >= kZeros && padding <= kReflection, InvalidArgument, out);
  Tensor::SizesType sizes[5] = {in.sizes()[0], in.sizes()[1]};
  for (int64_t d = 0; d < count; ++d) {
    ET_KERNEL_CHECK(ctx, in.sizes()[2 + d] > 0, InvalidArgument, out);
    sizes[2 + d] = grid.sizes()[1 + d];
  }

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to(out, {sizes, static_cast<size_t>(count + 2)}), InvalidArgument, out);

  // Compute: images are volumes with a depth of 1.
  const ConstStridedView source(in);
  ConstStridedView positions(grid);
  StridedView target(out);
  if (count == 2) {
    positions = positions.unsqueeze(1);
    target = target.unsqueeze(2);
  }
  ET_SWITCH_FLOAT_TYPES(compute_type(type), ctx, op_name, CTYPE, [&] {
    Sampling<CTYPE> sampling{source, positions, target, count, static_cast<Interpolation>(interpolation), {}};
    for (int64_t d = 0; d < count; ++d) {
      sampling.axes[d] = {source.sizes[2 + d], sampling.stride(source, 2 + d), static_cast<GridPadding>(padding),
                          align_corners, count == 3};
    }
    sampling.sample();
  });
  return out;
}

}  // namespace rules_executorch::kernels
