#include "kernels/gemm/weight_only_product.h"

#include <algorithm>
#include <cstring>

#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/simd/simd.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {

namespace {

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
                                               FloatBlock (&weights)[kWeightOnlyBlock<kBits> / FloatBlock::kLanes]) {
  simd::Vector<float> loaded[kWeightOnlyBlock<kBits> / simd::kLanes<float>];
  if constexpr (kBits == 8) {
    simd::load_chars(from, loaded);
  } else {
    simd::load_nibbles(from, loaded);
  }
  std::memcpy(weights, loaded, sizeof(loaded));
}

/// The number of rows that are multiplied by a loaded weight.
constexpr int kWeightOnlyMR = 4;

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

inline float lane_sum(const FloatBlock& block) {
  float lanes[FloatBlock::kLanes];
  simd::store(lanes, block);
  merge_lanes<FloatBlock::kLanes / 2>(lanes, [](float& into, float other) { into += other; });
  return lanes[0];
}

/// The sum of the products of the elements `begin` to `end` (exclusive).
inline float sum_of_chars(const char* weight, const float* in, int64_t begin, int64_t end) {
  float sum = 0;
  for (int64_t p = begin; p < end; ++p) {
    sum += static_cast<float>(static_cast<int8_t>(weight[p])) * in[p];
  }
  return sum;
}

/// Computes `kColumns` columns of `kRows` rows, from `column` on. The independent sums hide the latency of the
/// additions. The elements after the last whole block are added last; only rows with one scale have such elements. Rows
/// of results are `stride` elements apart.
template <int kBits, int kRows, int kColumns>
void compute_columns(const WeightOnlyProduct& product, int64_t column, float* results, int64_t stride) {
  constexpr int64_t kVectors = kWeightOnlyBlock<kBits> / FloatBlock::kLanes;
  const int64_t row_bytes = product.k * kBits / 8;
  const int64_t group = product.k / product.groups;
  const int64_t blocks = group / kWeightOnlyBlock<kBits>;
  const char* const weight = product.weight + column * row_bytes;
  const float* const scale = product.scale + column * product.groups;
  const float* in = product.in;
  int64_t byte = 0;
  FloatBlock totals[kRows][kColumns];
  clear(totals);
  for (int64_t g = 0; g < product.groups; ++g) {
    FloatBlock sums[kRows][kColumns];
    clear(sums);
    for (int64_t block = 0; block < blocks;
         ++block, in += kWeightOnlyBlock<kBits>, byte += kWeightOnlyBlock<kBits> * kBits / 8) {
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
            sums[i][c].add_product(weights[j], FloatBlock::load(in + i * product.k + j * FloatBlock::kLanes));
          }
        }
      }
    }
#pragma GCC unroll 4
    for (int c = 0; c < kColumns; ++c) {
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) {
        totals[i][c].add_product(sums[i][c], scale[c * product.groups + g]);
      }
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int c = 0; c < kColumns; ++c) {
      float sum = lane_sum(totals[i][c]);
      if constexpr (kBits == 8) {
        const int64_t last = product.groups * blocks * kWeightOnlyBlock<kBits>;
        sum += scale[c * product.groups] *
               sum_of_chars(weight + c * row_bytes, product.in + i * product.k, last, product.k);
      }
      results[i * stride + c] = sum + (product.bias == nullptr ? 0 : product.bias[column + c]);
    }
  }
}

/// Computes the columns `begin` to `end` (exclusive) of `rows` rows. `rows` is kWeightOnlyMR or 1.
template <int kBits>
void compute_range(const WeightOnlyProduct& product, int64_t rows, int64_t begin, int64_t end, float* results,
                   int64_t stride) {
  if (rows == kWeightOnlyMR) {
    for (; begin < end; ++begin, ++results) {
      compute_columns<kBits, kWeightOnlyMR, 1>(product, begin, results, stride);
    }
    return;
  }
  for (; begin + kWeightOnlyMR <= end; begin += kWeightOnlyMR, results += kWeightOnlyMR) {
    compute_columns<kBits, 1, kWeightOnlyMR>(product, begin, results, stride);
  }
  for (; begin < end; ++begin, ++results) {
    compute_columns<kBits, 1, 1>(product, begin, results, stride);
  }
}

template <int kBits>
void multiply_weight_only(WeightOnlyProduct product) {
  const bool is_float = product.type == ScalarType::Float;
  const auto size = static_cast<int64_t>(elementSize(product.type));
  while (product.rows > 0) {
    // Each loaded weight is multiplied by several rows.
    const int64_t count = product.rows >= kWeightOnlyMR ? kWeightOnlyMR : 1;
    parallel_for(0, product.columns, grain_of(product.k * count / 8, product.k * kBits / 8),
                 [&](int64_t begin, int64_t end) {
                   if (is_float) {
                     compute_range<kBits>(product, count, begin, end, reinterpret_cast<float*>(product.out) + begin,
                                          product.columns);
                   } else {
                     float results[kWeightOnlyMR][kBlockSize];
                     for (; begin < end; begin += kBlockSize) {
                       const int64_t n = std::min(kBlockSize, end - begin);
                       compute_range<kBits>(product, count, begin, begin + n, results[0], kBlockSize);
                       for (int64_t i = 0; i < count; ++i) {
                         store_block(ScalarType::Float, results[i], product.type,
                                     product.out + (i * product.columns + begin) * size, size, n);
                       }
                     }
                   }
                 });
    product.rows -= count;
    product.in += count * product.k;
    product.out += count * product.columns * size;
  }
}

}  // namespace

void multiply_by_quantized_weights(const WeightOnlyProduct& product) {
  if (product.has_nibbles) {
    multiply_weight_only<4>(product);
  } else {
    multiply_weight_only<8>(product);
  }
}

}  // namespace rules_executorch::kernels
