#pragma once

#include <executorch/extension/module/module.h>
#include <executorch/runtime/core/tag.h>

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/value.h"

namespace rules_executorch {

// An input or output as the program declares it.
struct Port {
  executorch::runtime::Tag tag;
  Layout layout;  // Of a tensor; a dimension that may vary has its largest size.

  bool is_tensor() const { return tag == executorch::runtime::Tag::Tensor; }
};

std::string Describe(const Port& port);

struct Signature {
  std::vector<Port> inputs;
  std::vector<Port> outputs;
};

// A loaded program. Everything that goes wrong ends in Fail().
class Program {
 public:
  // Reads the file.
  explicit Program(const std::string& path);

  const std::string& path() const { return path_; }

  // The names of its methods, sorted.
  std::vector<std::string> MethodNames();

  Signature GetSignature(const std::string& method);

  // Makes a method ready to run: resolves its operators and delegates, takes the memory for its tensors.
  void LoadMethod(const std::string& method);

  // Runs a method on as many inputs as it has; the state in its mutable buffers stays for the next run.
  // Returns the outputs, and in `seconds` how long the method itself took.
  std::vector<Value> Run(const std::string& method, const std::vector<Value>& inputs, double* seconds);

 private:
  std::string path_;
  executorch::extension::Module module_;
};

}  // namespace rules_executorch
