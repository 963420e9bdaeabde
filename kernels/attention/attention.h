#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention/heads.h"
#include "kernels/attention/mask_row.h"
#include "kernels/gemm/matmul.h"
#include "kernels/gemm/panels.h"
#include "kernels/gemm/product_loops.h"
#include "kernels/math/exponentials.h"
#include "kernels/math/vector_math.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels::attention {

/// The number of queries and of keys of a block, and of scores of all heads that are computed together: half a MiB of
/// floats for each thread. In causal attention, half of the scores of the square of a block's queries are computed and
/// not used, so that blocks have fewer queries.
inline constexpr int64_t kQueries = 128;
inline constexpr int64_t kCausalQueries = 64;
inline constexpr int64_t kKeys = 512;
inline constexpr int64_t kScores = int64_t{1} << 17;
/// Products of up to this number of rows do not pack their operands.
inline constexpr int64_t kFewQueries = 3;
/// The lowest number of scores for a thread.
inline constexpr int64_t kScoresGrain = 4096;

/// A view of row-major matrices in memory. `stride` is the number of elements from one row to the next, and `rows` the
/// number of rows from one matrix to the next.
template <typename Byte>
BasicStridedView<Byte> dense(Byte* data, ScalarType type, const int64_t (&sizes)[3], int64_t rows, int64_t stride) {
  BasicStridedView<Byte> view;
  view.data = data;
  view.dtype = type;
  view.rank = 3;
  std::copy_n(sizes, 3, view.sizes);
  view.strides[0] = rows * stride;
  view.strides[1] = stride;
  view.strides[2] = 1;
  return view;
}

/// The number of rows of each block of `rows`, at most `most`. The blocks have about the same size, so that the last
/// block is not much smaller.
inline int64_t rows_of_block(int64_t rows, int64_t most) {
  constexpr int64_t kTileRows = 8;
  const int64_t blocks = std::max<int64_t>((rows + most - 1) / most, 1);
  const int64_t tiles = ((rows + blocks - 1) / blocks + kTileRows - 1) / kTileRows;
  return std::min(rows, tiles * kTileRows);
}

/// Attention in elements of type `T`. The blocks of keys are processed one after the other for each block of queries
/// (online softmax). The sums of a row are sums of exponentials relative to the largest score so far. If a block has a
/// larger score, the previous sums are rescaled.
///
/// If the elements in memory have type `T` and there are more than kFewQueries queries, keys and values are packed once
/// for all blocks of queries. Each thread takes as many whole heads; threads share the blocks of the remaining heads.
template <typename T>
class Attention {
 public:
  static constexpr ScalarType kType = CppTypeToScalarType<T>::value;

  Attention(KernelRuntimeContext& ctx, T scale, bool is_causal, int64_t heads, int64_t rows, int64_t keys,
            int64_t value_size)
      : ctx_(ctx),
        product_scratch_(ctx),
        scale_(scale),
        rows_(rows_of_block(rows, is_causal ? kCausalQueries : kQueries)),
        columns_(std::min(keys, kKeys / kPanelColumns * kPanelColumns)),
        heads_(std::clamp<int64_t>(thread_count() * kScores / std::max<int64_t>(rows_ * columns_, 1), 1, heads)),
        value_size_(value_size) {}

  /// The number of bytes of `scratch`.
  int64_t scratch_size() const { return std::max(heads_, thread_count()) * block_size(1) * kSize; }

  void compute(const Heads& heads, T* scratch) {
    if (compute_packed(heads, scratch)) {
      return;
    }
    const QueryBlock block = make_block(scratch, heads_);
    for (int64_t head = 0; head < heads.query.sizes[0]; head += heads_) {
      for (int64_t row = 0; row < heads.query.sizes[1]; row += rows_) {
        compute_block(block, heads, head, std::min(heads_, heads.query.sizes[0] - head), row,
                      std::min(rows_, heads.query.sizes[1] - row));
      }
    }
  }

 private:
  static constexpr int64_t kSize = sizeof(T);
  static constexpr int64_t kPanelColumns = Panels::columns(kSize);

  /// The memory of a block of rows.
  struct QueryBlock {
    T* scores;
    T* totals;
    T* products;
    T* largest;
    T* sums;
    T* factors;
  };

  /// The number of elements in the memory of a block with `heads` heads.
  int64_t block_size(int64_t heads) const { return heads * rows_ * (columns_ + 2 * value_size_ + 3); }

  QueryBlock make_block(T* memory, int64_t heads) const {
    const int64_t lines = heads * rows_;
    QueryBlock block;
    block.scores = memory;
    block.totals = block.scores + lines * columns_;
    block.products = block.totals + lines * value_size_;
    block.largest = block.products + lines * value_size_;
    block.sums = block.largest + lines;
    block.factors = block.sums + lines;
    return block;
  }

  /// The number of keys up to the last one that at least one of the rows of `count` heads attends to.
  static int64_t seen_keys(const Heads& heads, int64_t head, int64_t count, int64_t row, int64_t rows) {
    const int64_t keys = heads.key.sizes[1];
    const int64_t last = row + rows - 1;
    if (heads.is_causal) {
      // No row attends to a key after the last query.
      const bool is_one_head = row / heads.queries == last / heads.queries;
      return std::min(keys, is_one_head ? last % heads.queries + 1 : heads.queries);
    }
    if (heads.mask.data == nullptr) {
      return keys;
    }
    // The masks of a cache of keys exclude the keys that are not yet in the cache, at the end.
    int64_t seen = 0;
    for (int64_t i = head; i < head + count && seen < keys; ++i) {
      // The last row first, which often attends to the most keys.
      for (int64_t j = last; j >= row && seen < keys; --j) {
        seen = last_seen<T>(mask_row(heads, i, j, 0, keys), seen);
      }
      if (heads.mask.strides[0] == 0) {
        break;  // The other heads have the same mask.
      }
    }
    return seen;
  }

  static void start(const QueryBlock& block, int64_t lines) {
    std::fill_n(block.largest, lines, -std::numeric_limits<T>::infinity());
    std::fill_n(block.sums, lines, T(0));
  }

  /// Returns false and computes nothing if packing does not pay off or if there is no memory for it.
  bool compute_packed(const Heads& heads, T* scratch) {
    const ConstStridedView &query = heads.query, &key = heads.key, &value = heads.value;
    const int64_t size = key.sizes[2];
    const int64_t keys = key.sizes[1];
    if (query.dtype != kType || query.sizes[1] <= kFewQueries || (query.strides[2] != 1 && size > 1)) {
      return false;
    }
    const int64_t key_bytes = Panels::size(size, keys, kSize);
    const int64_t head_bytes = key_bytes + Panels::size(keys, value_size_, kSize);
    const int64_t threads = thread_count();
    const int64_t together = std::min(threads, query.sizes[0]);
    if (packed_ == nullptr) {
      const auto memory = ctx_.allocate_temp(static_cast<size_t>(together * head_bytes), /*alignment=*/64);
      if (!memory.ok()) {
        return false;
      }
      packed_ = static_cast<char*>(*memory);
    }
    const auto keys_of = [&](int64_t i) { return Panels{packed_ + i * head_bytes, size}; };
    const auto values_of = [&](int64_t i) { return Panels{packed_ + i * head_bytes + key_bytes, keys}; };
    // As many whole heads for each thread, which then waits for no other thread.
    const int64_t whole_heads = query.sizes[0] / threads * threads;
    parallel_for_with_thread(0, whole_heads, 1, [&](int64_t thread, int64_t first, int64_t last) {
      compute_whole_heads(make_block(scratch + thread * block_size(1), 1), heads, first, last - first, keys_of(thread),
                          values_of(thread));
    });
    // Threads share each of the other heads.
    for (int64_t head = whole_heads; head < query.sizes[0]; head += together) {
      const int64_t count = std::min(together, query.sizes[0] - head);
      parallel_for(0, 2 * count, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if (i % 2 == 0) {
            pack_keys(heads, head + i / 2, keys_of(i / 2));
          } else {
            pack(value.select(0, head + i / 2), values_of(i / 2));
          }
        }
      });
      const int64_t head_blocks = (query.sizes[1] + rows_ - 1) / rows_;
      parallel_for_with_thread(0, count * head_blocks, 1, [&](int64_t thread, int64_t first, int64_t last) {
        const QueryBlock block = make_block(scratch + thread * block_size(1), 1);
        for (int64_t i = first; i < last; ++i) {
          const int64_t row = i % head_blocks * rows_;
          compute_packed_block(block, heads, head + i / head_blocks, row, std::min(rows_, query.sizes[1] - row),
                               keys_of(i / head_blocks), values_of(i / head_blocks));
        }
      });
    }
    return true;
  }

  static void pack_keys(const Heads& heads, int64_t head, const Panels& panels) {
    constexpr int64_t kTransposed[] = {1, 0};
    pack(heads.key.select(0, head).permute(kTransposed), panels);
  }

  /// Computes `count` heads on one thread, whose memory `block` and the panels are.
  void compute_whole_heads(const QueryBlock& block, const Heads& heads, int64_t head, int64_t count,
                           const Panels& key_panels, const Panels& value_panels) {
    const int64_t queries = heads.query.sizes[1];
    for (const int64_t end = head + count; head < end; ++head) {
      pack_keys(heads, head, key_panels);
      pack(heads.value.select(0, head), value_panels);
      for (int64_t row = 0; row < queries; row += rows_) {
        compute_packed_block(block, heads, head, row, std::min(rows_, queries - row), key_panels, value_panels);
      }
    }
  }

  void compute_packed_block(const QueryBlock& block, const Heads& heads, int64_t head, int64_t row, int64_t rows,
                            const Panels& key_panels, const Panels& value_panels) {
    const auto add_panel = product_loops<T>().add_panel;
    const ConstStridedView& query = heads.query;
    const char* const queries = query.data + (head * query.strides[0] + row * query.strides[1]) * kSize;
    const int64_t size = query.sizes[2];
    const int64_t keys = seen_keys(heads, head, 1, row, rows);
    start(block, rows);
    if (keys == 0) {
      std::fill_n(block.totals, rows * value_size_, T(0));
    }
    for (int64_t key = 0; key < keys; key += columns_) {
      const int64_t columns = std::min(columns_, keys - key);
      for (int64_t j = 0; j < columns; j += kPanelColumns) {
        add_panel({block.scores + j, columns_, queries, query.strides[1], key_panels.at((key + j) / kPanelColumns, 0),
                   kPanelColumns, rows, std::min(kPanelColumns, columns - j), size, /*replaces_totals=*/true});
      }
      for (int64_t i = 0; i < rows; ++i) {
        exponentiate(block, heads, head, row + i, key, columns, i);
      }
      for (int64_t i = 0; i < rows && key > 0; ++i) {
        T* const total = block.totals + i * value_size_;
        vectorized_for(value_size_, [=, factor = block.factors[i]](int64_t j) { total[j] *= factor; });
      }
      for (int64_t j = 0; j < value_size_; j += kPanelColumns) {
        add_panel({block.totals + j, value_size_, block.scores, columns_, value_panels.at(j / kPanelColumns, key),
                   kPanelColumns, rows, std::min(kPanelColumns, value_size_ - j), columns,
                   /*replaces_totals=*/key == 0});
      }
    }
    store(block, heads.out.slice(0, head, 1).slice(1, row, rows));
  }

  void compute_block(const QueryBlock& block, const Heads& heads, int64_t head, int64_t count, int64_t row,
                     int64_t rows) {
    const int64_t lines = heads_ * rows_;
    start(block, lines);
    const int64_t keys = seen_keys(heads, head, count, row, rows);
    const ConstStridedView query = heads.query.slice(0, head, count).slice(1, row, rows);
    if (keys == 0) {
      std::fill_n(block.totals, lines * value_size_, T(0));
    }
    for (int64_t key = 0; key < keys; key += columns_) {
      const int64_t columns = std::min(columns_, keys - key);
      constexpr int64_t kTransposed[] = {0, 2, 1};
      const auto key_block = heads.key.slice(0, head, count).slice(1, key, columns).permute(kTransposed);
      const auto value_block = heads.value.slice(0, head, count).slice(1, key, columns);
      const StridedView scores =
          dense(reinterpret_cast<char*>(block.scores), kType, {count, rows, columns}, rows_, columns_);
      ViewProduct(product_loops<T>(), query, key_block, scores).compute(product_scratch_);
      parallel_for(0, count * rows, std::max<int64_t>(kScoresGrain / columns, 1), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          exponentiate(block, heads, head + i / rows, row + i % rows, key, columns, i / rows * rows_ + i % rows);
        }
      });
      T* const target = key == 0 ? block.totals : block.products;
      const StridedView products =
          dense(reinterpret_cast<char*>(target), kType, {count, rows, value_size_}, rows_, value_size_);
      ViewProduct(product_loops<T>(), scores, value_block, products).compute(product_scratch_);
      if (key > 0) {
        add_products(block, lines);
      }
    }
    store(block, heads.out.slice(0, head, count).slice(1, row, rows));
  }

  /// Replaces the scores of a row by their exponentials. `line` is the number of the row in the block.
  void exponentiate(const QueryBlock& block, const Heads& heads, int64_t head, int64_t row, int64_t key,
                    int64_t columns, int64_t line) const {
    T* const x = block.scores + line * columns_;
    const int64_t seen = heads.is_causal ? std::clamp<int64_t>(row % heads.queries + 1 - key, 0, columns) : columns;
    MaskRow mask = {};
    if (heads.mask.data != nullptr) {
      mask = mask_row(heads, head, row, key, seen);
    }
    const bool is_masked = heads.mask.data != nullptr && !masks_nothing(mask);
    // If the scale is positive and there is no mask, the largest unscaled score is also the largest scaled one. The
    // scale is then applied together with the exponentials.
    T scale = scale_;
    if (is_masked || !(scale > 0)) {
      vectorized_for(seen, [x, scale](int64_t i) { x[i] *= scale; });
      scale = 1;
    }
    if (is_masked) {
      add_mask(mask, x);
    }
    LaneReduction<T> lanes(-std::numeric_limits<T>::infinity());
    const auto larger = [](T a, T b) { return a < b ? b : a; };
    lanes.add(seen, x, larger);
    const T largest = larger(block.largest[line], scale * lanes.result(larger));
    // If all keys so far are masked, the exponentials are 0.
    const T origin = largest == -std::numeric_limits<T>::infinity() ? T(0) : largest;
    LaneReduction<T> sum(0);
    math::exp_of_negative(seen, x, x, scale, origin, sum);
    std::fill(x + seen, x + columns, T(0));
    block.factors[line] = math::exp(block.largest[line] - origin);
    block.sums[line] = block.sums[line] * block.factors[line] + sum.result([](T a, T b) { return a + b; });
    block.largest[line] = largest;
  }

  void add_products(const QueryBlock& block, int64_t lines) const {
    for (int64_t line = 0; line < lines; ++line) {
      T* const total = block.totals + line * value_size_;
      const T* const product = block.products + line * value_size_;
      vectorized_for(value_size_,
                     [=, factor = block.factors[line]](int64_t i) { total[i] = total[i] * factor + product[i]; });
    }
  }

  void store(const QueryBlock& block, const StridedView& out) const {
    const int64_t stride = out.strides[2] * out.element_size();
    for (int64_t i = 0; i < out.sizes[0] * out.sizes[1]; ++i) {
      const int64_t head = i / out.sizes[1], row = i % out.sizes[1];
      const int64_t line = head * rows_ + row;
      // A row with all keys masked is 0, as in PyTorch.
      const T factor = block.sums[line] == 0 ? T(0) : 1 / block.sums[line];
      T* const total = block.totals + line * value_size_;
      vectorized_for(value_size_, [=](int64_t j) { total[j] *= factor; });
      char* const target = out.data + (head * out.strides[0] + row * out.strides[1]) * out.element_size();
      for (int64_t j = 0; j < value_size_; j += kBlockSize) {
        store_block(kType, total + j, out.dtype, target + j * stride, stride, std::min(kBlockSize, value_size_ - j));
      }
    }
  }

  KernelRuntimeContext& ctx_;
  ProductScratch product_scratch_;
  T scale_;
  int64_t rows_;
  int64_t columns_;
  int64_t heads_;
  int64_t value_size_;
  char* packed_ = nullptr;
};

}  // namespace rules_executorch::kernels::attention
