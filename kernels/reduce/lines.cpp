#include "kernels/reduce/lines.h"

#include "kernels/copy/copy.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/views/loop_nest.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

void parallel_for_each_line(
    const Tensor& in, int64_t dim, Tensor& out,
    ::executorch::runtime::FunctionRef<void(const LineLayout& layout, const char* in, char* out)> function) {
  ConstStridedView in_view(in);
  StridedView out_view(out);
  if (in_view.rank == 0) {
    in_view = in_view.unsqueeze(0);
    out_view = out_view.unsqueeze(0);
  }
  if (in_view.dtype == out_view.dtype && in_view.strides[dim] != 1 && out_view.strides[dim] == 1) {
    // The elements are read several times, so that a contiguous copy is faster.
    copy(in_view, out_view);
    in_view = out_view;
  }
  const LineLayout layout{in_view.dtype, out_view.dtype, in_view.sizes[dim],
                          in_view.strides[dim] * in_view.element_size(),
                          out_view.strides[dim] * out_view.element_size()};
  const LoopNest nest = LoopNest::over(out_view.select(dim, 0), in_view.select(dim, 0));
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, layout.size));
  nest.parallel_for_each_row(grain, [&](const int64_t* offsets, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      function(layout, in_view.data + offsets[1] + i * nest.row_stride(1),
               out_view.data + offsets[0] + i * nest.row_stride(0));
    }
  });
}

}  // namespace rules_executorch::kernels
