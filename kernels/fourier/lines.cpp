#include "kernels/fourier/lines.h"

#include <algorithm>
#include <utility>

#include "kernels/fourier/numbers.h"
#include "kernels/math/divide_up.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"

namespace rules_executorch::kernels {

namespace {

/// The largest memory of a batch of several lines, which is to stay in the L2 cache.
constexpr int64_t kBatchBytes = 3 << 20;

/// Where lines have the parts of complex numbers: number i at i * step, its imaginary part `part` elements later.
/// Without imaginary parts, `part` is 0.
struct Places {
  int64_t step;
  int64_t part;

  bool is_contiguous() const { return step == 2 && part == 1; }
};

#ifdef KERNELS_HAVE_SHUFFLES
constexpr bool kTransposes = true;

/// Separates the real and the imaginary parts of complex numbers.
template <typename V, int... I>
KERNELS_ALWAYS_INLINE inline Number<V> separated(const V& first, const V& second, std::integer_sequence<int, I...>) {
  return {simd::shuffle<2 * I...>(first, second), simd::shuffle<2 * I + 1 ...>(first, second)};
}

/// Reads the first numbers of contiguous lines, and returns how many. Each square of elements is transposed.
template <typename T>
int64_t load_squares(const T* const* lines, int64_t lanes, int64_t count, T scale, Signal<T> data) {
  constexpr int kSide = static_cast<int>(simd::kLanes<T>);
  int64_t i = 0;
  for (; i + kSide / 2 <= count; i += kSide / 2) {
    for (int64_t first = 0; first < lanes; first += kSide) {
      simd::Vector<T> square[kSide];
      for (int l = 0; l < kSide; ++l) {
        square[l] = scale * simd::load(lines[first + l] + 2 * i);
      }
      simd::transpose(square);
      for (int k = 0; k < kSide / 2; ++k) {
        store_number(data, (i + k) * lanes + first, Number<simd::Vector<T>>{square[2 * k], square[2 * k + 1]});
      }
    }
  }
  return i;
}

/// Writes the first numbers of contiguous lines, and returns how many.
template <typename T>
int64_t store_squares(Signal<const T> data, int64_t lanes, int64_t count, int64_t line_count, T* const* lines) {
  constexpr int kSide = static_cast<int>(simd::kLanes<T>);
  int64_t i = 0;
  for (; i + kSide / 2 <= count; i += kSide / 2) {
    for (int64_t first = 0; first < lanes; first += kSide) {
      simd::Vector<T> square[kSide];
      for (int k = 0; k < kSide / 2; ++k) {
        const auto number = load_number<simd::Vector<T>>(data, (i + k) * lanes + first);
        square[2 * k] = number.re;
        square[2 * k + 1] = number.im;
      }
      simd::transpose(square);
      for (int64_t l = 0; l < std::min<int64_t>(kSide, line_count - first); ++l) {
        simd::store(lines[first + l] + 2 * i, square[l]);
      }
    }
  }
  return i;
}
/// Reads numbers of lines that are beside each other: the numbers of a row are in order in memory.
template <typename T>
void load_beside(const T* lines, int64_t lanes, Places places, int64_t count, T scale, Signal<T> data) {
  using V = simd::Vector<T>;
  for (int64_t i = 0; i < count; ++i) {
    const T* const row = lines + i * places.step;
    for (int64_t l = 0; l < lanes; l += simd::kLanes<T>) {
      Number<V> number;
      if (places.part == 1) {
        const V first = simd::load(row + 2 * l), second = simd::load(row + 2 * l + simd::kLanes<T>);
        number = separated(first, second, std::make_integer_sequence<int, simd::kLanes<T>>());
      } else {
        number = {simd::load(row + l), places.part == 0 ? V{} : simd::load(row + l + places.part)};
      }
      store_number(data, i * lanes + l, Number<V>{scale * number.re, scale * number.im});
    }
  }
}

/// Writes numbers of lines that are beside each other.
template <typename T>
void store_beside(Signal<const T> data, int64_t lanes, Places places, int64_t count, T* lines) {
  using V = simd::Vector<T>;
  constexpr auto kAll = std::make_integer_sequence<int, simd::kLanes<T>>();
  for (int64_t i = 0; i < count; ++i) {
    T* const row = lines + i * places.step;
    for (int64_t l = 0; l < lanes; l += simd::kLanes<T>) {
      const auto number = load_number<V>(data, i * lanes + l);
      if (places.part == 1) {
        simd::store(row + 2 * l, simd::interleave<0>(number.re, number.im, kAll));
        simd::store(row + 2 * l + simd::kLanes<T>, simd::interleave<simd::kLanes<T> / 2>(number.re, number.im, kAll));
      } else {
        simd::store(row + l, number.re);
        if (places.part != 0) {
          simd::store(row + l + places.part, number.im);
        }
      }
    }
  }
}
#else
constexpr bool kTransposes = false;

template <typename T>
int64_t load_squares(const T* const*, int64_t, int64_t, T, Signal<T>) {
  return 0;
}

template <typename T>
int64_t store_squares(Signal<const T>, int64_t, int64_t, int64_t, T* const*) {
  return 0;
}

template <typename T>
void load_beside(const T*, int64_t, Places, int64_t, T, Signal<T>) {}

template <typename T>
void store_beside(Signal<const T>, int64_t, Places, int64_t, T*) {}
#endif

/// Whether lines begin `distance` elements apart.
template <typename T>
bool are_beside(T* const* lines, int64_t count, int64_t distance) {
  for (int64_t l = 1; l < count; ++l) {
    if (lines[l] - lines[l - 1] != distance) {
      return false;
    }
  }
  return true;
}

/// Reads `count` numbers of each line.
template <typename T>
void load_lines(const T* const* lines, int64_t lanes, Places places, int64_t count, T scale, Signal<T> data) {
  int64_t i = 0;
  if (kTransposes && lanes % simd::kLanes<T> == 0) {
    if (are_beside(lines, lanes, places.part == 1 ? 2 : 1)) {
      load_beside(lines[0], lanes, places, count, scale, data);
      return;
    }
    if (places.is_contiguous()) {
      i = load_squares(lines, lanes, count, scale, data);
    }
  }
  for (; i < count; ++i) {
    for (int64_t l = 0; l < lanes; ++l) {
      const T* const number = lines[l] + i * places.step;
      data.re[i * lanes + l] = scale * number[0];
      data.im[i * lanes + l] = places.part == 0 ? T(0) : scale * number[places.part];
    }
  }
}

/// Writes `count` numbers of each of the first `line_count` lines.
template <typename T>
void store_lines(Signal<const T> data, int64_t lanes, Places places, int64_t count, int64_t line_count,
                 T* const* lines) {
  int64_t i = 0;
  if (kTransposes && lanes % simd::kLanes<T> == 0) {
    if (line_count == lanes && are_beside(lines, lanes, places.part == 1 ? 2 : 1)) {
      store_beside(data, lanes, places, count, lines[0]);
      return;
    }
    if (places.is_contiguous()) {
      i = store_squares(data, lanes, count, line_count, lines);
    }
  }
  for (; i < count; ++i) {
    for (int64_t l = 0; l < line_count; ++l) {
      T* const number = lines[l] + i * places.step;
      number[0] = data.re[i * lanes + l];
      if (places.part != 0) {
        number[places.part] = data.im[i * lanes + l];
      }
    }
  }
}

/// Makes the transform of `half` complex numbers that of the 2 * half real numbers that are their parts: its first
/// half + 1 numbers. `roots` are of order 2 * half.
template <typename T>
void split_spectrum(Signal<const T> roots, int64_t half, Signal<T> data, int64_t lanes) {
  with_vectors_for<T>(lanes, [&](auto zero) {
    using V = decltype(zero);
    for (int64_t l = 0; l < lanes; l += sizeof(V) / sizeof(T)) {
      const auto x = load_number<V>(data, l);
      store_number(data, l, Number<V>{x.re + x.im, zero});
      store_number(data, half * lanes + l, Number<V>{x.re - x.im, zero});
    }
    for (int64_t k = 1; k <= half - k; ++k) {
      const T re = T(0.5) * roots.re[k], im = T(0.5) * roots.im[k];
      for (int64_t l = 0; l < lanes; l += sizeof(V) / sizeof(T)) {
        const auto a = load_number<V>(data, k * lanes + l);
        const auto b = load_number<V>(data, (half - k) * lanes + l);
        const Number<V> even = {T(0.5) * (a.re + b.re), T(0.5) * (a.im - b.im)};
        const auto odd = product(re, im, Number<V>{a.re - b.re, a.im + b.im}.turned());
        store_number(data, k * lanes + l, even + odd);
        store_number(data, (half - k) * lanes + l, Number<V>{even.re - odd.re, odd.im - even.im});
      }
    }
  });
}

/// The inverse of split_spectrum, except for a factor of 2.
template <typename T>
void merge_spectrum(Signal<const T> roots, int64_t half, Signal<T> data, int64_t lanes) {
  with_vectors_for<T>(lanes, [&](auto zero) {
    using V = decltype(zero);
    for (int64_t l = 0; l < lanes; l += sizeof(V) / sizeof(T)) {
      // The imaginary parts of both numbers count as 0.
      const V first = simd::load_as<V>(data.re + l);
      const V last = simd::load_as<V>(data.re + half * lanes + l);
      store_number(data, l, Number<V>{first + last, first - last});
    }
    for (int64_t k = 1; k <= half - k; ++k) {
      const T re = roots.re[k], im = roots.im[k];
      for (int64_t l = 0; l < lanes; l += sizeof(V) / sizeof(T)) {
        const auto a = load_number<V>(data, k * lanes + l);
        const auto b = load_number<V>(data, (half - k) * lanes + l);
        const Number<V> even = {a.re + b.re, a.im - b.im};
        const auto odd = product(im, re, Number<V>{a.re - b.re, a.im + b.im});  // i times the conjugate root
        store_number(data, k * lanes + l, even + odd);
        store_number(data, (half - k) * lanes + l, Number<V>{even.re - odd.re, odd.im - even.im});
      }
    }
  });
}

/// Completes the first `size` numbers of the transform of real numbers, of which the first half is given.
template <typename T>
void mirror(int64_t length, int64_t size, Signal<T> data, int64_t lanes) {
  for (int64_t k = length / 2 + 1; k < size; ++k) {
    for (int64_t l = 0; l < lanes; ++l) {
      data.re[k * lanes + l] = data.re[(length - k) * lanes + l];
      data.im[k * lanes + l] = -data.im[(length - k) * lanes + l];
    }
  }
}

int64_t fourier_lanes(int64_t lines, int64_t most) {
  int64_t lanes = 1;
  while (lanes < std::min(lines, most)) {
    lanes *= 2;
  }
  return lanes;
}

}  // namespace

template <typename T>
FourierLines<T>::FourierLines(FourierKind kind, int64_t length, double scale, const ConstStridedView& in,
                              const StridedView& out, int64_t dim)
    : kind_(kind),
      length_(length),
      scale_(static_cast<T>(scale)),
      is_backward_(kind == FourierKind::kBackward || kind == FourierKind::kComplexToReal),
      is_halved_((kind == FourierKind::kRealToComplex || kind == FourierKind::kComplexToReal) && length % 2 == 0),
      complex_size_(kind == FourierKind::kComplexToReal ? length / 2 + 1 : out.sizes[dim]),
      in_step_(in.strides[dim] * in.element_size() / static_cast<int64_t>(sizeof(T))),
      out_step_(out.strides[dim] * out.element_size() / static_cast<int64_t>(sizeof(T))),
      in_(in.data),
      out_(out.data),
      nest_(LoopNest::over(out.select(dim, 0), in.select(dim, 0))),
      transform_(is_halved_ ? length / 2 : length, is_halved_ ? 2 : 1),
      rows_(std::max(transform_.rows(), is_halved_ ? complex_size_ : length)) {
  constexpr int64_t kLaneBytes = std::max<int64_t>(kVectorBytes, 32);
  const bool is_long = 4 * rows_ * kLaneBytes > kBatchBytes;
  lanes_ = fourier_lanes(nest_.numel(), is_long ? 1 : kLaneBytes / static_cast<int64_t>(sizeof(T)));
}

template <typename T>
int64_t FourierLines<T>::table_size() const {
  return divide_up(transform_.table_size(), kMostLanes) * kMostLanes;
}

template <typename T>
int64_t FourierLines<T>::threads() const {
  return std::min(thread_count(), divide_up(nest_.numel(), lanes_));
}

template <typename T>
size_t FourierLines<T>::memory_size() const {
  return static_cast<size_t>(table_size() + threads() * batch_size()) * sizeof(T);
}

template <typename T>
void FourierLines<T>::run(void* memory) const {
  T* const tables = static_cast<T*>(memory);
  T* const batches = tables + table_size();
  Transform<T> transform = transform_;
  transform.write_tables(tables, {batches, batches + rows_}, {batches + 2 * rows_, batches + 3 * rows_});
  const int64_t grain = grain_of(transform.work() * lanes_, 0);
  parallel_for_with_thread(0, divide_up(nest_.numel(), lanes_), grain,
                           [&](int64_t thread, int64_t first, int64_t last) {
                             T* const own = batches + thread * batch_size();
                             Batch batch;
                             const auto finish = [&] {
                               // Lanes without a line compute what the first lane does.
                               std::fill(batch.in + batch.count, batch.in + lanes_, batch.in[0]);
                               run_batch(transform, batch, own);
                               batch.count = 0;
                             };
                             nest_.for_each_row(first * lanes_, std::min(last * lanes_, nest_.numel()),
                                                [&](const int64_t* offsets, int64_t n) {
                                                  for (int64_t i = 0; i < n; ++i) {
                                                    const int64_t out = offsets[0] + i * nest_.row_stride(0);
                                                    const int64_t in = offsets[1] + i * nest_.row_stride(1);
                                                    batch.out[batch.count] = reinterpret_cast<T*>(out_ + out);
                                                    batch.in[batch.count] = reinterpret_cast<const T*>(in_ + in);
                                                    if (++batch.count == lanes_) {
                                                      finish();
                                                    }
                                                  }
                                                });
                             if (batch.count > 0) {
                               finish();
                             }
                           });
}

template <typename T>
void FourierLines<T>::run_batch(const Transform<T>& transform, const Batch& batch, T* memory) const {
  const int64_t size = rows_ * lanes_;
  Signal<T> data = {memory, memory + size};
  const Signal<T> other = {memory + 2 * size, memory + 3 * size};
  const bool reads_reals = kind_ == FourierKind::kRealToComplex;
  const bool writes_reals = kind_ == FourierKind::kComplexToReal;
  // Halved lines of real numbers have the real parts at even and the imaginary parts at odd places.
  const auto places_of = [this](bool is_real, int64_t step) -> Places {
    return !is_real ? Places{step, 1} : is_halved_ ? Places{2 * step, step} : Places{step, 0};
  };
  const int64_t real_size = is_halved_ ? length_ / 2 : length_;

  load_lines(batch.in, lanes_, places_of(reads_reals, in_step_), reads_reals ? real_size : complex_size_, scale_, data);
  if (writes_reals && is_halved_) {
    merge_spectrum<T>(transform.roots(), real_size, data, lanes_);
  } else if (writes_reals) {
    mirror(length_, length_, data, lanes_);
    std::fill_n(data.im, lanes_, T(0));
  }
  data = is_backward_ ? transform.run(data.exchanged(), other.exchanged(), lanes_).exchanged()
                      : transform.run(data, other, lanes_);
  if (reads_reals && is_halved_) {
    split_spectrum<T>(transform.roots(), real_size, data, lanes_);
    mirror(length_, complex_size_, data, lanes_);
  }
  store_lines<T>(data, lanes_, places_of(writes_reals, out_step_), writes_reals ? real_size : complex_size_,
                 batch.count, batch.out);
}

template class FourierLines<float>;
template class FourierLines<double>;

}  // namespace rules_executorch::kernels
