#include "kernels/math/byte_table.h"

#include <algorithm>

#include "kernels/simd/run_time.h"
#include "kernels/simd/simd.h"

namespace rules_executorch::kernels {

namespace {

void look_up_each(const uint8_t* table, const uint8_t* in, int64_t rows, int64_t n, int64_t stride, uint8_t* out) {
  for (int64_t row = 0; row < rows; ++row, in += stride, out += stride) {
    for (int64_t i = 0; i < n; ++i) {
      out[i] = table[in[i]];
    }
  }
}

#if KERNELS_HAVE_VECTOR_TABLES

KERNELS_VECTOR_TABLES void look_up_in_vectors(const uint8_t* table, const uint8_t* in, int64_t rows, int64_t n,
                                              int64_t stride, uint8_t* out) {
  const simd::VectorTable look_up{table};
  for (int64_t row = 0; row < rows; ++row, in += stride, out += stride) {
    for (int64_t i = 0; i < n; i += simd::kByteLanes) {
      if (n - i >= simd::kByteLanes) {
        simd::store(out + i, look_up(simd::load_as<simd::Bytes>(in + i)));
      } else {
        // The bytes after the row must not change. A copy of a few bytes is faster than a masked store.
        uint8_t bytes[simd::kByteLanes];
        simd::store(bytes, look_up(simd::load_some_bytes(in + i, n - i)));
        simd::copy_few_bytes(out + i, bytes, n - i);
      }
    }
  }
}

#elif defined(KERNELS_HAVE_BYTE_TABLES)

/// The number of bytes from which on a ByteTable is faster than a lookup of each byte.
constexpr int64_t kManyBytes = 256;

/// Looks up one of kParts parts of a vector of each of `rows` rows. Rows often end with a part, so that several rows
/// share a vector.
template <int kParts>
KERNELS_ALWAYS_INLINE inline void look_up_parts(const simd::ByteTable& look_up, const uint8_t* in, int64_t rows,
                                                int64_t stride, uint8_t* out) {
  for (int64_t row = 0; row < rows; row += kParts) {
    const uint8_t* from[kParts];
    void* to[kParts];
#pragma GCC unroll 4
    for (int i = 0; i < kParts; ++i) {
      const int64_t at = std::min(row + i, rows - 1) * stride;
      from[i] = in + at;
      to[i] = out + at;
    }
    simd::store_parts(to, look_up(simd::load_parts(from)));
  }
}

void look_up_with_byte_table(const uint8_t* table, const uint8_t* in, int64_t rows, int64_t n, int64_t stride,
                             uint8_t* out) {
  const simd::ByteTable look_up{table};
  int64_t done = n / simd::kByteLanes * simd::kByteLanes;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = row * stride; i < row * stride + done; i += simd::kByteLanes) {
      simd::store(out + i, look_up(simd::load_as<simd::Bytes>(in + i)));
    }
  }
  constexpr int64_t kPart = simd::kByteLanes / simd::kMostParts;
  if (n - done >= kPart) {
    look_up_parts<simd::kMostParts>(look_up, in + done, rows, stride, out + done);
    done += kPart;
  }
  look_up_each(table, in + done, rows, n - done, stride, out + done);
}

#endif

void look_up(const uint8_t* table, const uint8_t* in, int64_t rows, int64_t n, int64_t stride, uint8_t* out) {
#if KERNELS_HAVE_VECTOR_TABLES
  if (simd::has_vector_tables()) {
    look_up_in_vectors(table, in, rows, n, stride, out);
    return;
  }
#elif defined(KERNELS_HAVE_BYTE_TABLES)
  if (rows * n >= kManyBytes) {
    look_up_with_byte_table(table, in, rows, n, stride, out);
    return;
  }
#endif
  look_up_each(table, in, rows, n, stride, out);
}

}  // namespace

void look_up_bytes(const uint8_t* table, const uint8_t* in, int64_t n, uint8_t* out) {
  look_up(table, in, 1, n, 0, out);
}

void look_up_rows(const uint8_t* table, int64_t rows, int64_t n, int64_t stride, uint8_t* bytes) {
  look_up(table, bytes, rows, n, stride, bytes);
}

}  // namespace rules_executorch::kernels
