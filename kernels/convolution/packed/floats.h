#pragma once

#include <cstdint>

#include "kernels/simd/simd.h"

namespace rules_executorch::kernels::packed {

using Floats = simd::Vector<float>;
inline constexpr int64_t kLanes = simd::kLanes<float>;

}  // namespace rules_executorch::kernels::packed
