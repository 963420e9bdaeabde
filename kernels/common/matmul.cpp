#include "kernels/common/matmul.h"

#include "kernels/common/convert.h"
#include "kernels/common/parallel_for.h"

namespace rules_executorch::kernels {

#if defined(__x86_64__) && defined(__GNUC__)

bool internal::has_wide_vectors() { return __builtin_cpu_supports("avx"); }

#endif

namespace {

/// How many products are added up before they are added to a sum.
constexpr int64_t kDepth = 128;
/// Products of up to this many rows are sums of rows or dot products.
constexpr int64_t kFewRows = 3;
/// Rows of a block whose elements are read in place, and of one that needs memory.
constexpr int64_t kRowsInPlace = 256;
constexpr int64_t kRowsPacked = 128;
/// Bytes of a row of a block of sums; of all rows of the second operand that are loaded at a time.
constexpr int64_t kTilesBytes = 16 * kTileBytes;
constexpr int64_t kRowsBytes = 4 * kTilesBytes;
constexpr int64_t kStagedBytes = 8192;
/// Panels do not begin at the same place of a page, so that they do not compete for places in the cache.
constexpr int64_t kPanelGap = 64;
/// Multiplications that a thread takes at least, and parts that products are divided into at most.
constexpr int64_t kPartProducts = int64_t{1} << 19;
constexpr int64_t kMaxParts = 16;

int64_t blocks_of(int64_t size, int64_t step) { return (size + step - 1) / step; }

/// Distributes `size` contiguous bytes to the same row of panels.
void scatter_row(const char* row, int64_t size, char* panels, int64_t panel_stride) {
  for (; size >= kTileBytes; size -= kTileBytes, row += kTileBytes, panels += panel_stride) {
    std::memcpy(panels, row, kTileBytes);
  }
  if (size > 0) {
    std::memcpy(panels, row, size);
    std::memset(panels + size, 0, kTileBytes - size);
  }
}

/// Reads a block of a matrix as rows of dtype `type`, `stride` bytes apart.
void load_matrix(const ConstMatrices& matrices, int64_t batch, int64_t row, int64_t rows, int64_t column,
                 int64_t columns, ScalarType type, char* target, int64_t stride) {
  const int64_t size = static_cast<int64_t>(elementSize(type));
  for (int64_t i = 0; i < rows; ++i, target += stride) {
    for (int64_t j = 0; j < columns; j += kBlockSize) {
      load_block(matrices.dtype, matrices.at(batch, row + i, column + j), matrices.column_stride, type,
                 target + j * size, std::min(kBlockSize, columns - j));
    }
  }
}

}  // namespace

/// How a product is computed, and where in the scratch its parts lie.
struct MatrixProduct::Plan {
  enum Way { kTiles, kRows, kDots };

  Way way;
  bool loads_a;
  bool loads_b;
  bool has_totals;
  int64_t element_size;
  int64_t rows;         // of a block of sums
  int64_t row_bytes;    // of a row of such a block, a multiple of kTileBytes
  int64_t depth;        // of the blocks of both operands
  int64_t staged_rows;  // of the second operand

  Plan(const MatrixProduct& product, int64_t memory);

  int64_t columns() const { return row_bytes / element_size; }
  int64_t panel_stride() const { return depth * kTileBytes + kPanelGap; }
  int64_t packed_size() const { return loads_a ? rows * depth * element_size : 0; }
  int64_t totals_size() const { return has_totals ? rows * row_bytes : 0; }
  int64_t staged_size() const { return !loads_b ? 0 : way == kDots ? depth * element_size : staged_rows * row_bytes; }
  int64_t panels_size() const { return way == kTiles ? row_bytes / kTileBytes * panel_stride() : 0; }
  int64_t size() const { return packed_size() + totals_size() + staged_size() + panels_size(); }

 private:
  void shrink();
};

/// A block of sums.
struct MatrixProduct::SumBlock {
  int64_t batch;
  int64_t row;
  int64_t rows;
  int64_t column;
  int64_t columns;
};

MatrixProduct::Plan::Plan(const MatrixProduct& product, int64_t memory) {
  const ProductShape& shape = product.shape_;
  const ConstMatrices& b = product.b_;
  const bool has_b = b.data != nullptr;
  way = shape.m > kFewRows ? kTiles : has_b && b.has_contiguous_columns() && !b.has_contiguous_rows() ? kDots : kRows;
  element_size = product.element_size();
  loads_a = !product.is_in_place(product.a_);
  // What is to be transposed is read where it lies.
  const bool is_transposed = has_b && b.dtype == product.type() && b.has_contiguous_columns();
  loads_b = !(way == kRows ? product.is_in_place(b) : is_transposed || (way == kTiles && product.is_in_place(b)));
  has_totals = product.sums_.data == nullptr;
  const bool in_place = !loads_a && !loads_b;
  depth = std::min(shape.k, way == kTiles ? kDepth : in_place ? shape.k : kBlockSize);
  rows = std::min(shape.m, loads_a || has_totals ? kRowsPacked : kRowsInPlace);
  row_bytes =
      std::min(blocks_of(shape.n * element_size, kTileBytes) * kTileBytes, way == kTiles ? kTilesBytes : kRowsBytes);
  staged_rows = std::min(depth, kStagedBytes / row_bytes);
  while (size() > memory) {
    shrink();
  }
}

void MatrixProduct::Plan::shrink() {
  if (staged_rows > 4) {
    staged_rows = 4;
  } else if (row_bytes > kTileBytes) {
    row_bytes = blocks_of(row_bytes / kTileBytes, 2) * kTileBytes;
  } else if (rows > kTileRows) {
    rows = std::max<int64_t>(rows / 2 / kTileRows, 1) * kTileRows;
  } else {
    depth /= 2;
  }
}

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
  const auto count_blocks = [&] {
    return shape_.batch * blocks_of(shape_.m, plan.rows) * blocks_of(shape_.n, plan.columns());
  };
  const int64_t products = shape_.batch * shape_.m * shape_.n * std::max<int64_t>(shape_.k, 1);
  int64_t parts = 1;
  if (has_threads()) {
    parts = std::min({count_blocks(), kMaxParts, blocks_of(products, kPartProducts)});
  }
  const int64_t part_size = blocks_of(plan.size(), 64) * 64;
  char* memory = scratch.get(parts * part_size);
  if (memory == nullptr) {
    parts = 1;
    plan = Plan(*this, ProductScratch::kStackBytes);
    memory = scratch.get(plan.size());
  }
  const int64_t row_blocks = blocks_of(shape_.m, plan.rows);
  const int64_t blocks = count_blocks();
  parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      for (int64_t i = part * blocks / parts; i < (part + 1) * blocks / parts; ++i) {
        const int64_t row = i % row_blocks * plan.rows;
        const int64_t column_blocks = blocks_of(shape_.n, plan.columns());
        const int64_t column = i / row_blocks % column_blocks * plan.columns();
        compute_block({i / row_blocks / column_blocks, row, std::min(plan.rows, shape_.m - row), column,
                       std::min(plan.columns(), shape_.n - column)},
                      plan, memory + part * part_size);
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
  for (int64_t i = 0; i < block.rows; ++i) {
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

/// `columns` columns of the block's rows of the first operand, in place or in `packed`.
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

/// Rows of the second operand as panels of the block's columns.
void MatrixProduct::pack_b(const SumBlock& block, const Plan& plan, int64_t row, int64_t rows, char* staged,
                           char* panels) const {
  const int64_t panel_stride = plan.panel_stride();
  const int64_t size = element_size();
  const int64_t row_bytes = block.columns * size;
  const int64_t tile_columns = kTileBytes / size;
  if (is_in_place(b_)) {
    for (int64_t p = 0; p < rows; ++p) {
      scatter_row(b_.at(block.batch, row + p, block.column), row_bytes, panels + p * kTileBytes, panel_stride);
    }
  } else if (b_.data != nullptr && b_.dtype == type() && b_.has_contiguous_columns()) {
    if (row_bytes % kTileBytes != 0) {
      std::memset(panels + row_bytes / kTileBytes * panel_stride, 0, rows * kTileBytes);
    }
    for (int64_t j = 0; j < block.columns; ++j) {
      copy_elements(b_.at(block.batch, row, block.column + j), size,
                    panels + j / tile_columns * panel_stride + j % tile_columns * size, kTileBytes, size, rows);
    }
  } else {
    for (int64_t start = 0; start < rows; start += plan.staged_rows) {
      const int64_t count = std::min(plan.staged_rows, rows - start);
      load_b(block.batch, row + start, count, block.column, block.columns, staged, row_bytes);
      for (int64_t p = 0; p < count; ++p) {
        scatter_row(staged + p * row_bytes, row_bytes, panels + (start + p) * kTileBytes, panel_stride);
      }
    }
  }
}

void MatrixProduct::compute_tiles(const SumBlock& block, const Plan& plan, char* scratch, char* totals,
                                  int64_t totals_stride) const {
  const int64_t size = plan.element_size;
  char* packed = scratch;
  char* staged = packed + plan.packed_size();
  char* panels = staged + plan.staged_size();
  for (int64_t start = 0; start < shape_.k; start += plan.depth) {
    const int64_t depth = std::min(plan.depth, shape_.k - start);
    int64_t a_stride;
    const char* a = block_of_a(block, start, depth, packed, a_stride);
    pack_b(block, plan, start, depth, staged, panels);
    for (int64_t i = 0; i < block.rows; i += kTileRows) {
      const int64_t rows = std::min<int64_t>(kTileRows, block.rows - i);
      const void* a_rows[kTileRows];
      for (int64_t r = 0; r < kTileRows; ++r) {
        a_rows[r] = a + (i + std::min(r, rows - 1)) * a_stride;  // The last row stands in for missing ones.
      }
      const char* panel = panels;
      for (int64_t j = 0; j < block.columns * size; j += kTileBytes, panel += plan.panel_stride()) {
        const int64_t row_bytes = std::min(kTileBytes, block.columns * size - j);
        char* total = totals + i * totals_stride + j;
        if (rows == kTileRows && row_bytes == kTileBytes) {
          loops_.add_tile(total, totals_stride / size, a_rows, panel, depth);
          continue;
        }
        alignas(16) char tile[kTileRows * kTileBytes] = {};
        for (int64_t r = 0; r < rows; ++r) {
          std::memcpy(tile + r * kTileBytes, total + r * totals_stride, row_bytes);
        }
        loops_.add_tile(tile, kTileBytes / size, a_rows, panel, depth);
        for (int64_t r = 0; r < rows; ++r) {
          std::memcpy(total + r * totals_stride, tile + r * kTileBytes, row_bytes);
        }
      }
    }
  }
}

void MatrixProduct::compute_rows(const SumBlock& block, const Plan& plan, char* scratch, char* totals,
                                 int64_t totals_stride) const {
  const int64_t size = plan.element_size;
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
      int64_t b_stride = block.columns * size;
      if (plan.loads_b) {
        load_b(block.batch, start + p, count, block.column, block.columns, staged, b_stride);
      } else {
        b = b_.at(block.batch, start + p, block.column);
        b_stride = b_.row_stride;
      }
      for (int64_t i = 0; i < block.rows; ++i) {
        loops_.add_rows(totals + i * totals_stride, a + i * a_stride + p * size, b, b_stride / size, count,
                        block.columns);
      }
    }
  }
}

void MatrixProduct::compute_dots(const SumBlock& block, const Plan& plan, char* scratch, char* totals,
                                 int64_t totals_stride) const {
  const int64_t size = plan.element_size;
  char* packed = scratch;
  char* staged = packed + plan.packed_size();
  for (int64_t start = 0; start < shape_.k; start += plan.depth) {
    const int64_t depth = std::min(plan.depth, shape_.k - start);
    int64_t a_stride;
    const char* a = block_of_a(block, start, depth, packed, a_stride);
    for (int64_t j = 0; j < block.columns; ++j) {
      const char* b = b_.at(block.batch, start, block.column + j);
      if (plan.loads_b) {
        load_matrix(b_.transpose(), block.batch, block.column + j, 1, start, depth, type(), staged, 0);
        b = staged;
      }
      for (int64_t i = 0; i < block.rows; ++i) {
        loops_.add_dot(totals + i * totals_stride + j * size, a + i * a_stride, b, depth);
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
  load_matrix(b_, batch, row, rows, column, columns, type(), target, stride);
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
}

void ViewProduct::store(int64_t batch, int64_t row, int64_t column, int64_t n, char* totals) const {
  if (sums_.data == nullptr) {
    store_row(out_, batch, row, column, n, totals);
  }
}

}  // namespace rules_executorch::kernels
