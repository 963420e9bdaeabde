#include "kernels/views/dim_order.h"

#include "kernels/tensors/dims.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

bool has_dim_order(const Tensor& tensor, const std::optional<ArrayRef<int64_t>>& dim_order) {
  if (!dim_order.has_value()) {
    return true;
  }
  const ConstStridedView view(tensor);
  ET_CHECK_OR_RETURN_FALSE(static_cast<int64_t>(dim_order->size()) == view.rank,
                           "the dim order has %d dimensions, the tensor has %d", int(dim_order->size()),
                           int(view.rank));
  DimSet dims;
  for (int64_t dim : *dim_order) {
    ET_CHECK_OR_RETURN_FALSE(dim >= 0 && dim < view.rank && !dims.contains(dim),
                             "dimension %d is out of range or appears twice in the dim order", int(dim));
    dims.insert(dim);
  }
  int64_t stride = 1;
  for (int64_t i = view.rank - 1; i >= 0 && view.numel() > 0; --i) {
    const int64_t dim = (*dim_order)[i];
    ET_CHECK_OR_RETURN_FALSE(view.sizes[dim] == 1 || view.strides[dim] == stride,
                             "the out tensor has another dim order: dimension %d has stride %d, expected %d", int(dim),
                             int(view.strides[dim]), int(stride));
    stride *= view.sizes[dim];
  }
  return true;
}

}  // namespace rules_executorch::kernels
