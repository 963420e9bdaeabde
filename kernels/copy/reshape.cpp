#include "kernels/copy/reshape.h"

#include <algorithm>
#include <limits>

#include "kernels/copy/copy.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {
namespace {

bool is_contiguous(const StridedShape& view) {
  int64_t stride = 1;
  for (int64_t d = view.rank - 1; d >= 0; --d) {
    if (view.sizes[d] != 1 && view.strides[d] != stride) {
      return false;
    }
    stride *= view.sizes[d];
  }
  return true;
}

/// `view`, which must be contiguous, with the sizes of `shape`.
template <typename Byte>
BasicStridedView<Byte> reshape_contiguous(const BasicStridedView<Byte>& view, const StridedShape& shape) {
  BasicStridedView<Byte> reshaped = view;
  reshaped.rank = shape.rank;
  int64_t stride = 1;
  for (int64_t d = shape.rank - 1; d >= 0; --d) {
    reshaped.sizes[d] = shape.sizes[d];
    reshaped.strides[d] = stride;
    stride *= shape.sizes[d];
  }
  return reshaped;
}

/// A position in a view that moves through the elements in row-major order.
class Cursor {
 public:
  explicit Cursor(const StridedShape& view) : view_(view) {}

  /// The number of bytes from the view's first element.
  int64_t offset() const { return offset_; }

  /// The number of bytes between the elements of a row.
  int64_t stride() const { return view_.strides[view_.rank - 1] * view_.element_size(); }

  /// The number of elements from this position to the end of the row.
  int64_t remaining() const { return view_.sizes[view_.rank - 1] - index_[view_.rank - 1]; }

  /// Moves by `n` elements. All of them must be in the current row.
  void advance(int64_t n) {
    int64_t d = view_.rank - 1;
    index_[d] += n;
    offset_ += n * stride();
    for (; d > 0 && index_[d] == view_.sizes[d]; --d) {
      offset_ += (view_.strides[d - 1] - view_.sizes[d] * view_.strides[d]) * view_.element_size();
      index_[d] = 0;
      ++index_[d - 1];
    }
  }

 private:
  const StridedShape& view_;
  int64_t offset_ = 0;
  int64_t index_[kTensorDimensionLimit] = {};
};

}  // namespace

bool make_reshaped_shape(int64_t numel, const ArrayRef<int64_t>& size, StridedShape& shape) {
  ET_CHECK_OR_RETURN_FALSE(size.size() <= kTensorDimensionLimit, "too many dimensions: %d", int(size.size()));
  shape.rank = static_cast<int64_t>(size.size());
  int64_t inferred = -1;
  int64_t product = 1;
  for (int64_t d = 0; d < shape.rank; ++d) {
    shape.sizes[d] = size[d];
    if (size[d] == -1) {
      ET_CHECK_OR_RETURN_FALSE(inferred == -1, "expected at most one -1 in the shape");
      inferred = d;
      continue;
    }
    ET_CHECK_OR_RETURN_FALSE(size[d] >= 0, "dimension %d cannot have size %d", int(d), int(size[d]));
    ET_CHECK_OR_RETURN_FALSE(size[d] <= std::numeric_limits<int64_t>::max() / std::max<int64_t>(product, 1),
                             "the shape has too many elements");
    product *= size[d];
  }
  if (inferred != -1) {
    ET_CHECK_OR_RETURN_FALSE(product != 0, "cannot infer a dimension next to a dimension of size 0");
    shape.sizes[inferred] = numel / product;
    product *= shape.sizes[inferred];
  }
  ET_CHECK_OR_RETURN_FALSE(product == numel, "the tensor has %d elements, the shape has %d", int(numel), int(product));
  return true;
}

void copy_reshaped(const ConstStridedView& source, const StridedView& target) {
  if (is_contiguous(source)) {
    copy(reshape_contiguous(source, target), target);
    return;
  }
  if (is_contiguous(target)) {
    copy(source, reshape_contiguous(target, source));
    return;
  }
  Cursor from(source);
  Cursor to(target);
  for (int64_t left = source.numel(); left > 0;) {
    const int64_t n = std::min(from.remaining(), to.remaining());
    copy_elements(source.data + from.offset(), from.stride(), target.data + to.offset(), to.stride(),
                  source.element_size(), n);
    from.advance(n);
    to.advance(n);
    left -= n;
  }
}

}  // namespace rules_executorch::kernels
