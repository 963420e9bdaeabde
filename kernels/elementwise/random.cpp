#include "kernels/elementwise/random.h"

#include <executorch/runtime/platform/platform.h>

#include <atomic>
#include <cmath>
#include <limits>

#include "kernels/math/vector_math.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "runtime/kernel_api/random_seed.h"

namespace rules_executorch::kernels {
namespace {

/// The step of SplitMix64 (2^64 divided by the golden ratio), and its mixing function.
constexpr uint64_t kStep = 0x9e3779b97f4a7c15;

uint64_t mix(uint64_t state) {
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
  state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
  return state ^ (state >> 31);
}

/// 32 bits, because small processors have atomic additions without a lock for 32 bits.
std::atomic<uint32_t> seed_count{0};

}  // namespace

RandomNumbers::RandomNumbers() {
  uint64_t seed;
  uint32_t call;
  if (next_random_seed(seed, call)) {
    seed_ = mix(mix(seed) + call * kStep);
    return;
  }
  const uint64_t count = seed_count.fetch_add(1, std::memory_order_relaxed);
  const uint64_t address = reinterpret_cast<uintptr_t>(this);
  seed_ = mix(mix(mix(::executorch::runtime::pal_current_ticks()) + address) + count);
}

uint64_t RandomNumbers::bits(uint64_t i) const { return mix(seed_ + (i + 1) * kStep); }

uint64_t RandomNumbers::below(uint64_t i, uint64_t end) const {
  // The upper half of the product of 64 random bits and `end`. Not all compilers have integers of 128 bits.
  const uint64_t number = bits(i);
  const uint64_t low = static_cast<uint32_t>(number);
  const uint64_t high = number >> 32;
  const uint64_t end_low = static_cast<uint32_t>(end);
  const uint64_t end_high = end >> 32;
  const uint64_t middle = high * end_low + (low * end_low >> 32);
  const uint64_t other_middle = low * end_high + static_cast<uint32_t>(middle);
  return high * end_high + (middle >> 32) + (other_middle >> 32);
}

double RandomNumbers::between_0_and_1(uint64_t i) const {
  constexpr int kDigits = 52;
  return (static_cast<double>(static_cast<int64_t>(bits(i) >> (64 - kDigits))) + 0.5) * std::ldexp(1.0, -kDigits);
}

template <typename T>
void RandomNumbers::uniform(uint64_t first, int64_t n, int digits, T* values) const {
  const T unit = static_cast<T>(std::ldexp(1, -digits));
  for (int64_t i = 0; i < n; ++i) {
    // Converts from a signed integer, because processors have an instruction for this conversion.
    values[i] = static_cast<T>(static_cast<int64_t>(bits(first + i) >> (64 - digits))) * unit;
  }
}

template <typename T>
void RandomNumbers::normal(uint64_t first, int64_t n, T* values) const {
  // Box-Muller transform: a radius and an angle, from two uniform numbers, give two results.
  constexpr int kDigits = std::numeric_limits<T>::digits;
  constexpr T kTurn = static_cast<T>(6.283185307179586);
  constexpr int64_t kPairs = kBlockSize / 2;
  const int64_t pairs = (n + 1) / 2;
  T radius[kPairs];
  T angle[kPairs];
  T sine[kPairs];
  T cosine[kPairs];
  for (int64_t i = 0; i < pairs; ++i) {
    uniform(first + 2 * i, 1, kDigits, &radius[i]);
    uniform(first + 2 * i + 1, 1, kDigits, &angle[i]);
  }
  vectorized_for(pairs, [&](int64_t i) KERNELS_ALWAYS_INLINE {
    // 1 - radius is in (0, 1], so that the logarithm is finite.
    radius[i] = std::sqrt(-2 * math::log(1 - radius[i]));
    angle[i] *= kTurn;
  });
  math::sin(pairs, sine, angle);
  math::cos(pairs, cosine, angle);
  for (int64_t i = 0; i < n; ++i) {
    values[i] = i % 2 == 0 ? radius[i / 2] * cosine[i / 2] : radius[i / 2] * sine[i / 2];
  }
}

template void RandomNumbers::uniform<float>(uint64_t first, int64_t n, int digits, float* values) const;
template void RandomNumbers::uniform<double>(uint64_t first, int64_t n, int digits, double* values) const;
template void RandomNumbers::normal<float>(uint64_t first, int64_t n, float* values) const;
template void RandomNumbers::normal<double>(uint64_t first, int64_t n, double* values) const;

int digits_of(ScalarType type) {
  switch (type) {
    case ScalarType::Half:
      return 11;
    case ScalarType::BFloat16:
      return 8;
    case ScalarType::Double:
      return std::numeric_limits<double>::digits;
    default:
      return std::numeric_limits<float>::digits;
  }
}

}  // namespace rules_executorch::kernels
