#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// An element of a line as an unsigned number in the order of the elements, and its index in the line. Equal elements
/// have equal keys, also 0 and -0. NaN has the largest key. All comparisons are those of integers, so that the
/// functions below are compiled for two sizes of keys and not for each dtype.
template <typename Key>
struct Ranked {
  Key key;
  uint32_t index;

  /// The order of elements. Equal elements keep the order of the line.
  friend bool operator<(const Ranked& a, const Ranked& b) { return a.key != b.key ? a.key < b.key : a.index < b.index; }
};

/// The key of NaN. Integers can have the same key.
template <typename Key>
inline constexpr Key kNanKey = static_cast<Key>(~Key{0});

/// The number of elements of a line that can be sorted.
inline constexpr int64_t kLongestSortedLine = UINT32_MAX;

/// Whether elements of dtype `type` have keys: the dtypes of is_supported() and unsigned integers.
inline bool is_sortable(ScalarType type) { return is_supported(type) || isBarebonesUnsignedType(type); }

/// Whether the keys of dtype `type` have 64 bits, and not 32.
inline bool has_wide_keys(ScalarType type) { return elementSize(type) == 8; }

/// Writes the keys and indices of `n` elements that are `stride` bytes apart. `descending` inverts the keys, so that
/// NaN comes first.
template <typename Key>
void rank_elements(ScalarType type, const char* data, int64_t stride, int64_t n, bool descending, Ranked<Key>* ranked);

/// Sorts `n` elements. `other` has memory for as many. Returns the one of both arrays that has the sorted elements.
/// `ranked` must be in the order of the indices.
template <typename Key>
Ranked<Key>* sort_ranked(Ranked<Key>* ranked, Ranked<Key>* other, int64_t n);

/// The bytes of scratch that sorted_order() needs for a line of `n` elements.
size_t sort_scratch_size(ScalarType type, int64_t n);

/// Sorts a line, stably. Calls nothing and copies no element: `order` gets the indices of the elements in their new
/// order. `scratch` is aligned for int64_t. `order` may be the start of `scratch`.
void sorted_order(ScalarType type, const char* data, int64_t stride, int64_t n, bool descending, void* scratch,
                  uint32_t* order);

extern template void rank_elements<uint32_t>(ScalarType, const char*, int64_t, int64_t, bool, Ranked<uint32_t>*);
extern template void rank_elements<uint64_t>(ScalarType, const char*, int64_t, int64_t, bool, Ranked<uint64_t>*);
extern template Ranked<uint32_t>* sort_ranked<uint32_t>(Ranked<uint32_t>*, Ranked<uint32_t>*, int64_t);
extern template Ranked<uint64_t>* sort_ranked<uint64_t>(Ranked<uint64_t>*, Ranked<uint64_t>*, int64_t);

}  // namespace rules_executorch::kernels
