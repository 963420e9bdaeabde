#include "kernels/copy/copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/copy/transposition.h"
#include "kernels/parallel/block.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"
#include "kernels/views/loop_nest.h"

namespace rules_executorch::kernels {
namespace {

/// With fewer slices of a dimension for each thread, threads would have parts of different sizes.
constexpr int64_t kSlicesOfThread = 8;

/// The loop of `nest` that forms, with the rows, a matrix to transpose: the loop's steps are contiguous in operand 1,
/// the source, and the rows are contiguous in operand 0, the target. -1 if there is no such loop, or if tiles would not
/// pay off.
int64_t transposed_loop(const LoopNest& nest, int64_t element_size) {
  if (element_size > int64_t{sizeof(int64_t)} || nest.row_stride(0) != element_size || nest.row_stride(1) == 0 ||
      nest.row_stride(1) == element_size) {
    return -1;
  }
  for (int64_t d = nest.rank() - 2; d >= 0; --d) {
    if (nest.stride(1, d) == element_size && nest.size(d) >= kTransposedTile / 4) {
      return d;
    }
  }
  return -1;
}

/// Copies elements of one dtype. The rows of `nest` and its loop `d` are a matrix to transpose.
void copy_transposed(const LoopNest& nest, int64_t d, const ConstStridedView& source, const StridedView& target) {
  const Transposition matrix{target.element_size(), nest.row_stride(1), nest.stride(0, d)};
  // With few columns, a tile has more rows, so that each tile has enough elements.
  const int64_t tile_rows = kTransposedTile * std::max<int64_t>(kTransposedTile / nest.row_size(), 1);
  // The other loops. A tile of rows is one step of loop `d`; the third operand counts these steps.
  StridedShape operands[3];
  for (int k = 0; k < 3; ++k) {
    StridedShape& operand = operands[k];
    operand.dtype = ScalarType::Byte;
    operand.rank = nest.rank() - 1;
    for (int64_t i = 0; i < operand.rank; ++i) {
      const int64_t step = i == d ? tile_rows : 1;
      operand.sizes[i] = (nest.size(i) + step - 1) / step;
      operand.strides[i] = k < 2 ? nest.stride(k, i) * step : i == d;
    }
  }
  const LoopNest outer = LoopNest::over(operands[0], operands[1], operands[2]);
  const int64_t grain = std::max<int64_t>(1, kGrain / (tile_rows * nest.row_size()));
  outer.parallel_for_each_row(grain, [&](const int64_t* offsets, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = (offsets[2] + i * outer.row_stride(2)) * tile_rows;
      copy_transposition(matrix, source.data + offsets[1] + i * outer.row_stride(1),
                         target.data + offsets[0] + i * outer.row_stride(0), std::min(tile_rows, nest.size(d) - row),
                         nest.row_size());
    }
  });
}

template <int64_t kBytes>
void copy_lines(const char* source, int64_t source_step, char* target, int64_t target_step, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(target + i * target_step, source + i * source_step, static_cast<size_t>(kBytes));
  }
}

using CopyLines = void (*)(const char* source, int64_t source_step, char* target, int64_t target_step, int64_t n);

/// The function that copies lines of `bytes` bytes, which are contiguous. Null if calls of memcpy are as fast.
CopyLines copy_lines_of(int64_t bytes) {
  switch (bytes) {
    case 8:
      return &copy_lines<8>;
    case 16:
      return &copy_lines<16>;
    case 32:
      return &copy_lines<32>;
    case 64:
      return &copy_lines<64>;
    case 128:
      return &copy_lines<128>;
    case 256:
      return &copy_lines<256>;
    default:
      return nullptr;
  }
}

/// Copies the rows of `nest`, which are contiguous in both views, several at a time.
void copy_short_rows(const LoopNest& nest, CopyLines copy_some, const ConstStridedView& source,
                     const StridedView& target) {
  StridedShape operands[2];
  for (int k = 0; k < 2; ++k) {
    operands[k].dtype = ScalarType::Byte;
    operands[k].rank = nest.rank() - 1;
    for (int64_t d = 0; d < operands[k].rank; ++d) {
      operands[k].sizes[d] = nest.size(d);
      operands[k].strides[d] = nest.stride(k, d);
    }
  }
  const LoopNest rows = LoopNest::over(operands[0], operands[1]);
  rows.parallel_for_each_row(kGrain / nest.row_size(), [&](const int64_t* offsets, int64_t n) {
    copy_some(source.data + offsets[1], rows.row_stride(1), target.data + offsets[0], rows.row_stride(0), n);
  });
}

/// The dimension of `shape` that is outermost in memory, of those with several elements; 0 if there is none.
int64_t outermost_dim(const StridedShape& shape) {
  int64_t order[kTensorDimensionLimit];
  shape.memory_order(order);
  int64_t* const end = order + shape.rank;
  int64_t* const found = std::find_if(order, end, [&](int64_t d) { return shape.sizes[d] > 1; });
  return found == end ? 0 : *found;
}

}  // namespace

void copy(const ConstStridedView& source, const StridedView& target) {
  const LoopNest nest = LoopNest::over(target, source);
  const int64_t target_stride = nest.row_stride(0);
  const int64_t source_stride = nest.row_stride(1);

  if (source.dtype == target.dtype) {
    const int64_t d = transposed_loop(nest, target.element_size());
    if (d >= 0) {
      copy_transposed(nest, d, source, target);
      return;
    }
    const int64_t size = target.element_size();
    const bool has_rows = nest.rank() > 1 && target_stride == size && source_stride == size;
    const CopyLines copy_some = has_rows ? copy_lines_of(nest.row_size() * size) : nullptr;
    if (copy_some != nullptr) {
      copy_short_rows(nest, copy_some, source, target);
      return;
    }
    nest.parallel_for_each_row(kGrain, [&](const int64_t* offsets, int64_t n) {
      copy_elements(source.data + offsets[1], source_stride, target.data + offsets[0], target_stride, size, n);
    });
    return;
  }

  nest.parallel_for_each_row(kGrain, [&](const int64_t* offsets, int64_t row_part) {
    Block block;
    const int64_t step = block_length(target.element_size());
    for (int64_t start = 0; start < row_part; start += step) {
      const int64_t n = std::min(step, row_part - start);
      load_block(source.dtype, source.data + offsets[1] + start * source_stride, source_stride, target.dtype,
                 block.data, n);
      store_block(target.dtype, block.data, target.dtype, target.data + offsets[0] + start * target_stride,
                  target_stride, n);
    }
  });
}

void concatenate(int64_t count, ::executorch::runtime::FunctionRef<ConstStridedView(int64_t)> source, int64_t dim,
                 const StridedView& target) {
  // One loop for all sources, in which a thread copies a contiguous part of the target's memory.
  const int64_t d = outermost_dim(target);
  const int64_t size = target.sizes[d];
  const bool is_divided = d != dim && size >= kSlicesOfThread * thread_count();
  const auto copy_slices = [&](int64_t begin, int64_t end) {
    int64_t start = 0;
    for (int64_t i = 0; i < count; ++i) {
      const ConstStridedView view = source(i);
      const StridedView to = target.slice(dim, start, view.sizes[dim]);
      if (is_divided) {
        copy(view.slice(d, begin, end - begin), to.slice(d, begin, end - begin));
      } else {
        copy(view, to);
      }
      start += view.sizes[dim];
    }
  };
  if (is_divided) {
    parallel_for(0, size, kGrain * size / std::max<int64_t>(target.numel(), 1), copy_slices);
  } else {
    copy_slices(0, size);
  }
}

}  // namespace rules_executorch::kernels
