#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/common/layouts.h"

namespace rules_executorch::kernels {

/// The columns of a convolution's group, with those of zeros that fill up its last panel: layouts.yaml says how such
/// panels lie.
constexpr int64_t filled_columns(int64_t columns) {
  return (columns + kFloatPanelColumnStep - 1) / kFloatPanelColumnStep * kFloatPanelColumnStep;
}

/// The columns of one of the panels of `filled` columns.
constexpr int64_t panel_width(int64_t filled, int64_t panel) {
  return std::min(kFloatPanelColumns, filled - panel * kFloatPanelColumns);
}

/// Where a panel of `filled` columns begins, in elements; `k` are the inputs of a sum.
constexpr int64_t panel_start(int64_t filled, int64_t group, int64_t panel, int64_t k) {
  return (group * filled + panel * kFloatPanelColumns) * k;
}

}  // namespace rules_executorch::kernels
