#include "kernels/fourier/dims.h"

#include <algorithm>
#include <cmath>

#include "kernels/copy/copy.h"
#include "kernels/tensors/dims.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

bool make_fourier_dims(const Tensor& in, const ArrayRef<int64_t>& dims, const std::optional<int64_t>& last_length,
                       int64_t normalization, FourierDims& result) {
  DimSet set;
  double elements = 1;
  for (const int64_t given : dims) {
    int64_t dim = given;
    // A 0-dim tensor has no dimension to transform.
    ET_CHECK_OR_RETURN_FALSE(in.dim() > 0 && normalize_dim(dim, in.dim()), "no dimension %d", static_cast<int>(given));
    ET_CHECK_OR_RETURN_FALSE(!set.contains(dim), "dimension %d appears twice", static_cast<int>(dim));
    set.insert(dim);
    result.dims[result.count++] = dim;
    const bool is_last = result.count == static_cast<int64_t>(dims.size());
    result.last_length = is_last && last_length.has_value() ? *last_length : in.sizes()[dim];
    ET_CHECK_OR_RETURN_FALSE(result.last_length > 0, "a transform of %lld elements",
                             static_cast<long long>(result.last_length));
    elements *= static_cast<double>(result.last_length);
  }
  const auto mode = static_cast<int32_t>(normalization);  // PyTorch's type
  result.scale = mode == 0 ? 1 : 1 / (mode == 1 ? std::sqrt(elements) : elements);
  return true;
}

template <typename T>
bool transform_dims(KernelRuntimeContext& ctx, FourierKind kind, const FourierDims& dims, const Tensor& in,
                    Tensor& out) {
  const ConstStridedView source(in);
  const StridedView target(out);
  if (target.numel() == 0) {
    return true;
  }
  if (dims.count == 0) {
    copy(source, target);
    return true;
  }
  const FourierKind others = kind == FourierKind::kForward || kind == FourierKind::kRealToComplex
                                 ? FourierKind::kForward
                                 : FourierKind::kBackward;
  // Real numbers are the input of the first or the output of the last transform.
  StridedView between = target;
  if (kind == FourierKind::kComplexToReal && dims.count > 1) {
    static_cast<StridedShape&>(between) = source.contiguous(source.dtype);
    const auto memory = ctx.allocate_temp(static_cast<size_t>(between.numel() * between.element_size()), alignof(T));
    if (!memory.ok()) {
      return false;
    }
    between.data = static_cast<char*>(*memory);
  }
  const bool is_last_first = kind != FourierKind::kComplexToReal;
  const auto transform_at = [&](int64_t i) {
    const int64_t d = is_last_first ? dims.count - 1 - i : i;
    const bool is_last = d == dims.count - 1;
    const ConstStridedView from = i == 0 ? source : between;
    const StridedView to = i == dims.count - 1 ? target : between;
    const int64_t length = is_last ? dims.last_length : to.sizes[dims.dims[d]];
    return FourierLines<T>(is_last ? kind : others, length, i == 0 ? dims.scale : 1, from, to, dims.dims[d]);
  };
  size_t size = 0;
  for (int64_t i = 0; i < dims.count; ++i) {
    size = std::max(size, transform_at(i).memory_size());
  }
  const auto scratch = ctx.allocate_temp(size, FourierLines<T>::kAlignment);
  if (!scratch.ok()) {
    return false;
  }
  for (int64_t i = 0; i < dims.count; ++i) {
    transform_at(i).run(*scratch);
  }
  return true;
}

template bool transform_dims<float>(KernelRuntimeContext& ctx, FourierKind kind, const FourierDims& dims,
                                    const Tensor& in, Tensor& out);
template bool transform_dims<double>(KernelRuntimeContext& ctx, FourierKind kind, const FourierDims& dims,
                                     const Tensor& in, Tensor& out);

}  // namespace rules_executorch::kernels
