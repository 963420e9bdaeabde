#pragma once

#include <cstdint>

namespace rules_executorch::kernels {

/// Complex numbers as two arrays, so that vectors have numbers of one kind.
template <typename T>
struct Signal {
  T* re;
  T* im;

  Signal operator+(int64_t offset) const { return {re + offset, im + offset}; }

  /// The numbers with both parts exchanged. The forward transform of exchanged numbers has the exchanged numbers of the
  /// backward transform.
  Signal exchanged() const { return {im, re}; }

  operator Signal<const T>() const { return {re, im}; }
};

}  // namespace rules_executorch::kernels
