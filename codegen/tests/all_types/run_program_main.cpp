// Runs every method of a program and prints a line of each: its name and the numbers that it gives.
//
//   run_program model.pte

#include <executorch/extension/module/module.h>
#include <executorch/runtime/core/evalue.h>

#include <cstdio>
#include <string>

using executorch::aten::ScalarType;
using executorch::extension::Module;
using executorch::runtime::EValue;

namespace {

void print(const EValue& value) {
  if (value.isInt()) {
    std::printf(" %lld", static_cast<long long>(value.toInt()));
  } else if (value.isDouble()) {
    std::printf(" %g", value.toDouble());
  } else if (value.isBool()) {
    std::printf(" %d", value.toBool() ? 1 : 0);
  } else if (value.isTensor() && value.toTensor().scalar_type() == ScalarType::Double) {
    const double* data = value.toTensor().const_data_ptr<double>();
    for (ssize_t i = 0; i < value.toTensor().numel(); ++i) std::printf(" %g", data[i]);
  } else {
    std::printf(" (a value of another kind)");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "Usage: %s program.pte\n", argv[0]);
    return 2;
  }
  Module module(argv[1]);
  const auto methods = module.method_names();
  if (!methods.ok()) {
    std::fprintf(stderr, "%s cannot be read: error 0x%x\n", argv[1], static_cast<unsigned>(methods.error()));
    return 2;
  }
  for (const std::string& method : *methods) {
    const auto outputs = module.execute(method);
    if (!outputs.ok()) {
      std::fprintf(stderr, "%s cannot be run: error 0x%x\n", method.c_str(), static_cast<unsigned>(outputs.error()));
      return 1;
    }
    std::printf("%s", method.c_str());
    for (const EValue& output : *outputs) print(output);
    std::printf("\n");
  }
  return 0;
}
