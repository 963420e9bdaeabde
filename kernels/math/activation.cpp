#include "kernels/math/activation.h"

#include <cmath>

#include "kernels/math/exponentials.h"
#include "kernels/math/gelu.h"
#include "kernels/math/vector_math.h"
#include "kernels/math/vectorize.h"

namespace rules_executorch::kernels {

namespace {

// Functions of an element and two parameters, as PyTorch computes them. NaN propagates, because all comparisons with
// NaN are false.

template <typename T>
KERNELS_ALWAYS_INLINE inline T clamp(T x, T minimum, T maximum) {
  const T raised = x < minimum ? minimum : x;
  return raised > maximum ? maximum : raised;
}

template <typename T>
KERNELS_ALWAYS_INLINE inline T scaled_elu(T x, T scale, T negative_scale, T exponent) {
  const T below = math::expm1(x * exponent) * negative_scale;
  return x < 0 ? below : x * scale;
}

template <typename T>
KERNELS_ALWAYS_INLINE inline T elu(T x, T alpha, T scale) {
  return scaled_elu(x, scale, alpha * scale, T(1));
}

template <typename T>
KERNELS_ALWAYS_INLINE inline T celu(T x, T alpha, T) {
  return scaled_elu(x, T(1), alpha, 1 / alpha);
}

template <typename T>
KERNELS_ALWAYS_INLINE inline T hardshrink(T x, T lambda, T) {
  return x >= -lambda && x <= lambda ? 0 : x;
}

template <typename T>
KERNELS_ALWAYS_INLINE inline T hardsigmoid(T x, T, T) {
  return clamp<T>(x + 3, 0, 6) * static_cast<T>(1.0 / 6);
}

template <typename T>
KERNELS_ALWAYS_INLINE inline T hardswish(T x, T, T) {
  return x * hardsigmoid<T>(x, 0, 0);
}

template <typename T>
KERNELS_ALWAYS_INLINE inline T leaky_relu(T x, T slope, T) {
  return x > 0 ? x : x * slope;
}

template <typename T>
KERNELS_ALWAYS_INLINE inline T logsigmoid(T x, T, T) {
  return (x < 0 ? x : 0) - math::log1p(math::exp(-std::abs(x)));
}

/// x tanh(log(1 + e^x)). With n = e^x (e^x + 2), the tangent is n / (n + 2), which is 1 from x = 20 on.
template <typename T>
KERNELS_ALWAYS_INLINE inline T mish(T x, T, T) {
  const T e = math::exp(x > 20 ? T(20) : x);
  const T n = e * (e + 2);
  return x * (n / (n + 2));
}

template <typename T>
KERNELS_ALWAYS_INLINE inline T sigmoid(T x, T, T) {
  return math::sigmoid(x);
}

template <typename T>
KERNELS_ALWAYS_INLINE inline T softplus(T x, T beta, T threshold) {
  const T scaled = x * beta;
  const T curved = math::log1p(math::exp(scaled)) / beta;
  return scaled > threshold ? x : curved;
}

/// Zeros have the sign of the argument, as PyTorch's.
template <typename T>
KERNELS_ALWAYS_INLINE inline T softshrink(T x, T lambda, T) {
  return x > lambda ? x - lambda : x < -lambda ? x + lambda : x * 0;
}

template <typename T>
KERNELS_ALWAYS_INLINE inline T softsign(T x, T, T) {
  return x / (1 + std::abs(x));
}

template <typename T>
KERNELS_ALWAYS_INLINE inline T swish(T x, T beta, T) {
  return x / (1 + math::exp(-(x * beta)));
}

template <typename T>
KERNELS_ALWAYS_INLINE inline T tanh(T x, T, T) {
  return math::tanh(x);
}

template <typename T>
KERNELS_ALWAYS_INLINE inline T tanhshrink(T x, T, T) {
  return x - math::tanh(x);
}

template <typename T>
KERNELS_ALWAYS_INLINE inline T threshold(T x, T minimum, T value) {
  return x <= minimum ? value : x;
}

/// An activation by a function of elements.
template <typename T, T (*kFunction)(T, T, T)>
void apply_each(const Activation& activation, int64_t n, void* results, const void* values) {
  T* const out = static_cast<T*>(results);
  const T* const x = static_cast<const T*>(values);
  const T first = static_cast<T>(activation.minimum);
  const T second = static_cast<T>(activation.maximum);
  vectorized_for(n, [=](int64_t i) KERNELS_ALWAYS_INLINE { out[i] = kFunction(x[i], first, second); });
}

/// An activation by a long function of elements.
template <typename T, T (*kFunction)(T, T, T)>
void apply_wide(const Activation& activation, int64_t n, void* results, const void* values) {
  T* const out = static_cast<T*>(results);
  const T* const x = static_cast<const T*>(values);
  const T first = static_cast<T>(activation.minimum);
  const T second = static_cast<T>(activation.maximum);
  wide_vectorized_for(n, [=](int64_t i) KERNELS_ALWAYS_INLINE { out[i] = kFunction(x[i], first, second); });
}

/// An activation by a function of arrays.
template <typename T, void (*kFunction)(int64_t, T*, const T*)>
void apply_array(const Activation& /*activation*/, int64_t n, void* results, const void* values) {
  kFunction(n, static_cast<T*>(results), static_cast<const T*>(values));
}

struct NamedActivation {
  std::string_view name;
  Activation::Apply apply;
};

template <typename T>
constexpr NamedActivation kActivations[] = {
    {"celu", &apply_wide<T, celu<T>>},
    {"clamp", &apply_each<T, clamp<T>>},
    {"elu", &apply_wide<T, elu<T>>},
    {"gelu", &apply_array<T, math::gelu>},
    {"gelu_tanh", &apply_array<T, math::gelu_tanh>},
    {"hardshrink", &apply_each<T, hardshrink<T>>},
    {"hardsigmoid", &apply_each<T, hardsigmoid<T>>},
    {"hardswish", &apply_each<T, hardswish<T>>},
    {"leaky_relu", &apply_each<T, leaky_relu<T>>},
    {"logsigmoid", &apply_wide<T, logsigmoid<T>>},
    {"mish", &apply_wide<T, mish<T>>},
    {"none", nullptr},
    {"sigmoid", &apply_wide<T, sigmoid<T>>},
    {"silu", &apply_array<T, math::silu>},
    {"softplus", &apply_wide<T, softplus<T>>},
    {"softshrink", &apply_each<T, softshrink<T>>},
    {"softsign", &apply_each<T, softsign<T>>},
    {"swish", &apply_wide<T, swish<T>>},
    {"tanh", &apply_wide<T, tanh<T>>},
    {"tanhshrink", &apply_wide<T, tanhshrink<T>>},
    {"threshold", &apply_each<T, threshold<T>>},
};

}  // namespace

template <typename T>
bool find_activation(std::string_view name, double minimum, double maximum, Activation& activation) {
  for (const NamedActivation& one : kActivations<T>) {
    if (one.name == name) {
      activation = {one.apply, minimum, maximum};
      return name != "clamp" || (minimum == minimum && maximum == maximum);
    }
  }
  return false;
}

template bool find_activation<float>(std::string_view, double, double, Activation&);
template bool find_activation<double>(std::string_view, double, double, Activation&);

}  // namespace rules_executorch::kernels
