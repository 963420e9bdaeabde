#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kernels/copy/copy.h"
#include "kernels/copy/dim_index.h"
#include "kernels/math/extremes.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/resize.h"
#include "kernels/tensors/scalar.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether `index` has valid positions for dimension `dim` of `in` and is at most as large as the values of shape
/// `shape`.
bool is_index(const ConstStridedView& index, const StridedShape& in, int64_t dim, const StridedShape& shape) {
  return fits_within(index, in, dim) && fits_within(index, shape, /*except=*/-1) &&
         positions_exist(index, in.sizes[dim]);
}

/// The operands of scatter and scatter_add: `index`, which chooses elements of `out`, and the part of `src` with the
/// shape of `index`.
struct Source {
  ConstStridedView positions;
  ConstStridedView elements;

  /// Returns false if the arguments do not match.
  bool init(const Tensor& in, int64_t& dim, const Tensor& index, const Tensor& src, const Tensor& out) {
    ET_LOG_AND_RETURN_IF_FALSE(is_movable(in.scalar_type()));
    ET_LOG_AND_RETURN_IF_FALSE(tensors_have_same_dtype(in, src, out));
    ET_LOG_AND_RETURN_IF_FALSE(normalize_dim(dim, in.dim()));
    positions = with_dimension(ConstStridedView(index));
    elements = with_dimension(ConstStridedView(src));
    if (index.numel() == 0) {
      return true;
    }
    ET_LOG_AND_RETURN_IF_FALSE(is_index(positions, with_dimension(ConstStridedView(in)), dim, elements));
    for (int64_t d = 0; d < elements.rank; ++d) {
      elements = elements.slice(d, 0, positions.sizes[d]);
    }
    return true;
  }
};

/// Copies `in` to `out`, then copies `source`, a view with the shape of `index`, to the positions in `index`.
void scatter_into(const Tensor& in, int64_t dim, const ConstStridedView& index, const ConstStridedView& source,
                  Tensor& out) {
  const StridedView target = with_dimension(StridedView(out));
  copy(in, out);
  scatter(source, DimIndex(target, dim, index), target);
}

/// The reductions of scatter_reduce and index_reduce.
enum class Reduction { kSum, kProduct, kMean, kMax, kMin };

bool read_reduction(std::string_view name, Reduction& reduction) {
  constexpr std::string_view kNames[] = {"sum", "prod", "mean", "amax", "amin"};
  const auto* const found = std::find(std::begin(kNames), std::end(kNames), name);
  ET_CHECK_OR_RETURN_FALSE(found != std::end(kNames), "unknown reduction");
  reduction = static_cast<Reduction>(found - kNames);
  return true;
}

/// What a reduction begins with if the elements of the first argument do not count.
template <typename T>
T first_value(Reduction reduction) {
  using Limits = std::numeric_limits<T>;
  switch (reduction) {
    case Reduction::kProduct:
      return static_cast<T>(1);
    case Reduction::kMax:
      return Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
    case Reduction::kMin:
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
    default:
      return static_cast<T>(0);
  }
}

template <typename T>
T reduced(Reduction reduction, T so_far, T value) {
  switch (reduction) {
    case Reduction::kProduct:
      return static_cast<T>(so_far * value);
    case Reduction::kMax:
      return larger(so_far, value);
    case Reduction::kMin:
      return smaller(so_far, value);
    default:
      return static_cast<T>(so_far + value);
  }
}

/// Quotients of integers are rounded down.
template <typename T>
T mean_of(T sum, int64_t count) {
  if constexpr (std::is_same_v<T, bool>) {
    return sum;
  } else if constexpr (std::is_integral_v<T>) {
    const int64_t quotient = static_cast<int64_t>(sum) / count;
    return static_cast<T>(static_cast<int64_t>(sum) % count < 0 ? quotient - 1 : quotient);
  } else {
    return static_cast<T>(sum / static_cast<T>(count));
  }
}

/// Reduces `source`, which has the shape of `positions`, into the elements of `target` that `positions` chooses.
/// `counts` has zeros for the elements of the memory of `target`; null if there is no mean.
template <typename T>
void reduce_into(Reduction reduction, bool include_self, const ConstStridedView& source, const DimIndex& chosen,
                 const StridedView& target, int32_t* counts) {
  const auto each = [&](const auto& visit) {
    chosen.for_each_row(source, [&](const DimIndex::Row& row) {
      for (int64_t i = 0; i < row.n; ++i) {
        const char* const value = source.data + row.other_offset + i * row.other_stride;
        visit(*reinterpret_cast<T*>(target.data + row.chosen_offsets[i]), *reinterpret_cast<const T*>(value),
              row.chosen_offsets[i] / static_cast<int64_t>(sizeof(T)));
      }
    });
  };
  if (!include_self) {
    each([&](T& result, T, int64_t) { result = first_value<T>(reduction); });
  }
  each([&](T& result, T value, int64_t place) {
    result = reduced(reduction, result, value);
    if (counts != nullptr) {
      ++counts[place];
    }
  });
  if (counts != nullptr) {
    each([&](T& result, T, int64_t place) {
      // The first visit of an element divides.
      if (const int32_t count = std::exchange(counts[place], 0); count > 0) {
        result = mean_of(result, count + (include_self ? 1 : 0));
      }
    });
  }
}

/// Copies `in` to `out`, then reduces `source` into the elements that `positions` chooses.
template <ET_OPERATOR_NAME_TYPE op_name>
void scatter_reduced(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, const ConstStridedView& positions,
                     const ConstStridedView& source, Reduction reduction, bool include_self, Tensor& out) {
  int32_t* counts = nullptr;
  if (reduction == Reduction::kMean) {
    const size_t size = static_cast<size_t>(out.numel()) * sizeof(int32_t);
    const auto memory = ctx.allocate_temp(size);
    ET_KERNEL_CHECK(ctx, memory.ok(), MemoryAllocationFailed, );
    counts = static_cast<int32_t*>(memory.get());
    std::memset(counts, 0, size);
  }
  copy(in, out);
  const StridedView target = with_dimension(StridedView(out));
  ET_SWITCH_REALHBBF16_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    reduce_into<CTYPE>(reduction, include_self, source, DimIndex(target, dim, positions), target, counts);
  });
}

}  // namespace

Tensor& scatter_src_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, const Tensor& index,
                        const Tensor& src, Tensor& out) {
  // Check
  Source source;
  ET_KERNEL_CHECK(ctx, source.init(in, dim, index, src, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  if (index.numel() == 0) {
    copy(in, out);
    return out;
  }
  scatter_into(in, dim, source.positions, source.elements, out);
  return out;
}

Tensor& scatter_value_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, const Tensor& index,
                          const Scalar& value, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "scatter.value_out");

  // Check
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, scalar_fits(value, in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, out);
  const ConstStridedView positions = with_dimension(ConstStridedView(index));
  ET_KERNEL_CHECK(ctx, index.numel() == 0 || is_index(positions, with_dimension(ConstStridedView(in)), dim, positions),
                  InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  if (index.numel() == 0) {
    copy(in, out);
    return out;
  }
  ET_SWITCH_REALHBBF16_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    const CTYPE element = scalar_cast<CTYPE>(value);
    ConstStridedView source;
    source.dtype = in.scalar_type();
    source.data = reinterpret_cast<const char*>(&element);
    scatter_into(in, dim, positions, source.broadcast_to(positions), out);
  });
  return out;
}

Tensor& scatter_add_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, const Tensor& index,
                        const Tensor& src, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "scatter_add.out");

  // Check
  Source source;
  ET_KERNEL_CHECK(ctx, source.init(in, dim, index, src, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  copy(in, out);
  if (index.numel() == 0) {
    return out;
  }
  const StridedView target = with_dimension(StridedView(out));
  ET_SWITCH_REALHBBF16_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    DimIndex(target, dim, source.positions).for_each_row(source.elements, [&](const DimIndex::Row& row) {
      for (int64_t i = 0; i < row.n; ++i) {
        CTYPE& sum = *reinterpret_cast<CTYPE*>(target.data + row.chosen_offsets[i]);
        sum = static_cast<CTYPE>(
            sum + *reinterpret_cast<const CTYPE*>(source.elements.data + row.other_offset + i * row.other_stride));
      }
    });
  });
  return out;
}

Tensor& scatter_reduce_two_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, const Tensor& index,
                               const Tensor& src, std::string_view reduce, bool include_self, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "scatter_reduce.two_out");

  // Check
  Source source;
  Reduction reduction;
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, read_reduction(reduce, reduction), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.scalar_type() != ScalarType::Bool || reduction != Reduction::kMean, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, source.init(in, dim, index, src, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  if (index.numel() == 0) {
    copy(in, out);
    return out;
  }
  scatter_reduced<op_name>(ctx, in, dim, source.positions, source.elements, reduction, include_self, out);
  return out;
}

Tensor& index_reduce_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, const Tensor& index,
                         const Tensor& src, std::string_view reduce, bool include_self, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "index_reduce.out");

  // Check
  Reduction reduction;
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, src, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, read_reduction(reduce, reduction) && reduction != Reduction::kSum, InvalidArgument, out);
  // PyTorch reduces Bools of some shapes only.
  ET_KERNEL_CHECK(ctx, in.scalar_type() != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, index.dim() <= 1 && in.dim() == src.dim(), InvalidArgument, out);
  const ConstStridedView source = with_dimension(ConstStridedView(src));
  const ConstStridedView line = with_dimension(ConstStridedView(index));
  const StridedShape shape = with_dimension(ConstStridedView(in));
  for (int64_t d = 0; d < shape.rank; ++d) {
    ET_KERNEL_CHECK(ctx, source.sizes[d] == (d == dim ? line.sizes[0] : shape.sizes[d]), InvalidArgument, out);
  }
  ET_KERNEL_CHECK(ctx, positions_exist(line, shape.sizes[dim]), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute: the same position for all elements of a slice.
  if (src.numel() == 0) {
    copy(in, out);
    return out;
  }
  ConstStridedView positions = source;
  positions.dtype = line.dtype;
  positions.data = line.data;
  for (int64_t d = 0; d < positions.rank; ++d) {
    positions.strides[d] = d == dim ? line.strides[0] : 0;
  }
  scatter_reduced<op_name>(ctx, in, dim, positions, source, reduction, include_self, out);
  return out;
}

}  // namespace torch::executor::native
