#include <tuple>

#include "kernels/reduce/selection.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

std::tuple<Tensor&, Tensor&> mode_values(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, bool keepdim,
                                         Tensor& values, Tensor& indices) {
  std::tuple<Tensor&, Tensor&> results(values, indices);

  // Check
  ET_KERNEL_CHECK(ctx, check_selection(in, dim, values, indices), InvalidArgument, results);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_selection(values, indices, in, dim, keepdim), InvalidArgument, results);

  // Compute
  select_from_lines(ctx, in, dim, values, indices, &find_mode);
  return results;
}

}  // namespace torch::executor::native
