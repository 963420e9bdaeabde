#include <algorithm>
#include <cmath>

#include "kernels/images/planes.h"
#include "kernels/math/vector_math.h"
#include "kernels/parallel/block.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

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

  /// Converts a grid coordinate to a position. -1 to 1 is the whole dimension: with align_corners from the center of
  /// the first element to the center of the last one, otherwise from border to border.
  T from_grid(T x) const {
    const T last = static_cast<T>(size - 1);
    return align_corners ? (x + 1) * (last / 2) : (x + 1) * (static_cast<T>(size) / 2) - T(0.5);
  }

  /// Moves positions outside of the input into the input, except with zero padding. NaN becomes 0.
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
    return std::min(x > 0 ? x : T(0), static_cast<T>(size - 1));
  }
};

/// The taps along one dimension: offsets in bytes, and weights. Taps outside of the input only add their weight to
/// `outside`.
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
    } else {
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

/// The taps of a pair of coordinates in each plane.
template <typename T>
struct PlaneTaps {
  int count = 0;
  int64_t offsets[16];
  T weights[16];
  T outside;

  PlaneTaps() = default;
  PlaneTaps(const Taps<T>& y, const Taps<T>& x) : outside((y.outside + x.outside) * 0) {
    for (int i = 0; i < y.count; ++i) {
      for (int j = 0; j < x.count; ++j) {
        offsets[count] = y.offsets[i] + x.offsets[j];
        weights[count++] = y.weights[i] * x.weights[j];
      }
    }
  }

  /// The weighted sum. NaN weights propagate.
  T interpolate(ScalarType type, const char* plane) const {
    T sum = outside;
    if (type == CppTypeToScalarType<T>::value) {
      for (int k = 0; k < count; ++k) {
        sum += *reinterpret_cast<const T*>(plane + offsets[k]) * weights[k];
      }
    } else {
      for (int k = 0; k < count; ++k) {
        sum += load_element<T>(type, plane + offsets[k]) * weights[k];
      }
    }
    return sum;
  }
};

}  // namespace

Tensor& grid_sampler_2d_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& grid, int64_t interpolation,
                            int64_t padding, bool align_corners, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "grid_sampler_2d.out");

  // Check
  const ScalarType type = in.scalar_type();
  ET_KERNEL_CHECK(ctx, isFloatingType(type), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, grid, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.dim() == 4 && grid.dim() == 4, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.sizes()[2] > 0 && in.sizes()[3] > 0, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, grid.sizes()[0] == in.sizes()[0] && grid.sizes()[3] == 2, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, interpolation >= kBilinear && interpolation <= kBicubic, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, padding >= kZeros && padding <= kReflection, InvalidArgument, out);

  // Resize
  const Tensor::SizesType sizes[] = {in.sizes()[0], in.sizes()[1], grid.sizes()[1], grid.sizes()[2]};
  ET_KERNEL_CHECK(ctx, resize_to(out, sizes), InvalidArgument, out);

  // Compute
  const ConstStridedView source(in);
  const ConstStridedView positions(grid);
  const StridedView target(out);
  const auto stride = [](const StridedShape& shape, int64_t d) { return shape.strides[d] * shape.element_size(); };
  const int64_t from_step = stride(source, 1);
  const int64_t to_step = stride(target, 1);
  const int64_t to_stride = stride(target, 3);
  const int64_t rows = target.sizes[2];
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, 32 * target.sizes[1] * target.sizes[3]));
  ET_SWITCH_FLOAT_TYPES(compute_type(type), ctx, op_name, CTYPE, [&] {
    const auto axis = [&](int64_t d) {
      return Axis<CTYPE>{source.sizes[d], stride(source, d), static_cast<GridPadding>(padding), align_corners};
    };
    const Axis<CTYPE> y_axis = axis(2);
    const Axis<CTYPE> x_axis = axis(3);
    parallel_for(0, target.sizes[0] * rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t n = row / rows;
        const int64_t i = row % rows;
        // Several positions at a time, so that a plane stays in the cache.
        PlaneTaps<CTYPE> taps[kPositions];
        for (int64_t start = 0; start < target.sizes[3]; start += kPositions) {
          const int64_t count = std::min(kPositions, target.sizes[3] - start);
          for (int64_t j = 0; j < count; ++j) {
            CTYPE xy[2];
            load_block(type,
                       positions.data + n * stride(positions, 0) + i * stride(positions, 1) +
                           (start + j) * stride(positions, 2),
                       stride(positions, 3), CppTypeToScalarType<CTYPE>::value, xy, 2);
            taps[j] = PlaneTaps<CTYPE>(taps_of(y_axis, static_cast<Interpolation>(interpolation), xy[1]),
                                       taps_of(x_axis, static_cast<Interpolation>(interpolation), xy[0]));
          }
          const char* from = source.data + n * stride(source, 0);
          char* to = target.data + n * stride(target, 0) + i * stride(target, 2) + start * stride(target, 3);
          for (int64_t c = 0; c < target.sizes[1]; ++c, from += from_step, to += to_step) {
            for (int64_t j = 0; j < count; ++j) {
              store_element(taps[j].interpolate(type, from), type, to + j * to_stride);
            }
          }
        }
      }
    });
  });
  return out;
}

}  // namespace torch::executor::native
