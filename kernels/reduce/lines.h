#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <algorithm>
#include <cstdint>

#include "kernels/parallel/block.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// The layout of a line: the elements along one dimension of the input and of the output, which are computed together.
struct LineLayout {
  ScalarType in_type;
  ScalarType out_type;
  int64_t size;
  int64_t in_stride;  // in bytes
  int64_t out_stride;
};

/// Calls `function(layout, in, out)` for each line along dimension `dim`, with pointers to the line's first elements.
/// `dim` must not be negative. `out` has the shape of `in`. Threads process disjoint lines (see `parallel_for`).
void parallel_for_each_line(
    const Tensor& in, int64_t dim, Tensor& out,
    ::executorch::runtime::FunctionRef<void(const LineLayout& layout, const char* in, char* out)> function);

/// One line. It is read and written as elements of type `T`, in blocks of at most kBlockSize. Contiguous elements of
/// type `T` are accessed in place, others through one block on the stack. Functions of blocks have the parameters `(T*
/// results, const T* x, int64_t start, int64_t n)`, for the elements `start` to `start + n` (exclusive) of the line.
/// `results` may be `x`.
template <typename T>
class Line {
 public:
  Line(const LineLayout& layout, const char* in, char* out)
      : layout_(layout),
        in_(in),
        out_(out),
        is_in_direct_(layout.in_type == kType && layout.in_stride == sizeof(T)),
        is_out_direct_(layout.out_type == kType && layout.out_stride == sizeof(T)) {}

  int64_t size() const { return layout_.size; }

  /// Calls `visit(x, start, n)` for the blocks of the input.
  template <typename Visit>
  void read(const Visit& visit) {
    for_each_block(kBlockSize, [&](int64_t start, int64_t n) { visit(input(start, n, values_), start, n); });
  }

  /// Writes the results of `function` for the blocks of the input, one after the other.
  template <typename Function>
  void scan(const Function& function) {
    for_each_block(kBlockSize, [&](int64_t start, int64_t n) {
      T* const results = place(start);
      function(results, input(start, n, results), start, n);
      store(results, start, n);
    });
    is_loaded_ = false;
  }

  /// Writes `second(first(x))` for the elements `x` of the input. `first` has processed all elements before the first
  /// call of `second`. `again` computes the results of `first` again if they cannot be stored without rounding.
  template <typename First, typename Again, typename Second>
  void write(const First& first, const Again& again, const Second& second) {
    // The results of `first` are stored in the block, or in the output if the block is too small and the output's dtype
    // is T.
    const bool is_one_block = layout_.size <= kBlockSize;
    const bool out_holds_values = is_out_direct_ || (!is_one_block && layout_.out_type == kType);
    const int64_t block_size = is_in_direct_ && is_out_direct_ ? kDirectBlockSize : kBlockSize;
    for_each_block(block_size, [&](int64_t start, int64_t n) {
      T* const values = place(start);
      first(values, input(start, n, values), start, n);
      if (out_holds_values) {
        store(values, start, n);
      }
    });
    for_each_block(block_size, [&](int64_t start, int64_t n) {
      T* const values = place(start);
      if (out_holds_values && !is_out_direct_) {
        load_block(kType, out_ + start * layout_.out_stride, layout_.out_stride, kType, values, n);
      } else if (!out_holds_values && !is_one_block) {
        again(values, input(start, n, values), start, n);
      }
      second(values, static_cast<const T*>(values), start, n);
      store(values, start, n);
    });
    is_loaded_ = false;
  }

 private:
  static constexpr ScalarType kType = CppTypeToScalarType<T>::value;
  /// The size of a block for direct access, which needs no buffer. Larger blocks have less overhead, but must fit into
  /// the L1 cache.
  static constexpr int64_t kDirectBlockSize = 4096;

  template <typename Visit>
  void for_each_block(int64_t block_size, const Visit& visit) const {
    for (int64_t start = 0; start < layout_.size; start += block_size) {
      visit(start, std::min(block_size, layout_.size - start));
    }
  }

  /// The address for results: the output, or the block on the stack.
  T* place(int64_t start) { return is_out_direct_ ? reinterpret_cast<T*>(out_) + start : values_; }

  /// A block of the input: a pointer to the input, or `memory`. A line that fits into one block is loaded only once.
  const T* input(int64_t start, int64_t n, T* memory) {
    if (is_in_direct_) {
      return reinterpret_cast<const T*>(in_) + start;
    }
    if (is_loaded_) {
      return values_;
    }
    load_block(layout_.in_type, in_ + start * layout_.in_stride, layout_.in_stride, kType, memory, n);
    is_loaded_ = memory == values_ && layout_.size <= kBlockSize;
    return memory;
  }

  void store(const T* values, int64_t start, int64_t n) const {
    if (!is_out_direct_) {
      store_block(kType, values, layout_.out_type, out_ + start * layout_.out_stride, layout_.out_stride, n);
    }
  }

  const LineLayout& layout_;
  const char* in_;
  char* out_;
  bool is_in_direct_;
  bool is_out_direct_;
  bool is_loaded_ = false;
  alignas(16) T values_[kBlockSize];
};

/// Calls `function(line)` with a `Line<T>&` for each line of `in` and `out`. See `parallel_for_each_line`.
template <typename T, typename Function>
void apply_to_lines(const Function& function, const Tensor& in, int64_t dim, Tensor& out) {
  parallel_for_each_line(in, dim, out, [&](const LineLayout& layout, const char* from, char* to) {
    Line<T> line(layout, from, to);
    function(line);
  });
}

}  // namespace rules_executorch::kernels
