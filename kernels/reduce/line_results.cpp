#include "kernels/reduce/line_results.h"

#include <algorithm>
#include <cstring>

#include "kernels/parallel/parallel_for.h"
#include "kernels/views/loop_nest.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {
namespace {

template <size_t kSize>
void gather_of_size(const LineResults& line, const uint32_t* order, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(line.values + i * line.values_stride, line.in + order[i] * line.in_stride, kSize);
  }
}

/// The view of a result with the dimension `dim` of the lines, which `view` may lack.
StridedView with_dim(const StridedView& view, int64_t dim, int64_t rank) {
  return view.rank < rank ? view.unsqueeze(dim) : view;
}

}  // namespace

void LineResults::write(const uint32_t* order, int64_t n) const {
  switch (elementSize(type)) {
    case 1:
      gather_of_size<1>(*this, order, n);
      break;
    case 2:
      gather_of_size<2>(*this, order, n);
      break;
    case 4:
      gather_of_size<4>(*this, order, n);
      break;
    default:
      gather_of_size<8>(*this, order, n);
  }
  for (int64_t i = 0; i < n; ++i) {
    *reinterpret_cast<int64_t*>(indices + i * indices_stride) = order[i];
  }
}

bool for_each_line(KernelRuntimeContext& ctx, const Tensor& in_tensor, int64_t dim, Tensor& values_tensor,
                   Tensor& indices_tensor, size_t scratch_size, int64_t work,
                   ::executorch::runtime::FunctionRef<void(const LineResults& line)> function) {
  ConstStridedView in(in_tensor);
  in = in.rank == 0 ? in.unsqueeze(0) : in;
  const StridedView values = with_dim(StridedView(values_tensor), dim, in.rank);
  const StridedView indices = with_dim(StridedView(indices_tensor), dim, in.rank);
  const LoopNest nest = LoopNest::over(in.select(dim, 0), values.select(dim, 0), indices.select(dim, 0));

  const size_t size = (scratch_size + sizeof(int64_t) - 1) / sizeof(int64_t) * sizeof(int64_t);
  char* scratch = nullptr;
  if (size > 0) {
    const auto threads = static_cast<size_t>(std::clamp<int64_t>(nest.numel(), 1, thread_count()));
    const auto memory = ctx.allocate_temp(threads * size, alignof(int64_t));
    ET_KERNEL_CHECK(ctx, memory.ok(), MemoryAllocationFailed, false);
    scratch = static_cast<char*>(*memory);
  }
  const int64_t grain = kGrain / std::max<int64_t>(1, in.sizes[dim] * work);
  parallel_for_with_thread(0, nest.numel(), grain, [&](int64_t thread, int64_t first, int64_t last) {
    nest.for_each_row(first, last, [&](const int64_t* offsets, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        function({in.dtype, in.sizes[dim], in.data + offsets[0] + i * nest.row_stride(0),
                  in.strides[dim] * in.element_size(), values.data + offsets[1] + i * nest.row_stride(1),
                  values.strides[dim] * values.element_size(), indices.data + offsets[2] + i * nest.row_stride(2),
                  indices.strides[dim] * indices.element_size(), scratch + static_cast<size_t>(thread) * size});
      }
    });
  });
  return true;
}

}  // namespace rules_executorch::kernels
