#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/parallel/block.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/dtype.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Random numbers for one call of an operator. Number `i` is a function of the seed and of `i` alone, so that threads
/// share no state and the count of threads does not matter: SplitMix64, whose output passes statistical tests but is
/// not for cryptography.
///
/// Each object has a seed of its own, made of a count of the seeds before it, of the platform's clock
/// (`pal_current_ticks`) and of addresses. Nobody sets the seed: as with ExecuTorch's kernels, no two calls give the
/// same numbers. Not std::random_device, which may throw and which small devices lack.
class RandomNumbers {
 public:
  RandomNumbers();
  explicit RandomNumbers(uint64_t seed) : seed_(seed) {}

  /// Number `i`: 64 random bits.
  uint64_t bits(uint64_t i) const;

  /// Writes the numbers from `first` on, evenly distributed in [0, 1): multiples of 2 to the power of -digits. `T`
  /// holds `digits` binary digits.
  template <typename T>
  void uniform(uint64_t first, int64_t n, int digits, T* values) const;

  /// Writes the numbers from `first` on, which is even, of the normal distribution with mean 0 and variance 1. For `n`
  /// up to kBlockSize.
  template <typename T>
  void normal(uint64_t first, int64_t n, T* values) const;

 private:
  uint64_t seed_;
};

extern template void RandomNumbers::uniform<float>(uint64_t first, int64_t n, int digits, float* values) const;
extern template void RandomNumbers::uniform<double>(uint64_t first, int64_t n, int digits, double* values) const;
extern template void RandomNumbers::normal<float>(uint64_t first, int64_t n, float* values) const;
extern template void RandomNumbers::normal<double>(uint64_t first, int64_t n, double* values) const;

/// Writes random numbers to the elements of `out`, in the order of its memory: `write(first, n, values)` gives the
/// numbers from `first` on, for `n` up to kBlockSize, as elements of type `T`. Several threads have numbers of their
/// own.
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

/// The binary digits of a number of the floating-point dtype `type`.
int digits_of(ScalarType type);

}  // namespace rules_executorch::kernels
