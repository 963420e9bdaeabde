#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/promotion.h"
#include "kernels/tensors/resize.h"
#include "kernels/tensors/scalar.h"
#include "kernels/views/loop_nest.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The cost of a search, in additions.
constexpr int64_t kWorkOfSearch = 32;

/// A sorted line in which values are searched. Strides are in bytes.
struct SortedLine {
  const char* data;
  int64_t stride;
  int64_t size;
  /// The indices of the elements in their order; null if the elements are in order.
  const char* sorter;
  int64_t sorter_stride;
};

/// The number of elements that are less than `value`; with `right`, also of those that are equal. As in PyTorch, NaN is
/// not less than a number, and no number is less than NaN.
template <typename T>
int64_t count_before(const SortedLine& line, T value, bool right) {
  int64_t first = 0, last = line.size;
  while (first < last) {
    const int64_t middle = first + (last - first) / 2;
    const int64_t at =
        line.sorter == nullptr ? middle : *reinterpret_cast<const int64_t*>(line.sorter + middle * line.sorter_stride);
    const T element = *reinterpret_cast<const T*>(line.data + at * line.stride);
    if (right ? !(element > value) : !(element >= value)) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

bool check_sorter(const Tensor& sorter, const Tensor& boundaries) {
  ET_CHECK_OR_RETURN_FALSE(sorter.scalar_type() == ScalarType::Long, "the sorter is not Long");
  ET_CHECK_OR_RETURN_FALSE(sorter.sizes() == boundaries.sizes(), "the sorter has other sizes than the sorted sequence");
  if (sorter.numel() == 0) {
    return true;
  }
  const int64_t size = boundaries.sizes()[boundaries.dim() - 1];
  const auto* const indices = sorter.const_data_ptr<int64_t>();
  ET_CHECK_OR_RETURN_FALSE(
      std::all_of(indices, indices + sorter.numel(), [=](int64_t i) { return i >= 0 && i < size; }),
      "the sorter has an index out of range");
  return true;
}

bool check_search(const Tensor& boundaries, ScalarType common_type, bool out_int32, bool right,
                  std::optional<std::string_view> side, const std::optional<Tensor>& sorter, const Tensor& out) {
  ET_CHECK_OR_RETURN_FALSE(is_supported(common_type) && common_type != ScalarType::Bool, "dtype %s is not supported",
                           toString(common_type));
  ET_CHECK_OR_RETURN_FALSE(out.scalar_type() == (out_int32 ? ScalarType::Int : ScalarType::Long),
                           "out has another dtype than out_int32 says");
  ET_CHECK_OR_RETURN_FALSE(boundaries.dim() > 0, "the sorted sequence has no dimension");
  ET_CHECK_OR_RETURN_FALSE(!side.has_value() || *side == "left" || *side == "right", "side is not left or right");
  ET_CHECK_OR_RETURN_FALSE(!right || !side.has_value() || *side == "right", "side is left, and right is true");
  ET_CHECK_OR_RETURN_FALSE(!out_int32 || boundaries.sizes()[boundaries.dim() - 1] < INT32_MAX,
                           "the sorted sequence is too long for indices of 32 bits");
  return !sorter.has_value() || check_sorter(*sorter, boundaries);
}

/// Whether all dimensions but the last are equal, so that each line has values of its own. A line alone is for all
/// values.
bool has_lines_of(const Tensor& boundaries, const Tensor& in) {
  if (boundaries.dim() == 1) {
    return true;
  }
  ET_CHECK_OR_RETURN_FALSE(in.dim() == boundaries.dim(), "the values have another rank than the sorted sequence");
  for (ssize_t d = 0; d + 1 < in.dim(); ++d) {
    ET_CHECK_OR_RETURN_FALSE(in.size(d) == boundaries.size(d),
                             "dimension %d of the values and the sorted sequence differs", static_cast<int>(d));
  }
  return true;
}

/// The lines of a view as elements of the shape `sizes`: stride 0 along the last dimension, and in all of them for a
/// line alone.
StridedShape lines_over(const StridedShape& line_shape, const StridedShape& values) {
  StridedShape lines = values;
  lines.dtype = line_shape.dtype;
  for (int64_t d = 0; d < lines.rank; ++d) {
    lines.strides[d] = line_shape.rank == 1 || d + 1 == lines.rank ? 0 : line_shape.strides[d];
  }
  return lines;
}

template <typename T>
void search(const ConstStridedView& boundaries, const ConstStridedView& values, bool right,
            const std::optional<Tensor>& sorter_tensor, Tensor& out_tensor) {
  const StridedView out(out_tensor);
  const ConstStridedView sorter = sorter_tensor.has_value() ? ConstStridedView(*sorter_tensor) : ConstStridedView();
  const StridedShape lines = lines_over(boundaries, values);
  const StridedShape sorter_lines = sorter_tensor.has_value() ? lines_over(sorter, values) : lines;
  const int64_t last = boundaries.rank - 1;
  SortedLine line{nullptr, boundaries.strides[last] * boundaries.element_size(), boundaries.sizes[last], nullptr, 0};
  if (sorter_tensor.has_value()) {
    line.sorter_stride = sorter.strides[last] * sorter.element_size();
  }
  const bool is_int32 = out.dtype == ScalarType::Int;
  const LoopNest nest = LoopNest::over(out, values, lines, sorter_lines);
  nest.parallel_for_each_row(kGrain / kWorkOfSearch, [&](const int64_t* offsets, int64_t n) {
    SortedLine own = line;
    for (int64_t i = 0; i < n; ++i) {
      own.data = boundaries.data + offsets[2] + i * nest.row_stride(2);
      own.sorter = sorter_tensor.has_value() ? sorter.data + offsets[3] + i * nest.row_stride(3) : nullptr;
      const T value = *reinterpret_cast<const T*>(values.data + offsets[1] + i * nest.row_stride(1));
      const int64_t count = count_before(own, value, right);
      char* const to = out.data + offsets[0] + i * nest.row_stride(0);
      if (is_int32) {
        *reinterpret_cast<int32_t*>(to) = static_cast<int32_t>(count);
      } else {
        *reinterpret_cast<int64_t*>(to) = count;
      }
    }
  });
}

/// The view with its elements in dtype `type`. If they have another one, `memory` gets the elements, and is then after
/// them.
ConstStridedView in_dtype(const ConstStridedView& view, ScalarType type, char*& memory) {
  if (view.dtype == type) {
    return view;
  }
  // A tensor is dense, so that its elements are in the same order in `memory`.
  ConstStridedView converted = view;
  converted.dtype = type;
  converted.data = memory;
  convert_elements(view.dtype, view.data, type, memory, view.numel());
  memory += converted.numel() * converted.element_size();
  return converted;
}

/// Searches `values` in dtype `type`, to which both are promoted.
template <ET_OPERATOR_NAME_TYPE op_name>
void search_in_dtype(KernelRuntimeContext& ctx, ScalarType type, ConstStridedView boundaries, ConstStridedView values,
                     bool right, const std::optional<Tensor>& sorter, Tensor& out) {
  int64_t elements = 0;
  for (const ConstStridedView* view : {&boundaries, &values}) {
    elements += view->dtype == type ? 0 : view->numel();
  }
  if (elements > 0) {
    const auto memory = ctx.allocate_temp(static_cast<size_t>(elements) * elementSize(type), alignof(int64_t));
    ET_KERNEL_CHECK(ctx, memory.ok(), MemoryAllocationFailed, );
    char* place = static_cast<char*>(*memory);
    boundaries = in_dtype(boundaries, type, place);
    values = in_dtype(values, type, place);
  }
  ET_SWITCH_REALHBF16_TYPES(type, ctx, op_name, CTYPE, [&] { search<CTYPE>(boundaries, values, right, sorter, out); });
}

template <ET_OPERATOR_NAME_TYPE op_name>
Tensor& search_tensor(KernelRuntimeContext& ctx, const Tensor& boundaries, const Tensor& in, bool out_int32, bool right,
                      std::optional<std::string_view> side, const std::optional<Tensor>& sorter, Tensor& out) {
  // Common dtype
  const ScalarType common_type = result_type(boundaries, in);

  // Check
  ET_KERNEL_CHECK(ctx, check_search(boundaries, common_type, out_int32, right, side, sorter, out), InvalidArgument,
                  out);
  ET_KERNEL_CHECK(ctx, has_lines_of(boundaries, in), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  search_in_dtype<op_name>(ctx, common_type, ConstStridedView(boundaries), ConstStridedView(in),
                           right || side == "right", sorter, out);
  return out;
}

template <ET_OPERATOR_NAME_TYPE op_name>
Tensor& search_scalar(KernelRuntimeContext& ctx, const Tensor& boundaries, const Scalar& in, bool out_int32, bool right,
                      std::optional<std::string_view> side, const std::optional<Tensor>& sorter, Tensor& out) {
  // Common dtype
  const ScalarType common_type = result_type(boundaries, in);

  // Check
  ET_KERNEL_CHECK(ctx, check_search(boundaries, common_type, out_int32, right, side, sorter, out), InvalidArgument,
                  out);
  ET_KERNEL_CHECK(ctx, boundaries.dim() == 1, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to(out, {}), InvalidArgument, out);

  // Compute
  ConstStridedView value;
  alignas(int64_t) char bytes[sizeof(int64_t)];
  ET_SWITCH_REALHBF16_TYPES(common_type, ctx, op_name, CTYPE, [&] {
    const CTYPE converted = scalar_cast<CTYPE>(in);
    std::memcpy(bytes, &converted, sizeof(converted));
  });
  value.dtype = common_type;
  value.data = bytes;
  search_in_dtype<op_name>(ctx, common_type, ConstStridedView(boundaries), value, right || side == "right", sorter,
                           out);
  return out;
}

}  // namespace

Tensor& searchsorted_Tensor_out(KernelRuntimeContext& ctx, const Tensor& sorted_sequence, const Tensor& in,
                                bool out_int32, bool right, std::optional<std::string_view> side,
                                const std::optional<Tensor>& sorter, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "searchsorted.Tensor_out");
  return search_tensor<op_name>(ctx, sorted_sequence, in, out_int32, right, side, sorter, out);
}

Tensor& searchsorted_Scalar_out(KernelRuntimeContext& ctx, const Tensor& sorted_sequence, const Scalar& in,
                                bool out_int32, bool right, std::optional<std::string_view> side,
                                const std::optional<Tensor>& sorter, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "searchsorted.Scalar_out");
  return search_scalar<op_name>(ctx, sorted_sequence, in, out_int32, right, side, sorter, out);
}

Tensor& bucketize_Tensor_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& boundaries, bool out_int32,
                             bool right, Tensor& out) {
  ET_KERNEL_CHECK(ctx, boundaries.dim() == 1, InvalidArgument, out);
  ET_DEFINE_OPERATOR_NAME(op_name, "bucketize.Tensor_out");
  return search_tensor<op_name>(ctx, boundaries, in, out_int32, right, std::nullopt, std::nullopt, out);
}

Tensor& bucketize_Scalar_out(KernelRuntimeContext& ctx, const Scalar& in, const Tensor& boundaries, bool out_int32,
                             bool right, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "bucketize.Scalar_out");
  return search_scalar<op_name>(ctx, boundaries, in, out_int32, right, std::nullopt, std::nullopt, out);
}

}  // namespace torch::executor::native
