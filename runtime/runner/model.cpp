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

}  // namespace rules_executorch
