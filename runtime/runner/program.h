#pragma once

#include <executorch/extension/module/module.h>

#include <string>
#include <vector>

#include "runtime/runner/model.h"

namespace rules_executorch {

// A loaded ExecuTorch program.
class Program : public Model {
 public:
  // Reads the file.
  explicit Program(const std::string& path);

  const std::string& path() const override { return path_; }

  std::vector<std::string> MethodNames() override;

  Signature GetSignature(const std::string& method) override;

  // Resolves the method's operators and delegates, takes the memory for its tensors.
  void LoadMethod(const std::string& method) override;

  std::vector<Value> Run(const std::string& method, const std::vector<Value>& inputs, double* seconds) override;

 private:
  std::string path_;
  executorch::extension::Module module_;
};

}  // namespace rules_executorch
