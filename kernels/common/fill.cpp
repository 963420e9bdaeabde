#include "kernels/common/fill.h"

#include <cstring>

#include "kernels/common/convert.h"
#include "kernels/common/loop_nest.h"
#include "kernels/common/parallel_for.h"

namespace rules_executorch::kernels {

void fill(const StridedView& view, const Scalar& value) {
  int64_t element = 0;
  switch (view.dtype) {
#define CASE(ctype, name)                                 \
  case ScalarType::name: {                                \
    const ctype converted = scalar_cast<ctype>(value);    \
    std::memcpy(&element, &converted, sizeof(converted)); \
    break;                                                \
  }
    ET_FORALL_REAL_TYPES_AND3(Half, Bool, BFloat16, CASE)
#undef CASE
    default:
      return;
  }
  const LoopNest nest = LoopNest::over(view);
  nest.parallel_for_each_row(kGrain, [&](const int64_t* offsets, int64_t n) {
    copy_elements(&element, 0, view.data + offsets[0], nest.row_stride(0), view.element_size(), n);
  });
}

}  // namespace rules_executorch::kernels
