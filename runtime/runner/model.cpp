#include "runtime/runner/model.h"

namespace rules_executorch {

using executorch::runtime::Tag;

std::string Describe(const Port& port) {
  switch (port.tag) {
    case Tag::Tensor:
      return Describe(port.layout);
    case Tag::Int:
      return "int";
    case Tag::Double:
      return "float";
    case Tag::Bool:
      return "bool";
    default:
      return "None";
  }
}

std::string Mismatch(const Value& value, const Port& port) {
  if (port.tag == Tag::None) {
    return value ? "is given where the program was exported with None" : "";
  }
  if (!value) {
    return "is not enough";
  }
  const Layout& given = value->layout;
  if (!port.is_tensor()) {
    return given.numel() == 1 ? "" : "has " + std::to_string(given.numel()) + " elements";
  }
  if (given.dtype != port.layout.dtype) {
    return "has another dtype";
  }
  if (given.sizes.size() != port.layout.sizes.size()) {
    return "has another number of dimensions";
  }
  for (size_t i = 0; port.has_largest_sizes && i < given.sizes.size(); ++i) {
    if (given.sizes[i] > port.layout.sizes[i]) {
      return "is larger in dimension " + std::to_string(i);
    }
  }
  return "";
}

}  // namespace rules_executorch
