#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <cstdint>
#include <numeric>
#include <utility>

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels::attention {

/// Heads that share keys and values (grouped-query attention). The dimensions of the tensors are: heads of keys, rows,
/// elements. A row is a query of one of the heads that share. The queries of these heads follow each other.
struct Heads {
  ConstStridedView query;
  ConstStridedView key;
  ConstStridedView value;
  /// The mask of all heads, queries and keys. There is no mask if `data` is null.
  ConstStridedView mask;
  StridedView out;
  int64_t queries;      // for each head
  int64_t first_head;   // the head of row 0 of the first group
  int64_t heads_apart;  // heads from one group to the next
  bool is_causal;
};

/// Calls `function` for each batch, with all heads that are computed together.
void for_each_heads(const Heads& batch, ::executorch::runtime::FunctionRef<void(const Heads& heads)> function);

/// Whether the sizes are valid: each head of queries has its keys and values.
bool check_sizes(const StridedShape& query, const StridedShape& key, const StridedShape& value);

/// Swaps dimensions -3 and -2 of the view if `by_token` and if the view has these dimensions.
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
