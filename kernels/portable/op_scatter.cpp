#include "kernels/copy/copy.h"
#include "kernels/copy/dim_index.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/resize.h"
#include "kernels/tensors/scalar.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether `index` has valid positions for dimension `dim` of `in` and is at most as large as the values of shape
/// `shape`.
bool is_index(const ConstStridedView& index, const StridedShape& in, int64_t dim, const StridedShape& shape) {
  return fits_within(index, in, dim) && fits_within(index, shape, /*except=*/-1) &&
         positions_exist(index, in.sizes[dim]);
}

/// The operands of scatter and scatter_add: `index`, which chooses elements of `out`, and the part of `src` with the
/// shape of `index`.
struct Source {
  ConstStridedView positions;
  ConstStridedView elements;

  /// Returns false if the arguments do not match.
  bool init(const Tensor& in, int64_t& dim, const Tensor& index, const Tensor& src, const Tensor& out) {
    ET_LOG_AND_RETURN_IF_FALSE(is_movable(in.scalar_type()));
    ET_LOG_AND_RETURN_IF_FALSE(tensors_have_same_dtype(in, src, out));
    ET_LOG_AND_RETURN_IF_FALSE(normalize_dim(dim, in.dim()));
    positions = with_dimension(ConstStridedView(index));
    elements = with_dimension(ConstStridedView(src));
    if (index.numel() == 0) {
      return true;
    }
    ET_LOG_AND_RETURN_IF_FALSE(is_index(positions, with_dimension(ConstStridedView(in)), dim, elements));
    for (int64_t d = 0; d < elements.rank; ++d) {
      elements = elements.slice(d, 0, positions.sizes[d]);
    }
    return true;
  }
};

/// Copies `in` to `out`, then copies `source`, a view with the shape of `index`, to the positions in `index`.
void scatter_into(const Tensor& in, int64_t dim, const ConstStridedView& index, const ConstStridedView& source,
                  Tensor& out) {
  const StridedView target = with_dimension(StridedView(out));
  copy(in, out);
  scatter(source, DimIndex(target, dim, index), target);
}

}  // namespace

Tensor& scatter_src_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, const Tensor& index,
                        const Tensor& src, Tensor& out) {
  // Check
  Source source;
  ET_KERNEL_CHECK(ctx, source.init(in, dim, index, src, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  if (index.numel() == 0) {
    copy(in, out);
    return out;
  }
  scatter_into(in, dim, source.positions, source.elements, out);
  return out;
}

Tensor& scatter_value_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, const Tensor& index,
                          const Scalar& value, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "scatter.value_out");

  // Check
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, scalar_fits(value, in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, out);
  const ConstStridedView positions = with_dimension(ConstStridedView(index));
  ET_KERNEL_CHECK(ctx, index.numel() == 0 || is_index(positions, with_dimension(ConstStridedView(in)), dim, positions),
                  InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  if (index.numel() == 0) {
    copy(in, out);
    return out;
  }
  ET_SWITCH_REALHBBF16_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    const CTYPE element = scalar_cast<CTYPE>(value);
    ConstStridedView source;
    source.dtype = in.scalar_type();
    source.data = reinterpret_cast<const char*>(&element);
    scatter_into(in, dim, positions, source.broadcast_to(positions), out);
  });
  return out;
}

Tensor& scatter_add_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, const Tensor& index,
                        const Tensor& src, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "scatter_add.out");

  // Check
  Source source;
  ET_KERNEL_CHECK(ctx, source.init(in, dim, index, src, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  copy(in, out);
  if (index.numel() == 0) {
    return out;
  }
  const StridedView target = with_dimension(StridedView(out));
  ET_SWITCH_REALHBBF16_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    DimIndex(target, dim, source.positions).for_each_row(source.elements, [&](const DimIndex::Row& row) {
      for (int64_t i = 0; i < row.n; ++i) {
        CTYPE& sum = *reinterpret_cast<CTYPE*>(target.data + row.chosen_offsets[i]);
        sum = static_cast<CTYPE>(
            sum + *reinterpret_cast<const CTYPE*>(source.elements.data + row.other_offset + i * row.other_stride));
      }
    });
  });
  return out;
}

}  // namespace torch::executor::native
