#include "kernels/reduce/channels_last_norm.h"

#include <algorithm>
#include <cmath>

#include "kernels/math/divide_up.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {
namespace {

/// The number of pixels whose values are added before their sums are added to those of other pixels, so that rounding
/// errors stay small.
constexpr int64_t kPixelsOfSum = 64;

/// Whether the channels of a pixel are adjacent, and the pixels too.
bool is_channels_last(const StridedShape& shape) {
  int64_t stride = shape.sizes[1] * shape.sizes[2];
  for (int64_t d = shape.rank - 1; d > 2; --d) {
    if (shape.strides[d] != stride) {
      return false;
    }
    stride *= shape.sizes[d];
  }
  return shape.strides[2] == 1 && shape.strides[1] == shape.sizes[2];
}

/// Some adjacent groups of a batch element: at most kBlockSize channels.
template <typename T>
class ChannelStrip {
 public:
  ChannelStrip(const Normalization& normalization, int64_t batch, int64_t group, int64_t groups)
      : n_(normalization), batch_(batch), group_(group), groups_(groups), width_(n_.in.sizes[2]) {
    for (int64_t d = 3; d < n_.in.rank; ++d) {
      pixels_ *= n_.in.sizes[d];
    }
  }

  void compute() {
    T means[kBlockSize];
    T scales[kBlockSize];
    add_pixels(means, [](T x, int64_t) KERNELS_ALWAYS_INLINE { return x; });
    average(means);
    add_pixels(scales, [&means](T x, int64_t i) KERNELS_ALWAYS_INLINE { return (x - means[i]) * (x - means[i]); });
    average(scales);
    const T eps = static_cast<T>(n_.eps);
    vectorized_for(channels(), [&scales, eps](int64_t i) { scales[i] = 1 / std::sqrt(scales[i] + eps); });
    for (int64_t i = 0; i < groups_; ++i) {
      store_statistic(n_.mean, i, means[i * width_]);
      store_statistic(n_.rstd, i, scales[i * width_]);
    }
    write(means, scales);
  }

 private:
  static constexpr ScalarType kType = CppTypeToScalarType<T>::value;

  int64_t channels() const { return groups_ * width_; }
  int64_t pixel_stride(const StridedShape& shape) const { return shape.strides[1] * shape.sizes[1]; }

  template <typename View>
  auto first_pixel(const View& view) const {
    return view.data + (batch_ * view.strides[0] + group_ * view.strides[1]) * view.element_size();
  }

  /// The channels of a pixel: a pointer to them, or `block` with converted channels.
  const T* load(int64_t pixel, T* block) const {
    const char* const from = first_pixel(n_.in) + pixel * pixel_stride(n_.in) * n_.in.element_size();
    if (n_.in.dtype == kType) {
      return reinterpret_cast<const T*>(from);
    }
    load_block(n_.in.dtype, from, n_.in.element_size(), kType, block, channels());
    return block;
  }

  /// Adds `term(x, channel)` over all pixels to the sum of each channel.
  template <typename Term>
  void add_pixels(T* sums, const Term& term) const {
    std::fill_n(sums, channels(), T(0));
    for (int64_t start = 0; start < pixels_; start += kPixelsOfSum) {
      T some[kBlockSize];
      T block[kBlockSize];
      std::fill_n(some, channels(), T(0));
      for (int64_t pixel = start; pixel < std::min(start + kPixelsOfSum, pixels_); ++pixel) {
        const T* const x = load(pixel, block);
        vectorized_for(channels(), [&some, x, &term](int64_t i) KERNELS_ALWAYS_INLINE { some[i] += term(x[i], i); });
      }
      vectorized_for(channels(), [&some, sums](int64_t i) { sums[i] += some[i]; });
    }
  }

  /// Replaces the sum of each channel by the average of the channel's group.
  void average(T* sums) const {
    for (int64_t i = 0; i < channels(); i += width_) {
      T sum = 0;
      for (int64_t j = 0; j < width_; ++j) {
        sum += sums[i + j];
      }
      std::fill_n(sums + i, width_, sum / static_cast<T>(width_ * pixels_));
    }
  }

  void store_statistic(const StridedView& view, int64_t group, T value) const {
    const int64_t at = batch_ * view.strides[0] + (group_ + group) * view.strides[1];
    store_block(kType, &value, view.dtype, view.data + at * view.element_size(), view.element_size(), 1);
  }

  void write(const T* means, T* scales) const {
    T offsets[kBlockSize];
    T weights[kBlockSize];
    load_parameter(n_.weight, weights);
    load_parameter(n_.bias, offsets);
    vectorized_for(channels(), [scales, &weights](int64_t i) { scales[i] *= weights[i]; });
    for (int64_t pixel = 0; pixel < pixels_; ++pixel) {
      T block[kBlockSize];
      const T* const x = load(pixel, block);
      char* const out = first_pixel(n_.out) + pixel * pixel_stride(n_.out) * n_.out.element_size();
      T* const results = n_.out.dtype == kType ? reinterpret_cast<T*>(out) : block;
      vectorized_for(channels(), [=, &offsets](int64_t i) { results[i] = (x[i] - means[i]) * scales[i] + offsets[i]; });
      if (n_.out.dtype != kType) {
        store_block(kType, results, n_.out.dtype, out, n_.out.element_size(), channels());
      }
    }
  }

  /// Loads a parameter of the strip's channels. A view of a constant has strides of 0, and so has a dimension of size
  /// 1: the channels of groups with one channel are the groups.
  void load_parameter(const ConstStridedView& view, T* values) const {
    const int64_t stride = view.strides[width_ == 1 ? 1 : 2] * view.element_size();
    load_block(view.dtype, view.data + group_ * width_ * stride, stride, kType, values, channels());
  }

  const Normalization& n_;
  int64_t batch_;
  int64_t group_;
  int64_t groups_;
  int64_t width_;
  int64_t pixels_ = 1;
};

}  // namespace

template <typename T>
bool normalize_channels_last(const Normalization& normalization) {
  const ConstStridedView& in = normalization.in;
  if (in.rank < 4 || in.sizes[2] > kBlockSize || in.numel() == 0 || !is_channels_last(in) ||
      !is_channels_last(normalization.out)) {
    return false;
  }
  // The result does not depend on the strips. Each thread has one at least.
  const int64_t groups = in.sizes[1];
  const int64_t strip = std::min(kBlockSize / in.sizes[2], divide_up(groups, thread_count()));
  const int64_t strips = divide_up(groups, strip);
  const int64_t grain = std::max<int64_t>(1, kGrain * in.sizes[0] * strips / in.numel());
  parallel_for(0, in.sizes[0] * strips, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i % strips * strip;
      ChannelStrip<T>(normalization, i / strips, group, std::min(strip, groups - group)).compute();
    }
  });
  return true;
}

template bool normalize_channels_last<float>(const Normalization& normalization);
template bool normalize_channels_last<double>(const Normalization& normalization);

}  // namespace rules_executorch::kernels
