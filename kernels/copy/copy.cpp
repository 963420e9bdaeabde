#include "kernels/copy/copy.h"

#include <algorithm>
#include <cstdint>

#include "kernels/copy/transposition.h"
#include "kernels/parallel/block.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"
#include "kernels/views/loop_nest.h"

namespace rules_executorch::kernels {
namespace {

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
    nest.parallel_for_each_row(kGrain, [&](const int64_t* offsets, int64_t n) {
      copy_elements(source.data + offsets[1], source_stride, target.data + offsets[0], target_stride,
                    target.element_size(), n);
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

}  // namespace rules_executorch::kernels
