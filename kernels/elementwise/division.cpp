#include "kernels/elementwise/division.h"

#include <algorithm>

#include "kernels/parallel/block.h"
#include "kernels/tensors/convert.h"
#include "kernels/views/loop_nest.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

bool contains_zero(const Tensor& tensor, ScalarType type) {
  const ConstStridedView view(tensor);
  const int64_t size = static_cast<int64_t>(elementSize(type));
  const LoopNest nest = LoopNest::over(view);
  const int64_t stride = nest.row_stride(0);
  bool found = false;
  nest.for_each_row(0, nest.numel(), [&](const int64_t* offsets, int64_t row_size) {
    Block values;
    for (int64_t start = 0; start < row_size && !found; start += kBlockSize) {
      const int64_t n = std::min(kBlockSize, row_size - start);
      load_block(view.dtype, view.data + offsets[0] + start * stride, stride, type, values.data, n);
      for (int64_t i = 0; i < n; ++i) {
        const char* const value = values.data + i * size;
        found |= std::count(value, value + size, 0) == size;
      }
    }
  });
  return found;
}

}  // namespace rules_executorch::kernels
