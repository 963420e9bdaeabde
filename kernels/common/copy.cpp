#include "kernels/common/copy.h"

#include <algorithm>

#include "kernels/common/convert.h"
#include "kernels/common/loop_nest.h"

namespace rules_executorch::kernels {

void copy(const StridedView& source, const StridedView& target) {
  const StridedView operands[] = {target, source};
  const LoopNest nest(operands, 2);
  const int64_t row_size = nest.row_size();
  const int64_t target_stride = nest.row_stride(0);
  const int64_t source_stride = nest.row_stride(1);

  if (source.dtype == target.dtype) {
    nest.for_each_row([&](char* const* row) {
      copy_elements(row[1], source_stride, row[0], target_stride, target.element_size(), row_size);
    });
    return;
  }

  Block block;
  nest.for_each_row([&](char* const* row) {
    for (int64_t start = 0; start < row_size; start += kBlockSize) {
      const int64_t n = std::min(kBlockSize, row_size - start);
      load_block(source.dtype, row[1] + start * source_stride, source_stride, target.dtype, block.data, n);
      store_block(target.dtype, block.data, target.dtype, row[0] + start * target_stride, target_stride, n);
    }
  });
}

}  // namespace rules_executorch::kernels
