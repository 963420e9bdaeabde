#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/runner/compare.h"
#include "runtime/runner/failure.h"
#include "runtime/runner/file.h"
#include "runtime/runner/program_runner.h"
#include "runtime/runner/runner.h"
#include "runtime/runner/silent_tracer.h"
#include "runtime/runner/tensor_file.h"
#include "runtime/runner/value.h"

namespace rules_executorch {
namespace {

using executorch::aten::ScalarType;
using executorch::runtime::ChainID;
using executorch::runtime::DebugHandle;
using executorch::runtime::EValue;
using executorch::runtime::EventTracer;
using executorch::runtime::EventTracerDebugLogLevel;
using executorch::runtime::EventTracerEntry;
using executorch::runtime::LoggedEValueType;
using executorch::runtime::Result;

constexpr char kEager[] = "--eager_values=";
constexpr char kNumbers[] = "--numbers=";
constexpr char kHelp[] = R"(
Numbers
  --eager_values=FILE PyTorch's values of the nodes behind the instructions, which the export wrote. Required.
  --numbers=FILE      Writes how the result of each instruction differs from PyTorch's value. Required.
)";

[[noreturn]] void FailToRead(const std::string& path, const std::string& what) {
  Fail("cannot read the eager values " + path + ": " + what + ".", "the file is damaged, or is another file.",
       "give the .eager.ptd file that the export wrote, with --eager_values=FILE.");
}

// PyTorch's values. Keys are `<method>/<sample>/<instruction>/<run>/<result>`: an instruction in a loop runs once in
// each iteration. For a quantized result, `<method>/<instruction>/<result>/quantization` has the scale and the zero
// point, and the value is that of floats.
class EagerValues {
 public:
  explicit EagerValues(const std::string& path) : path_(path), bytes_(ReadAll(path)) {}

  std::optional<TensorData> Find(const std::string& key) const {
    const std::optional<TensorFile::Data> data = file_.Find(key);
    if (!data || !data->layout) {
      return std::nullopt;
    }
    const uint8_t* begin = bytes_.data() + data->range.begin;
    return TensorData{*data->layout, {begin, begin + data->range.size}};
  }

 private:
  static std::vector<uint8_t> ReadAll(const std::string& path) {
    File file(path);
    std::vector<uint8_t> bytes(file.size());
    file.Read(bytes.data());
    if (!file.problem().empty()) {
      FailToRead(path, file.problem());
    }
    return bytes;
  }

  std::string path_;
  std::vector<uint8_t> bytes_;
  TensorFile file_{bytes_.data(), bytes_.size(), path_, FailToRead};
};

TensorData Dequantize(const TensorData& tensor, double scale, double zero_point) {
  TensorData floats{ContiguousLayout(ScalarType::Float, tensor.layout.sizes), {}};
  floats.bytes.resize(floats.layout.nbytes());
  auto* elements = reinterpret_cast<float*>(floats.bytes.data());
  for (size_t i = 0; i < tensor.layout.numel(); ++i) {
    elements[i] = static_cast<float>((ElementNumber(tensor, ElementOffset(tensor.layout, i)) - zero_point) * scale);
  }
  return floats;
}

// Returns the nearest floats that bytes of a dtype have with a scale and a zero point.
TensorData RoundToBytes(const TensorData& floats, ScalarType dtype, double scale, double zero_point) {
  const double values = std::ldexp(1, 8 * static_cast<int>(executorch::runtime::elementSize(dtype)));
  const bool has_sign = dtype != ScalarType::Byte && dtype != ScalarType::UInt16;
  const double least = has_sign ? -values / 2 : 0;
  TensorData rounded = floats;
  auto* elements = reinterpret_cast<float*>(rounded.bytes.data());
  for (size_t i = 0; i < floats.layout.numel(); ++i) {
    const double byte = std::nearbyint(elements[i] / scale) + zero_point;
    elements[i] = static_cast<float>((std::clamp(byte, least, least + values - 1) - zero_point) * scale);
  }
  return rounded;
}

// A number as Python's JSON has it.
std::string NumberText(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", number);
  return std::isnan(number) ? "NaN" : std::isinf(number) ? (number > 0 ? "Infinity" : "-Infinity") : text;
}

// Compares the result of each instruction with PyTorch's value while the program runs.
class Comparer : public SilentTracer {
 public:
  explicit Comparer(const EagerValues* values) : values_(values) {
    set_event_tracer_debug_level(EventTracerDebugLogLevel::kIntermediateOutputs);
  }

  void Begin(std::string method) { method_ = std::move(method); }

  void BeginSample() {
    ++sample_;
    runs_.clear();
  }

  const std::string& lines() const { return lines_; }

  EventTracerEntry start_profiling(const char* name, ChainID, DebugHandle) override {
    // The runtime's events of instructions. The generated code around kernels has events of other names.
    if (std::strcmp(name, "OPERATOR_CALL") == 0 || std::strcmp(name, "DELEGATE_CALL") == 0) {
      run_ = runs_[current_debug_handle()]++;
      result_ = 0;
    }
    return {};
  }

  Result<bool> log_evalue(const EValue& evalue, LoggedEValueType type) override {
    if (type != LoggedEValueType::kIntermediateOutput || current_chain_id() < 0) {
      return true;
    }
    const std::string instruction = std::to_string(current_debug_handle());
    const std::string run = std::to_string(run_);
    const std::string result = std::to_string(result_++);
    const std::optional<TensorData> expected =
        values_->Find(method_ + "/" + std::to_string(sample_) + "/" + instruction + "/" + run + "/" + result);
    Value actual = expected && evalue.isTensor() ? FromEValue(evalue) : std::nullopt;
    if (!actual) {
      return true;
    }
    const ScalarType dtype = actual->layout.dtype;
    double quantized = INFINITY;
    if (const auto parameters = values_->Find(method_ + "/" + instruction + "/" + result + "/quantization")) {
      const double scale = ElementNumber(*parameters, 0), zero_point = ElementNumber(*parameters, 1);
      actual = Dequantize(*actual, scale, zero_point);
      if (expected->layout.dtype == ScalarType::Float) {
        quantized = Compare(expected, RoundToBytes(*expected, dtype, scale, zero_point), Tolerance{}).snr;
      }
    }
    const Comparison comparison = Compare(expected, actual, Tolerance{});
    std::string sizes;
    for (const int32_t size : actual->layout.sizes) {
      sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
    }
    lines_ += "{\"sample\":" + std::to_string(sample_) + ",\"instruction\":" + instruction + ",\"run\":" + run +
              ",\"result\":" + result + ",\"dtype\":\"" + DtypeName(dtype) + "\",\"sizes\":[" + sizes +
              "],\"comparable\":" + (comparison.comparable ? "true" : "false") +
              ",\"close\":" + (comparison.close ? "true" : "false") + ",\"snr\":" + NumberText(comparison.snr) +
              ",\"quantized_snr\":" + NumberText(quantized) +
              ",\"max_difference\":" + NumberText(comparison.max_difference) + "}\n";
    return true;
  }

 private:
  const EagerValues* values_;
  std::string method_;
  int sample_ = -1;
  std::map<DebugHandle, int> runs_;  // how often each instruction has run on the sample
  int run_ = 0;                      // of the instruction that runs now: its number among the instruction's runs
  int result_ = 0;                   // the instruction's next result
  std::string lines_;
};

class NumbersObserver : public Profiler {
 public:
  NumbersObserver(const std::string& eager, std::string numbers) : values_(eager), numbers_(std::move(numbers)) {}

  std::unique_ptr<EventTracer> MakeTracer() override {
    auto tracer = std::make_unique<Comparer>(&values_);
    comparer_ = tracer.get();
    return tracer;
  }

  void Begin(const std::vector<std::string>& methods) override { comparer_->Begin(methods.front()); }

  void Prepare(RunKind) override { comparer_->BeginSample(); }

  void Report(const Options&) override {
    std::FILE* file = std::fopen(numbers_.c_str(), "wb");
    const std::string& lines = comparer_->lines();
    const bool written = file != nullptr && std::fwrite(lines.data(), 1, lines.size(), file) == lines.size();
    const bool closed = file != nullptr && std::fclose(file) == 0;
    if (!written || !closed) {
      Fail("cannot write the numbers " + numbers_ + ".", "the folder does not exist, or nothing may be written there.",
           "give another file with --numbers=FILE.");
    }
  }

 private:
  EagerValues values_;
  std::string numbers_;
  Comparer* comparer_ = nullptr;
};

}  // namespace

int NumbersRunnerMain(int argc, char** argv, const RunnerDefaults& defaults) {
  PrepareToFail();
  std::string eager, numbers;
  std::vector<char*> others;
  for (int i = 0; i < argc; ++i) {
    const std::string text = argv[i];
    if (text.rfind(kEager, 0) == 0) {
      eager = text.substr(sizeof(kEager) - 1);
    } else if (text.rfind(kNumbers, 0) == 0) {
      numbers = text.substr(sizeof(kNumbers) - 1);
    } else {
      others.push_back(argv[i]);
    }
  }
  others.push_back(nullptr);
  std::unique_ptr<NumbersObserver> observer;
  if (!eager.empty() && !numbers.empty()) {
    observer = std::make_unique<NumbersObserver>(eager, numbers);
  }
  return Finish(RunProgram(static_cast<int>(others.size()) - 1, others.data(), defaults, kHelp, observer.get()));
}

}  // namespace rules_executorch
