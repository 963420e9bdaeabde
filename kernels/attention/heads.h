#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <cstdint>
#include <numeric>
#include <utility>

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels::attention {

/// Heads that share keys and values: their tensors have the heads of keys first, then rows, and then elements. A row is
/// a query of one of the heads that share; their queries follow each other.
struct Heads {
  ConstStridedView query;
  ConstStridedView key;
  ConstStridedView value;
  /// Of all heads, in their order, with all their queries and keys; none if `data` is null.
  ConstStridedView mask;
  StridedView out;
  int64_t queries;      // of a head
  int64_t first_head;   // that of row 0 of the first heads
  int64_t heads_apart;  // between those of a row of heads that follow each other
  bool is_causal;
};

/// Calls `function` with the heads of each batch that are computed together.
void for_each_heads(const Heads& batch, ::executorch::runtime::FunctionRef<void(const Heads& heads)> function);

/// Whether sizes are such that each head of queries has its keys and values.
bool check_sizes(const StridedShape& query, const StridedShape& key, const StridedShape& value);

/// The view with dimensions -3 and -2 in each other's place, if `by_token` and if it has them.
template <typename View>
View heads_first(const View& view, bool by_token) {
  int64_t order[kTensorDimensionLimit];
  std::iota(order, order + view.rank, 0);
  if (by_token && view.rank >= 3) {
    std::swap(order[view.rank - 3], order[view.rank - 2]);
  }
  return view.permute(order);
}

}  // namespace rules_executorch::kernels::attention
