#include "kernels/copy/offset_copy.h"

#include <cstring>

namespace rules_executorch::kernels {
namespace {

template <typename Element, bool kScatters>
void copy_each(const char* source, char* target, const int64_t* offsets, int64_t stride, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(target + (kScatters ? offsets[i] : i * stride), source + (kScatters ? i * stride : offsets[i]),
                sizeof(Element));
  }
}

template <bool kScatters>
void copy_elements(const char* source, char* target, const int64_t* offsets, int64_t stride, int64_t element_size,
                   int64_t n) {
  switch (element_size) {
    case 1:
      return copy_each<uint8_t, kScatters>(source, target, offsets, stride, n);
    case 2:
      return copy_each<uint16_t, kScatters>(source, target, offsets, stride, n);
    case 4:
      return copy_each<uint32_t, kScatters>(source, target, offsets, stride, n);
    default:
      // Elements of 16 bytes are copied as two halves.
      for (int64_t half = 0; half < element_size; half += sizeof(uint64_t)) {
        copy_each<uint64_t, kScatters>(source + half, target + half, offsets, stride, n);
      }
  }
}

}  // namespace

void gather_elements(const char* source, const int64_t* offsets, char* target, int64_t stride, int64_t element_size,
                     int64_t n) {
  copy_elements</*kScatters=*/false>(source, target, offsets, stride, element_size, n);
}

void scatter_elements(const char* source, int64_t stride, char* target, const int64_t* offsets, int64_t element_size,
                      int64_t n) {
  copy_elements</*kScatters=*/true>(source, target, offsets, stride, element_size, n);
}

}  // namespace rules_executorch::kernels
