#pragma once

#include <cstdint>

/// The compared routines. A library has them with one of the two layers of vectors.
extern "C" {

/// `totals = a * b`, for a `b` in panels. `columns` is a multiple of the columns of a panel of each set.
[[gnu::visibility("default")]] void multiply_floats(const float* a, const float* b, float* totals, int64_t rows,
                                                    int64_t k, int64_t columns);
/// `totals += a * b` for one row.
[[gnu::visibility("default")]] void add_row(const float* a, const float* b, float* totals, int64_t k, int64_t columns);
[[gnu::visibility("default")]] void exponentials(int64_t n, float* out, const float* in);
[[gnu::visibility("default")]] void silus(int64_t n, float* out, const float* in);
/// Multiplies unsigned bytes by the signed bytes of panels. Scales and offsets have an element for each column.
[[gnu::visibility("default")]] void multiply_bytes(const char* rows_data, const char* panels, const float* scales,
                                                   const float* offsets, char* out, int64_t rows, int64_t k,
                                                   int64_t columns);

}  // extern "C"
