#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/attention/attention.h"
#include "kernels/attention/heads.h"
#include "kernels/optimized/dim_orders.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/view_shape.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& scaled_dot_product_attention_out(KernelRuntimeContext& ctx, const Tensor& query, const Tensor& key,
                                         const Tensor& value, const std::optional<Tensor>& attn_mask, bool is_causal,
                                         std::optional<double> scale, bool query_by_token, bool key_by_token,
                                         bool value_by_token, bool out_by_token, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "scaled_dot_product_attention.out");

  // Check
  attention::Heads batch = {};
  batch.query = attention::heads_first(ConstStridedView(query), query_by_token);
  batch.key = attention::heads_first(ConstStridedView(key), key_by_token);
  batch.value = attention::heads_first(ConstStridedView(value), value_by_token);
  ET_KERNEL_CHECK(ctx, is_supported(query.scalar_type()) && isFloatingType(query.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(query, key, value), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(query, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, attention::check_sizes(batch.query, batch.key, batch.value), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, !(is_causal && attn_mask.has_value()), InvalidArgument, out);

  // Resize
  const int64_t rank = batch.query.rank;
  const int64_t* const sizes = batch.query.sizes + (rank - 3);
  const int64_t heads = sizes[0], queries = sizes[1], keys = batch.key.sizes[rank - 2];
  const int64_t value_size = batch.value.sizes[rank - 1];
  int64_t out_sizes[kTensorDimensionLimit];
  std::copy_n(batch.query.sizes, rank, out_sizes);
  out_sizes[rank - 3] = out_by_token ? queries : heads;
  out_sizes[rank - 2] = out_by_token ? heads : queries;
  out_sizes[rank - 1] = value_size;
  ET_KERNEL_CHECK(ctx, resize_to_size(out, {out_sizes, static_cast<size_t>(rank)}), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, scaled_dot_product_attention_dim_orders_fit(query, key, value, attn_mask, out), InvalidArgument,
                  out);

  batch.out = attention::heads_first(StridedView(out), out_by_token);
  batch.queries = queries;
  batch.is_causal = is_causal;
  if (attn_mask.has_value()) {
    StridedShape scores = batch.query;
    scores.sizes[rank - 1] = keys;
    const ConstStridedView mask(*attn_mask);
    ET_KERNEL_CHECK(ctx, mask.dtype == ScalarType::Bool || mask.dtype == query.scalar_type(), InvalidArgument, out);
    ET_KERNEL_CHECK(ctx, broadcasts_to(mask, scores), InvalidArgument, out);
    batch.mask = mask.broadcast_to(scores);
  }
  if (out.numel() == 0) {
    return out;
  }

  // Compute
  const int64_t key_heads = batch.key.sizes[rank - 3];
  ET_SWITCH_FLOAT_TYPES(compute_type(query.scalar_type()), ctx, op_name, CTYPE, [&] {
    const double size = static_cast<double>(sizes[2]);
    attention::Attention<CTYPE> blocks(ctx, static_cast<CTYPE>(scale.value_or(1 / std::sqrt(size))), is_causal,
                                       key_heads, heads / key_heads * queries, keys, value_size);
    const auto scratch = ctx.allocate_temp(static_cast<size_t>(blocks.scratch_size()), /*alignment=*/64);
    ET_KERNEL_CHECK(ctx, scratch.ok(), MemoryAllocationFailed, );
    attention::for_each_heads(
        batch, [&](const attention::Heads& part) { blocks.compute(part, static_cast<CTYPE*>(*scratch)); });
  });
  return out;
}

}  // namespace torch::executor::native
