#pragma once

#include <cstdint>

namespace rules_executorch::kernels {

/// `out[i] = table[in[i]]` for i < n; `table` has 256 bytes. `out` may be `in`.
void look_up_bytes(const uint8_t* table, const uint8_t* in, int64_t n, uint8_t* out);

/// Replaces each byte of `rows` rows of `n` bytes by its entry in the table. `stride` is the number of bytes from one
/// row to the next.
void look_up_rows(const uint8_t* table, int64_t rows, int64_t n, int64_t stride, uint8_t* bytes);

}  // namespace rules_executorch::kernels
