#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <cstdint>

#include "kernels/reduce/line_results.h"
#include "kernels/reduce/sort.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// Whether elements of dtype `type` are selected by their order: as in PyTorch, not Bools.
inline bool is_selectable(ScalarType type) { return is_supported(type) && type != ScalarType::Bool; }

/// Checks the arguments of an operator that selects one element of each line along `dim`: the line has elements,
/// `values` the dtype of `in`, and `indices` is Long. Makes `dim` positive.
bool check_selection(const Tensor& in, int64_t& dim, const Tensor& values, const Tensor& indices);

/// Resizes both results to the shape of `in` without dimension `dim`, or with size 1 if `keepdim`.
bool resize_to_selection(Tensor& values, Tensor& indices, const Tensor& in, int64_t dim, bool keepdim);

/// The index of the element that is number `k` in the order of the line, from 0 on.
uint32_t find_kth(const LineResults& line, int64_t k);

/// The index of the line's median. The lower one of two. If the line has NaN, the first NaN.
uint32_t find_median(const LineResults& line);

/// The median of the elements that are not NaN. If there are none, a NaN.
uint32_t find_nanmedian(const LineResults& line);

/// The last index of the most frequent element. The least one of several. NaN equals no element.
uint32_t find_mode(const LineResults& line);

/// Writes the element that `find` finds in each line, and its index.
void select_from_lines(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, Tensor& values, Tensor& indices,
                       ::executorch::runtime::FunctionRef<uint32_t(const LineResults& line)> find);

}  // namespace rules_executorch::kernels
