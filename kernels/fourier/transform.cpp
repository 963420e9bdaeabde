#include "kernels/fourier/transform.h"

#include <algorithm>

#include "kernels/fourier/numbers.h"
#include "kernels/fourier/roots.h"

namespace rules_executorch::kernels {

namespace {

/// The smallest length from `least` on of the form 2^k, 3 * 2^k or 5 * 2^k.
int64_t length_from(int64_t least) {
  int64_t best = 0;
  for (const int64_t odd : {1, 3, 5}) {
    int64_t length = odd;
    while (length < least) {
      length *= 2;
    }
    best = best == 0 ? length : std::min(best, length);
  }
  return best;
}

/// Multiplies row i of `lanes` signals by factor i.
template <typename T>
void multiply_rows(Signal<const T> factors, int64_t count, Signal<T> data, int64_t lanes) {
  with_vectors_for<T>(lanes, [&](auto zero) {
    using V = decltype(zero);
    for (int64_t i = 0; i < count; ++i) {
      const T re = factors.re[i], im = factors.im[i];
      for (int64_t l = i * lanes; l < (i + 1) * lanes; l += sizeof(V) / sizeof(T)) {
        store_number(data, l, product(re, im, load_number<V>(data, l)));
      }
    }
  });
}

}  // namespace

template <typename T>
Transform<T>::Transform(int64_t length, int64_t step)
    : length_(length), step_(step), is_direct_(MixedRadix<T>::takes(length)) {
  if (!is_direct_) {
    inner_length_ = length_from(2 * length - 1);
  }
}

template <typename T>
int64_t Transform<T>::table_size() const {
  return 2 * ((has_roots() ? length_ * step_ : 0) + (is_direct_ ? 0 : length_ + 2 * inner_length_));
}

template <typename T>
int64_t Transform<T>::work() const {
  int64_t passes = 1;
  for (int64_t n = rows(); n > 1; n /= 4) {
    ++passes;
  }
  return 6 * passes * rows() * (is_direct_ ? 1 : 2);
}

template <typename T>
void Transform<T>::write_tables(T* memory, Signal<T> data, Signal<T> other) {
  const auto take = [&memory](int64_t size) {
    const Signal<T> taken = {memory, memory + size};
    memory += 2 * size;
    return taken;
  };
  if (has_roots()) {
    roots_ = take(length_ * step_);
    write_roots(length_ * step_, roots_);
  }
  if (is_direct_) {
    return;
  }
  chirp_ = take(length_);
  spectrum_ = take(inner_length_);
  inner_roots_ = take(inner_length_);
  write_roots(inner_length_, inner_roots_);
  std::fill_n(data.re, inner_length_, T(0));
  std::fill_n(data.im, inner_length_, T(0));
  for (int64_t k = 0; k < length_; ++k) {
    const Root root = root_of_unity(k * k % (2 * length_), 2 * length_);
    chirp_.re[k] = static_cast<T>(root.re);
    chirp_.im[k] = static_cast<T>(root.im);
    const int64_t mirrored = k == 0 ? 0 : inner_length_ - k;
    data.re[k] = data.re[mirrored] = static_cast<T>(root.re / static_cast<double>(inner_length_));
    data.im[k] = data.im[mirrored] = static_cast<T>(-root.im / static_cast<double>(inner_length_));
  }
  const Signal<T> result = MixedRadix<T>{inner_length_, inner_roots_, 1}.run(data, other, 1);
  std::copy_n(result.re, inner_length_, spectrum_.re);
  std::copy_n(result.im, inner_length_, spectrum_.im);
}

template <typename T>
Signal<T> Transform<T>::run(Signal<T> data, Signal<T> other, int64_t lanes) const {
  if (is_direct_) {
    return MixedRadix<T>{length_, roots_, step_}.run(data, other, lanes);
  }
  // The transform is a convolution with a chirp, between multiplications with the chirp.
  const MixedRadix<T> inner = {inner_length_, inner_roots_, 1};
  multiply_rows<T>(chirp_, length_, data, lanes);
  std::fill_n(data.re + length_ * lanes, (inner_length_ - length_) * lanes, T(0));
  std::fill_n(data.im + length_ * lanes, (inner_length_ - length_) * lanes, T(0));
  const Signal<T> forward = inner.run(data, other, lanes);
  multiply_rows<T>(spectrum_, inner_length_, forward, lanes);
  const Signal<T> free = forward.re == data.re ? other : data;
  const Signal<T> result = inner.run(forward.exchanged(), free.exchanged(), lanes).exchanged();
  multiply_rows<T>(chirp_, length_, result, lanes);
  return result;
}

template class Transform<float>;
template class Transform<double>;

}  // namespace rules_executorch::kernels
