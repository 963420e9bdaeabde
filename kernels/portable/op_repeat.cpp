#include <limits>

#include "kernels/copy/mapped_copy.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

bool resize_to_repeated(Tensor& out, const Tensor& in, const ArrayRef<int64_t>& repeats) {
  ET_CHECK_OR_RETURN_FALSE(repeats.size() <= kTensorDimensionLimit && static_cast<ssize_t>(repeats.size()) >= in.dim(),
                           "invalid number of repeats: got %zu repeats for %zd dimensions", repeats.size(),
                           static_cast<ssize_t>(in.dim()));
  const size_t leading = repeats.size() - static_cast<size_t>(in.dim());
  int64_t sizes[kTensorDimensionLimit];
  for (size_t d = 0; d < repeats.size(); ++d) {
    ET_CHECK_OR_RETURN_FALSE(repeats[d] >= 0 && repeats[d] <= std::numeric_limits<int32_t>::max(),
                             "the number of repeats is out of range: %lld", static_cast<long long>(repeats[d]));
    sizes[d] = repeats[d] * (d < leading ? 1 : in.sizes()[d - leading]);
  }
  return resize_to_size(out, {sizes, repeats.size()});
}

}  // namespace

Tensor& repeat_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> repeats, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_movable(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_repeated(out, in, repeats), InvalidArgument, out);

  // Compute
  ConstStridedView source(in);
  while (source.rank < out.dim()) {
    source = source.unsqueeze(0);
  }
  copy_mapped(source, StridedView(out), [&](int64_t d, int64_t i) { return i % source.sizes[d]; });
  return out;
}

}  // namespace torch::executor::native
