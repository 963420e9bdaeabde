#pragma once

#include <cstdint>

namespace rules_executorch::kernels {

/// The bytes of a vector, and the number of vector registers, of the instruction set that a file is compiled for.
#if defined(__AVX512BW__)
inline constexpr int64_t kVectorBytes = 64;
inline constexpr int kVectorRegisters = 32;
#elif defined(__AVX__)
inline constexpr int64_t kVectorBytes = 32;
inline constexpr int kVectorRegisters = 16;
#elif defined(__aarch64__)
inline constexpr int64_t kVectorBytes = 16;
inline constexpr int kVectorRegisters = 32;
#else
inline constexpr int64_t kVectorBytes = 16;
inline constexpr int kVectorRegisters = 16;
#endif

}  // namespace rules_executorch::kernels
