#include "kernels/common/fill.h"

#include <cstring>

#include "kernels/common/convert.h"
#include "kernels/common/loop_nest.h"

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
  const LoopNest nest(&view, 1);
  nest.for_each_row([&](char* const* row) {
    copy_elements(&element, 0, row[0], nest.row_stride(0), view.element_size(), nest.row_size());
  });
}

}  // namespace rules_executorch::kernels
