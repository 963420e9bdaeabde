#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/math/exponentials.h"
#include "kernels/math/gelu.h"
#include "kernels/math/vectorize.h"

namespace rules_executorch::kernels {

/// A function that an operator applies to its results while the results are in the cache.
struct Activation {
  using Apply = void (*)(const Activation& activation, void* values, int64_t n);

  Apply apply = nullptr;  // null: no activation
  double minimum = 0;     // bounds of "clamp"
  double maximum = 0;

  void operator()(void* values, int64_t n) const {
    if (apply != nullptr) {
      apply(*this, values, n);
    }
  }
};

namespace internal {

template <typename T>
void apply_clamp(const Activation& activation, void* values, int64_t n) {
  T* const x = static_cast<T*>(values);
  const T low = static_cast<T>(activation.minimum);
  const T high = static_cast<T>(activation.maximum);
  // NaN propagates, because both comparisons are false.
  vectorized_for(n, [=](int64_t i) {
    const T raised = x[i] < low ? low : x[i];
    x[i] = raised > high ? high : raised;
  });
}

template <typename T>
void apply_gelu(const Activation& /*activation*/, void* values, int64_t n) {
  T* const x = static_cast<T*>(values);
  math::gelu(n, x, x);
}

template <typename T>
void apply_gelu_tanh(const Activation& /*activation*/, void* values, int64_t n) {
  T* const x = static_cast<T*>(values);
  math::gelu_tanh(n, x, x);
}

template <typename T>
void apply_sigmoid(const Activation& /*activation*/, void* values, int64_t n) {
  T* const x = static_cast<T*>(values);
  wide_vectorized_for(n, [=](int64_t i) KERNELS_ALWAYS_INLINE { x[i] = math::sigmoid(x[i]); });
}

template <typename T>
void apply_silu(const Activation& /*activation*/, void* values, int64_t n) {
  T* const x = static_cast<T*>(values);
  math::silu(n, x, x);
}

}  // namespace internal

/// Sets `activation` to the function `name` for values of type T, float or double. The names are the same as in
/// export/graph_passes/operators/activation.py. Returns false if there is no such function, or if a bound of "clamp" is
/// NaN.
template <typename T>
bool find_activation(std::string_view name, double minimum, double maximum, Activation& activation) {
  activation = {nullptr, minimum, maximum};
  if (name == "none") {
    return true;
  }
  if (name == "clamp") {
    activation.apply = &internal::apply_clamp<T>;
    return minimum == minimum && maximum == maximum;
  }
  if (name == "gelu") {
    activation.apply = &internal::apply_gelu<T>;
  } else if (name == "gelu_tanh") {
    activation.apply = &internal::apply_gelu_tanh<T>;
  } else if (name == "sigmoid") {
    activation.apply = &internal::apply_sigmoid<T>;
  } else if (name == "silu") {
    activation.apply = &internal::apply_silu<T>;
  }
  return activation.apply != nullptr;
}

}  // namespace rules_executorch::kernels
