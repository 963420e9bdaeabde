// Loads every method of a program with kernels for exactly the operators and kernel keys on stdin, one pair a line. The
// runtime looks up a kernel for each call when it loads a method, so that this fails if one of them has no kernel.
//
//   echo 'aten::add.out v1/6;0|6;0|6;0|6;0' | load_program model.pte

#include <executorch/extension/module/module.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include <cstdio>
#include <deque>
#include <iostream>
#include <string>
#include <vector>

using executorch::extension::Module;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Kernel;
using executorch::runtime::KernelKey;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::Span;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "Usage: %s program.pte < kernels\n", argv[0]);
    return 2;
  }
  std::deque<std::string> texts;  // What the kernels point to.
  std::vector<Kernel> kernels;
  std::string name;
  std::string key;
  while (std::cin >> name >> key) {
    const char* kernel_name = texts.emplace_back(name).c_str();
    const auto nothing = [](KernelRuntimeContext&, Span<EValue*>) {};
    if (key == "default") {
      kernels.emplace_back(kernel_name, nothing);
    } else {
      kernels.emplace_back(kernel_name, KernelKey(texts.emplace_back(key).c_str()), nothing);
    }
  }

  Module module(argv[1]);
  const auto methods = module.method_names();
  if (!methods.ok()) {
    std::fprintf(stderr, "%s cannot be read: error 0x%x\n", argv[1], static_cast<unsigned>(methods.error()));
    return 2;
  }
  for (const std::string& method : *methods) {
    const Error error = module.load_method(method, nullptr, nullptr, nullptr, kernels);
    if (error != Error::Ok) {
      std::fprintf(stderr, "%s cannot be loaded: error 0x%x\n", method.c_str(), static_cast<unsigned>(error));
      return 1;
    }
  }
  return 0;
}
