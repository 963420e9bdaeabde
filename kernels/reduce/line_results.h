#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <cstddef>
#include <cstdint>

#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// A line of an input, and the elements of two results that are computed from the line: elements of the line, in
/// `values`, and their indices, in `indices`. Strides are in bytes.
struct LineResults {
  ScalarType type;
  int64_t size;
  const char* in;
  int64_t in_stride;
  char* values;
  int64_t values_stride;
  char* indices;
  int64_t indices_stride;
  /// Memory for this line alone, aligned for int64_t.
  char* scratch;

  /// Writes the elements with the indices `order` and these indices.
  void write(const uint32_t* order, int64_t n) const;

  /// Writes an element and its index as the results, which are numbers.
  void write(uint32_t index) const { write(&index, 1); }
};

/// Calls `function` for each line of `in` along dimension `dim`. `values` and `indices` have that dimension with any
/// size, or lack it. `values` has the dtype of `in`, and `indices` is Long. Threads process disjoint lines. Returns
/// false if there is no memory for scratch.
///
/// Args:
///   scratch_size: the bytes of scratch that a line needs.
///   work: the cost of an element of a line, in additions.
bool for_each_line(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, Tensor& values, Tensor& indices,
                   size_t scratch_size, int64_t work,
                   ::executorch::runtime::FunctionRef<void(const LineResults& line)> function);

}  // namespace rules_executorch::kernels
