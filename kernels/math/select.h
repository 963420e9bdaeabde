#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace rules_executorch::kernels {

/// condition ? x : y without a branch, because branches on irregular conditions are mispredicted.
template <typename T>
inline T select(bool condition, T x, T y) {
  using Bits = std::conditional_t<
      sizeof(T) == 1, uint8_t,
      std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
  Bits x_bits;
  Bits y_bits;
  std::memcpy(&x_bits, &x, sizeof(T));
  std::memcpy(&y_bits, &y, sizeof(T));
  const Bits mask = static_cast<Bits>(-static_cast<Bits>(condition));
  const Bits bits = static_cast<Bits>((x_bits & mask) | (y_bits & ~mask));
  std::memcpy(&x, &bits, sizeof(T));
  return x;
}

}  // namespace rules_executorch::kernels
