#pragma once

#include <cstdint>

#include "kernels/fourier/mixed_radix.h"
#include "kernels/fourier/signal.h"

namespace rules_executorch::kernels {

/// The discrete Fourier transform of one length. Lengths with a large prime factor are convolutions, whose transforms
/// have a length with small prime factors (Bluestein's algorithm).
template <typename T>
class Transform {
 public:
  /// `step`: 1, or 2 if the caller also needs the powers of the root of unity of twice the length.
  Transform(int64_t length, int64_t step);

  /// The number of elements of memory for the tables.
  int64_t table_size() const;

  /// The number of rows of each memory of `run`.
  int64_t rows() const { return is_direct_ ? length_ : inner_length_; }

  /// The additions that a transform costs.
  int64_t work() const;

  /// Writes the tables to `memory`. `data` and `other` are memory for one signal each.
  void write_tables(T* memory, Signal<T> data, Signal<T> other);

  /// The powers of the root of unity of order `length * step`. Without Bluestein's algorithm, or if `step` is 2.
  Signal<const T> roots() const { return roots_; }

  /// The forward transforms of `lanes` signals. See MixedRadix::run.
  Signal<T> run(Signal<T> data, Signal<T> other, int64_t lanes) const;

 private:
  bool has_roots() const { return is_direct_ || step_ != 1; }

  int64_t length_;
  int64_t step_;
  bool is_direct_;
  int64_t inner_length_ = 0;
  Signal<T> roots_ = {};
  // Of Bluestein's algorithm.
  Signal<T> chirp_ = {};
  Signal<T> spectrum_ = {};
  Signal<T> inner_roots_ = {};
};

}  // namespace rules_executorch::kernels
