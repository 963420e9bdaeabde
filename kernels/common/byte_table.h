#pragma once

#include <cstdint>

namespace rules_executorch::kernels {

/// `out[i] = table[in[i]]` for i < n; `table` has 256 bytes. `out` may be `in`.
void look_up_bytes(const uint8_t* table, const uint8_t* in, int64_t n, uint8_t* out);

}  // namespace rules_executorch::kernels
