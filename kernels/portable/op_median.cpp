#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>

#include "kernels/reduce/line_results.h"
#include "kernels/reduce/selection.h"
#include "kernels/reduce/sort.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

using FindInLine = uint32_t (*)(const LineResults& line);

void median_of_lines(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, bool keepdim, FindInLine find,
                     Tensor& values, Tensor& indices) {
  // Check
  ET_KERNEL_CHECK(ctx, is_selectable(in.scalar_type()), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, check_selection(in, dim, values, indices), InvalidArgument, );

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_selection(values, indices, in, dim, keepdim), InvalidArgument, );

  // Compute
  select_from_lines(ctx, in, dim, values, indices, find);
}

void median_of_all(KernelRuntimeContext& ctx, const Tensor& in, FindInLine find, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_selectable(in.scalar_type()), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, in.numel() <= kLongestSortedLine, InvalidArgument, );

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to(out, {}), InvalidArgument, );

  // Compute: the elements are one line, in the order of memory.
  char* const result = static_cast<char*>(out.mutable_data_ptr());
  const auto element_size = static_cast<int64_t>(in.element_size());
  if (in.numel() == 0) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    store_block(ScalarType::Float, &nan, out.scalar_type(), result, element_size, 1);
    return;
  }
  const auto memory = ctx.allocate_temp(sort_scratch_size(in.scalar_type(), in.numel()), alignof(int64_t));
  ET_KERNEL_CHECK(ctx, memory.ok(), MemoryAllocationFailed, );
  LineResults line{};
  line.type = in.scalar_type();
  line.size = in.numel();
  line.in = static_cast<const char*>(in.const_data_ptr());
  line.in_stride = element_size;
  line.scratch = static_cast<char*>(*memory);
  std::memcpy(result, line.in + find(line) * element_size, static_cast<size_t>(element_size));
}

}  // namespace

Tensor& median_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  median_of_all(ctx, in, &find_median, out);
  return out;
}

std::tuple<Tensor&, Tensor&> median_dim_values(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, bool keepdim,
                                               Tensor& values, Tensor& indices) {
  median_of_lines(ctx, in, dim, keepdim, &find_median, values, indices);
  return {values, indices};
}

Tensor& nanmedian_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  median_of_all(ctx, in, &find_nanmedian, out);
  return out;
}

std::tuple<Tensor&, Tensor&> nanmedian_dim_values(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim,
                                                  bool keepdim, Tensor& values, Tensor& indices) {
  median_of_lines(ctx, in, dim, keepdim, &find_nanmedian, values, indices);
  return {values, indices};
}

}  // namespace torch::executor::native
