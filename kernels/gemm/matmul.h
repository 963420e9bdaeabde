#pragma once

#include <cstdint>

#include "kernels/gemm/product_loops.h"
#include "kernels/parallel/block.h"
#include "kernels/tensors/dtype.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Memory for the panels of products, which lasts as long as a call of an operator.
class ProductScratch {
 public:
  /// Bytes that a product has without asking `ctx`: 11 KiB, unless block_size says less. Every product can be computed
  /// with them.
  static constexpr int64_t kStackBytes = 44 * kBlockSize;

  explicit ProductScratch(KernelRuntimeContext& ctx) : ctx_(ctx) {}

  /// `size` bytes, from the program's memory for temporary data if they are many; null where the program has none.
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

/// Matrices of results.
using Matrices = BasicMatrices<char>;

/// Matrices that are only read.
using ConstMatrices = BasicMatrices<const char>;

/// The matrices that a view of 2 dimensions, or of 3 with the batch first, has.
template <typename Byte>
inline BasicMatrices<Byte> matrices_of(const BasicStridedView<Byte>& view) {
  const int64_t size = view.element_size();
  const int64_t row = view.rank - 2;
  return {view.data, view.dtype, view.rank == 3 ? view.strides[0] * size : 0, view.strides[row] * size,
          view.strides[row + 1] * size};
}

/// The sizes of a batch of products: of an `m` by `k` matrix and a `k` by `n` matrix each.
struct ProductShape {
  int64_t batch;
  int64_t m;
  int64_t k;
  int64_t n;
};

/// A batch of matrix products. Operands that are no matrices in memory are read by the subclass, a block at a time, so
/// that convolutions are products as well; the subclass says also what becomes of the sums.
///
/// Each sum is made in an order that the shape alone decides: blocks of the first and the second operand are packed
/// into panels that a tile reads from end to end, or read in place where they lie so already; products with few rows
/// are sums of rows or dot products, in which packing would not pay.
class MatrixProduct {
 public:
  void compute(ProductScratch& scratch) const;

 protected:
  MatrixProduct(const ProductLoops& loops, const ProductShape& shape) : loops_(loops), shape_(shape) {}
  ~MatrixProduct() = default;

  /// The dtype to calculate in.
  ScalarType type() const { return loops_.type; }
  int64_t element_size() const { return static_cast<int64_t>(elementSize(type())); }

  /// Whether the loops can read or write the matrices where they lie.
  template <typename Byte>
  bool is_in_place(const BasicMatrices<Byte>& matrices) const {
    return matrices.data != nullptr && matrices.dtype == type() && matrices.has_contiguous_rows();
  }

  /// Reads elements of the first operand, from (row, column) on, as rows of type(), `stride` bytes apart.
  virtual void load_a(int64_t batch, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
                      int64_t stride) const;
  /// The same for the second operand.
  virtual void load_b(int64_t batch, int64_t row, int64_t rows, int64_t column, int64_t columns, char* target,
                      int64_t stride) const;

  /// Writes `n` sums of a row of the result to `out`, from `column` on.
  void store_row(const Matrices& out, int64_t batch, int64_t row, int64_t column, int64_t n, const char* totals) const;

  /// Multiplies pairs of elements from now on, if both operands are matrices in memory that have pairs.
  void multiply_pairs();
  bool has_pairs() const { return has_pairs_; }

  /// Operands that are matrices in memory, and a result that is one in type() with contiguous rows, in which sums can
  /// grow. Without data: read by `load_a` and `load_b`, written by `store` only.
  ConstMatrices a_;
  ConstMatrices b_;
  Matrices sums_;

  const ProductLoops& loops_;
  ProductShape shape_;

 private:
  struct Plan;
  struct SumBlock;

  /// Stores `n` sums of a row, from `column` on; `totals` is their place in the result where that has one. It may
  /// change them.
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
  ConstMatrices rows_of_pairs_;  // the second operand where pairs have to be made of two rows
};

/// The product of views of 2 dimensions, or of 3 with the batch first.
class ViewProduct : public MatrixProduct {
 public:
  ViewProduct(const ProductLoops& loops, const ConstStridedView& a, const ConstStridedView& b, const StridedView& out);

 protected:
  void store(int64_t batch, int64_t row, int64_t column, int64_t n, char* totals) const override;

  /// Whether it is the transposed product that is computed: rows are then the columns of `out`.
  bool is_transposed() const { return is_transposed_; }

 private:
  Matrices out_;
  bool is_transposed_ = false;
};

}  // namespace rules_executorch::kernels
