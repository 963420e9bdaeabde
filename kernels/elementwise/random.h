#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/parallel/block.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/dtype.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Random numbers for one call of an operator. Number `i` is a function of the seed and `i`, so that threads share no
/// state and results do not depend on the number of threads. The generator is SplitMix64. Its output passes statistical
/// tests, but is not suitable for cryptography.
///
/// Each object has its own seed. In a binary that has set a seed (`runtime/kernel_api/random_seed.h`), the object's
/// seed is computed from that seed and the number of objects since then. Otherwise, as with ExecuTorch's kernels, each
/// call returns other numbers: the object's seed is computed from the number of previous seeds, the platform's clock
/// (`pal_current_ticks`) and addresses. std::random_device is not used, because it may throw and is missing on small
/// devices.
class RandomNumbers {
 public:
  RandomNumbers();
  explicit RandomNumbers(uint64_t seed) : seed_(seed) {}

  /// Number `i`: 64 random bits.
  uint64_t bits(uint64_t i) const;

  /// Number `i`, uniform among the integers from 0 to `end` (exclusive). `end` must not be 0. The probabilities differ
  /// by less than `end` / 2^64.
  uint64_t below(uint64_t i, uint64_t end) const;

  /// Number `i`, uniform in (0, 1), so that its logarithm is finite and negative.
  double between_0_and_1(uint64_t i) const;

  /// Writes `n` numbers from number `first` on, uniform in [0, 1): multiples of 2^-digits. `T` must have at least
  /// `digits` binary digits.
  template <typename T>
  void uniform(uint64_t first, int64_t n, int digits, T* values) const;

  /// Writes `n` numbers from number `first` on, of the normal distribution with mean 0 and variance 1. `first` must be
  /// even. `n` is at most kBlockSize.
  template <typename T>
  void normal(uint64_t first, int64_t n, T* values) const;

 private:
  uint64_t seed_;
};

extern template void RandomNumbers::uniform<float>(uint64_t first, int64_t n, int digits, float* values) const;
extern template void RandomNumbers::uniform<double>(uint64_t first, int64_t n, int digits, double* values) const;
extern template void RandomNumbers::normal<float>(uint64_t first, int64_t n, float* values) const;
extern template void RandomNumbers::normal<double>(uint64_t first, int64_t n, double* values) const;

/// Writes random numbers to the elements of `out`, in the order of its memory. `write(first, n, values)` computes `n`
/// numbers from number `first` on, as elements of type `T`; `n` is at most kBlockSize. Threads write disjoint ranges of
/// numbers.
template <typename T, typename Write>
void write_random(Tensor& out, const Write& write) {
  const StridedView view(out);
  parallel_for(0, (out.numel() + kBlockSize - 1) / kBlockSize, kGrain / kBlockSize, [&](int64_t begin, int64_t end) {
    for (int64_t start = begin * kBlockSize; start < std::min<int64_t>(end * kBlockSize, out.numel());
         start += kBlockSize) {
      alignas(16) T values[kBlockSize];
      const int64_t n = std::min<int64_t>(kBlockSize, out.numel() - start);
      write(static_cast<uint64_t>(start), n, values);
      store_block(CppTypeToScalarType<T>::value, values, view.dtype, view.data + start * view.element_size(),
                  view.element_size(), n);
    }
  });
}

/// The number of binary digits of the floating-point dtype `type`.
int digits_of(ScalarType type);

/// Fills `out`, a tensor of floats whose dtype is computed as `T`, with uniform numbers in [0, 1).
template <typename T>
void draw_uniform(Tensor& out) {
  const RandomNumbers numbers;
  write_random<T>(out, [&](uint64_t first, int64_t n, T* values) {
    numbers.uniform(first, n, digits_of(out.scalar_type()), values);
  });
}

/// The same with numbers of the normal distribution with mean 0 and variance 1.
template <typename T>
void draw_normal(Tensor& out) {
  const RandomNumbers numbers;
  write_random<T>(out, [&](uint64_t first, int64_t n, T* values) { numbers.normal(first, n, values); });
}

}  // namespace rules_executorch::kernels
