#pragma once

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rules_executorch {

// What is known of a tensor without its elements.
struct Layout {
  executorch::aten::ScalarType dtype;
  std::vector<int32_t> sizes;
  // The dimensions from outermost to innermost in memory.
  std::vector<uint8_t> dim_order;

  size_t numel() const;
  size_t nbytes() const;
  // The strides of a dense tensor, in elements.
  std::vector<int32_t> strides() const;
};

// Why no tensor can have a layout, which a file or a flag gives, e.g. `has a negative size`; empty if one can. All else
// that is said of layouts here is said of such as tensors can have.
std::string Mistake(const Layout& layout);

// A tensor with its own memory.
struct TensorData {
  Layout layout;
  std::vector<uint8_t> bytes;  // As many as layout.nbytes().
};

// An input or an output; nothing stands for None. Python's bool, int and float are 0-dim tensors of bool, int64 and
// float64 here.
using Value = std::optional<TensorData>;

// A layout whose dimensions lie in memory in their own order.
Layout ContiguousLayout(executorch::aten::ScalarType dtype, std::vector<int32_t> sizes);

// PyTorch's name of a dtype: `float32`, `int64`, `bool`, ...
std::string DtypeName(executorch::aten::ScalarType dtype);

// `float32 [1, 3, 8, 8]`, with the dim order if it is not the plain one.
std::string Describe(const Layout& layout);
std::string Describe(const Value& value);

// Where in memory the element is that is `index`-th in the order of the dimensions (row-major), in elements.
size_t ElementOffset(const Layout& layout, size_t index);

// The element at an offset in memory, as text and as a number.
std::string ElementText(const TensorData& tensor, size_t offset);
double ElementNumber(const TensorData& tensor, size_t offset);

// Whether a dtype's elements are floating-point numbers.
bool IsFloatingPoint(executorch::aten::ScalarType dtype);

// The same elements with the dimensions in another order in memory.
TensorData WithDimOrder(const TensorData& tensor, const std::vector<uint8_t>& dim_order);

// The first `limit` elements, row-major, and `...` for the rest.
std::string ElementsText(const TensorData& tensor, size_t limit);

// A copy of what a program holds.
Value FromEValue(const executorch::runtime::EValue& value);

}  // namespace rules_executorch
