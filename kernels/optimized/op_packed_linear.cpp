#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

#include "kernels/copy/copy.h"
#include "kernels/gemm/float_panels.h"
#include "kernels/gemm/layouts.h"
#include "kernels/gemm/matmul.h"
#include "kernels/math/activation.h"
#include "kernels/math/bits.h"
#include "kernels/math/divide_up.h"
#include "kernels/math/vectorize.h"
#include "kernels/optimized/dim_orders.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The number of rows of the input that are multiplied by a strip of panels, and the number of products that are added
/// before they are added to a sum. The part of the panels that a tile reads stays in the L1 cache, or in the L2 cache
/// if tiles are wide. The sums stay in the L2 cache. With fewer products, the sums would be loaded and stored more
/// often.
constexpr int64_t kStripRows = 512;
/// Parts have a multiple of this number of rows, which is a multiple of the 6 and 8 rows of tiles on x86-64.
constexpr int64_t kRowStep = 24;
constexpr int64_t kLinearDepth = 384;
/// The largest number of rows that read the panels of a strip one after the other. Such rows wait for memory, and the
/// processor prefetches the rest of a panel only until another panel is read.
constexpr int64_t kFewRows = 8;
/// The same for 16-bit elements. Each step converts a part of a panel.
constexpr int64_t kReducedRows = 64;
constexpr int64_t kReducedDepth = 32;

/// The type of sums of elements of type E.
template <typename E>
using SumType = std::conditional_t<is_reduced_floating_point<E>::value, float, E>;

/// A linear layer: `out = activation(in * weight + bias)`. All tensors are contiguous. For 16-bit elements E, sums are
/// floats and are rounded once.
template <typename E>
struct PackedLinear {
  using T = SumType<E>;

  const ProductLoops& loops;
  const void* in;   // of type E if E is T or pairs are multiplied, otherwise of type T
  const E* weight;  // panels, one after the other
  const E* bias;    // null for none
  E* out;
  int64_t rows;
  int64_t k;
  int64_t columns;
  Activation activation;

  /// Whether the instruction set multiplies pairs of elements.
  static bool multiplies_pairs() {
    return std::is_same_v<E, BFloat16> && product_loops<T>().add_panel_of_pairs != nullptr;
  }

  void compute() const {
    const int64_t strips = divide_up(columns, kStripColumns);
    // With parts of the same size, threads with as many strips take the same time.
    const int64_t part_rows = even_size(rows, kStripRows, kRowStep);
    const int64_t parts = divide_up(rows, part_rows);
    const int64_t weights = kStripColumns * k;
    const int64_t grain =
        grain_of(std::min(rows, part_rows) * weights / kProductsOfAddition, weights * int64_t{sizeof(E)});
    parallel_for(0, parts * strips, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = i / strips * part_rows;
        compute_strip(row, std::min(part_rows, rows - row), i % strips * kStripColumns);
      }
    });
  }

 private:
  static constexpr ScalarType kType = CppTypeToScalarType<E>::value;

  /// Computes the columns of a strip, from `column` on, for `count` rows.
  void compute_strip(int64_t row, int64_t count, int64_t column) const {
    const int64_t width = std::min(kStripColumns, columns - column);
    const E* const b = weight + column * k;
    E* const results = out + row * columns + column;
    if constexpr (std::is_same_v<E, T>) {
      compute_sums(row, count, b, width, results, columns);
      for (int64_t i = 0; i < count; ++i) {
        finish(results + i * columns, column, width);
      }
    } else {
      // The sums of some rows, which are then converted to results.
      alignas(64) T sums[kReducedRows * kStripColumns];
      for (int64_t i = 0; i < count; ++i) {
        T* const sums_of_row = sums + i % kReducedRows * kStripColumns;
        if (i % kReducedRows == 0) {
          compute_sums(row + i, std::min(kReducedRows, count - i), b, width, sums, kStripColumns);
        }
        finish(sums_of_row, column, width);
        store_block(CppTypeToScalarType<T>::value, sums_of_row, kType, results + i * columns, sizeof(E), width);
      }
    }
  }

  /// Whether weights are converted before they are multiplied.
  static bool converts() { return !std::is_same_v<E, T> && !multiplies_pairs(); }

  /// Computes the sums of `width` columns for `count` rows, from `row` on. `b` is the first panel of the columns.
  void compute_sums(int64_t row, int64_t count, const E* b, int64_t width, T* sums, int64_t stride) const {
    // Conversions take longer than the memory.
    const bool waits_for_memory = rows <= kFewRows && !converts();
    const int64_t step = waits_for_memory ? std::max(tile_columns<T>(), kFloatPanelColumns) : width;
    for (int64_t j = 0; j < width; j += step) {
      PanelProduct product{};
      product.totals = sums + j;
      product.totals_stride = stride;
      product.rows = count;
      product.columns = std::min(step, width - j);
      add_products(row, b + j * k, product);
    }
  }

  /// Computes the sums of a product from `row` on. `b` is the first panel of the product's columns.
  void add_products(int64_t row, const E* b, PanelProduct product) const {
    product.replaces_totals = true;
    if (!converts()) {
      // The elements of a product in the type of the sums: one, or a pair.
      constexpr int64_t kCount = sizeof(T) / sizeof(E);
      const int64_t depth = k / kCount;
      const E* const a = static_cast<const E*>(in) + row * k;
      product.a_stride = depth;
      for (int64_t start = 0; start < depth; start += kLinearDepth, product.replaces_totals = false) {
        product.a = a + kCount * start;
        product.b = b + kCount * start * kFloatPanelColumns;
        product.k = std::min(kLinearDepth, depth - start);
        add_panels<T>(kCount == 1 ? loops.add_panel : loops.add_panel_of_pairs, product, depth * kFloatPanelColumns);
      }
      return;
    }
    if constexpr (!std::is_same_v<E, T>) {
      alignas(64) T rows_of_b[kReducedDepth * kStripColumns];
      const T* const a = static_cast<const T*>(in) + row * k;
      product.a_stride = k;
      product.b = rows_of_b;
      for (int64_t start = 0; start < k; start += kReducedDepth, product.replaces_totals = false) {
        product.a = a + start;
        product.k = std::min(kReducedDepth, k - start);
        for (int64_t j = 0; j < product.columns; j += kFloatPanelColumns) {
          load_rows(b + j * k + start * kFloatPanelColumns, product.k, rows_of_b + j * kReducedDepth);
        }
        add_panels<T>(loops.add_panel, product, kReducedDepth * kFloatPanelColumns);
      }
    }
  }

  /// Converts `count` rows of a panel. In BFloat16 panels, two adjacent elements are from two rows.
  static void load_rows(const E* panel, int64_t count, T* target) {
    if constexpr (std::is_same_v<E, BFloat16>) {
      for (int64_t i = 0; i < count; i += 2, panel += 2 * kFloatPanelColumns, target += 2 * kFloatPanelColumns) {
        vectorized_for(kFloatPanelColumns, [=](int64_t j) {
          uint32_t pair;
          std::memcpy(&pair, panel + 2 * j, sizeof(pair));
          target[j] = float_of(pair << 16);
          target[kFloatPanelColumns + j] = float_of(pair & 0xffff0000u);
        });
      }
    } else {
      convert_elements(kType, panel, CppTypeToScalarType<T>::value, target, count * kFloatPanelColumns);
    }
  }

  void finish(T* sums, int64_t column, int64_t n) const {
    if (k == 0) {
      std::fill_n(sums, n, T(0));
    }
    if (bias != nullptr) {
      T block[kStripColumns];
      const T* addend = block;
      if constexpr (std::is_same_v<E, T>) {
        addend = bias + column;
      } else {
        load_block(kType, bias + column, sizeof(E), CppTypeToScalarType<T>::value, block, n);
      }
      vectorized_for(n, [=](int64_t i) { sums[i] += addend[i]; });
    }
    activation(sums, n);
  }
};

/// Whether `weight` has the shape of the panels of a layer: a row for each input feature, or for each pair of input
/// features.
bool check_panels(const Tensor& in, const Tensor& weight, int64_t out_features) {
  const bool has_pairs = weight.scalar_type() == ScalarType::BFloat16;
  ET_CHECK_OR_RETURN_FALSE(
      weight.dim() == (has_pairs ? 4 : 3) && weight.size(2) == kFloatPanelColumns &&
          (!has_pairs || weight.size(3) == 2),
      "the weights are not in panels of %d columns: the program was exported by another version of "
      "rules_executorch; export the program again",
      int(kFloatPanelColumns));
  const int64_t k = weight.size(1) * (has_pairs ? 2 : 1);
  ET_CHECK_OR_RETURN_FALSE(in.dim() >= 1 && in.size(in.dim() - 1) == k,
                           "the weights are for %d input features, the input has another number", int(k));
  const int64_t panels = (out_features + kFloatPanelColumns - 1) / kFloatPanelColumns;
  ET_CHECK_OR_RETURN_FALSE(out_features >= 0 && weight.size(0) == panels, "%d panels do not match %d output features",
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
  ET_KERNEL_CHECK(ctx, is_supported(type) && isFloatingType(type), InvalidArgument, out);
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
  ET_KERNEL_CHECK(ctx, packed_linear_dim_orders_fit(in, weight, bias, out), InvalidArgument, out);
  if (out.numel() == 0) {
    return out;
  }

  // Inputs with other dim orders are copied to contiguous memory. So are inputs that must be converted.
  ScalarType in_type = type;
  ET_SWITCH_FLOATHBF16_TYPES(type, ctx, op_name, CTYPE, [&] {
    in_type = PackedLinear<CTYPE>::multiplies_pairs() ? type : CppTypeToScalarType<SumType<CTYPE>>::value;
  });
  const void* source = in.const_data_ptr();
  if (!is_contiguous(in) || in_type != type) {
    const auto memory = ctx.allocate_temp(in.numel() * elementSize(in_type), /*alignment=*/64);
    ET_KERNEL_CHECK_MSG(ctx, memory.ok(), MemoryAllocationFailed, out,
                        "not enough temporary memory for a copy of the input");
    StridedView copied;
    static_cast<StridedShape&>(copied) = ConstStridedView(in).contiguous(in_type);
    copied.data = static_cast<char*>(*memory);
    copy(ConstStridedView(in), copied);
    source = *memory;
  }

  // Compute
  ET_SWITCH_FLOATHBF16_TYPES(type, ctx, op_name, CTYPE, [&] {
    PackedLinear<CTYPE> layer{product_loops<SumType<CTYPE>>(),
                              source,
                              static_cast<const CTYPE*>(weight.const_data_ptr()),
                              bias.has_value() ? static_cast<const CTYPE*>(bias->const_data_ptr()) : nullptr,
                              static_cast<CTYPE*>(out.mutable_data_ptr()),
                              out.numel() / out_features,
                              in.size(in.dim() - 1),
                              out_features,
                              {}};
    find_activation<SumType<CTYPE>>(activation, minimum, maximum, layer.activation);
    layer.compute();
  });
  return out;
}

}  // namespace torch::executor::native
