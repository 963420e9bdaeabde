#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/gemm/layouts.h"
#include "kernels/math/vectorize.h"
#include "kernels/optimized/dim_orders.h"
#include "kernels/parallel/block.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/simd/simd.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The number of elements in the bytes of a block: one Char in each byte, or two 4-bit elements. The two 4-bit elements
/// of a byte are half a block apart and have an offset of 8.
template <int kBits>
constexpr int64_t kBlock = kQuantizedRowBlockBytes * 8 / kBits;
static_assert(kQuantizedRowBlockBytes == 16, "the loads below have 16 bytes");

/// Several floats: the accumulators of a dot product. Short vectors are combined.
struct FloatBlock {
  static constexpr int kVectors = simd::kLanes<float> < 8 ? 16 / simd::kLanes<float> : 1;
  static constexpr int64_t kLanes = kVectors * simd::kLanes<float>;
  simd::Vector<float> vectors[kVectors];

  static KERNELS_ALWAYS_INLINE FloatBlock zero() { return {}; }
  static KERNELS_ALWAYS_INLINE FloatBlock load(const float* from) { return simd::load_as<FloatBlock>(from); }
  KERNELS_ALWAYS_INLINE void add_product(const FloatBlock& a, const FloatBlock& b) {
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) {
      vectors[i] += a.vectors[i] * b.vectors[i];
    }
  }
  KERNELS_ALWAYS_INLINE void add_product(const FloatBlock& a, float b) {
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) {
      vectors[i] += b * a.vectors[i];
    }
  }
};

template <int kBits>
KERNELS_ALWAYS_INLINE inline void load_weights(const char* from,
                                               FloatBlock (&weights)[kBlock<kBits> / FloatBlock::kLanes]) {
  simd::Vector<float> loaded[kBlock<kBits> / simd::kLanes<float>];
  if constexpr (kBits == 8) {
    simd::load_chars(from, loaded);
  } else {
    simd::load_halves(from, loaded);
  }
  std::memcpy(weights, loaded, sizeof(loaded));
}

/// The number of rows that are multiplied by a weight together.
constexpr int kTogether = 4;

/// The product of several rows of inputs and all weights.
struct WeightOnlyLayer {
  const float* in;
  const char* weight;
  const float* scale;
  const float* bias;
  char* out;
  ScalarType type;  // of `out`
  int64_t k;
  int64_t columns;
  int64_t groups;  // groups of a row, each with its own scale
};

/// Clears the sums one by one, because otherwise the compiler clears an array in memory for each group of weights.
template <int kRows, int kColumns>
KERNELS_ALWAYS_INLINE inline void clear(FloatBlock (&sums)[kRows][kColumns]) {
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int c = 0; c < kColumns; ++c) {
      sums[i][c] = FloatBlock::zero();
    }
  }
}

/// Computes `kColumns` columns of `kRows` rows, from `column` on. The independent sums hide the latency of the
/// additions. The elements after the last whole block are added last; only rows with one scale have such elements. Rows
/// of results are `stride` elements apart.
template <int kBits, int kRows, int kColumns>
void compute_columns(const WeightOnlyLayer& layer, int64_t column, float* results, int64_t stride) {
  constexpr int64_t kVectors = kBlock<kBits> / FloatBlock::kLanes;
  const int64_t row_bytes = layer.k * kBits / 8;
  const int64_t group = layer.k / layer.groups;
  const int64_t blocks = group / kBlock<kBits>;
  const char* const weight = layer.weight + column * row_bytes;
  const float* const scale = layer.scale + column * layer.groups;
  const float* in = layer.in;
  int64_t byte = 0;
  FloatBlock totals[kRows][kColumns];
  clear(totals);
  for (int64_t g = 0; g < layer.groups; ++g) {
    FloatBlock sums[kRows][kColumns];
    clear(sums);
    for (int64_t block = 0; block < blocks; ++block, in += kBlock<kBits>, byte += kBlock<kBits> * kBits / 8) {
#pragma GCC unroll 4
      for (int c = 0; c < kColumns; ++c) {
        FloatBlock weights[kVectors];
        // Rows often have the size of a page, and hardware prefetching stops at the end of a page.
        simd::prefetch(weight + (kColumns + c) * row_bytes + byte);
        load_weights<kBits>(weight + c * row_bytes + byte, weights);
#pragma GCC unroll 4
        for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
          for (int64_t j = 0; j < kVectors; ++j) {
            sums[i][c].add_product(weights[j], FloatBlock::load(in + i * layer.k + j * FloatBlock::kLanes));
          }
        }
      }
    }
#pragma GCC unroll 4
    for (int c = 0; c < kColumns; ++c) {
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) {
        totals[i][c].add_product(sums[i][c], scale[c * layer.groups + g]);
      }
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int c = 0; c < kColumns; ++c) {
      float lanes[FloatBlock::kLanes];
      simd::store(lanes, totals[i][c]);
      merge_lanes<FloatBlock::kLanes / 2>(lanes, [](float& into, float other) { into += other; });
      if constexpr (kBits == 8) {
        const auto* const bytes = reinterpret_cast<const int8_t*>(weight + c * row_bytes);
        const float* const rest = layer.in + i * layer.k;
        for (int64_t p = layer.groups * blocks * kBlock<kBits>; p < layer.k; ++p) {
          lanes[0] += scale[c * layer.groups] * static_cast<float>(bytes[p]) * rest[p];
        }
      }
      results[i * stride + c] = lanes[0] + (layer.bias == nullptr ? 0 : layer.bias[column + c]);
    }
  }
}

/// Computes the columns `begin` to `end` (exclusive) of `rows` rows. `rows` is kTogether or 1.
template <int kBits>
void compute_range(const WeightOnlyLayer& layer, int64_t rows, int64_t begin, int64_t end, float* results,
                   int64_t stride) {
  if (rows == kTogether) {
    for (; begin < end; ++begin, ++results) {
      compute_columns<kBits, kTogether, 1>(layer, begin, results, stride);
    }
    return;
  }
  for (; begin + kTogether <= end; begin += kTogether, results += kTogether) {
    compute_columns<kBits, 1, kTogether>(layer, begin, results, stride);
  }
  for (; begin < end; ++begin, ++results) {
    compute_columns<kBits, 1, 1>(layer, begin, results, stride);
  }
}

template <int kBits, bool kIsFloat>
void compute_layer(WeightOnlyLayer layer, int64_t rows) {
  const auto size = static_cast<int64_t>(elementSize(layer.type));
  while (rows > 0) {
    // Each loaded weight is multiplied by several rows.
    const int64_t count = rows >= kTogether ? kTogether : 1;
    parallel_for(0, layer.columns, grain_of(layer.k * count / 8, layer.k * kBits / 8), [&](int64_t begin, int64_t end) {
      if constexpr (kIsFloat) {
        compute_range<kBits>(layer, count, begin, end, reinterpret_cast<float*>(layer.out) + begin, layer.columns);
      } else {
        float results[kTogether][kBlockSize];
        for (; begin < end; begin += kBlockSize) {
          const int64_t n = std::min(kBlockSize, end - begin);
          compute_range<kBits>(layer, count, begin, begin + n, results[0], kBlockSize);
          for (int64_t i = 0; i < count; ++i) {
            store_block(ScalarType::Float, results[i], layer.type, layer.out + (i * layer.columns + begin) * size, size,
                        n);
          }
        }
      }
    });
    rows -= count;
    layer.in += count * layer.k;
    layer.out += count * layer.columns * size;
  }
}

}  // namespace

Tensor& weight_only_linear_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight, const Tensor& scale,
                               const std::optional<Tensor>& bias, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "weight_only_linear.out");

  // Check
  const ScalarType type = in.scalar_type();
  ET_KERNEL_CHECK(ctx, isFloatingType(type) && type != ScalarType::Double, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, scale.scalar_type() == ScalarType::Float, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, weight.scalar_type() == ScalarType::Char || weight.scalar_type() == ScalarType::Byte,
                  InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.dim() >= 1 && weight.dim() == 2 && scale.dim() == 2, InvalidArgument, out);
  const bool is_packed = weight.scalar_type() == ScalarType::Byte;
  const int64_t k = in.sizes()[in.dim() - 1];
  const int64_t columns = weight.sizes()[0];
  const int64_t groups = scale.sizes()[1];
  const int64_t multiple = is_packed ? kBlock<4> : groups == 1 ? 1 : kBlock<8>;
  ET_KERNEL_CHECK_MSG(ctx,
                      weight.sizes()[1] == (is_packed ? k / 2 : k) && groups >= 1 && k % (groups * multiple) == 0 &&
                          scale.sizes()[0] == columns,
                      InvalidArgument, out,
                      "weights of (%d, %d) with scales of (%d, %d) do not match %d features in groups of multiples "
                      "of %d: export the program with the version of the rules that its kernels come from",
                      static_cast<int>(columns), static_cast<int>(weight.sizes()[1]),
                      static_cast<int>(scale.sizes()[0]), static_cast<int>(groups), static_cast<int>(k),
                      static_cast<int>(multiple));
  if (bias.has_value()) {
    ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, *bias), InvalidArgument, out);
    ET_KERNEL_CHECK(ctx, bias->dim() == 1 && bias->numel() == columns, InvalidArgument, out);
  }

  // Resize
  Tensor::SizesType sizes[kTensorDimensionLimit];
  std::copy_n(in.sizes().data(), in.dim(), sizes);
  sizes[in.dim() - 1] = static_cast<Tensor::SizesType>(columns);
  ET_KERNEL_CHECK(ctx, resize_to(out, {sizes, static_cast<size_t>(in.dim())}), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, weight_only_linear_dim_orders_fit(in, weight, scale, bias, out), InvalidArgument, out);
  if (out.numel() == 0) {
    return out;
  }

  // Compute
  bool has_memory = false;
  ET_SWITCH_THREE_TYPES(Float, Half, BFloat16, type, ctx, op_name, CTYPE, [&] {
    constexpr bool kIsFloat = std::is_same_v<CTYPE, float>;
    const void* values = in.const_data_ptr();
    const void* biases = bias.has_value() ? bias->const_data_ptr() : nullptr;
    if constexpr (!kIsFloat) {
      // 16-bit inputs and biases are converted to float.
      const auto memory = ctx.allocate_temp((in.numel() + columns) * sizeof(float), /*alignment=*/64);
      if (!memory.ok()) {
        return;
      }
      auto* const floats = static_cast<float*>(*memory);
      convert_elements(type, values, ScalarType::Float, floats, in.numel());
      values = floats;
      if (biases != nullptr) {
        convert_elements(type, biases, ScalarType::Float, floats + in.numel(), columns);
        biases = floats + in.numel();
      }
    }
    has_memory = true;
    const WeightOnlyLayer layer = {static_cast<const float*>(values),
                                   static_cast<const char*>(weight.const_data_ptr()),
                                   scale.const_data_ptr<float>(),
                                   static_cast<const float*>(biases),
                                   static_cast<char*>(out.mutable_data_ptr()),
                                   type,
                                   k,
                                   columns,
                                   groups};
    const int64_t rows = out.numel() / columns;
    if (is_packed) {
      compute_layer<4, kIsFloat>(layer, rows);
    } else {
      compute_layer<8, kIsFloat>(layer, rows);
    }
  });
  ET_KERNEL_CHECK_MSG(ctx, has_memory, MemoryAllocationFailed, out,
                      "not enough temporary memory for the input as floats");
  return out;
}

}  // namespace torch::executor::native
