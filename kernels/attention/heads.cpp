#include "kernels/attention/heads.h"

namespace rules_executorch::kernels::attention {
namespace {

/// Whether the queries of consecutive heads are the rows of one matrix.
bool merges_heads(const StridedShape& shape) {
  return shape.sizes[1] == 1 || shape.strides[0] == shape.sizes[1] * shape.strides[1];
}

/// Merges the rows of each `shared` heads into one matrix.
template <typename View>
View merge_heads(const View& view, int64_t shared) {
  View merged = view;
  merged.sizes[0] = view.sizes[0] / shared;
  merged.strides[0] = view.strides[0] * shared;
  merged.sizes[1] = view.sizes[1] * shared;
  merged.strides[1] = view.sizes[1] == 1 ? view.strides[0] : view.strides[1];
  return merged;
}

}  // namespace

void for_each_heads(const Heads& batch, ::executorch::runtime::FunctionRef<void(const Heads& heads)> function) {
  if (batch.query.rank > 3) {
    for (int64_t i = 0; i < batch.query.sizes[0]; ++i) {
      Heads part = batch;
      part.query = batch.query.select(0, i);
      part.key = batch.key.select(0, i);
      part.value = batch.value.select(0, i);
      part.out = batch.out.select(0, i);
      if (batch.mask.data != nullptr) {
        part.mask = batch.mask.select(0, i);
      }
      for_each_heads(part, function);
    }
    return;
  }
  const int64_t heads = batch.key.sizes[0];
  const int64_t shared = batch.query.sizes[0] / heads;
  Heads together = batch;
  together.heads_apart = shared;
  if (shared == 1 || (merges_heads(batch.query) && merges_heads(batch.out))) {
    if (shared > 1) {
      together.query = merge_heads(batch.query, shared);
      together.out = merge_heads(batch.out, shared);
    }
    function(together);
    return;
  }
  for (int64_t i = 0; i < shared; ++i) {
    together.query = batch.query.slice(0, i, heads, shared);
    together.out = batch.out.slice(0, i, heads, shared);
    together.first_head = i;
    function(together);
  }
}

bool check_sizes(const StridedShape& query, const StridedShape& key, const StridedShape& value) {
  const int64_t rank = query.rank;
  ET_CHECK_OR_RETURN_FALSE(rank >= 3 && key.rank == rank && value.rank == rank,
                           "queries, keys and values must have the same number of dimensions, at least 3");
  for (int64_t d = 0; d < rank - 3; ++d) {
    ET_CHECK_OR_RETURN_FALSE(query.sizes[d] == key.sizes[d] && query.sizes[d] == value.sizes[d],
                             "batch sizes of queries, keys and values differ");
  }
  ET_CHECK_OR_RETURN_FALSE(key.sizes[rank - 3] == value.sizes[rank - 3] && key.sizes[rank - 2] == value.sizes[rank - 2],
                           "the numbers of heads or rows of keys and values differ");
  ET_CHECK_OR_RETURN_FALSE(query.sizes[rank - 1] == key.sizes[rank - 1], "query and key head sizes differ: %d and %d",
                           int(query.sizes[rank - 1]), int(key.sizes[rank - 1]));
  ET_CHECK_OR_RETURN_FALSE(key.sizes[rank - 3] == query.sizes[rank - 3] ||
                               (key.sizes[rank - 3] > 0 && query.sizes[rank - 3] % key.sizes[rank - 3] == 0),
                           "%d query heads are not a multiple of %d key heads", int(query.sizes[rank - 3]),
                           int(key.sizes[rank - 3]));
  return true;
}

}  // namespace rules_executorch::kernels::attention
