#include "kernels/linalg/matrix.h"

#include <algorithm>

namespace rules_executorch::kernels {

bool has_matrices(const Tensor& tensor) {
  const ScalarType type = tensor.scalar_type();
  ET_CHECK_OR_RETURN_FALSE(type == ScalarType::Float || type == ScalarType::Double, "expected Float or Double");
  ET_CHECK_OR_RETURN_FALSE(tensor.dim() >= 2, "expected matrices, got %d dimensions", int(tensor.dim()));
  return true;
}

bool has_square_matrices(const Tensor& tensor) {
  ET_LOG_AND_RETURN_IF_FALSE(has_matrices(tensor));
  const int rows = int(tensor.size(tensor.dim() - 2));
  const int columns = int(tensor.size(tensor.dim() - 1));
  ET_CHECK_OR_RETURN_FALSE(rows == columns, "expected square matrices, got %d by %d", rows, columns);
  return true;
}

bool resize_to_batch(Tensor& out, const StridedShape& matrices, std::initializer_list<int64_t> sizes) {
  int64_t all[kTensorDimensionLimit + 2];
  int64_t rank = 0;
  for (int64_t d = 0; d + 2 < matrices.rank; ++d) {
    all[rank++] = matrices.sizes[d];
  }
  for (const int64_t size : sizes) {
    all[rank++] = size;
  }
  return resize_to_size(out, {all, static_cast<size_t>(rank)});
}

bool broadcast_batches(const StridedShape& a, const StridedShape& b, StridedShape& shape) {
  shape = b;
  shape.rank = std::max(a.rank, b.rank);
  for (int64_t k = 1; k <= shape.rank; ++k) {
    const int64_t of_a = k <= 2 || k > a.rank ? 1 : a.sizes[a.rank - k];
    const int64_t of_b = k > b.rank ? 1 : b.sizes[b.rank - k];
    ET_CHECK_OR_RETURN_FALSE(k <= 2 || of_a == of_b || of_a == 1 || of_b == 1, "the batches do not broadcast");
    shape.sizes[shape.rank - k] = k <= 2 || of_b != 1 ? of_b : of_a;
  }
  return true;
}

ConstStridedView with_batch_of(const ConstStridedView& matrices, const StridedShape& shape) {
  StridedShape target = shape;
  for (int64_t k = 1; k <= 2; ++k) {
    target.sizes[target.rank - k] = matrices.sizes[matrices.rank - k];
  }
  return matrices.broadcast_to(target);
}

bool is_row_major(const StridedShape& view) {
  int64_t stride = 1;
  for (int64_t d = view.rank - 1; d >= 0; --d) {
    if (view.sizes[d] != 1 && view.strides[d] != stride) {
      return false;
    }
    stride *= view.sizes[d];
  }
  return true;
}

}  // namespace rules_executorch::kernels
