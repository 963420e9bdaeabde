#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rules_executorch {

// A dense tensor in plain C++. PyTorch's and ExecuTorch's headers both have a c10, so that no file can include both.
struct Array {
  int dtype;  // a number of c10::ScalarType; ExecuTorch's numbers are the same
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  std::vector<uint8_t> bytes;
};

// A loaded model of an AOTInductor package. Throws std::runtime_error.
class AotiLoader {
 public:
  explicit AotiLoader(const std::string& path);
  ~AotiLoader();

  // The value of a key in the package's metadata. Empty if there is no such key.
  static std::string Metadata(const std::string& path, const std::string& key);

  // Sets the number of PyTorch's threads.
  static void UseThreads(int count);

  // Whether an operator is registered in this process and has a CPU kernel.
  static bool HasOperator(const std::string& name);

  // Runs the model. An output without a value is None. Sets `seconds` to the time of the model.
  std::vector<std::optional<Array>> Run(std::vector<Array>& inputs, double* seconds);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rules_executorch
