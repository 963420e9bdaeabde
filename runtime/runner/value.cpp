#include "runtime/runner/value.h"

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

namespace rules_executorch {
namespace {

using executorch::aten::BFloat16;
using executorch::aten::Half;
using executorch::aten::ScalarType;

template <typename T>
T Read(const TensorData& tensor, size_t offset) {
  T element;
  std::memcpy(&element, tensor.bytes.data() + offset * sizeof(T), sizeof(T));
  return element;
}

// Calls `visit` with an element of the tensor in the dtype's C++ type. Returns false for dtypes without numbers.
template <typename Visit>
bool VisitElement(const TensorData& tensor, size_t offset, Visit visit) {
  switch (tensor.layout.dtype) {
    case ScalarType::Bool:
    case ScalarType::Byte:
      return visit(Read<uint8_t>(tensor, offset)), true;
    case ScalarType::Char:
      return visit(Read<int8_t>(tensor, offset)), true;
    case ScalarType::Short:
      return visit(Read<int16_t>(tensor, offset)), true;
    case ScalarType::Int:
      return visit(Read<int32_t>(tensor, offset)), true;
    case ScalarType::Long:
      return visit(Read<int64_t>(tensor, offset)), true;
    case ScalarType::UInt16:
      return visit(Read<uint16_t>(tensor, offset)), true;
    case ScalarType::UInt32:
      return visit(Read<uint32_t>(tensor, offset)), true;
    case ScalarType::UInt64:
      return visit(Read<uint64_t>(tensor, offset)), true;
    case ScalarType::Half:
      return visit(static_cast<float>(Read<Half>(tensor, offset))), true;
    case ScalarType::BFloat16:
      return visit(static_cast<float>(Read<BFloat16>(tensor, offset))), true;
    case ScalarType::Float:
      return visit(Read<float>(tensor, offset)), true;
    case ScalarType::Double:
      return visit(Read<double>(tensor, offset)), true;
    default:
      return false;
  }
}

template <typename T>
TensorData Scalar(ScalarType dtype, T value) {
  TensorData tensor{ContiguousLayout(dtype, {}), std::vector<uint8_t>(sizeof(T))};
  std::memcpy(tensor.bytes.data(), &value, sizeof(T));
  return tensor;
}

}  // namespace

std::string Mistake(const Layout& layout) {
  const size_t dimensions = layout.sizes.size();
  if (!executorch::runtime::isValid(layout.dtype)) {
    return "has a dtype that the runtime does not know, " + std::to_string(static_cast<int>(layout.dtype));
  }
  if (dimensions > executorch::runtime::kTensorDimensionLimit) {
    return "has " + std::to_string(dimensions) + " dimensions";
  }
  // Strides are 32-bit numbers. A dimension of size 0 counts as 1 in strides.
  uint64_t stride = 1;
  uint32_t seen = 0;
  for (size_t i = layout.dim_order.size(); i-- > 0 && layout.dim_order[i] < dimensions;) {
    const int32_t size = layout.sizes[layout.dim_order[i]];
    if (size < 0) {
      return "has a negative size";
    }
    if (stride > std::numeric_limits<int32_t>::max()) {
      return "is larger than its strides can count";
    }
    stride *= static_cast<uint64_t>(std::max(size, 1));
    seen |= 1u << layout.dim_order[i];
  }
  if (layout.dim_order.size() != dimensions || seen != (1u << dimensions) - 1) {
    return "has a dim order that is none of its " + std::to_string(dimensions) + " dimensions";
  }
  if (stride > static_cast<uint64_t>(PTRDIFF_MAX) / executorch::runtime::elementSize(layout.dtype)) {
    return "is larger than any memory";
  }
  return "";
}

size_t Layout::numel() const {
  size_t count = 1;
  for (int32_t size : sizes) {
    count *= static_cast<size_t>(size);
  }
  return count;
}

size_t Layout::nbytes() const { return numel() * executorch::runtime::elementSize(dtype); }

std::vector<int32_t> Layout::strides() const {
  std::vector<int32_t> result(sizes.size());
  int32_t stride = 1;
  for (size_t i = dim_order.size(); i-- > 0;) {
    result[dim_order[i]] = stride;
    stride *= sizes[dim_order[i]] == 0 ? 1 : sizes[dim_order[i]];
  }
  return result;
}

Layout ContiguousLayout(ScalarType dtype, std::vector<int32_t> sizes) {
  std::vector<uint8_t> dim_order(sizes.size());
  for (size_t i = 0; i < dim_order.size(); ++i) {
    dim_order[i] = static_cast<uint8_t>(i);
  }
  return {dtype, std::move(sizes), std::move(dim_order)};
}

std::string DtypeName(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Byte:
      return "uint8";
    case ScalarType::Char:
      return "int8";
    case ScalarType::Short:
      return "int16";
    case ScalarType::Int:
      return "int32";
    case ScalarType::Long:
      return "int64";
    case ScalarType::Half:
      return "float16";
    case ScalarType::Float:
      return "float32";
    case ScalarType::Double:
      return "float64";
    case ScalarType::Bool:
      return "bool";
    case ScalarType::BFloat16:
      return "bfloat16";
    case ScalarType::UInt16:
      return "uint16";
    case ScalarType::UInt32:
      return "uint32";
    case ScalarType::UInt64:
      return "uint64";
    default:
      return executorch::runtime::toString(dtype);
  }
}

std::string Describe(const Layout& layout) {
  std::vector<std::string> sizes;
  std::transform(layout.sizes.begin(), layout.sizes.end(), std::back_inserter(sizes),
                 [](int32_t size) { return std::to_string(size); });
  return Describe(layout, sizes);
}

std::string Describe(const Layout& layout, const std::vector<std::string>& sizes) {
  std::string text = DtypeName(layout.dtype) + " [";
  for (size_t i = 0; i < sizes.size(); ++i) {
    text += (i == 0 ? "" : ", ") + sizes[i];
  }
  text += "]";
  if (!std::is_sorted(layout.dim_order.begin(), layout.dim_order.end())) {
    text += " dim order [";
    for (size_t i = 0; i < layout.dim_order.size(); ++i) {
      text += (i == 0 ? "" : ", ") + std::to_string(layout.dim_order[i]);
    }
    text += "]";
  }
  return text;
}

std::string Describe(const Value& value) { return value ? Describe(value->layout) : "None"; }

size_t ElementOffset(const Layout& layout, size_t index) {
  if (std::is_sorted(layout.dim_order.begin(), layout.dim_order.end())) {
    return index;
  }
  const std::vector<int32_t> strides = layout.strides();
  size_t offset = 0;
  for (size_t dim = layout.sizes.size(); dim-- > 0;) {
    const size_t size = static_cast<size_t>(layout.sizes[dim]);
    offset += index % size * static_cast<size_t>(strides[dim]);
    index /= size;
  }
  return offset;
}

std::string ElementText(const TensorData& tensor, size_t offset) {
  if (tensor.layout.dtype == ScalarType::Bool) {
    return tensor.bytes[offset] != 0 ? "true" : "false";
  }
  std::string text = "?";
  VisitElement(tensor, offset, [&text](auto element) {
    if constexpr (std::is_floating_point_v<decltype(element)>) {
      char buffer[32];
      std::snprintf(buffer, sizeof(buffer), "%.6g", static_cast<double>(element));
      text = buffer;
    } else {
      text = std::to_string(element);
    }
  });
  return text;
}

double ElementNumber(const TensorData& tensor, size_t offset) {
  double number = std::nan("");
  VisitElement(tensor, offset, [&number](auto element) { number = static_cast<double>(element); });
  return number;
}

bool IsFloatingPoint(ScalarType dtype) {
  return dtype == ScalarType::Half || dtype == ScalarType::BFloat16 || dtype == ScalarType::Float ||
         dtype == ScalarType::Double;
}

TensorData WithDimOrder(const TensorData& tensor, const std::vector<uint8_t>& dim_order) {
  if (dim_order == tensor.layout.dim_order) {
    return tensor;
  }
  TensorData result{{tensor.layout.dtype, tensor.layout.sizes, dim_order}, std::vector<uint8_t>(tensor.bytes.size())};
  const size_t size = executorch::runtime::elementSize(tensor.layout.dtype);
  for (size_t i = 0; i < tensor.layout.numel(); ++i) {
    std::memcpy(result.bytes.data() + ElementOffset(result.layout, i) * size,
                tensor.bytes.data() + ElementOffset(tensor.layout, i) * size, size);
  }
  return result;
}

std::string ElementsText(const TensorData& tensor, size_t limit) {
  std::string text;
  const size_t numel = tensor.layout.numel();
  for (size_t i = 0; i < numel && i < limit; ++i) {
    text += (i == 0 ? "" : " ") + ElementText(tensor, ElementOffset(tensor.layout, i));
  }
  return numel > limit ? text + " ..." : text;
}

Value FromEValue(const executorch::runtime::EValue& value) {
  if (value.isTensor()) {
    const executorch::aten::Tensor& tensor = value.toTensor();
    const auto sizes = tensor.sizes();
    const auto dim_order = tensor.dim_order();
    TensorData data{{tensor.scalar_type(), {sizes.begin(), sizes.end()}, {dim_order.begin(), dim_order.end()}}, {}};
    if (tensor.nbytes() != 0) {
      const auto* bytes = static_cast<const uint8_t*>(tensor.const_data_ptr());
      data.bytes.assign(bytes, bytes + tensor.nbytes());
    }
    return data;
  }
  if (value.isInt()) {
    return Scalar(ScalarType::Long, value.toInt());
  }
  if (value.isDouble()) {
    return Scalar(ScalarType::Double, value.toDouble());
  }
  if (value.isBool()) {
    return Scalar(ScalarType::Bool, value.toBool());
  }
  return std::nullopt;
}

}  // namespace rules_executorch
