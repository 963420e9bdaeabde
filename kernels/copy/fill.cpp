#include "kernels/copy/fill.h"

#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"
#include "kernels/views/loop_nest.h"

namespace rules_executorch::kernels {

void fill(const StridedView& view, const Scalar& value) {
  alignas(16) char element[2 * sizeof(int64_t)];
  if (value.isFloatingPoint()) {
    const double real = value.to<double>();
    convert_elements(ScalarType::Double, &real, view.dtype, element, 1);
  } else {
    const int64_t integer = scalar_cast<int64_t>(value);
    convert_elements(ScalarType::Long, &integer, view.dtype, element, 1);
  }
  const LoopNest nest = LoopNest::over(view);
  nest.parallel_for_each_row(kGrain, [&](const int64_t* offsets, int64_t n) {
    copy_elements(element, 0, view.data + offsets[0], nest.row_stride(0), view.element_size(), n);
  });
}

}  // namespace rules_executorch::kernels
