#include <cstring>

#include "kernels/copy/in_order.h"
#include "kernels/copy/mapped_copy.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The equivalent non-negative shift, less than `size`.
int64_t shift_within(int64_t shift, int64_t size) {
  const int64_t rest = size == 0 ? 0 : shift % size;
  return rest < 0 ? rest + size : rest;
}

/// Computes the shift of each dimension. Returns false if the arguments are invalid.
bool init_shifts(const ArrayRef<int64_t>& shifts, const ArrayRef<int64_t>& dims, const Tensor& in, int64_t* by_dim) {
  ET_CHECK_OR_RETURN_FALSE(!shifts.empty() && shifts.size() == dims.size(),
                           "expected a shift for each dimension, got %zu shifts for %zu dimensions", shifts.size(),
                           dims.size());
  for (size_t k = 0; k < dims.size(); ++k) {
    int64_t dim = dims[k];
    ET_LOG_AND_RETURN_IF_FALSE(in.dim() > 0 && normalize_dim(dim, in.dim()));
    const int64_t size = in.sizes()[dim];
    by_dim[dim] = shift_within(by_dim[dim] + shift_within(shifts[k], size), size);
  }
  return true;
}

/// Rolls the elements in row-major order, across dimensions.
void roll_flat(const ConstStridedView& source, int64_t shift, const StridedView& target) {
  const int64_t numel = source.numel();
  const int64_t first = shift_within(shift, numel);
  const InOrder places(target);
  const InOrder sources(source);
  for (int64_t i = 0; i < numel; ++i) {
    const int64_t to = i < numel - first ? i + first : i + first - numel;
    std::memcpy(target.data + places.from(to).offset, source.data + sources.from(i).offset,
                static_cast<size_t>(source.element_size()));
  }
}

}  // namespace

Tensor& roll_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> shifts, ArrayRef<int64_t> dims,
                 Tensor& out) {
  // Check
  int64_t by_dim[kTensorDimensionLimit] = {};
  const bool is_flat = dims.empty() && shifts.size() == 1;
  ET_KERNEL_CHECK(ctx, is_movable(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, is_flat || init_shifts(shifts, dims, in, by_dim), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  const ConstStridedView source(in);
  if (is_flat) {
    roll_flat(source, shifts[0], StridedView(out));
  } else {
    copy_mapped(source, StridedView(out),
                [&](int64_t d, int64_t i) { return i < by_dim[d] ? i - by_dim[d] + source.sizes[d] : i - by_dim[d]; });
  }
  return out;
}

}  // namespace torch::executor::native
