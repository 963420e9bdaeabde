#include <algorithm>

#include "kernels/copy/copy.h"
#include "kernels/copy/dim_index.h"
#include "kernels/optimized/dim_orders.h"
#include "kernels/parallel/grain.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/loop_nest.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether `weight` has the shape of a packed table: (panels, elements of an embedding, embeddings of a panel). A
/// fourth dimension is for pairs: adjacent elements of an embedding.
bool check_embedding_panels(const Tensor& weight, int64_t num_embeddings) {
  ET_CHECK_OR_RETURN_FALSE(weight.dim() == 3 || weight.dim() == 4,
                           "expected panels with 3 or 4 dimensions, got weights with %d", int(weight.dim()));
  ET_CHECK_OR_RETURN_FALSE(num_embeddings >= 0 && num_embeddings <= weight.size(0) * weight.size(2),
                           "%d panels of %d embeddings do not match %lld embeddings", int(weight.size(0)),
                           int(weight.size(2)), static_cast<long long>(num_embeddings));
  return true;
}

}  // namespace

Tensor& packed_embedding_out(KernelRuntimeContext& ctx, const Tensor& weight, const Tensor& indices,
                             int64_t num_embeddings, Tensor& out) {
  // Check
  const ConstStridedView positions(indices);
  ET_KERNEL_CHECK(ctx, is_movable(weight.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(weight, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, check_embedding_panels(weight, num_embeddings), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, positions_exist(positions, num_embeddings), InvalidArgument, out);

  // Resize
  const int64_t rank = indices.dim();
  const int64_t neighbors = weight.dim() == 4 ? weight.size(3) : 1;
  const int64_t width = weight.size(1) * neighbors;
  ET_KERNEL_CHECK(ctx, rank < static_cast<int64_t>(kTensorDimensionLimit), InvalidArgument, out);
  Tensor::SizesType sizes[kTensorDimensionLimit];
  std::copy_n(indices.sizes().data(), rank, sizes);
  sizes[rank] = static_cast<Tensor::SizesType>(width);
  ET_KERNEL_CHECK(ctx, resize_to(out, {sizes, static_cast<size_t>(rank + 1)}), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, packed_embedding_dim_orders_fit(weight, indices, out), InvalidArgument, out);
  if (out.numel() == 0) {
    return out;
  }

  // Compute
  const ConstStridedView panels(weight);
  const StridedView results(out);
  const LoopNest nest = LoopNest::over(results.select(rank, 0), positions);
  const auto view_row = [=](auto row, ScalarType type, int64_t stride, int64_t neighbor_stride) {
    row.dtype = type;
    row.rank = 2;
    row.sizes[0] = width / neighbors;
    row.sizes[1] = neighbors;
    row.strides[0] = stride;
    row.strides[1] = neighbor_stride;
    return row;
  };
  nest.parallel_for_each_row(std::max<int64_t>(1, kGrain / width), [&](const int64_t* offsets, int64_t n) {
    ConstStridedView embedding =
        view_row(ConstStridedView(), panels.dtype, panels.strides[1], panels.rank == 4 ? panels.strides[3] : 0);
    const int64_t stride = results.strides[rank];
    StridedView result = view_row(StridedView(), results.dtype, neighbors * stride, stride);
    for (int64_t i = 0; i < n; ++i) {
      const char* const position = positions.data + offsets[1] + i * nest.row_stride(1);
      const int64_t index = positions.dtype == ScalarType::Long ? *reinterpret_cast<const int64_t*>(position)
                                                                : *reinterpret_cast<const int32_t*>(position);
      const int64_t panel = index / panels.sizes[2];
      const int64_t column = index % panels.sizes[2];
      embedding.data = panels.data + (panel * panels.strides[0] + column * panels.strides[2]) * panels.element_size();
      result.data = results.data + offsets[0] + i * nest.row_stride(0);
      copy(embedding, result);
    }
  });
  return out;
}

}  // namespace torch::executor::native
