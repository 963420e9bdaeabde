#include <optional>
#include <tuple>

#include "kernels/reduce/line_results.h"
#include "kernels/reduce/sort.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The cost of an element in the passes of a sort, in additions.
constexpr int64_t kWorkOfSort = 32;

}  // namespace

std::tuple<Tensor&, Tensor&> sort_values_stable(KernelRuntimeContext& ctx, const Tensor& in, std::optional<bool> stable,
                                                int64_t dim, bool descending, Tensor& values, Tensor& indices) {
  std::tuple<Tensor&, Tensor&> results(values, indices);

  // Check: the order is always stable.
  (void)stable;
  ET_KERNEL_CHECK(ctx, is_sortable(in.scalar_type()), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, values), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, indices.scalar_type() == ScalarType::Long, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, results);
  const int64_t size = in.dim() == 0 ? 1 : in.sizes()[dim];
  ET_KERNEL_CHECK(ctx, size <= kLongestSortedLine, InvalidArgument, results);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(values, in) && resize_like(indices, in), InvalidArgument, results);
  if (in.numel() == 0) {
    return results;
  }

  // Compute
  const size_t scratch_size = sort_scratch_size(in.scalar_type(), size);
  for_each_line(ctx, in, dim, values, indices, scratch_size, kWorkOfSort, [&](const LineResults& line) {
    auto* const order = reinterpret_cast<uint32_t*>(line.scratch);
    sorted_order(line.type, line.in, line.in_stride, line.size, descending, line.scratch, order);
    line.write(order, line.size);
  });
  return results;
}

std::tuple<Tensor&, Tensor&> sort_values(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, bool descending,
                                         Tensor& values, Tensor& indices) {
  return sort_values_stable(ctx, in, true, dim, descending, values, indices);
}

}  // namespace torch::executor::native
