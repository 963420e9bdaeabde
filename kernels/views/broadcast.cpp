#include "kernels/views/broadcast.h"

#include <algorithm>

namespace rules_executorch::kernels {

bool broadcast_shapes(const StridedShape& a, const StridedShape& b, StridedShape& result) {
  const int64_t rank = std::max(a.rank, b.rank);
  result.rank = rank;
  for (int64_t d = 0; d < rank; ++d) {
    const auto size_of = [d, rank](const StridedShape& shape) {
      const int64_t missing = rank - shape.rank;
      return d < missing ? 1 : shape.sizes[d - missing];
    };
    result.sizes[d] = size_of(a) == 1 ? size_of(b) : size_of(a);
    ET_CHECK_OR_RETURN_FALSE(size_of(b) == result.sizes[d] || size_of(b) == 1,
                             "shapes do not broadcast: sizes %d and %d in the same dimension", int(size_of(a)),
                             int(size_of(b)));
  }
  return true;
}

}  // namespace rules_executorch::kernels
