#include "runtime/aoti/runner.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/aoti/loader.h"
#include "runtime/runner/failure.h"
#include "runtime/runner/model.h"
#include "runtime/runner/options.h"
#include "runtime/runner/run.h"
#include "runtime/runner/runfiles.h"

namespace rules_executorch {
namespace {

using executorch::aten::ScalarType;
using executorch::runtime::Tag;

constexpr RunnerText kText = {"a package of AOTInductor", ".pt2",
                              "Prints the operators of other libraries than PyTorch that the package calls."};

constexpr char kMethod[] = "forward";

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    parts.push_back(part);
  }
  return parts;
}

template <typename T>
std::vector<T> Numbers(const std::string& text) {
  std::vector<T> numbers;
  for (const std::string& number : Split(text, ',')) {
    numbers.push_back(static_cast<T>(std::strtol(number.c_str(), nullptr, 10)));
  }
  return numbers;
}

// Reads `dtype:sizes:dim order;` for each of some values, with nothing before the semicolon for None.
std::vector<Port> ParsePorts(const std::string& text) {
  std::vector<Port> ports;
  for (const std::string& value : Split(text, ';')) {
    std::vector<std::string> parts = Split(value, ':');
    const bool is_tensor = !parts.empty();
    parts.resize(3);
    ports.push_back(is_tensor ? Port{Tag::Tensor,
                                     {static_cast<ScalarType>(Numbers<int>(parts[0])[0]), Numbers<int32_t>(parts[1]),
                                      Numbers<uint8_t>(parts[2])}}
                              : Port{Tag::None, {}});
  }
  return ports;
}

Array ToArray(const TensorData& data) {
  const std::vector<int32_t> strides = data.layout.strides();
  return {static_cast<int>(data.layout.dtype),
          {data.layout.sizes.begin(), data.layout.sizes.end()},
          {strides.begin(), strides.end()},
          data.bytes};
}

Value ToValue(std::optional<Array> array) {
  if (!array) {
    return std::nullopt;
  }
  Layout layout = ContiguousLayout(static_cast<ScalarType>(array->dtype), {array->sizes.begin(), array->sizes.end()});
  return TensorData{std::move(layout), std::move(array->bytes)};
}

// A package that torch_aoti_package made.
class AotiPackage : public Model {
 public:
  explicit AotiPackage(const std::string& path) : path_(path) {
    if (!IsReadable(path)) {
      Fail("cannot read the package " + path + ".",
           "the path is wrong, or the binary was moved away from its runfiles.",
           "give a .pt2 file with --program=FILE, or run the binary where the build put it.");
    }
    if (Metadata("outputs").empty()) {
      Fail("the package " + path + " does not say what it takes and gives.",
           "it was made by other means than torch_aoti_package.",
           "give one that torch_aoti_package made, or run it with torch::inductor::AOTIModelPackageLoader.");
    }
  }

  const std::string& path() const override { return path_; }

  std::vector<std::string> MethodNames() override { return {kMethod}; }

  Signature GetSignature(const std::string& method) override {
    if (method != kMethod) {
      Fail(path_ + " has no method " + method + "; it has: " + kMethod + ".", "a package holds one method.",
           "leave out --method.");
    }
    return {ParsePorts(Metadata("inputs")), ParsePorts(Metadata("outputs"))};
  }

  // The operators of other libraries that the package calls.
  std::vector<std::string> Operators() { return Split(Metadata("operators"), ','); }

  void LoadMethod(const std::string&) override {
    std::string missing;
    for (const std::string& name : Operators()) {
      if (!AotiLoader::HasOperator(name)) {
        missing += (missing.empty() ? "" : ", ") + name;
      }
    }
    if (!missing.empty()) {
      Fail("the package needs operators that this binary does not have: " + missing + ".",
           "the C++ library that defines them is not among the deps of the binary, or the linker left it out.",
           "add it to `deps`; link with -Wl,--no-as-needed if the binary uses nothing of it by name.");
    }
    // Wrong inputs would otherwise be read as they are.
    setenv("AOTI_RUNTIME_CHECK_INPUTS", "1", /*overwrite=*/0);
    try {
      loader_ = std::make_unique<AotiLoader>(path_);
    } catch (const std::exception& error) {
      Fail("cannot load the package " + path_ + ": " + error.what(),
           "the file is damaged, or was compiled for another version of PyTorch or another processor.",
           "build the package and the binary with the same PyTorch, and the package without cpu = \"native\".");
    }
  }

  std::vector<Value> Run(const std::string& method, const std::vector<Value>& inputs, double* seconds) override {
    const Signature signature = GetSignature(method);
    std::vector<Array> arrays;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i]) {
        Fail("input " + std::to_string(i) + " is None; the package takes " + Describe(signature.inputs[i]) + ".",
             "the input is for another package.", "give what --list_methods shows.");
      }
      // The compiled code takes strides for granted.
      arrays.push_back(ToArray(WithDimOrder(*inputs[i], signature.inputs[i].layout.dim_order)));
    }
    std::vector<Value> values;
    try {
      for (std::optional<Array>& output : loader_->Run(arrays, seconds)) {
        values.push_back(ToValue(std::move(output)));
      }
    } catch (const std::exception& error) {
      Fail(std::string("the package failed: ") + error.what(),
           "the inputs have another dtype or shape than the model was exported with, or an operator refused them.",
           "give what --list_methods shows; export with get_dynamic_shapes() for other shapes.");
    }
    return values;
  }

 private:
  std::string Metadata(const std::string& key) const {
    try {
      return AotiLoader::Metadata(path_, "rules_executorch." + key);
    } catch (const std::exception& error) {
      Fail(path_ + " is not a package of AOTInductor: " + error.what(), "the file is damaged, or is no .pt2 file.",
           "build the package again.");
    }
  }

  std::string path_;
  std::unique_ptr<AotiLoader> loader_;
};

}  // namespace

int AotiRunnerMain(int argc, char** argv, const RunnerDefaults& defaults) {
  const Options options = ParseOptions(argc, argv, defaults, kText);
  if (options.action == Options::Action::kHelp) {
    std::fputs(HelpText(argv[0], defaults, kText).c_str(), stdout);
    return 0;
  }
  AotiPackage package(options.program);
  if (options.action == Options::Action::kListOperators) {
    for (const std::string& name : package.Operators()) {
      std::printf("%s\n", name.c_str());
    }
    return 0;
  }
  if (options.action == Options::Action::kListMethods) {
    ListMethods(&package);
    return 0;
  }
  return RunModel(&package, options, /*load_ms=*/0);
}

}  // namespace rules_executorch
