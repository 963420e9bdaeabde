#pragma once

#include "kernels/reduce/reduction.h"

namespace rules_executorch::kernels {

/// Reduces `count` values to their mean.
template <typename T>
struct Mean {
  using Argument = T;
  using Accumulator = T;
  using Result = T;

  T count;

  T start() const { return 0; }
  void add(T& total, T value) const { total += value; }
  void merge(T& total, T other) const { total += other; }
  T finish(T total) const { return total / count; }
};

}  // namespace rules_executorch::kernels
