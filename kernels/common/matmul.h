#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/common/block.h"
#include "kernels/common/strided_view.h"

namespace rules_executorch::kernels {

/// Rows of a tile, the part of a product that stays in registers while its sums grow.
inline constexpr int kTileRows = 6;
/// Bytes of a row of a tile, two vectors of every instruction set's least width.
inline constexpr int64_t kTileBytes = 32;

/// The innermost loops of a product in elements of one type, with that type erased. Elements that lie next to each
/// other are contiguous; strides are in elements.
struct ProductLoops {
  /// The type of the elements: of the operands once they are loaded, and of the sums.
  ScalarType type;
  /// `totals[i][j] += sum over p < k of a[i][p] * b[p][j]` for one tile; row i of `a` begins at `a[i]`, and rows of `b`
  /// are kTileBytes apart.
  void (*add_tile)(void* totals, int64_t totals_stride, const void* const* a, const void* b, int64_t k);
  /// `totals[j] += sum over p < k of a[p] * b[p][j]` for j < n.
  void (*add_rows)(void* totals, const void* a, const void* b, int64_t b_stride, int64_t k, int64_t n);
  /// `*total += sum over p < k of a[p] * b[p]`.
  void (*add_dot)(void* total, const void* a, const void* b, int64_t k);
};

/// The type to multiply matrices of `T` in. Integers share the longest: their products wrap around alike.
template <typename T>
using ProductType = std::conditional_t<std::is_integral_v<T>, int64_t, T>;

/// The loops for elements of type `T`, a ProductType.
template <typename T>
const ProductLoops& product_loops();

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
  const char* block_of_a(const SumBlock& block, int64_t column, int64_t columns, char* packed, int64_t& stride) const;
  void pack_b(const SumBlock& block, const Plan& plan, int64_t row, int64_t rows, char* staged, char* panels) const;
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

namespace internal {

#if defined(__GNUC__)
template <typename T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kTileBytes / 2)));
};
template <typename T>
using Vector = typename VectorOf<T>::type;
#else
template <typename T>
struct Vector {
  T lanes[kTileBytes / 2 / sizeof(T)];

  friend Vector operator*(T factor, Vector vector) {
    for (T& lane : vector.lanes) {
      lane *= factor;
    }
    return vector;
  }
  friend Vector operator*(Vector a, const Vector& b) {
    for (size_t i = 0; i < kTileBytes / 2 / sizeof(T); ++i) {
      a.lanes[i] *= b.lanes[i];
    }
    return a;
  }
  friend Vector operator+(Vector a, const Vector& b) { return a += b; }
  Vector& operator+=(const Vector& other) {
    for (size_t i = 0; i < kTileBytes / 2 / sizeof(T); ++i) {
      lanes[i] += other.lanes[i];
    }
    return *this;
  }
};
#endif

template <typename T>
inline constexpr int64_t kLanes = kTileBytes / 2 / sizeof(T);

template <typename T>
inline Vector<T> load_vector(const T* source) {
  Vector<T> vector;
  std::memcpy(&vector, source, sizeof(vector));
  return vector;
}

template <typename T>
inline void add_vector(T* target, const Vector<T>& vector) {
  const Vector<T> sum = load_vector(target) + vector;
  std::memcpy(target, &sum, sizeof(sum));
}

template <typename T, int... I>
inline void add_tile(T* totals, int64_t totals_stride, const void* const* a, const T* b, int64_t k,
                     std::integer_sequence<int, I...>) {
  const T* const rows[] = {static_cast<const T*>(a[I])...};
  Vector<T> left[] = {((void)I, Vector<T>{})...};
  Vector<T> right[] = {((void)I, Vector<T>{})...};
  for (int64_t p = 0; p < k; ++p, b += 2 * kLanes<T>) {
    const Vector<T> b_left = load_vector(b);
    const Vector<T> b_right = load_vector(b + kLanes<T>);
    ((left[I] += rows[I][p] * b_left, right[I] += rows[I][p] * b_right), ...);
  }
  ((add_vector(totals + I * totals_stride, left[I]), add_vector(totals + I * totals_stride + kLanes<T>, right[I])),
   ...);
}

#if defined(__x86_64__) && defined(__GNUC__)

/// Whether the processor has vectors of a whole row of a tile. Nearly every x86-64 one does, but the architecture's
/// baseline does not.
bool has_wide_vectors();

template <typename T>
struct WideVectorOf {
  typedef T type __attribute__((vector_size(kTileBytes)));
};

/// As `add_tile`, with half the instructions and the same results: each element's products are added in the same order.
template <typename T, int... I>
[[gnu::target("avx")]] void add_wide_tile(T* totals, int64_t totals_stride, const void* const* a, const T* b, int64_t k,
                                          std::integer_sequence<int, I...>) {
  using Wide = typename WideVectorOf<T>::type;
  const T* const rows[] = {static_cast<const T*>(a[I])...};
  Wide sums[] = {((void)I, Wide{})...};
  for (int64_t p = 0; p < k; ++p, b += kTileBytes / sizeof(T)) {
    Wide row_of_b;
    std::memcpy(&row_of_b, b, sizeof(row_of_b));
    ((sums[I] += rows[I][p] * row_of_b), ...);
  }
  for (size_t i = 0; i < sizeof...(I); ++i) {
    Wide total;
    std::memcpy(&total, totals + i * totals_stride, sizeof(total));
    total += sums[i];
    std::memcpy(totals + i * totals_stride, &total, sizeof(total));
  }
}

template <typename T>
[[gnu::target("avx")]] void add_wide_tile(void* totals, int64_t totals_stride, const void* const* a, const void* b,
                                          int64_t k) {
  add_wide_tile(static_cast<T*>(totals), totals_stride, a, static_cast<const T*>(b), k,
                std::make_integer_sequence<int, kTileRows>());
}

#endif

/// Integers and complex numbers take the short way: models seldom multiply matrices of them.
template <typename T>
void add_products(T* totals, const T* a, const T* b, int64_t b_stride, int64_t k, int64_t n) {
  for (int64_t p = 0; p < k; ++p, b += b_stride) {
    for (int64_t j = 0; j < n; ++j) {
      totals[j] += a[p] * b[j];
    }
  }
}

/// Some products for each time that a total is read and written.
template <typename T, int... P>
void add_products(T* totals, const T* a, const T* b, int64_t b_stride, int64_t n, std::integer_sequence<int, P...>) {
  const T factors[] = {a[P]...};
  const T* const rows[] = {b + P * b_stride...};
  int64_t j = 0;
  for (; j + kLanes<T> <= n; j += kLanes<T>) {
    add_vector(totals + j, (... + (factors[P] * load_vector(rows[P] + j))));
  }
  for (; j < n; ++j) {
    totals[j] += (... + (factors[P] * rows[P][j]));
  }
}

template <typename T>
void add_tile(void* totals, int64_t totals_stride, const void* const* a, const void* b, int64_t k) {
  T* total = static_cast<T*>(totals);
  const T* panel = static_cast<const T*>(b);
  if constexpr (!std::is_floating_point_v<T>) {
    for (int i = 0; i < kTileRows; ++i) {
      add_products(total + i * totals_stride, static_cast<const T*>(a[i]), panel, 2 * kLanes<T>, k, 2 * kLanes<T>);
    }
  } else {
    add_tile(total, totals_stride, a, panel, k, std::make_integer_sequence<int, kTileRows>());
  }
}

template <typename T>
void add_rows(void* totals, const void* a, const void* b, int64_t b_stride, int64_t k, int64_t n) {
  T* total = static_cast<T*>(totals);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  if constexpr (std::is_floating_point_v<T>) {
    int64_t count = 0;
    for (; k > 0; k -= count, x += count, y += count * b_stride) {
      count = k >= 4 ? 4 : k == 3 ? 3 : 1;
      if (count == 4) {
        add_products(total, x, y, b_stride, n, std::make_integer_sequence<int, 4>());
      } else if (count == 3) {
        add_products(total, x, y, b_stride, n, std::make_integer_sequence<int, 3>());
      } else {
        add_products(total, x, y, b_stride, n, std::make_integer_sequence<int, 1>());
      }
    }
  } else {
    add_products(total, x, y, b_stride, k, n);
  }
}

template <typename T>
void add_dot(void* total, const void* a, const void* b, int64_t k) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  int64_t p = 0;
  T lanes[kLanes<T>] = {};
  if constexpr (std::is_floating_point_v<T>) {
    Vector<T> sums[] = {Vector<T>{}, Vector<T>{}, Vector<T>{}, Vector<T>{}};
    for (; p + 4 * kLanes<T> <= k; p += 4 * kLanes<T>) {
      sums[0] += load_vector(x + p) * load_vector(y + p);
      sums[1] += load_vector(x + p + kLanes<T>) * load_vector(y + p + kLanes<T>);
      sums[2] += load_vector(x + p + 2 * kLanes<T>) * load_vector(y + p + 2 * kLanes<T>);
      sums[3] += load_vector(x + p + 3 * kLanes<T>) * load_vector(y + p + 3 * kLanes<T>);
    }
    const Vector<T> sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    std::memcpy(lanes, &sum, sizeof(lanes));
  }
  T rest = 0;
  for (; p < k; ++p) {
    rest += x[p] * y[p];
  }
  for (const T lane : lanes) {
    rest += lane;
  }
  *static_cast<T*>(total) += rest;
}

}  // namespace internal

template <typename T>
const ProductLoops& product_loops() {
  static_assert(std::is_same_v<T, ProductType<T>>);
  static constexpr ProductLoops loops{CppTypeToScalarType<T>::value, &internal::add_tile<T>, &internal::add_rows<T>,
                                      &internal::add_dot<T>};
#if defined(__x86_64__) && defined(__GNUC__)
  if constexpr (std::is_floating_point_v<T>) {
    static constexpr ProductLoops wide_loops{CppTypeToScalarType<T>::value, &internal::add_wide_tile<T>,
                                             &internal::add_rows<T>, &internal::add_dot<T>};
    if (internal::has_wide_vectors()) {
      return wide_loops;
    }
  }
#endif
  return loops;
}

}  // namespace rules_executorch::kernels
