#include "runtime/runner/input_sizes.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace rules_executorch {
namespace {

// The number of numbers of a dimension.
constexpr size_t kNumbersOfDim = 5;

}  // namespace

std::string InputSizesKey(std::string_view method) { return "rules_executorch.input_sizes/" + std::string(method); }

std::optional<InputSizes> InputSizes::Read(const void* data, size_t size) {
  std::vector<int32_t> numbers(size / sizeof(int32_t));
  std::memcpy(numbers.data(), data, numbers.size() * sizeof(int32_t));
  size_t next = 0;
  // Each count is limited by the numbers that are left.
  const auto take_count = [&](size_t numbers_of_one) -> std::optional<size_t> {
    if (next == numbers.size() || numbers[next] < 0 ||
        static_cast<size_t>(numbers[next]) > (numbers.size() - next - 1) / numbers_of_one) {
      return std::nullopt;
    }
    return static_cast<size_t>(numbers[next++]);
  };
  InputSizes result;
  const std::optional<size_t> inputs = take_count(1);
  for (size_t i = 0; i < inputs.value_or(0); ++i) {
    const std::optional<size_t> rank = take_count(kNumbersOfDim);
    if (!rank) {
      return std::nullopt;
    }
    std::vector<Dim> dims;
    for (size_t d = 0; d < *rank; ++d, next += kNumbersOfDim) {
      const int32_t* const given = numbers.data() + next;
      const Dim dim = {given[0], given[1], given[2], given[3], given[4]};
      // There are no more symbols than numbers.
      if (dim.least < 0 || dim.most < dim.least || dim.symbol < -1 || dim.factor < 1 ||
          dim.symbol >= static_cast<int64_t>(numbers.size())) {
        return std::nullopt;
      }
      if (dim.symbol >= 0) {
        result.symbols_.resize(std::max<size_t>(result.symbols_.size(), dim.symbol + size_t{1}));
        result.uses_.resize(result.symbols_.size());
        ++result.uses_[dim.symbol];
      }
      dims.push_back(dim);
    }
    result.inputs_.push_back(std::move(dims));
  }
  return inputs && next == numbers.size() ? std::optional(std::move(result)) : std::nullopt;
}

std::string InputSizes::Check(size_t index, executorch::aten::ArrayRef<executorch::aten::SizesType> sizes) {
  if (index == 0) {
    std::fill(symbols_.begin(), symbols_.end(), Known{});
  }
  // The runtime checks the number of dimensions.
  const size_t rank = index < inputs_.size() ? std::min(inputs_[index].size(), sizes.size()) : 0;
  for (size_t d = 0; d < rank; ++d) {
    std::string mismatch = CheckDim(index, d, sizes[d]);
    if (!mismatch.empty()) {
      return mismatch;
    }
  }
  return "";
}

std::vector<std::string> InputSizes::Describe(size_t index) const {
  std::vector<std::string> texts;
  for (size_t d = 0; index < inputs_.size() && d < inputs_[index].size(); ++d) {
    const Dim& dim = inputs_[index][d];
    const std::string formula = Formula(dim);
    const std::string range = dim.least == dim.most ? "" : ".." + std::to_string(dim.most);
    texts.push_back(formula + (formula.empty() ? "" : "=") + std::to_string(dim.least) + range);
  }
  return texts;
}

std::string InputSizes::Formula(const Dim& dim) const {
  if (dim.symbol < 0 || (uses_[dim.symbol] == 1 && dim.factor == 1 && dim.offset == 0)) {
    return "";
  }
  return (dim.factor == 1 ? "" : std::to_string(dim.factor) + "*") + "s" + std::to_string(dim.symbol) +
         (dim.offset == 0 ? "" : (dim.offset > 0 ? "+" : "") + std::to_string(dim.offset));
}

std::string InputSizes::CheckDim(size_t input, size_t dim, int64_t size) {
  const Dim& allowed = inputs_[input][dim];
  const std::string has = "has the size " + std::to_string(size) + " in dimension " + std::to_string(dim) + ", and ";
  if (size < allowed.least || size > allowed.most) {
    const std::string least = std::to_string(allowed.least);
    return has + "the model was exported for " +
           (allowed.least == allowed.most ? "the size " + least
                                          : "sizes from " + least + " to " + std::to_string(allowed.most));
  }
  if (allowed.symbol < 0) {
    return "";
  }
  const int64_t value = (size - allowed.offset) / allowed.factor;
  if (value * allowed.factor + allowed.offset != size) {
    return has + "the model was exported for sizes of " + std::to_string(allowed.factor) + " * n" +
           (allowed.offset == 0
                ? ""
                : (allowed.offset > 0 ? " + " : " - ") + std::to_string(std::abs(int64_t{allowed.offset})));
  }
  Known& known = symbols_[allowed.symbol];
  if (!known.is_set) {
    known = {value, input, dim, size, true};
  }
  if (known.value == value) {
    return "";
  }
  return has + "the model needs " + std::to_string(known.value * allowed.factor + allowed.offset) +
         " there, since input " + std::to_string(known.input) + " has the size " + std::to_string(known.size) +
         " in dimension " + std::to_string(known.dim);
}

}  // namespace rules_executorch
