#pragma once

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rules_executorch {

// The properties of a tensor without its elements.
struct Layout {
  executorch::aten::ScalarType dtype;
  std::vector<int32_t> sizes;
  // The dimensions from outermost to innermost in memory.
  std::vector<uint8_t> dim_order;

  size_t numel() const;
  size_t nbytes() const;
  // The strides of a dense tensor, in elements.
  std::vector<int32_t> strides() const;

  bool operator==(const Layout& other) const {
    return dtype == other.dtype && sizes == other.sizes && dim_order == other.dim_order;
  }
};

// The reason why a layout from a file or a flag is invalid, e.g. `has a negative size`. Empty if the layout is valid.
// All other functions require valid layouts.
std::string Mistake(const Layout& layout);

// A tensor with its own memory.
struct TensorData {
  Layout layout;
  std::vector<uint8_t> bytes;  // layout.nbytes() bytes
};

// An input or an output. Empty for None. Python's bool, int and float are 0-dim tensors of bool, int64 and float64.
using Value = std::optional<TensorData>;

// The contiguous layout: the dimensions are in row-major order in memory.
Layout ContiguousLayout(executorch::aten::ScalarType dtype, std::vector<int32_t> sizes);

// PyTorch's name of a dtype: `float32`, `int64`, `bool`, ...
std::string DtypeName(executorch::aten::ScalarType dtype);

// `float32 [1, 3, 8, 8]`, with the dim order unless contiguous.
std::string Describe(const Layout& layout);
std::string Describe(const Value& value);

// The same with a text for each size.
std::string Describe(const Layout& layout, const std::vector<std::string>& sizes);

// The offset in memory of the element with row-major index `index`, in elements.
size_t ElementOffset(const Layout& layout, size_t index);

// The element at an offset in memory, as text and as a number.
std::string ElementText(const TensorData& tensor, size_t offset);
double ElementNumber(const TensorData& tensor, size_t offset);

// Whether a dtype's elements are floating-point numbers.
bool IsFloatingPoint(executorch::aten::ScalarType dtype);

// The same elements with another dim order.
TensorData WithDimOrder(const TensorData& tensor, const std::vector<uint8_t>& dim_order);

// The first `limit` elements in row-major order, and `...` for the rest.
std::string ElementsText(const TensorData& tensor, size_t limit);

// A copy of a value of a program.
Value FromEValue(const executorch::runtime::EValue& value);

}  // namespace rules_executorch
