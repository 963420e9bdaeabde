#include "kernels/fixed/panel.h"

#include <algorithm>

namespace rules_executorch::kernels::fixed {

void PanelSums::add(const float* in, int32_t stride, const float* panel, int32_t count) {
  // Nothing points to these sums, so they stay in registers if the processor has enough of them.
  float registers[kFloatPanelColumns];
  std::copy_n(sums, kFloatPanelColumns, registers);
  for (; count > 0; --count, in += stride, panel += kFloatPanelColumns) {
    const float x = *in;
#pragma GCC unroll 16
    for (int32_t i = 0; i < kFloatPanelColumns; ++i) {
      registers[i] += x * panel[i];
    }
  }
  std::copy_n(registers, kFloatPanelColumns, sums);
}

}  // namespace rules_executorch::kernels::fixed
