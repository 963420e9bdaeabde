#include "kernels/gemm/matmul.h"

#include <algorithm>
#include <cstring>

#include "kernels/gemm/matmul_plan.h"
#include "kernels/gemm/packing.h"
#include "kernels/gemm/panels.h"
#include "kernels/math/divide_up.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {

namespace {

/// The number of columns whose dot products are computed together.
constexpr int64_t kDotColumns = 8;
/// The lowest number of multiplications for a part. A product of few rows waits for the second operand, so that
/// kGrainBytes of this operand suffice.
constexpr int64_t kPartProducts = kProductsOfAddition * kGrain;
/// The number of blocks of sums for each thread. With several blocks, the threads have about the same amount of work.
constexpr int64_t kPartBlocks = 4;

}  // namespace

/// A block of sums.
struct MatrixProduct::SumBlock {
  int64_t batch;
  int64_t row;
  int64_t rows;
  int64_t column;
  int64_t columns;
};

char* ProductScratch::get(int64_t size) {
  if (size <= kStackBytes) {
    return stack_;
  }
  if (size > size_) {
    const auto memory = ctx_.allocate_temp(size, /*alignment=*/64);
    if (!memory.ok()) {
      return nullptr;
    }
    data_ = static_cast<char*>(*memory);
    size_ = size;
  }
  return data_;
}

void MatrixProduct::compute(ProductScratch& scratch) const {
  if (shape_.batch == 0 || shape_.m == 0 || shape_.n == 0) {
    return;
  }
  Plan plan(*this, INT64_MAX);
  const int64_t products = shape_.batch * shape_.m * shape_.n * std::max<int64_t>(shape_.k, 1);
  const int64_t bytes = shape_.m <= kFewRows ? products / shape_.m * element_size() : 0;
  int64_t parts = part_count(std::max(divide_up(products, kPartProducts), divide_up(bytes, kGrainBytes)));
  int64_t threads = std::min(parts, thread_count());
  if (parts > 1) {
    plan.divide(shape_, threads * kPartBlocks);
    parts = part_count(std::min(parts, plan.count_blocks(shape_)));
    threads = std::min(parts, threads);
  }
  const int64_t thread_size = divide_up(plan.size(), 64) * 64;
  char* memory = scratch.get(threads * thread_size);
  if (memory == nullptr) {
    parts = 1;
    plan = Plan(*this, ProductScratch::kStackBytes);
    memory = scratch.get(plan.size());
  }
  const int64_t row_blocks = divide_up(shape_.m, plan.rows);
  const int64_t blocks = plan.count_blocks(shape_);
  parallel_for_with_thread(0, parts, 1, [&](int64_t thread, int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      for (int64_t i = part * blocks / parts; i < (part + 1) * blocks / parts; ++i) {
        const int64_t row = i % row_blocks * plan.rows;
        const int64_t column_blocks = divide_up(shape_.n, plan.columns());
        const int64_t column = i / row_blocks % column_blocks * plan.columns();
        compute_block({i / row_blocks / column_blocks, row, std::min(plan.rows, shape_.m - row), column,
                       std::min(plan.columns(), shape_.n - column)},
                      plan, memory + thread * thread_size);
      }
    }
  });
}

void MatrixProduct::compute_block(const SumBlock& block, const Plan& plan, char* scratch) const {
  char* totals = scratch;
  int64_t stride = plan.row_bytes;
  if (!plan.has_totals) {
    totals = sums_.at(block.batch, block.row, block.column);
    stride = sums_.row_stride;
  }
  scratch += plan.totals_size();
  for (int64_t i = 0; i < block.rows && (plan.way != Plan::kTiles || shape_.k == 0); ++i) {
    std::memset(totals + i * stride, 0, block.columns * plan.element_size);
  }
  if (plan.way == Plan::kTiles) {
    compute_tiles(block, plan, scratch, totals, stride);
  } else if (plan.way == Plan::kRows) {
    compute_rows(block, plan, scratch, totals, stride);
  } else {
    compute_dots(block, plan, scratch, totals, stride);
  }
  for (int64_t i = 0; i < block.rows; ++i) {
    store(block.batch, block.row + i, block.column, block.columns, totals + i * stride);
  }
}

/// `columns` columns of the block's rows of the first operand: a pointer to the operand, or `packed` with loaded
/// elements.
const char* MatrixProduct::block_of_a(const SumBlock& block, int64_t column, int64_t columns, char* packed,
                                      int64_t& stride) const {
  if (is_in_place(a_)) {
    stride = a_.row_stride;
    return a_.at(block.batch, block.row, column);
  }
  stride = columns * element_size();
  load_a(block.batch, block.row, block.rows, column, columns, packed, stride);
  return packed;
}

/// Packs rows of the second operand into panels of the block's columns.
void MatrixProduct::pack_b(const SumBlock& block, const Plan& plan, int64_t row, int64_t rows, char* staged,
                           char* panels) const {
  const int64_t panel_stride = plan.panel_stride();
  const int64_t pitch = plan.panel_pitch();
  const int64_t size = element_size();
  const int64_t row_bytes = block.columns * size;
  if (plan.transposes_b) {
    if (row_bytes % kTileBytes != 0) {
      std::memset(panels + row_bytes / kTileBytes * panel_stride, 0, rows * pitch);
    }
    for (int64_t j = 0; j < block.columns; j += plan.staged_rows) {
      const int64_t count = std::min(plan.staged_rows, block.columns - j);
      const char* columns = staged;
      int64_t stride = rows * size;
      if (plan.loads_b) {
        load_matrix(b_.transpose(), block.batch, block.column + j, count, row, rows, type(), staged, stride);
      } else {
        columns = b_.at(block.batch, row, block.column + j);
        stride = b_.column_stride;
      }
      const int64_t offset = j * size;
      transpose(columns, stride, count, rows, size, panels + offset / kTileBytes * panel_stride + offset % kTileBytes,
                pitch);
    }
  } else if (!plan.loads_b) {
    pack_rows(b_.at(block.batch, row, block.column), b_.row_stride, rows, row_bytes, panels, panel_stride, pitch);
  } else {
    for (int64_t start = 0; start < rows; start += plan.staged_rows) {
      const int64_t count = std::min(plan.staged_rows, rows - start);
      load_b(block.batch, row + start, count, block.column, block.columns, staged, row_bytes);
      pack_rows(staged, row_bytes, count, row_bytes, panels + start * pitch, panel_stride, pitch);
    }
  }
  for (int64_t j = 0; plan.is_complex && j < row_bytes; j += kTileBytes) {
    char* const panel = panels + j / kTileBytes * panel_stride;
    if (type() == ScalarType::ComplexFloat) {
      multiply_by_i<float>(panel, rows);
    } else {
      multiply_by_i<double>(panel, rows);
    }
  }
}

void MatrixProduct::compute_tiles(const SumBlock& block, const Plan& plan, char* scratch, char* totals,
                                  int64_t totals_stride) const {
  const int64_t size = plan.element_size;
  char* packed = scratch;
  char* staged = packed + plan.packed_size();
  char* panels = staged + plan.staged_size();
  const auto add_panel = has_pairs_ ? loops_.add_panel_of_pairs : loops_.add_panel;
  for (int64_t start = 0; start < shape_.k; start += plan.depth) {
    const int64_t depth = std::min(plan.depth, shape_.k - start);
    int64_t a_stride;
    const char* a = block_of_a(block, start, depth, packed, a_stride);
    pack_b(block, plan, start, depth, staged, panels);
    const char* panel = panels;
    const int64_t tile_columns = kTileBytes / size;
    for (int64_t j = 0; j < block.columns; j += tile_columns, panel += plan.panel_stride()) {
      add_panel({totals + j * size, totals_stride / size, a, a_stride / size, panel, tile_columns, block.rows,
                 std::min(tile_columns, block.columns - j), depth, start == 0});
    }
  }
}

void MatrixProduct::compute_rows(const SumBlock& block, const Plan& plan, char* scratch, char* totals,
                                 int64_t totals_stride) const {
  const int64_t size = plan.element_size;
  const RowLoops& loops = plan.loads_b ? loops_.rows : *loops_.rows_of(b_.dtype);
  char* packed = scratch;
  char* staged = packed + plan.packed_size();
  for (int64_t start = 0; start < shape_.k; start += plan.depth) {
    const int64_t depth = std::min(plan.depth, shape_.k - start);
    int64_t a_stride;
    const char* a = block_of_a(block, start, depth, packed, a_stride);
    const int64_t step = plan.loads_b ? plan.staged_rows : depth;
    for (int64_t p = 0; p < depth; p += step) {
      const int64_t count = std::min(step, depth - p);
      const char* b = staged;
      int64_t b_stride = block.columns;
      if (plan.loads_b) {
        load_b(block.batch, start + p, count, block.column, block.columns, staged, b_stride * size);
      } else {
        b = b_.at(block.batch, start + p, block.column);
        b_stride = b_.row_stride / b_.column_stride;
      }
      for (int64_t i = 0; i < block.rows; ++i) {
        loops.add_rows(totals + i * totals_stride, a + i * a_stride + p * size, b, b_stride, count, block.columns);
      }
    }
  }
}

void MatrixProduct::compute_dots(const SumBlock& block, const Plan& plan, char* scratch, char* totals,
                                 int64_t totals_stride) const {
  const int64_t size = plan.element_size;
  const RowLoops& loops = plan.loads_b ? loops_.rows : *loops_.rows_of(b_.dtype);
  const int64_t b_size = plan.loads_b ? size : b_.row_stride;
  char* packed = scratch;
  char* staged = packed + plan.packed_size();
  for (int64_t start = 0; start < shape_.k; start += plan.depth) {
    const int64_t depth = std::min(plan.depth, shape_.k - start);
    int64_t a_stride;
    const char* a = block_of_a(block, start, depth, packed, a_stride);
    // A few columns at a time, which stay in the cache for all rows.
    const int64_t step = plan.loads_b ? 1 : kDotColumns;
    for (int64_t j = 0; j < block.columns; j += step) {
      const char* b = b_.at(block.batch, start, block.column + j);
      if (plan.loads_b) {
        load_matrix(b_.transpose(), block.batch, block.column + j, 1, start, depth, type(), staged, 0);
        b = staged;
      }
      for (int64_t i = 0; i < block.rows; ++i) {
        loops.add_dots(totals + i * totals_stride + j * size, a + i * a_stride, b, b_.column_stride / b_size, depth,
                       std::min(step, block.columns - j));
      }
    }
  }
}

void MatrixProduct::load_a(int64_t batch, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
                           int64_t stride) const {
  load_matrix(a_, batch, row, rows, column, columns, type(), target, stride);
}

void MatrixProduct::load_b(int64_t batch, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
                           int64_t stride) const {
  if (has_pairs_) {
    load_pairs(batch, row, rows, column, columns, target, stride);
    return;
  }
  load_matrix(b_, batch, row, rows, column, columns, type(), target, stride);
}

void MatrixProduct::multiply_pairs() {
  constexpr int64_t kSize = sizeof(BFloat16);
  const auto has_pairs = [](const ConstMatrices& matrices) {
    return matrices.data != nullptr && matrices.dtype == ScalarType::BFloat16;
  };
  if (loops_.add_panel_of_pairs == nullptr || shape_.m <= kFewRows || shape_.k % 2 != 0 || !has_pairs(a_) ||
      !a_.has_contiguous_rows() || !has_pairs(b_) || !(b_.has_contiguous_columns() || b_.has_contiguous_rows())) {
    return;
  }
  has_pairs_ = true;
  shape_.k /= 2;
  a_.dtype = type();
  a_.column_stride = 2 * kSize;
  if (b_.has_contiguous_columns()) {
    b_.dtype = type();
    b_.row_stride = 2 * kSize;
  } else {
    rows_of_pairs_ = b_;
    b_ = {};
  }
}

/// Reads pairs of elements of the second operand: one element from each of two rows.
void MatrixProduct::load_pairs(int64_t batch, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
                               int64_t stride) const {
  for (int64_t i = 0; i < rows; ++i, target += stride) {
    const char* const first = rows_of_pairs_.at(batch, 2 * (row + i), column);
    const auto* const even = reinterpret_cast<const uint16_t*>(first);
    const auto* const odd = reinterpret_cast<const uint16_t*>(first + rows_of_pairs_.row_stride);
    vectorized_for(columns, [=](int64_t j) {
      const uint32_t pair = even[j] | uint32_t{odd[j]} << 16;
      std::memcpy(target + j * int64_t{sizeof(pair)}, &pair, sizeof(pair));
    });
  }
}

void MatrixProduct::store_row(const Matrices& out, int64_t batch, int64_t row, int64_t column, int64_t n,
                              const char* totals) const {
  for (int64_t j = 0; j < n; j += kBlockSize) {
    store_block(type(), totals + j * element_size(), out.dtype, out.at(batch, row, column + j), out.column_stride,
                std::min(kBlockSize, n - j));
  }
}

ViewProduct::ViewProduct(const ProductLoops& loops, const ConstStridedView& a, const ConstStridedView& b,
                         const StridedView& out)
    : MatrixProduct(loops, {out.rank == 3 ? out.sizes[0] : 1, out.sizes[out.rank - 2], a.sizes[a.rank - 1],
                            out.sizes[out.rank - 1]}),
      out_(matrices_of(out)),
      is_transposed_(shape_.n <= kFewRows && shape_.m > shape_.n) {
  a_ = matrices_of(a);
  b_ = matrices_of(b);
  if (is_transposed_) {
    std::swap(a_, b_);
    a_ = a_.transpose();
    b_ = b_.transpose();
    out_ = out_.transpose();
    std::swap(shape_.m, shape_.n);
  }
  if (is_in_place(out_)) {
    sums_ = out_;
  }
  multiply_pairs();
}

void ViewProduct::store(int64_t batch, int64_t row, int64_t column, int64_t n, char* totals) const {
  if (sums_.data == nullptr) {
    store_row(out_, batch, row, column, n, totals);
  }
}

}  // namespace rules_executorch::kernels
