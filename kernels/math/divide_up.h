#pragma once

#include <cstdint>

namespace rules_executorch::kernels {

/// a / b, rounded up. `a` is not negative, `b` is positive.
constexpr int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The size of as few parts of `all` as there may be, each of `most` at most: about the same for all of them, and a
/// multiple of `step`.
constexpr int64_t even_size(int64_t all, int64_t most, int64_t step) {
  return divide_up(divide_up(all, divide_up(all, most)), step) * step;
}

}  // namespace rules_executorch::kernels
