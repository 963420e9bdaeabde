#include "kernels/copy/mapped_copy.h"

#include <cstring>

#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "kernels/parallel/parallel_for.h"

namespace rules_executorch::kernels {
namespace {

/// `n` elements of a target row whose source elements have a constant stride. Bytes from the source row.
struct Run {
  int64_t offset;
  int64_t step;
  int64_t n;
};

/// The source offsets of a part of a target row, from element `start` on. They are the same for all rows.
struct RowPart {
  static constexpr int64_t kMaxRuns = kBlockSize / 4;

  Run runs[kMaxRuns];
  int64_t count;
  int64_t start;
};

template <typename Element>
void copy_row(const RowPart& part, const char* source, char* target, int64_t stride) {
  char* to = target + part.start * stride;
  for (int64_t k = 0; k < part.count; ++k) {
    const Run& run = part.runs[k];
    const char* from = source + run.offset;
    constexpr int64_t kSize = sizeof(Element);
    if (run.step == kSize && stride == kSize && run.n > 1) {
      std::memcpy(to, from, static_cast<size_t>(run.n) * sizeof(Element));
    } else if (run.step == -kSize && stride == kSize) {
      vectorized_for(run.n, [=](int64_t i) { std::memcpy(to + i * kSize, from - i * kSize, sizeof(Element)); });
    } else {
      for (int64_t i = 0; i < run.n; ++i) {
        std::memcpy(to + i * stride, from + i * run.step, sizeof(Element));
      }
    }
    to += run.n * stride;
  }
}

using CopyRow = void (*)(const RowPart& part, const char* source, char* target, int64_t stride);

/// Adds the source offset of the next element. Returns false if all runs are in use.
bool append(RowPart& part, int64_t offset) {
  if (part.count > 0) {
    Run& last = part.runs[part.count - 1];
    if (last.n == 1) {
      last.step = offset - last.offset;
    }
    if (offset == last.offset + last.n * last.step) {
      ++last.n;
      return true;
    }
  }
  if (part.count == RowPart::kMaxRuns) {
    return false;
  }
  part.runs[part.count++] = {offset, 0, 1};
  return true;
}

/// Copies the part of each row from number `begin` to `end` (exclusive). `order` lists the dimensions, the rows'
/// dimension last; rows are numbered in this order. `from` and `to` are the first elements of the views.
void copy_rows(const ConstStridedView& source, const StridedView& target, IndexMap map, const RowPart& part,
               CopyRow copy_row, const int64_t* order, const char* from, char* to, int64_t begin, int64_t end) {
  const int64_t size = target.element_size();
  const int64_t last = target.rank - 1;
  int64_t index[kTensorDimensionLimit];
  int64_t left = begin;
  for (int64_t k = last - 1; k >= 0; --k) {
    index[k] = left % target.sizes[order[k]];
    left /= target.sizes[order[k]];
  }
  // At place k + 1, the element that the indices up to place k lead to.
  const char* sources[kTensorDimensionLimit] = {from};
  char* targets[kTensorDimensionLimit] = {to};
  int64_t changed = 0;  // the first place with another index than before
  for (int64_t row = begin; row < end; ++row) {
    for (int64_t k = changed; k < last; ++k) {
      const int64_t d = order[k];
      sources[k + 1] = sources[k] + map(d, index[k]) * source.strides[d] * size;
      targets[k + 1] = targets[k] + index[k] * target.strides[d] * size;
    }
    copy_row(part, sources[last], targets[last], target.strides[order[last]] * size);
    for (changed = last; changed > 0;) {
      --changed;
      if (++index[changed] < target.sizes[order[changed]]) {
        break;
      }
      index[changed] = 0;
    }
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
  // The rows are along the dimension that is innermost in the target's memory.
  int64_t order[kTensorDimensionLimit];
  target.memory_order(order);
  const int64_t last = order[target.rank - 1];
  const int64_t rows = target.numel() / target.sizes[last];
  RowPart part;
  for (int64_t i = 0; i < target.sizes[last];) {
    part.start = i;
    part.count = 0;
    while (i < target.sizes[last] && append(part, map(last, i) * source.strides[last] * size)) {
      ++i;
    }
    parallel_for(0, rows, kGrain / (i - part.start), [&](int64_t begin, int64_t end) {
      // Elements of 16 bytes are copied as two halves.
      for (int64_t half = 0; half < size; half += sizeof(uint64_t)) {
        copy_rows(source, target, map, part, copy_row_of_size, order, source.data + half, target.data + half, begin,
                  end);
      }
    });
  }
}

}  // namespace rules_executorch::kernels
