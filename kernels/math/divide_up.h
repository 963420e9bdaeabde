#pragma once

#include <cstdint>

namespace rules_executorch::kernels {

/// a / b, rounded up. `a` is not negative, `b` is positive.
constexpr int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The size of the parts of `all`, with as few parts as possible. Each part has at most about `most` items: the parts
/// have about the same size, which is rounded up to a multiple of `step`.
constexpr int64_t even_size(int64_t all, int64_t most, int64_t step) {
  return divide_up(divide_up(all, divide_up(all, most)), step) * step;
}

}  // namespace rules_executorch::kernels
