#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// Adds `rank` to a negative `dim`. A 0-dim tensor counts as having one dimension. Returns false if `dim` is out of
/// range.
inline bool normalize_dim(int64_t& dim, int64_t rank) {
  const int64_t limit = rank == 0 ? 1 : rank;
  if (!dim_is_valid(dim, limit)) {
    return false;
  }
  dim += dim < 0 ? limit : 0;
  return true;
}

/// A slice bound as in Python: negative bounds count from the end, and bounds are clamped to the dimension.
inline int64_t clamp_bound(int64_t bound, int64_t size) {
  return std::clamp<int64_t>(bound < 0 ? bound + size : bound, 0, size);
}

/// A set of a tensor's dimensions.
class DimSet {
 public:
  /// Whether `dim` is in the set. `dim` must not be negative.
  bool contains(int64_t dim) const { return (bits_ >> dim & 1) != 0; }
  void insert(int64_t dim) { bits_ |= uint32_t{1} << dim; }

  /// Inserts `dims`. They may be negative. Returns false if a dimension is out of range or appears twice.
  bool insert(const ArrayRef<int64_t>& dims, int64_t rank) {
    for (int64_t dim : dims) {
      if (!normalize_dim(dim, rank)) {
        return false;
      }
      ET_CHECK_OR_RETURN_FALSE(!contains(dim), "dimension %d appears twice in the list of dims", int(dim));
      insert(dim);
    }
    return true;
  }

  /// Inserts `dims`, or all dimensions if the list is missing or empty: most reductions then reduce all dimensions.
  bool insert_or_all(const std::optional<ArrayRef<int64_t>>& dims, int64_t rank) {
    if (dims.has_value() && !dims->empty()) {
      return insert(*dims, rank);
    }
    bits_ = (uint32_t{1} << rank) - 1;
    return true;
  }

 private:
  uint32_t bits_ = 0;
};

}  // namespace rules_executorch::kernels
