// Kernels that add nothing, but fill their output with a byte that tells which of them was called.

#include <executorch/runtime/kernel/kernel_includes.h>

#include <cstring>

namespace marking::native {

using executorch::aten::Scalar;
using executorch::aten::Tensor;

#define MARKING_KERNEL(name, mark)                                                \
  Tensor& name(const Tensor&, const Tensor&, const Scalar&, Tensor& out) {        \
    std::memset(out.mutable_data_ptr(), mark, static_cast<size_t>(out.nbytes())); \
    return out;                                                                   \
  }

MARKING_KERNEL(add_float_2d, 1)
MARKING_KERNEL(add_reduced_2d, 2)
MARKING_KERNEL(add_int_2d, 3)
MARKING_KERNEL(add_float_0d, 4)
MARKING_KERNEL(add_float_1d, 5)
MARKING_KERNEL(add_float_contiguous, 6)
MARKING_KERNEL(add_float_channels_last, 7)
MARKING_KERNEL(add, 8)

#undef MARKING_KERNEL

}  // namespace marking::native
