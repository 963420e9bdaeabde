#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rules_executorch {

// A dense tensor in plain C++: PyTorch's headers and ExecuTorch's both have a c10, so no file includes both.
struct Array {
  int dtype;  // As c10::ScalarType numbers them; ExecuTorch's numbers are the same.
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  std::vector<uint8_t> bytes;
};

// A loaded model of a package of AOTInductor. What goes wrong is a std::runtime_error.
class AotiLoader {
 public:
  explicit AotiLoader(const std::string& path);
  ~AotiLoader();

  // What the package was compiled with; empty if it has no such key.
  static std::string Metadata(const std::string& path, const std::string& key);

  // Gives PyTorch so many threads.
  static void UseThreads(int count);

  // Whether an operator is registered in this process, and has a kernel for the CPU.
  static bool HasOperator(const std::string& name);

  // Runs the model; nothing among the outputs stands for None. `seconds` is how long the model itself took.
  std::vector<std::optional<Array>> Run(std::vector<Array>& inputs, double* seconds);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rules_executorch
