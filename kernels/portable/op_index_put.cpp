#include "kernels/common/copy.h"
#include "kernels/common/indexed_view.h"
#include "kernels/common/resize.h"
#include "kernels/common/view_shape.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename T>
void add_row(const IndexedView::Row& row) {
  for (int64_t i = 0; i < row.n; ++i) {
    T& sum = *reinterpret_cast<T*>(row.chosen + i * row.chosen_stride);
    sum = static_cast<T>(sum + *reinterpret_cast<const T*>(row.other + i * row.other_stride));
  }
}

/// Chooses the elements of `target` that `values` are for. False where the two do not fit.
bool choose(const Tensor& target, const ArrayRef<std::optional<Tensor>>& indices, const Tensor& values,
            IndexedView& chosen) {
  ET_LOG_AND_RETURN_IF_FALSE(is_supported(target.scalar_type()));
  ET_LOG_AND_RETURN_IF_FALSE(tensors_have_same_dtype(target, values));
  return chosen.init(StridedView(target), indices) && broadcasts_to(StridedView(values), chosen.shape());
}

template <ET_OPERATOR_NAME_TYPE op_name>
void put(KernelRuntimeContext& ctx, const Tensor& values, bool accumulate, const IndexedView& chosen) {
  const StridedView source = StridedView(values).broadcast_to(chosen.shape());
  if (!accumulate) {
    copy(source, chosen);
    return;
  }
  ET_SWITCH_REALHBBF16_TYPES(values.scalar_type(), ctx, op_name, CTYPE,
                             [&] { chosen.for_each_row(source, &add_row<CTYPE>); });
}

}  // namespace

Tensor& index_put_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<std::optional<Tensor>> indices,
                      const Tensor& values, bool accumulate, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "index_put.out");

  // Check
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);
  IndexedView chosen;
  ET_KERNEL_CHECK(ctx, choose(out, indices, values, chosen), InvalidArgument, out);

  // Compute
  copy(in, out);
  put<op_name>(ctx, values, accumulate, chosen);
  return out;
}

Tensor& index_put_(KernelRuntimeContext& ctx, Tensor& self, ArrayRef<std::optional<Tensor>> indices,
                   const Tensor& values, bool accumulate) {
  ET_DEFINE_OPERATOR_NAME(op_name, "index_put_");

  // Check
  IndexedView chosen;
  ET_KERNEL_CHECK(ctx, choose(self, indices, values, chosen), InvalidArgument, self);

  // Compute
  put<op_name>(ctx, values, accumulate, chosen);
  return self;
}

}  // namespace torch::executor::native
