#include <algorithm>
#include <cstring>

#include "kernels/gemm/layouts.h"
#include "kernels/math/vector_math.h"
#include "kernels/math/vectorize.h"
#include "kernels/optimized/dim_orders.h"
#include "kernels/parallel/block.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/reduce/min_max.h"
#include "kernels/simd/simd.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The number of output features of a panel of weights, and the number of consecutive elements of each output feature.
/// kPanelBlock is the number of bytes of these elements for all features of a panel. A byte has one 8-bit element or
/// two 4-bit elements, which are kBytePanelDepth elements apart.
constexpr int64_t kPanelBlock = kBytePanelColumns * kBytePanelDepth;
constexpr int kPanelVectors = static_cast<int>(kPanelBlock / simd::kByteLanes);
/// The number of rows and of panels of a tile. The sums take half of the registers of most processors.
constexpr int kTileRows = 4;
constexpr int kTilePanels = kPanelVectors == 1 ? 4 : 1;
/// The rows of the input are padded to a multiple of this number of elements.
constexpr int64_t kRowMultiple = kBytePanelRowMultiple;
static_assert(kBytePanelDepth == simd::kGroupBytes && kRowMultiple == 2 * kBytePanelDepth);
/// The number of rows that are multiplied by a panel before the next panel.
constexpr int64_t kDynamicRows = 64;

/// The quantization of a row of the input: the value of a byte is `(byte - zero_point) * scale`. The bytes are as
/// simd::add_products() reads them.
struct RowParameters {
  float scale;
  float zero_point;
};

/// Quantizes rows as torchao's choose_qparams_affine() and quantize_affine() do. The results are Chars, plus 128 if
/// products are of unsigned bytes.
struct RowQuantization {
  bool is_symmetric;
  float eps;

  /// Quantizes a row of `n` elements of dtype `type`. The computation is in float.
  RowParameters operator()(ScalarType type, const char* row, int64_t n, uint8_t* bytes) const {
    const auto size = static_cast<int64_t>(elementSize(type));
    const MinMax<float> extent = min_max<float>(type, row, size, n);
    const float low = std::min(extent.min, 0.0f);
    const float high = std::max(extent.max, 0.0f);
    const float range = is_symmetric ? std::max(-low, high) / 127.5f : (high - low) / 255.0f;
    const float scale = std::max(range, eps);
    const float zero_point = is_symmetric ? 128.0f : std::clamp(-math::rint(low / scale), 0.0f, 255.0f);
    const float inverse = 1.0f / scale;
    const RowParameters parameters = {scale, zero_point - simd::kFlippedBits};
    if (type == ScalarType::Float) {
      quantize(reinterpret_cast<const float*>(row), n, inverse, zero_point, bytes);
      return parameters;
    }
    float block[kBlockSize];
    for (int64_t i = 0; i < n; i += kBlockSize) {
      const int64_t count = std::min(kBlockSize, n - i);
      load_block(type, row + i * size, size, ScalarType::Float, block, count);
      quantize(block, count, inverse, zero_point, bytes + i);
    }
    return parameters;
  }

 private:
  static void quantize(const float* row, int64_t n, float inverse, float zero_point, uint8_t* bytes) {
    vectorized_for(n, [=](int64_t i) {
      const float value = math::rint(row[i] * inverse) + zero_point;
      const float raised = value > 0.0f ? value : 0.0f;  // also for NaN
      bytes[i] = static_cast<uint8_t>(static_cast<int32_t>(raised < 255.0f ? raised : 255.0f)) ^ simd::kFlippedBits;
    });
  }
};

/// The product of rows of bytes and panels of weights: `(total - zero_point * offset) * row_scale + bias`. The total is
/// the sum over all groups of the group's sum times the group's scale.
struct DynamicLayer {
  const uint8_t* rows_data;
  int64_t row_stride;
  const RowParameters* parameters;
  const char* panels;
  int64_t panel_stride;
  const float* scales;   // for each group, the scales of a panel's columns
  const float* offsets;  // for each column, the sum of its weights times their scales
  const float* bias;
  char* out;
  ScalarType type;  // of `out`
  int64_t columns;
  int64_t groups;
  int64_t group_size;
};

template <int kBits, int kRowCount, int kPanelCount>
void compute_tile(const DynamicLayer& layer, int64_t row, int64_t panel) {
  constexpr int kVectors = kPanelCount * kPanelVectors;
  constexpr int64_t kColumns = kPanelCount * kBytePanelColumns;
  // The number of elements of a row in the bytes of a block, and the factor of the sums: 4-bit weights are loaded as 16
  // times their value.
  constexpr int64_t kDepth = kBits == 4 ? 2 * kBytePanelDepth : kBytePanelDepth;
  constexpr float kFactor = kBits == 4 ? 1.0f / 16 : 1.0f;
  // With one row, two chains of sums hide the latency of the products.
  constexpr int kChains = kRowCount == 1 && kBits == 4 ? 2 : 1;
  float totals[kRowCount][kColumns] = {};
  const uint8_t* rows[kRowCount];
  for (int i = 0; i < kRowCount; ++i) {
    rows[i] = layer.rows_data + (row + i) * layer.row_stride;
  }
  const char* block = layer.panels + panel * layer.panel_stride;
  for (int64_t g = 0; g < layer.groups; ++g) {
    simd::Ints sums[kRowCount][kVectors][kChains];
#pragma GCC unroll 4
    for (int i = 0; i < kRowCount; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
#pragma GCC unroll 2
        for (int chain = 0; chain < kChains; ++chain) {
          sums[i][j][chain] = simd::Ints{};
        }
      }
    }
    const int64_t end = (g + 1) * layer.group_size;
    for (int64_t p = g * layer.group_size; p < end; p += kDepth, block += kPanelBlock) {
      simd::Bytes weights[kBits == 4 ? 2 : 1][kVectors];
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        const simd::Bytes bytes = simd::load_as<simd::Bytes>(block + j / kPanelVectors * layer.panel_stride +
                                                             j % kPanelVectors * simd::kByteLanes);
        if constexpr (kBits == 4) {
          const simd::Halves halves = simd::halves_of(bytes);
          weights[0][j] = halves.lower;
          weights[1][j] = halves.higher;
        } else {
          weights[0][j] = bytes;
        }
      }
#pragma GCC unroll 4
      for (int i = 0; i < kRowCount; ++i) {
#pragma GCC unroll 2
        for (int half = 0; half < (kBits == 4 ? 2 : 1); ++half) {
          uint32_t group;
          std::memcpy(&group, rows[i] + p + half * kBytePanelDepth, sizeof(group));
          const simd::Bytes x = simd::repeat_group(group);
#pragma GCC unroll 4
          for (int j = 0; j < kVectors; ++j) {
            simd::Ints& sum = sums[i][j][half % kChains];
            sum = simd::add_products(sum, x, weights[half][j]);
          }
        }
      }
    }
    for (int i = 0; i < kRowCount; ++i) {
      alignas(64) int32_t integers[kChains][kColumns];
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
#pragma GCC unroll 2
        for (int chain = 0; chain < kChains; ++chain) {
          simd::store(integers[chain] + j * simd::kIntLanes, sums[i][j][chain]);
        }
      }
      for (int q = 0; q < kPanelCount; ++q) {
        const float* const scales = layer.scales + ((panel + q) * layer.groups + g) * kBytePanelColumns;
        float* const total = totals[i] + q * kBytePanelColumns;
        const int32_t* const sum = integers[0] + q * kBytePanelColumns;
        if constexpr (kChains == 1) {
          vectorized_for(kBytePanelColumns, [=](int64_t j) { total[j] += static_cast<float>(sum[j]) * scales[j]; });
        } else {
          vectorized_for(kBytePanelColumns,
                         [=](int64_t j) { total[j] += static_cast<float>(sum[j] + sum[kColumns + j]) * scales[j]; });
        }
      }
    }
  }
  const int64_t column = panel * kBytePanelColumns;
  const int64_t count = std::min(kColumns, layer.columns - column);
  const auto size = static_cast<int64_t>(elementSize(layer.type));
  static_assert(kColumns <= kBlockSize);
  for (int i = 0; i < kRowCount; ++i) {
    const RowParameters parameters = layer.parameters[row + i];
    char* const results = layer.out + ((row + i) * layer.columns + column) * size;
    float block[kColumns];
    float* const out = layer.type == ScalarType::Float ? reinterpret_cast<float*>(results) : block;
    const float* const offsets = layer.offsets + column;
    vectorized_for(count, [=, total = &totals[i][0]](int64_t j) {
      out[j] = (total[j] * kFactor - parameters.zero_point * offsets[j]) * parameters.scale;
    });
    if (layer.bias != nullptr) {
      vectorized_for(count, [=, bias = layer.bias + column](int64_t j) { out[j] += bias[j]; });
    }
    if (layer.type != ScalarType::Float) {
      store_block(ScalarType::Float, block, layer.type, results, size, count);
    }
  }
}

template <int kBits, int kPanelCount>
void compute_rows(const DynamicLayer& layer, int64_t row, int64_t rows, int64_t panel) {
  for (; rows >= kTileRows; rows -= kTileRows, row += kTileRows) {
    compute_tile<kBits, kTileRows, kPanelCount>(layer, row, panel);
  }
  // Products of one row wait for memory. One stream of weights is faster than several.
  for (; rows > 0; --rows, ++row) {
    for (int i = 0; i < kPanelCount; ++i) {
      compute_tile<kBits, 1, 1>(layer, row, panel + i);
    }
  }
}

template <int kBits>
void compute(const DynamicLayer& layer, int64_t rows) {
  const int64_t panels = (layer.columns + kBytePanelColumns - 1) / kBytePanelColumns;
  const int64_t parts = (panels + kTilePanels - 1) / kTilePanels;
  const int64_t row_blocks = (rows + kDynamicRows - 1) / kDynamicRows;
  const int64_t work = std::min(rows, kDynamicRows) * layer.groups * layer.group_size * kTilePanels / kBytePanelDepth;
  const int64_t grain = grain_of(work, kTilePanels * layer.panel_stride);
  parallel_for(0, row_blocks * parts, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / parts * kDynamicRows;
      const int64_t count = std::min(kDynamicRows, rows - row);
      int64_t panel = i % parts * kTilePanels;
      if (panel + kTilePanels <= panels) {
        compute_rows<kBits, kTilePanels>(layer, row, count, panel);
        continue;
      }
      for (; panel < panels; ++panel) {
        compute_rows<kBits, 1>(layer, row, count, panel);
      }
    }
  });
}

/// Whether the tensors are the weights, scales and offsets of a layer with `k` input features.
bool check_weights(int64_t k, const Tensor& weight, const Tensor& scale, const Tensor& offset) {
  const bool has_halves = weight.scalar_type() == ScalarType::Byte;
  const int64_t padded = (k + kRowMultiple - 1) / kRowMultiple * kRowMultiple;
  const int64_t blocks = padded / kBytePanelDepth / (has_halves ? 2 : 1);
  const int64_t panels = (offset.numel() + kBytePanelColumns - 1) / kBytePanelColumns;
  ET_CHECK_OR_RETURN_FALSE(weight.dim() == 4 && weight.size(0) == panels && weight.size(1) == blocks &&
                               weight.size(2) == kBytePanelColumns && weight.size(3) == kBytePanelDepth,
                           "weights of %d input and %d output features are not packed as (%d, %d, %d, %d): export the "
                           "program with the version of the rules that its kernels come from",
                           static_cast<int>(k), static_cast<int>(offset.numel()), static_cast<int>(panels),
                           static_cast<int>(blocks), static_cast<int>(kBytePanelColumns),
                           static_cast<int>(kBytePanelDepth));
  const bool has_groups = scale.dim() == 3 && scale.size(0) == panels && scale.size(2) == kBytePanelColumns &&
                          (scale.size(1) == 1 || (scale.size(1) > 1 && k % (scale.size(1) * kRowMultiple) == 0));
  ET_CHECK_OR_RETURN_FALSE(has_groups && offset.dim() == 1,
                           "scales do not match groups of a multiple of %d of %d input features, in panels of %d",
                           static_cast<int>(kRowMultiple), static_cast<int>(k), static_cast<int>(kBytePanelColumns));
  return true;
}

}  // namespace

Tensor& dynamic_linear_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight, const Tensor& scale,
                           const Tensor& offset, const std::optional<Tensor>& bias, bool is_symmetric, double eps,
                           Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "dynamic_linear.out");

  // Check
  const ScalarType type = in.scalar_type();
  ET_KERNEL_CHECK(ctx, isFloatingType(type) && type != ScalarType::Double && in.dim() >= 1, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, scale.scalar_type() == ScalarType::Float && offset.scalar_type() == ScalarType::Float,
                  InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, weight.scalar_type() == ScalarType::Char || weight.scalar_type() == ScalarType::Byte,
                  InvalidArgument, out);
  const int64_t k = in.size(in.dim() - 1);
  const int64_t columns = offset.numel();
  ET_KERNEL_CHECK(ctx, k > 0 && check_weights(k, weight, scale, offset), InvalidArgument, out);
  if (bias.has_value()) {
    ET_KERNEL_CHECK(ctx, bias->scalar_type() == ScalarType::Float || bias->scalar_type() == type, InvalidArgument, out);
    ET_KERNEL_CHECK(ctx, bias->dim() == 1 && bias->numel() == columns, InvalidArgument, out);
  }
  ET_KERNEL_CHECK_MSG(ctx, eps > 0, InvalidArgument, out, "the smallest scale is %f, expected a number above 0", eps);

  // Resize
  Tensor::SizesType sizes[kTensorDimensionLimit];
  std::copy_n(in.sizes().data(), in.dim(), sizes);
  sizes[in.dim() - 1] = static_cast<Tensor::SizesType>(columns);
  ET_KERNEL_CHECK(ctx, resize_to(out, {sizes, static_cast<size_t>(in.dim())}), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, dynamic_linear_dim_orders_fit(in, weight, scale, offset, bias, out), InvalidArgument, out);
  if (out.numel() == 0) {
    return out;
  }

  // Compute: the rows of bytes first, and the biases as floats.
  int64_t in_stride = 0;
  ET_SWITCH_THREE_TYPES(Float, Half, BFloat16, type, ctx, op_name, CTYPE,
                        [&] { in_stride = k * static_cast<int64_t>(sizeof(CTYPE)); });
  ET_KERNEL_CHECK(ctx, in_stride > 0, InvalidArgument, out);
  const int64_t rows = out.numel() / columns;
  const int64_t row_stride = (k + kRowMultiple - 1) / kRowMultiple * kRowMultiple;
  const bool converts_bias = bias.has_value() && bias->scalar_type() != ScalarType::Float;
  const int64_t bias_size = converts_bias ? columns * static_cast<int64_t>(sizeof(float)) : 0;
  const auto memory = ctx.allocate_temp(rows * (row_stride + sizeof(RowParameters)) + bias_size, /*alignment=*/64);
  ET_KERNEL_CHECK_MSG(ctx, memory.ok(), MemoryAllocationFailed, out,
                      "not enough temporary memory for the quantized input");
  auto* const parameters = static_cast<RowParameters*>(*memory);
  auto* const biases = reinterpret_cast<float*>(parameters + rows);
  auto* const bytes = reinterpret_cast<uint8_t*>(biases) + bias_size;
  if (converts_bias) {
    convert_elements(type, bias->const_data_ptr(), ScalarType::Float, biases, columns);
  }
  const RowQuantization quantization = {is_symmetric, static_cast<float>(eps)};
  const auto* const values = static_cast<const char*>(in.const_data_ptr());
  parallel_for(0, rows, std::max<int64_t>(kGrain / k, 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      parameters[i] = quantization(type, values + i * in_stride, k, bytes + i * row_stride);
      std::memset(bytes + i * row_stride + k, 0, row_stride - k);
    }
  });
  const int64_t groups = scale.size(1);
  const DynamicLayer layer = {bytes,
                              row_stride,
                              parameters,
                              static_cast<const char*>(weight.const_data_ptr()),
                              weight.numel() / weight.size(0),
                              scale.const_data_ptr<float>(),
                              offset.const_data_ptr<float>(),
                              converts_bias      ? biases
                              : bias.has_value() ? bias->const_data_ptr<float>()
                                                 : nullptr,
                              static_cast<char*>(out.mutable_data_ptr()),
                              type,
                              columns,
                              groups,
                              row_stride / groups};
  if (weight.scalar_type() == ScalarType::Byte) {
    compute<4>(layer, rows);
  } else {
    compute<8>(layer, rows);
  }
  return out;
}

}  // namespace torch::executor::native
