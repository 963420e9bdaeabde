#pragma once

#include <cstdint>
#include <optional>

#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// Makes a negative `dim` of a `rank`-dimensional tensor non-negative. A 0-dim tensor counts as having one dimension.
/// False where there is no such dimension.
inline bool normalize_dim(int64_t& dim, int64_t rank) {
  const int64_t limit = rank == 0 ? 1 : rank;
  if (!dim_is_valid(dim, limit)) {
    return false;
  }
  dim += dim < 0 ? limit : 0;
  return true;
}

/// A set of a tensor's dimensions.
class DimSet {
 public:
  /// Whether `dim`, which is not negative, is in the set.
  bool contains(int64_t dim) const { return (bits_ >> dim & 1) != 0; }
  void insert(int64_t dim) { bits_ |= uint32_t{1} << dim; }

  /// Inserts `dims`, which may be negative. False where one of them does not exist or is named twice.
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

  /// Inserts `dims`, or all dimensions where the list is missing or empty, as most reductions have it.
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
