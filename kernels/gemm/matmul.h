#pragma once

#include <cstdint>

#include "kernels/gemm/product_loops.h"
#include "kernels/parallel/block.h"
#include "kernels/tensors/dtype.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Memory for the panels of products, for the duration of one call of an operator.
class ProductScratch {
 public:
  /// The number of bytes without an allocation from `ctx`: 11 KiB, or less with a smaller block_size. They are enough
  /// for all products.
  static constexpr int64_t kStackBytes = 44 * kBlockSize;

  explicit ProductScratch(KernelRuntimeContext& ctx) : ctx_(ctx) {}

  /// Returns `size` bytes: from the stack up to kStackBytes, otherwise from the program's temporary memory. Null if the
  /// program has too little temporary memory.
  char* get(int64_t size);

 private:
  KernelRuntimeContext& ctx_;
  char* data_ = nullptr;
  int64_t size_ = 0;
  alignas(64) char stack_[kStackBytes];
};

/// A batch of matrices in memory. Strides are in bytes.
template <typename Byte>
struct BasicMatrices {
  Byte* data = nullptr;
  ScalarType dtype = ScalarType::Undefined;
  int64_t batch_stride = 0;
  int64_t row_stride = 0;
  int64_t column_stride = 0;

  Byte* at(int64_t batch, int64_t row, int64_t column) const {
    return data + batch * batch_stride + row * row_stride + column * column_stride;
  }
  bool has_contiguous_rows() const { return column_stride == static_cast<int64_t>(elementSize(dtype)); }
  bool has_contiguous_columns() const { return row_stride == static_cast<int64_t>(elementSize(dtype)); }
  BasicMatrices transpose() const { return {data, dtype, batch_stride, column_stride, row_stride}; }
};

/// Writable matrices, for results.
using Matrices = BasicMatrices<char>;

/// Read-only matrices.
using ConstMatrices = BasicMatrices<const char>;

/// The matrices of a 2-dim view, or of a 3-dim view with the batch as first dimension.
template <typename Byte>
inline BasicMatrices<Byte> matrices_of(const BasicStridedView<Byte>& view) {
  const int64_t size = view.element_size();
  const int64_t row = view.rank - 2;
  return {view.data, view.dtype, view.rank == 3 ? view.strides[0] * size : 0, view.strides[row] * size,
          view.strides[row + 1] * size};
}

/// The sizes of a batch of products. Each product multiplies an `m` by `k` matrix by a `k` by `n` matrix.
struct ProductShape {
  int64_t batch;
  int64_t m;
  int64_t k;
  int64_t n;
};

/// A batch of matrix products. A subclass reads operands that are not matrices in memory, one block at a time, so that
/// convolutions are matrix products, too. The subclass also stores the sums.
///
/// The order of the additions of a sum depends only on the shape. Blocks of both operands are packed into panels, which
/// a tile reads from start to end, or are read in place if they already have this layout. Products with few rows are
/// computed as sums of rows or as dot products, because packing would not pay off.
class MatrixProduct {
 public:
  void compute(ProductScratch& scratch) const;

 protected:
  /// Up to this number of rows, products are computed as sums of rows or as dot products.
  static constexpr int64_t kFewRows = 3;

  MatrixProduct(const ProductLoops& loops, const ProductShape& shape) : loops_(loops), shape_(shape) {}
  ~MatrixProduct() = default;

  /// The dtype of the computation.
  ScalarType type() const { return loops_.type; }
  int64_t element_size() const { return static_cast<int64_t>(elementSize(type())); }

  /// Whether the loops can read or write the matrices in place.
  template <typename Byte>
  bool is_in_place(const BasicMatrices<Byte>& matrices) const {
    return matrices.data != nullptr && matrices.dtype == type() && matrices.has_contiguous_rows();
  }

  /// Reads elements of the first operand, from (row, column) on, to rows of dtype type(), `stride` bytes apart.
  virtual void load_a(int64_t batch, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
                      int64_t stride) const;
  /// The same for the second operand.
  virtual void load_b(int64_t batch, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
                      int64_t stride) const;

  /// Writes `n` sums of a row of the result to `out`, from `column` on.
  void store_row(const Matrices& out, int64_t batch, int64_t row, int64_t column, int64_t n, const char* totals) const;

  /// Switches to products of pairs of elements, if both operands are matrices in memory with pairs.
  void multiply_pairs();
  bool has_pairs() const { return has_pairs_; }

  /// The operands that are matrices in memory, and the result if it has dtype type() and contiguous rows; sums are then
  /// accumulated in the result. Without data, `load_a` and `load_b` read the operands, and `store` writes the result.
  ConstMatrices a_;
  ConstMatrices b_;
  Matrices sums_;

  const ProductLoops& loops_;
  ProductShape shape_;

 private:
  struct Plan;
  struct SumBlock;

  /// Stores `n` sums of a row, from `column` on. `totals` points into the result if the result is used for
  /// accumulation. `store` may change the totals.
  virtual void store(int64_t batch, int64_t row, int64_t column, int64_t n, char* totals) const = 0;

  void compute_block(const SumBlock& block, const Plan& plan, char* scratch) const;
  void compute_tiles(const SumBlock& block, const Plan& plan, char* scratch, char* totals, int64_t totals_stride) const;
  void compute_rows(const SumBlock& block, const Plan& plan, char* scratch, char* totals, int64_t totals_stride) const;
  void compute_dots(const SumBlock& block, const Plan& plan, char* scratch, char* totals, int64_t totals_stride) const;
  void load_pairs(int64_t batch, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
                  int64_t stride) const;
  const char* block_of_a(const SumBlock& block, int64_t column, int64_t columns, char* packed, int64_t& stride) const;
  void pack_b(const SumBlock& block, const Plan& plan, int64_t row, int64_t rows, char* staged, char* panels) const;

  bool has_pairs_ = false;
  ConstMatrices rows_of_pairs_;  // the second operand if pairs are formed from two rows
};

/// The product of 2-dim views, or of 3-dim views with the batch as first dimension.
class ViewProduct : public MatrixProduct {
 public:
  ViewProduct(const ProductLoops& loops, const ConstStridedView& a, const ConstStridedView& b, const StridedView& out);

 protected:
  void store(int64_t batch, int64_t row, int64_t column, int64_t n, char* totals) const override;

  /// Whether the transposed product is computed. Rows are then the columns of `out`.
  bool is_transposed() const { return is_transposed_; }

 private:
  Matrices out_;
  bool is_transposed_ = false;
};

}  // namespace rules_executorch::kernels
