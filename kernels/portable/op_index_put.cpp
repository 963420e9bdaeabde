#include "kernels/copy/copy.h"
#include "kernels/copy/indexed_view.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/view_shape.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Adds `source` to the elements of `target` that `chosen` chooses.
template <typename T>
void scatter_add(const ConstStridedView& source, const IndexedView& chosen, const StridedView& target) {
  chosen.for_each_rows(source, [&](const IndexedView::Rows& rows) {
    for (int64_t k = 0; k < rows.count; ++k) {
      char* const to = target.data + rows.chosen_offset + rows.chosen_offsets[k];
      const char* const from = source.data + rows.other_offset + k * rows.other_step;
      for (int64_t i = 0; i < rows.n; ++i) {
        T& sum = *reinterpret_cast<T*>(to + i * rows.chosen_stride);
        sum = static_cast<T>(sum + *reinterpret_cast<const T*>(from + i * rows.other_stride));
      }
    }
  });
}

/// Chooses the elements of `target` for `values`. Returns false if the arguments do not match.
bool choose(const Tensor& target, const ArrayRef<std::optional<Tensor>>& indices, const Tensor& values,
            IndexedView& chosen) {
  ET_LOG_AND_RETURN_IF_FALSE(is_movable(target.scalar_type()));
  ET_LOG_AND_RETURN_IF_FALSE(tensors_have_same_dtype(target, values));
  return chosen.init(ConstStridedView(target), indices) && broadcasts_to(ConstStridedView(values), chosen.shape());
}

template <ET_OPERATOR_NAME_TYPE op_name>
void put(KernelRuntimeContext& ctx, const Tensor& values, bool accumulate, const IndexedView& chosen, Tensor& out) {
  const ConstStridedView source = ConstStridedView(values).broadcast_to(chosen.shape());
  const StridedView target(out);
  if (!accumulate) {
    scatter(source, chosen, target);
    return;
  }
  ET_SWITCH_REALHBBF16_TYPES(values.scalar_type(), ctx, op_name, CTYPE,
                             [&] { scatter_add<CTYPE>(source, chosen, target); });
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
  put<op_name>(ctx, values, accumulate, chosen, out);
  return out;
}

Tensor& index_put_(KernelRuntimeContext& ctx, Tensor& self, ArrayRef<std::optional<Tensor>> indices,
                   const Tensor& values, bool accumulate) {
  ET_DEFINE_OPERATOR_NAME(op_name, "index_put_");

  // Check
  IndexedView chosen;
  ET_KERNEL_CHECK(ctx, choose(self, indices, values, chosen) && chosen.has_index(), InvalidArgument, self);

  // Compute
  put<op_name>(ctx, values, accumulate, chosen, self);
  return self;
}

}  // namespace torch::executor::native
