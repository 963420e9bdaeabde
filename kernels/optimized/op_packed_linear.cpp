#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "kernels/common/activation.h"
#include "kernels/common/copy.h"
#include "kernels/common/matmul.h"
#include "kernels/common/parallel_for.h"
#include "kernels/common/resize.h"
#include "kernels/common/strided_view.h"
#include "kernels/common/vectorize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Columns of a panel of weights, as many as export/graph_passes/packed_linear_operator.py packs: a multiple of those
/// of the tiles of all instruction sets.
constexpr int64_t kPanelColumns = 48;
/// Rows of the input that meet a panel together, and products that are added up before they are added to a sum: a part
/// of a panel stays in the first cache, the sums stay in the second one.
constexpr int64_t kRows = 512;
constexpr int64_t kDepth = 256;
/// Multiplications that a thread takes at least.
constexpr int64_t kPartProducts = int64_t{1} << 19;

/// A linear layer in elements of type T, all tensors contiguous: `out = activation(in * weight + bias)`.
template <typename T>
struct PackedLinear {
  const ProductLoops& loops;
  const T* in;
  const T* weight;  // panels, one after the other, each with a row of kPanelColumns for each element of a row of `in`
  const T* bias;    // null for none
  T* out;
  int64_t rows;
  int64_t k;
  int64_t columns;
  Activation activation;

  void compute() const {
    const int64_t panels = (columns + kPanelColumns - 1) / kPanelColumns;
    const int64_t parts = (rows + kRows - 1) / kRows;
    const int64_t products = std::max<int64_t>(std::min(rows, kRows) * kPanelColumns * k, 1);
    parallel_for(0, parts * panels, std::max<int64_t>(kPartProducts / products, 1), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = i / panels * kRows;
        compute_panel(row, std::min(kRows, rows - row), i % panels);
      }
    });
  }

 private:
  void compute_panel(int64_t row, int64_t count, int64_t panel) const {
    constexpr int64_t kTileColumns = kTileBytes / static_cast<int64_t>(sizeof(T));
    static_assert(kPanelColumns % kTileColumns == 0);
    const int64_t width = std::min(kPanelColumns, columns - panel * kPanelColumns);
    T* const sums = out + row * columns + panel * kPanelColumns;
    for (int64_t start = 0; start < k; start += kDepth) {
      const int64_t depth = std::min(kDepth, k - start);
      const T* const a = in + row * k + start;
      const T* const b = weight + (panel * k + start) * kPanelColumns;
      for (int64_t j = 0; j < width; j += kTileColumns) {
        loops.add_panel({sums + j, columns, a, k, b + j, kPanelColumns, count, std::min(kTileColumns, width - j), depth,
                         /*replaces_totals=*/start == 0});
      }
    }
    for (int64_t i = 0; i < count; ++i) {
      finish(sums + i * columns, panel * kPanelColumns, width);
    }
  }

  void finish(T* sums, int64_t column, int64_t n) const {
    if (k == 0) {
      std::fill_n(sums, n, T(0));
    }
    if (bias != nullptr) {
      const T* const addend = bias + column;
      vectorized_for(n, [=](int64_t i) { sums[i] += addend[i]; });
    }
    activation(sums, n);
  }
};

bool is_contiguous(const Tensor& tensor) {
  return ::executorch::runtime::is_contiguous_dim_order(tensor.dim_order().data(), tensor.dim());
}

/// Whether `weight` has the panels of a layer.
bool check_panels(const Tensor& in, const Tensor& weight, int64_t out_features) {
  ET_CHECK_OR_RETURN_FALSE(weight.dim() == 3 && weight.size(2) == kPanelColumns && is_contiguous(weight),
                           "weights are no panels of %d columns: the program was exported by another version of "
                           "rules_executorch; export the program again",
                           int(kPanelColumns));
  ET_CHECK_OR_RETURN_FALSE(in.dim() >= 1 && in.size(in.dim() - 1) == weight.size(1),
                           "weights are for %d input features, the input has others", int(weight.size(1)));
  const int64_t panels = (out_features + kPanelColumns - 1) / kPanelColumns;
  ET_CHECK_OR_RETURN_FALSE(out_features >= 0 && weight.size(0) == panels, "%d panels are not those of %d features",
                           int(weight.size(0)), int(out_features));
  return true;
}

}  // namespace

Tensor& packed_linear_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight,
                          const std::optional<Tensor>& bias, int64_t out_features, std::string_view activation,
                          double minimum, double maximum, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "packed_linear.out");

  // Check
  const ScalarType type = in.scalar_type();
  Activation of_floats;
  ET_KERNEL_CHECK(ctx, type == ScalarType::Float || type == ScalarType::Double, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, weight, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, !bias.has_value() || tensors_have_same_dtype(*bias, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, check_panels(in, weight, out_features), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, !bias.has_value() || (bias->dim() == 1 && bias->size(0) == out_features), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, find_activation<float>(activation, minimum, maximum, of_floats), InvalidArgument, out);

  // Resize
  Tensor::SizesType sizes[kTensorDimensionLimit];
  std::copy_n(in.sizes().data(), in.dim(), sizes);
  sizes[in.dim() - 1] = static_cast<Tensor::SizesType>(out_features);
  ET_KERNEL_CHECK(ctx, resize_to(out, {sizes, static_cast<size_t>(in.dim())}), InvalidArgument, out);
  if (out.numel() == 0) {
    return out;
  }

  // Tensors of other dim orders have contiguous copies.
  const void* source = in.const_data_ptr();
  void* target = out.mutable_data_ptr();
  if (!is_contiguous(in)) {
    const auto memory = ctx.allocate_temp(in.nbytes(), /*alignment=*/64);
    ET_KERNEL_CHECK_MSG(ctx, memory.ok(), MemoryAllocationFailed, out, "no memory for a copy of the input");
    StridedView copied;
    static_cast<StridedShape&>(copied) = ConstStridedView(in).contiguous(type);
    copied.data = static_cast<char*>(*memory);
    copy(ConstStridedView(in), copied);
    source = *memory;
  }
  if (!is_contiguous(out)) {
    const auto memory = ctx.allocate_temp(out.nbytes(), /*alignment=*/64);
    ET_KERNEL_CHECK_MSG(ctx, memory.ok(), MemoryAllocationFailed, out, "no memory for a copy of the result");
    target = *memory;
  }

  // Compute
  const int64_t k = in.size(in.dim() - 1);
  ET_SWITCH_FLOAT_TYPES(type, ctx, op_name, CTYPE, [&] {
    PackedLinear<CTYPE> layer{product_loops<CTYPE>(),
                              static_cast<const CTYPE*>(source),
                              static_cast<const CTYPE*>(weight.const_data_ptr()),
                              bias.has_value() ? static_cast<const CTYPE*>(bias->const_data_ptr()) : nullptr,
                              static_cast<CTYPE*>(target),
                              out.numel() / out_features,
                              k,
                              out_features,
                              {}};
    find_activation<CTYPE>(activation, minimum, maximum, layer.activation);
    layer.compute();
  });
  if (target != out.const_data_ptr()) {
    ConstStridedView result;
    static_cast<StridedShape&>(result) = ConstStridedView(out).contiguous(type);
    result.data = static_cast<const char*>(target);
    copy(result, StridedView(out));
  }
  return out;
}

}  // namespace torch::executor::native
