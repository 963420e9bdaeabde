#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

#include "kernels/images/planes.h"
#include "kernels/images/pooling.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/dtype.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The largest value of each window, the first of several, and its position in the plane. NaN counts as larger than all
/// values. A dilated window may only have padding.
template <typename T>
void max_pool(const Pooling& pooling, const Plane<T, ConstStridedView>& in, const Plane<T, StridedView>& out,
              const Plane<int64_t, StridedView>& indices) {
  using Limits = std::numeric_limits<T>;
  const PoolingDim& h = pooling.h;
  const PoolingDim& w = pooling.w;
  for (int64_t i = 0; i < h.out_size; ++i) {
    for (int64_t j = 0; j < w.out_size; ++j) {
      int64_t best_y = h.first(i);
      int64_t best_x = w.first(j);
      T best = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
      for (int64_t y = h.first(i); y < h.last(i); y += h.dilation) {
        for (int64_t x = w.first(j); x < w.last(j); x += w.dilation) {
          const T value = in.at(y, x);
          if (value > best || value != value) {
            best = value;
            best_y = y;
            best_x = x;
          }
        }
      }
      out.at(i, j) = best;
      indices.at(i, j) = best_y * w.in_size + best_x;
    }
  }
}

/// The same for contiguous channels: computes one row of outputs in blocks of channels.
template <typename T>
void max_pool_pixels(const Pooling& pooling, const ConstStridedView& in, const StridedView& out,
                     const StridedView& indices, int64_t n, int64_t i) {
  using Limits = std::numeric_limits<T>;
  const PoolingDim& h = pooling.h;
  const PoolingDim& w = pooling.w;
  const auto offset = [](const StridedShape& shape, int64_t batch, int64_t channel, int64_t y, int64_t x) {
    return batch * shape.strides[0] + channel * shape.strides[1] + y * shape.strides[2] + x * shape.strides[3];
  };
  for (int64_t j = 0; j < w.out_size; ++j) {
    for (int64_t c = 0; c < in.sizes[1]; c += kBlockSize) {
      const int64_t count = std::min(kBlockSize, in.sizes[1] - c);
      T best[kBlockSize];
      // 32 bits, so that a vector has as many positions as floats.
      int32_t places[kBlockSize];
      std::fill_n(best, count, Limits::has_infinity ? -Limits::infinity() : Limits::lowest());
      std::fill_n(places, count, static_cast<int32_t>(h.first(i) * w.in_size + w.first(j)));
      for (int64_t y = h.first(i); y < h.last(i); y += h.dilation) {
        for (int64_t x = w.first(j); x < w.last(j); x += w.dilation) {
          const T* const values = reinterpret_cast<const T*>(in.data) + offset(in, n, c, y, x);
          const int32_t place = static_cast<int32_t>(y * w.in_size + x);
          vectorized_for(count, [=, &best, &places](int64_t k) {
            const T value = values[k];
            const T old = best[k];
            const bool is_better = value > old || value != value;
            best[k] = is_better ? value : old;
            places[k] = is_better ? place : places[k];
          });
        }
      }
      T* const to = reinterpret_cast<T*>(out.data) + offset(out, n, c, i, j);
      int64_t* const places_to = reinterpret_cast<int64_t*>(indices.data) + offset(indices, n, c, i, j);
      for (int64_t k = 0; k < count; ++k) {
        to[k * out.strides[1]] = best[k];
        places_to[k * indices.strides[1]] = places[k];
      }
    }
  }
}

/// Whether `max_pool_pixels` is faster and positions in a plane fit into 32 bits.
bool has_adjacent_channels(const ConstStridedView& in) {
  return in.rank == 4 && in.sizes[1] > 1 && in.strides[1] == 1 &&
         in.sizes[2] * in.sizes[3] <= std::numeric_limits<int32_t>::max();
}

}  // namespace

std::tuple<Tensor&, Tensor&> max_pool2d_with_indices_out(KernelRuntimeContext& ctx, const Tensor& in,
                                                         ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride,
                                                         ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation,
                                                         bool ceil_mode, Tensor& out, Tensor& indices) {
  ET_DEFINE_OPERATOR_NAME(op_name, "max_pool2d_with_indices.out");
  std::tuple<Tensor&, Tensor&> results(out, indices);

  // Check
  Pooling pooling;
  ET_KERNEL_CHECK(ctx, in.scalar_type() != ScalarType::Bool && is_supported(in.scalar_type()), InvalidArgument,
                  results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, indices.scalar_type() == ScalarType::Long, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, pooling.init(in, kernel_size, stride, padding, dilation, ceil_mode), InvalidArgument, results);

  // Resize
  ET_KERNEL_CHECK(ctx, pooling.resize(out, in) && pooling.resize(indices, in), InvalidArgument, results);

  // Compute
  const OutputPlanes<int64_t> places{StridedView(indices)};
  const int64_t window = pooling.h.kernel * pooling.w.kernel;
  const ConstStridedView in_view(in);
  const StridedView out_view(out);
  const StridedView indices_view(indices);
  ET_SWITCH_REALHBF16_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    if (has_adjacent_channels(in_view)) {
      const int64_t cost = std::max<int64_t>(1, window * in_view.sizes[1] * pooling.w.out_size);
      parallel_for(0, in_view.sizes[0] * pooling.h.out_size, std::max<int64_t>(1, kGrain / cost),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t row = begin; row < end; ++row) {
                       max_pool_pixels<CTYPE>(pooling, in_view, out_view, indices_view, row / pooling.h.out_size,
                                              row % pooling.h.out_size);
                     }
                   });
      return;
    }
    const InputPlanes<CTYPE> sources{ConstStridedView(in)};
    const OutputPlanes<CTYPE> targets{StridedView(out)};
    for_each_plane(places, window, [&](int64_t i) { max_pool(pooling, sources[i], targets[i], places[i]); });
  });
  return results;
}

}  // namespace torch::executor::native
