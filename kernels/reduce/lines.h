#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <algorithm>
#include <cstdint>

#include "kernels/parallel/block.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// Where the elements of lines lie, which are computed together: those along one dimension of the input and of the
/// output.
struct LineLayout {
  ScalarType in_type;
  ScalarType out_type;
  int64_t size;
  int64_t in_stride;  // in bytes
  int64_t out_stride;
};

/// Calls `function(layout, in, out)` for each line along dimension `dim`, which is not negative, with the first
/// elements of a line; several threads have lines of their own (see `parallel_for`). `out` has the shape of `in`.
void parallel_for_each_line(
    const Tensor& in, int64_t dim, Tensor& out,
    ::executorch::runtime::FunctionRef<void(const LineLayout& layout, const char* in, char* out)> function);

/// One line, read and written as elements of type `T` in blocks of up to kBlockSize: where they lie, or in one block of
/// stack. Functions of blocks take `(T* results, const T* x, int64_t start, int64_t n)`, with elements `start` to
/// `start + n` of the line; `results` may be `x`.
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

  /// Calls `visit(x, start, n)` for the input's blocks.
  template <typename Visit>
  void read(const Visit& visit) {
    for_each_block(kBlockSize, [&](int64_t start, int64_t n) { visit(input(start, n, values_), start, n); });
  }

  /// Writes what `function` gives for the input's blocks, one after the other.
  template <typename Function>
  void scan(const Function& function) {
    for_each_block(kBlockSize, [&](int64_t start, int64_t n) {
      T* const results = place(start);
      function(results, input(start, n, results), start, n);
      store(results, start, n);
    });
    is_loaded_ = false;
  }

  /// Writes `second(first(x))` for the input's elements `x`. `first` has seen them all before `second` is called. So as
  /// not to round what `first` gives, `again` may calculate it once more.
  template <typename First, typename Again, typename Second>
  void write(const First& first, const Again& again, const Second& second) {
    // In between, elements wait in the block or, if that is too small, in the output, unless its dtype rounds them.
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
  /// A block that needs no memory: the more elements, the fewer pauses between the passes over them, as long as the
  /// first cache holds it.
  static constexpr int64_t kDirectBlockSize = 4096;

  template <typename Visit>
  void for_each_block(int64_t block_size, const Visit& visit) const {
    for (int64_t start = 0; start < layout_.size; start += block_size) {
      visit(start, std::min(block_size, layout_.size - start));
    }
  }

  /// Where results are computed: the output itself, or the block of stack.
  T* place(int64_t start) { return is_out_direct_ ? reinterpret_cast<T*>(out_) + start : values_; }

  /// A block of the input: where it lies, or in `memory`; a line of one block is read to the block of stack only once.
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

/// Calls `function(line)`, a function of `Line<T>&`, for each line of `in` and `out`. See `parallel_for_each_line`.
template <typename T, typename Function>
void apply_to_lines(const Function& function, const Tensor& in, int64_t dim, Tensor& out) {
  parallel_for_each_line(in, dim, out, [&](const LineLayout& layout, const char* from, char* to) {
    Line<T> line(layout, from, to);
    function(line);
  });
}

}  // namespace rules_executorch::kernels
