#pragma once

#include <executorch/runtime/core/tag.h>

#include <string>
#include <vector>

#include "runtime/runner/value.h"

namespace rules_executorch {

// An input or output as a model declares it.
struct Port {
  executorch::runtime::Tag tag;
  Layout layout;                  // Of a tensor.
  bool has_largest_sizes = true;  // Whether no tensor may be larger; otherwise its sizes are those of an example.

  bool is_tensor() const { return tag == executorch::runtime::Tag::Tensor; }
};

std::string Describe(const Port& port);

// Why a value is none for an input, e.g. `has another dtype`; empty if it is one.
std::string Mismatch(const Value& value, const Port& port);

struct Signature {
  std::vector<Port> inputs;
  std::vector<Port> outputs;
};

// An exported model with its methods. Everything that goes wrong ends in Fail().
class Model {
 public:
  virtual ~Model() = default;

  virtual const std::string& path() const = 0;

  // The names of its methods, sorted.
  virtual std::vector<std::string> MethodNames() = 0;

  virtual Signature GetSignature(const std::string& method) = 0;

  // Makes a method ready to run, in place of the one before.
  virtual void LoadMethod(const std::string& method) = 0;

  // Runs a method on as many inputs as it has; the state in its mutable buffers stays for the next run.
  // Returns the outputs, and in `seconds` how long the method itself took.
  virtual std::vector<Value> Run(const std::string& method, const std::vector<Value>& inputs, double* seconds) = 0;
};

}  // namespace rules_executorch
