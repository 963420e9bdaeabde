#pragma once

#include <cstdint>

namespace rules_executorch::kernels {

/// `out[i] = table[in[i]]` for i < n; `table` has 256 bytes. `out` may be `in`.
void look_up_bytes(const uint8_t* table, const uint8_t* in, int64_t n, uint8_t* out);

/// The same for `rows` rows of `n` bytes, which are `stride` bytes apart and become what they are in the table.
void look_up_rows(const uint8_t* table, int64_t rows, int64_t n, int64_t stride, uint8_t* bytes);

}  // namespace rules_executorch::kernels
