#include "kernels/fourier/mixed_radix.h"

#include <algorithm>
#include <utility>

#include "kernels/fourier/numbers.h"

namespace rules_executorch::kernels {

namespace {

/// One pass of Stockham's transform, which divides transforms of length `radix * count` into `radix` transforms of
/// length `count`. The results are in order without a permutation. A row has element i of all signals of the pass.
template <typename T>
struct Pass {
  Signal<const T> in;
  Signal<T> out;
  Signal<const T> roots;
  int64_t radix;
  int64_t count;
  int64_t row_size;
  int64_t step;          // between powers of the root of order `radix * count` in `roots`
  int64_t step_of_turn;  // between powers of the root of order `radix`
};

template <typename V>
KERNELS_ALWAYS_INLINE inline void transform_few(Number<V> (&x)[2]) {
  const Number<V> difference = x[0] - x[1];
  x[0] = x[0] + x[1];
  x[1] = difference;
}

template <typename T, typename V>
KERNELS_ALWAYS_INLINE inline void transform_few_of(Number<V> (&x)[3]) {
  constexpr T kSine = T(0.86602540378443864676);  // of a third of a turn
  const Number<V> sum = x[1] + x[2];
  const Number<V> half = {x[0].re - T(0.5) * sum.re, x[0].im - T(0.5) * sum.im};
  const Number<V> turned = (x[1] - x[2]).turned();
  const Number<V> side = {kSine * turned.re, kSine * turned.im};
  x[0] = x[0] + sum;
  x[1] = half + side;
  x[2] = half - side;
}

template <typename V>
KERNELS_ALWAYS_INLINE inline void transform_few(Number<V> (&x)[4]) {
  const Number<V> even_sum = x[0] + x[2];
  const Number<V> even_difference = x[0] - x[2];
  const Number<V> odd_sum = x[1] + x[3];
  const Number<V> turned = (x[1] - x[3]).turned();
  x[0] = even_sum + odd_sum;
  x[1] = even_difference + turned;
  x[2] = even_sum - odd_sum;
  x[3] = even_difference - turned;
}

template <typename T, typename V>
KERNELS_ALWAYS_INLINE inline void transform_few_of(Number<V> (&x)[8]) {
  constexpr T kHalfRoot = T(0.70710678118654752440);  // the sine of an eighth of a turn
  Number<V> even[] = {x[0], x[2], x[4], x[6]};
  Number<V> odd[] = {x[1], x[3], x[5], x[7]};
  transform_few(even);
  transform_few(odd);
  odd[1] = {kHalfRoot * (odd[1].re + odd[1].im), kHalfRoot * (odd[1].im - odd[1].re)};
  odd[2] = odd[2].turned();
  odd[3] = {kHalfRoot * (odd[3].im - odd[3].re), -kHalfRoot * (odd[3].re + odd[3].im)};
  x[0] = even[0] + odd[0];
  x[1] = even[1] + odd[1];
  x[2] = even[2] + odd[2];
  x[3] = even[3] + odd[3];
  x[4] = even[0] - odd[0];
  x[5] = even[1] - odd[1];
  x[6] = even[2] - odd[2];
  x[7] = even[3] - odd[3];
}

template <typename T, typename V>
KERNELS_ALWAYS_INLINE inline void transform_few_of(Number<V> (&x)[5]) {
  // The cosines and the sines of one and two fifths of a turn.
  constexpr T kCosine1 = T(0.30901699437494742410), kCosine2 = T(-0.80901699437494742410);
  constexpr T kSine1 = T(0.95105651629515357212), kSine2 = T(0.58778525229247312917);
  const Number<V> sum1 = x[1] + x[4], sum2 = x[2] + x[3];
  const Number<V> turned1 = (x[1] - x[4]).turned(), turned2 = (x[2] - x[3]).turned();
  const Number<V> middle1 = {x[0].re + (kCosine1 * sum1.re + kCosine2 * sum2.re),
                             x[0].im + (kCosine1 * sum1.im + kCosine2 * sum2.im)};
  const Number<V> middle2 = {x[0].re + (kCosine2 * sum1.re + kCosine1 * sum2.re),
                             x[0].im + (kCosine2 * sum1.im + kCosine1 * sum2.im)};
  const Number<V> side1 = {kSine1 * turned1.re + kSine2 * turned2.re, kSine1 * turned1.im + kSine2 * turned2.im};
  const Number<V> side2 = {kSine2 * turned1.re - kSine1 * turned2.re, kSine2 * turned1.im - kSine1 * turned2.im};
  x[0] = x[0] + (sum1 + sum2);
  x[1] = middle1 + side1;
  x[2] = middle2 + side2;
  x[3] = middle2 - side2;
  x[4] = middle1 - side1;
}

/// The row of index `p` of each of the transforms. kTwiddles: whether their roots are not 1.
template <bool kTwiddles, typename V, typename T, int64_t... I>
KERNELS_ALWAYS_INLINE inline void run_row(const Pass<T>& pass, int64_t p, std::integer_sequence<int64_t, I...>) {
  constexpr int64_t kRadix = sizeof...(I);
  constexpr int64_t kStep = sizeof(V) / sizeof(T);
  const int64_t distance = pass.row_size * pass.count;
  const Signal<const T> in = pass.in + pass.row_size * p;
  const Signal<T> out = pass.out + pass.row_size * p * kRadix;
  const T re[] = {pass.roots.re[I * p * pass.step]...};
  const T im[] = {pass.roots.im[I * p * pass.step]...};
  for (int64_t q = 0; q < pass.row_size; q += kStep) {
    Number<V> x[] = {load_number<V>(in, q + I * distance)...};
    if constexpr (kRadix == 3 || kRadix == 5 || kRadix == 8) {
      transform_few_of<T>(x);
    } else {
      transform_few(x);
    }
    if constexpr (kTwiddles) {
      ((x[I] = I == 0 ? x[I] : product(re[I], im[I], x[I])), ...);
    }
    (store_number(out, q + I * pass.row_size, x[I]), ...);
  }
}

template <int64_t kRadix, typename T>
void run_pass(const Pass<T>& pass) {
  constexpr auto kAll = std::make_integer_sequence<int64_t, kRadix>();
  with_vectors_for<T>(pass.row_size, [&](auto zero) {
    using V = decltype(zero);
    run_row<false, V>(pass, 0, kAll);
    for (int64_t p = 1; p < pass.count; ++p) {
      run_row<true, V>(pass, p, kAll);
    }
  });
}

/// A pass of any odd radix: the sums and differences of opposite elements have real factors.
template <typename T>
void run_odd_pass(const Pass<T>& pass) {
  with_vectors_for<T>(pass.row_size, [&](auto zero) {
    using V = decltype(zero);
    constexpr int64_t kStep = sizeof(V) / sizeof(T);
    const int64_t radix = pass.radix, half = radix / 2;
    const int64_t distance = pass.row_size * pass.count;
    for (int64_t p = 0; p < pass.count; ++p) {
      const Signal<const T> in = pass.in + pass.row_size * p;
      const Signal<T> out = pass.out + pass.row_size * p * radix;
      for (int64_t q = 0; q < pass.row_size; q += kStep) {
        Number<V> sums[MixedRadix<T>::kLargestRadix / 2], turned[MixedRadix<T>::kLargestRadix / 2];
        const Number<V> first = load_number<V>(in, q);
        Number<V> total = first;
        for (int64_t j = 0; j < half; ++j) {
          const Number<V> a = load_number<V>(in, q + (j + 1) * distance);
          const Number<V> b = load_number<V>(in, q + (radix - 1 - j) * distance);
          sums[j] = a + b;
          turned[j] = (a - b).turned();
          total = total + sums[j];
        }
        store_number(out, q, total);
        for (int64_t k = 1; k <= half; ++k) {
          Number<V> middle = first, side = {};
          int64_t power = 0;
          for (int64_t j = 0; j < half; ++j) {
            power += k;
            power -= power >= radix ? radix : 0;
            const T cosine = pass.roots.re[power * pass.step_of_turn];
            const T sine = -pass.roots.im[power * pass.step_of_turn];
            middle = {middle.re + cosine * sums[j].re, middle.im + cosine * sums[j].im};
            side = {side.re + sine * turned[j].re, side.im + sine * turned[j].im};
          }
          const int64_t i = k * p * pass.step, opposite = (radix - k) * p * pass.step;
          store_number(out, q + k * pass.row_size, product(pass.roots.re[i], pass.roots.im[i], middle + side));
          store_number(out, q + (radix - k) * pass.row_size,
                       product(pass.roots.re[opposite], pass.roots.im[opposite], middle - side));
        }
      }
    }
  });
}

/// The factor of the next pass: the largest power of two of as few passes as possible, else the smallest prime factor.
int64_t next_radix(int64_t length) {
  int64_t twos = 0;
  while (length % (int64_t{2} << twos) == 0) {
    ++twos;
  }
  if (twos > 0) {
    return twos % 3 == 0 ? 8 : twos == 1 ? 2 : 4;
  }
  int64_t radix = 3;
  while (length % radix != 0) {
    radix += 2;
  }
  return radix;
}

}  // namespace

template <typename T>
bool MixedRadix<T>::takes(int64_t length) {
  for (int64_t radix = 2; radix <= kLargestRadix; ++radix) {
    while (length % radix == 0) {
      length /= radix;
    }
  }
  return length == 1;
}

template <typename T>
Signal<T> MixedRadix<T>::run(Signal<T> data, Signal<T> other, int64_t lanes) const {
  int64_t row_size = lanes;
  for (int64_t rest = length; rest > 1;) {
    const int64_t radix = next_radix(rest);
    const Pass<T> pass = {
        data, other, roots, radix, rest / radix, row_size, length / rest * step, length / radix * step};
    switch (radix) {
      case 2:
        run_pass<2>(pass);
        break;
      case 3:
        run_pass<3>(pass);
        break;
      case 4:
        run_pass<4>(pass);
        break;
      case 5:
        run_pass<5>(pass);
        break;
      case 8:
        run_pass<8>(pass);
        break;
      default:
        run_odd_pass(pass);
    }
    row_size *= radix;
    rest /= radix;
    std::swap(data, other);
  }
  return data;
}

template struct MixedRadix<float>;
template struct MixedRadix<double>;

}  // namespace rules_executorch::kernels
