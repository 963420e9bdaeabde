#pragma once

#include <executorch/runtime/core/tag.h>

#include <string>
#include <vector>

#include "runtime/runner/value.h"

namespace rules_executorch {

// An input or an output in the declaration of a model.
struct Port {
  executorch::runtime::Tag tag;
  Layout layout;                             // of a tensor
  bool has_largest_sizes = true;             // whether the sizes are upper limits; otherwise, the sizes of an example
  std::vector<std::string> allowed_sizes{};  // of an input, as `2..5`; empty if the model does not say

  bool is_tensor() const { return tag == executorch::runtime::Tag::Tensor; }
};

std::string Describe(const Port& port);

// The reason why a value does not match an input, e.g. `has another dtype`. Empty if it matches.
std::string Mismatch(const Value& value, const Port& port);

struct Signature {
  std::vector<Port> inputs;
  std::vector<Port> outputs;
};

// An exported model with its methods. All errors call Fail().
class Model {
 public:
  virtual ~Model() = default;

  virtual const std::string& path() const = 0;

  // The sorted names of the methods.
  virtual std::vector<std::string> MethodNames() = 0;

  virtual Signature GetSignature(const std::string& method) = 0;

  // Loads a method, in place of the previous one.
  virtual void LoadMethod(const std::string& method) = 0;

  // Runs a method on its inputs. The state in mutable buffers is kept for the next run. Returns the outputs, and sets
  // `seconds` to the time of the method.
  virtual std::vector<Value> Run(const std::string& method, const std::vector<Value>& inputs, double* seconds) = 0;
};

}  // namespace rules_executorch
