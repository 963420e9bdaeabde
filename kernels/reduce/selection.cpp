#include "kernels/reduce/selection.h"

#include <algorithm>

#include "kernels/reduce/reduction.h"
#include "kernels/tensors/dims.h"

namespace rules_executorch::kernels {
namespace {

/// The cost of an element in a selection, in additions.
constexpr int64_t kWorkOfSelection = 16;

/// Calls `find` with the ranked elements of a line, and memory for as many.
template <typename Find>
uint32_t find_in_ranked(const LineResults& line, const Find& find) {
  const auto find_with_keys = [&](auto* ranked) {
    rank_elements(line.type, line.in, line.in_stride, line.size, /*descending=*/false, ranked);
    return find(ranked, ranked + line.size);
  };
  return has_wide_keys(line.type) ? find_with_keys(reinterpret_cast<Ranked<uint64_t>*>(line.scratch))
                                  : find_with_keys(reinterpret_cast<Ranked<uint32_t>*>(line.scratch));
}

template <typename Key>
uint32_t kth(Ranked<Key>* ranked, int64_t n, int64_t k) {
  std::nth_element(ranked, ranked + k, ranked + n);
  return ranked[k].index;
}

/// Whether the element is a NaN of a line of dtype `type`.
template <typename Key>
bool is_nan(ScalarType type, const Ranked<Key>& element) {
  return isFloatingType(type) && element.key == kNanKey<Key>;
}

}  // namespace

bool check_selection(const Tensor& in, int64_t& dim, const Tensor& values, const Tensor& indices) {
  ET_CHECK_OR_RETURN_FALSE(is_supported(in.scalar_type()), "dtype %s is not supported", toString(in.scalar_type()));
  ET_CHECK_OR_RETURN_FALSE(tensors_have_same_dtype(in, values), "the values have another dtype than the input");
  ET_CHECK_OR_RETURN_FALSE(indices.scalar_type() == ScalarType::Long, "the indices are not Long");
  ET_CHECK_OR_RETURN_FALSE(normalize_dim(dim, in.dim()), "dim is out of range");
  const int64_t size = in.dim() == 0 ? 1 : in.sizes()[dim];
  ET_CHECK_OR_RETURN_FALSE(size > 0 && size <= kLongestSortedLine, "dimension %d has no element, or too many",
                           static_cast<int>(dim));
  return true;
}

bool resize_to_selection(Tensor& values, Tensor& indices, const Tensor& in, int64_t dim, bool keepdim) {
  DimSet dims;
  if (in.dim() > 0) {
    dims.insert(dim);
  }
  return resize_to_reduction(values, in, dims, keepdim) && resize_to_reduction(indices, in, dims, keepdim);
}

uint32_t find_kth(const LineResults& line, int64_t k) {
  return find_in_ranked(line, [&](auto* ranked, auto*) { return kth(ranked, line.size, k); });
}

uint32_t find_median(const LineResults& line) {
  return find_in_ranked(line, [&](auto* ranked, auto*) {
    const auto* const nan =
        std::find_if(ranked, ranked + line.size, [&](const auto& e) { return is_nan(line.type, e); });
    return nan < ranked + line.size ? nan->index : kth(ranked, line.size, (line.size - 1) / 2);
  });
}

uint32_t find_nanmedian(const LineResults& line) {
  return find_in_ranked(line, [&](auto* ranked, auto*) {
    const int64_t nans = std::count_if(ranked, ranked + line.size, [&](const auto& e) { return is_nan(line.type, e); });
    return kth(ranked, line.size, std::max<int64_t>(line.size - nans - 1, 0) / 2);
  });
}

uint32_t find_mode(const LineResults& line) {
  return find_in_ranked(line, [&](auto* ranked, auto* other) {
    const auto* const sorted = sort_ranked(ranked, other, line.size);
    int64_t most = 0;
    uint32_t mode = 0;
    for (int64_t start = 0, end; start < line.size; start = end) {
      end = start + 1;
      while (end < line.size && sorted[end].key == sorted[start].key && !is_nan(line.type, sorted[start])) {
        ++end;
      }
      if (end - start > most) {
        most = end - start;
        mode = sorted[end - 1].index;
      }
    }
    return mode;
  });
}

void select_from_lines(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, Tensor& values, Tensor& indices,
                       ::executorch::runtime::FunctionRef<uint32_t(const LineResults& line)> find) {
  if (in.numel() == 0) {
    return;
  }
  const size_t scratch_size = sort_scratch_size(in.scalar_type(), in.dim() == 0 ? 1 : in.sizes()[dim]);
  for_each_line(ctx, in, dim, values, indices, scratch_size, kWorkOfSelection,
                [&](const LineResults& line) { line.write(find(line)); });
}

}  // namespace rules_executorch::kernels
