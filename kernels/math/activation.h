#pragma once

#include <cstdint>
#include <string_view>

namespace rules_executorch::kernels {

/// A function that an operator applies to its results while the results are in the cache.
struct Activation {
  using Apply = void (*)(const Activation& activation, int64_t n, void* results, const void* values);

  Apply apply = nullptr;  // null: no activation
  double minimum = 0;     // the bounds of "clamp", or the first and the second parameter of another activation
  double maximum = 0;

  /// Applies the function to `n` values. `results` may be `values`.
  void operator()(int64_t n, void* results, const void* values) const { apply(*this, n, results, values); }

  /// Applies the function, if there is one, to `n` values in place.
  void operator()(void* values, int64_t n) const {
    if (apply != nullptr) {
      apply(*this, n, values, values);
    }
  }
};

/// Sets `activation` to the function `name` for values of type T, float or double. The names and the parameters are the
/// same as in export/graph_passes/operators/activation.py. Returns false if there is no such function, or if a bound of
/// "clamp" is NaN.
template <typename T>
bool find_activation(std::string_view name, double minimum, double maximum, Activation& activation);

extern template bool find_activation<float>(std::string_view, double, double, Activation&);
extern template bool find_activation<double>(std::string_view, double, double, Activation&);

}  // namespace rules_executorch::kernels
