#include "runtime/aoti/runner.h"

#include <algorithm>
#include <cerrno>
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
#include "runtime/runner/file.h"
#include "runtime/runner/model.h"
#include "runtime/runner/options.h"
#include "runtime/runner/run.h"

namespace rules_executorch {
namespace {

using executorch::aten::ScalarType;
using executorch::runtime::Tag;

constexpr RunnerText kText = {"a package of AOTInductor",
                              ".pt2",
                              "Prints the operators of other libraries than PyTorch that the package calls.",
                              "as many as PyTorch takes",
                              "",
                              "",
                              ""};

constexpr char kMethod[] = "forward";

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    parts.push_back(part);
  }
  return parts;
}

// Reads integers of type T. Returns false if the text is invalid.
template <typename T>
bool ParseNumbers(const std::string& text, std::vector<T>* numbers) {
  for (const std::string& number : Split(text, ',')) {
    errno = 0;
    char* end = nullptr;
    const long value = std::strtol(number.c_str(), &end, 10);
    numbers->push_back(static_cast<T>(value));
    if (errno != 0 || end == number.c_str() || *end != '\0' || static_cast<long>(numbers->back()) != value) {
      return false;
    }
  }
  return true;
}

// Reads `dtype:sizes:dim order;` for each value. The text before the semicolon is empty for None. Returns false if the
// text has another format than that of torch_aoti_package.
bool ParsePorts(const std::string& text, std::vector<Port>* ports) {
  for (const std::string& value : Split(text, ';')) {
    std::vector<std::string> parts = Split(value, ':');
    if (parts.empty()) {
      ports->push_back({Tag::None, {}});
      continue;
    }
    parts.resize(3);
    std::vector<int8_t> dtype;
    Port port{Tag::Tensor, {}, /*has_largest_sizes=*/false};
    if (!ParseNumbers(parts[0], &dtype) || dtype.size() != 1 || !ParseNumbers(parts[1], &port.layout.sizes) ||
        !ParseNumbers(parts[2], &port.layout.dim_order)) {
      return false;
    }
    port.layout.dtype = static_cast<ScalarType>(dtype[0]);
    if (!Mistake(port.layout).empty()) {
      return false;
    }
    ports->push_back(std::move(port));
  }
  return true;
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

// A package built by torch_aoti_package.
class AotiPackage : public Model {
 public:
  explicit AotiPackage(const std::string& path) : path_(path) {
    const std::string problem = File(path).problem();
    if (!problem.empty()) {
      Fail("cannot read the package " + path + ": " + problem + ".",
           "the path is wrong, or the binary was moved away from its runfiles.",
           "give a .pt2 file with --program=FILE, or run the binary where the build put it.");
    }
    const bool known = !Metadata("outputs").empty() && ParsePorts(Metadata("inputs"), &signature_.inputs) &&
                       ParsePorts(Metadata("outputs"), &signature_.outputs);
    if (!known || !std::all_of(signature_.inputs.begin(), signature_.inputs.end(),
                               [](const Port& port) { return port.is_tensor(); })) {
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
    return signature_;
  }

  // The operators of other libraries that the package calls.
  std::vector<std::string> Operators() { return Split(Metadata("operators"), ','); }

  void LoadMethod(const std::string&) override {
    std::vector<std::string> missing;
    for (const std::string& name : Operators()) {
      if (!AotiLoader::HasOperator(name)) {
        missing.push_back(name);
      }
    }
    if (!missing.empty()) {
      Fail("the package needs operators that this binary does not have: " + Join(missing) + ".",
           "the C++ library that defines them is not among the deps of the binary, or the linker left it out.",
           "add it to `deps`; link with -Wl,--no-as-needed if the binary uses nothing of it by name.");
    }
    // By default, the package does not check its inputs.
    setenv("AOTI_RUNTIME_CHECK_INPUTS", "1", /*overwrite=*/0);
    try {
      loader_ = std::make_unique<AotiLoader>(path_);
    } catch (const std::exception& error) {
      Fail("cannot load the package " + path_ + ": " + error.what(),
           "the file is damaged, or was compiled for another version of PyTorch or another processor.",
           "build the package and the binary with the same PyTorch, and the package without cpu = \"native\".");
    }
  }

  std::vector<Value> Run(const std::string&, const std::vector<Value>& inputs, double* seconds) override {
    std::vector<Array> arrays;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Port& port = signature_.inputs[i];
      const std::string mismatch = Mismatch(inputs[i], port);
      if (!mismatch.empty()) {
        Fail("input " + std::to_string(i) + " (" + Describe(inputs[i]) + ") " + mismatch + "; the package takes " +
                 Describe(port) + ".",
             "the input is for another package.", "give what --list_methods shows.");
      }
      // The compiled code assumes the strides.
      arrays.push_back(ToArray(WithDimOrder(*inputs[i], port.layout.dim_order)));
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
    if (values.size() != signature_.outputs.size()) {
      Fail("the package gave " + std::to_string(values.size()) + " outputs, and says that it gives " +
               std::to_string(signature_.outputs.size()) + ".",
           "it was not made by torch_aoti_package, or is damaged.", "build the package again.");
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
  Signature signature_;
  std::unique_ptr<AotiLoader> loader_;
};

int Run(int argc, char** argv, const RunnerDefaults& defaults) {
  const Options options = ParseOptions(argc, argv, defaults, kText);
  if (options.action == Options::Action::kHelp) {
    std::fputs(HelpText(argv[0], defaults, kText).c_str(), stdout);
    return 0;
  }
  if (options.threads > 0) {
    AotiLoader::UseThreads(options.threads);
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
  return RunModel(&package, MethodsToRun(&package, options), options, /*load_ms=*/0, /*observer=*/nullptr);
}

}  // namespace

int AotiRunnerMain(int argc, char** argv, const RunnerDefaults& defaults) {
  PrepareToFail();
  return Finish(Run(argc, argv, defaults));
}

}  // namespace rules_executorch
