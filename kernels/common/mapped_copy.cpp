#include "kernels/common/mapped_copy.h"

#include <algorithm>
#include <cstring>

#include "kernels/common/block.h"

namespace rules_executorch::kernels {
namespace {

/// Where the sources of a block of a target's row are, in bytes from the source's row; the same for all rows.
struct RowPart {
  int64_t offsets[kBlockSize];
  int64_t start;
  int64_t n;
};

template <typename Element>
void copy_row(const RowPart& part, const char* source, char* target, int64_t stride) {
  for (int64_t i = 0; i < part.n; ++i) {
    std::memcpy(target + (part.start + i) * stride, source + part.offsets[i], sizeof(Element));
  }
}

using CopyRow = void (*)(const RowPart& part, const char* source, char* target, int64_t stride);

/// Copies the part of all rows that lie in dimensions from `d` on, from the elements `from` and `to`.
void copy_rows(const ConstStridedView& source, const StridedView& target, IndexMap map, const RowPart& part,
               CopyRow copy_row, int64_t d, const char* from, char* to) {
  const int64_t size = target.element_size();
  if (d == target.rank - 1) {
    copy_row(part, from, to, target.strides[d] * size);
    return;
  }
  for (int64_t i = 0; i < target.sizes[d]; ++i) {
    copy_rows(source, target, map, part, copy_row, d + 1, from + map(d, i) * source.strides[d] * size,
              to + i * target.strides[d] * size);
  }
}

}  // namespace

void copy_mapped(const ConstStridedView& source, const StridedView& target, IndexMap map) {
  if (target.numel() == 0) {
    return;
  }
  const int64_t size = target.element_size();
  if (target.rank == 0) {
    std::memcpy(target.data, source.data, static_cast<size_t>(size));
    return;
  }
  const CopyRow copy_row_of_size = size == 1   ? &copy_row<uint8_t>
                                   : size == 2 ? &copy_row<uint16_t>
                                   : size == 4 ? &copy_row<uint32_t>
                                               : &copy_row<uint64_t>;
  const int64_t last = target.rank - 1;
  RowPart part;
  for (part.start = 0; part.start < target.sizes[last]; part.start += kBlockSize) {
    part.n = std::min(kBlockSize, target.sizes[last] - part.start);
    for (int64_t i = 0; i < part.n; ++i) {
      part.offsets[i] = map(last, part.start + i) * source.strides[last] * size;
    }
    copy_rows(source, target, map, part, copy_row_of_size, 0, source.data, target.data);
  }
}

}  // namespace rules_executorch::kernels
