#pragma once

#include <cstdint>

/// Conversions between half and float by instructions that a processor may have beyond those that files are compiled
/// for.
namespace rules_executorch::kernels::simd {

/// Whether the processor has instructions that convert between half and float. Nearly all x86-64 processors have.
bool has_half_conversions();

/// Converts as many multiples of 8 elements as `n` has, and returns the number of converted elements. Requires
/// has_half_conversions().
int64_t convert_eights(const uint16_t* from, float* to, int64_t n);
int64_t convert_eights(const float* from, uint16_t* to, int64_t n);

}  // namespace rules_executorch::kernels::simd
