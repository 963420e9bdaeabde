#include <tuple>

#include "kernels/reduce/line_results.h"
#include "kernels/reduce/selection.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

std::tuple<Tensor&, Tensor&> kthvalue_values(KernelRuntimeContext& ctx, const Tensor& in, int64_t k, int64_t dim,
                                             bool keepdim, Tensor& values, Tensor& indices) {
  std::tuple<Tensor&, Tensor&> results(values, indices);

  // Check: as in PyTorch, a number may be a Bool.
  ET_KERNEL_CHECK(ctx, in.dim() == 0 || is_selectable(in.scalar_type()), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, check_selection(in, dim, values, indices), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, k >= 1 && k <= (in.dim() == 0 ? 1 : in.sizes()[dim]), InvalidArgument, results);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_selection(values, indices, in, dim, keepdim), InvalidArgument, results);

  // Compute
  select_from_lines(ctx, in, dim, values, indices, [k](const LineResults& line) { return find_kth(line, k - 1); });
  return results;
}

}  // namespace torch::executor::native
