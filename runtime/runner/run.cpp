#include "runtime/runner/run.h"

#include <algorithm>
#include <bitset>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/runner/compare.h"
#include "runtime/runner/failure.h"
#include "runtime/runner/file.h"
#include "runtime/runner/input_spec.h"
#include "runtime/runner/progress.h"
#include "runtime/runner/samples.h"
#include "runtime/runner/value.h"

namespace rules_executorch {
namespace {

double Milliseconds(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// The inputs of the runs: the samples, the given inputs, or ones. Only samples have expected outputs.
std::vector<Sample> ChooseInputs(const Options& options, const std::string& method, const Signature& signature) {
  if (options.inputs.empty() && !options.samples.empty()) {
    return ReadSamples(options.samples, method, signature.inputs.size(), signature.outputs.size());
  }
  std::vector<std::string> specs = options.inputs;
  std::string expected;
  for (const Port& port : signature.inputs) {
    if (options.inputs.empty()) {
      specs.push_back(port.tag == executorch::runtime::Tag::None ? "none" : "ones");
    }
    expected += (expected.empty() ? "" : "; ") + Describe(port);
  }
  if (specs.size() != signature.inputs.size()) {
    Fail("method " + method + " has " + std::to_string(signature.inputs.size()) + " inputs (" + expected + "), and " +
             std::to_string(specs.size()) + " are given.",
         "an input was forgotten, or is one too many.", "give --input once for each of them, in this order.");
  }
  Sample sample;
  for (size_t i = 0; i < specs.size(); ++i) {
    sample.inputs.push_back(ParseInput(specs[i], i, signature.inputs[i]));
  }
  return {sample};
}

void PrintValue(const char* kind, size_t index, const Value& value, size_t limit) {
  const std::string elements = value && limit > 0 ? ElementsText(*value, limit) : "";
  std::printf("  %s %zu  %s%s%s\n", kind, index, Describe(value).c_str(), elements.empty() ? "" : ": ",
              elements.c_str());
}

// The index of an element in its tensor, e.g. `[0, 2]`.
std::string IndexText(const Layout& layout, size_t index) {
  std::string text;
  for (size_t dim = layout.sizes.size(); dim-- > 0;) {
    const size_t size = static_cast<size_t>(layout.sizes[dim]);
    text = std::to_string(index % size) + (text.empty() ? "" : ", ") + text;
    index /= size;
  }
  return "[" + text + "]";
}

void PrintSideBySide(const TensorData& expected, const TensorData& actual, size_t limit) {
  const size_t numel = expected.layout.numel();
  std::printf("    %-14s %14s %14s %14s\n", "element", "PyTorch", "this binary", "difference");
  for (size_t i = 0; i < numel && i < limit; ++i) {
    const size_t at = ElementOffset(expected.layout, i);
    const size_t actual_at = ElementOffset(actual.layout, i);
    const double difference = ElementNumber(actual, actual_at) - ElementNumber(expected, at);
    std::printf("    %-14s %14s %14s %14.3g\n", IndexText(expected.layout, i).c_str(),
                ElementText(expected, at).c_str(), ElementText(actual, actual_at).c_str(), difference);
  }
  if (numel > limit) {
    std::printf("    ... %zu more\n", numel - limit);
  }
}

// Prints why an output of floats differs as a whole, and the least SNR that would accept it.
void PrintRatio(const Comparison& comparison, const DtypeTolerance& by_dtype, const Tolerance& tolerance) {
  if (tolerance.is_by_dtype() && comparison.mismatches == 0) {
    std::printf("    no element alone differs too much, but the SNR is below %g dB\n", by_dtype.least_snr);
  }
  const double accepted = std::floor(comparison.snr);
  std::string others = comparison.snr == comparison.snr_by_dtype ? "" : "; min_snr counts outliers, too";
  others += tolerance.is_snr() ? "" : "; atol and rtol are for single elements";
  if (std::isfinite(accepted) && accepted > 0) {
    std::printf("    min_snr = \"%.0f\" of the rule, or --min_snr=%.0f, accepts this output%s\n", accepted, accepted,
                others.c_str());
  } else {
    std::printf("    no min_snr accepts this output%s\n", others.c_str());
  }
}

// Compares an output of a sample with PyTorch's and prints the result. Returns whether it is equal.
bool CheckOutput(size_t index, const Sample& sample, const Value& actual, const Options& options) {
  const Value& expected = sample.outputs[index];
  Tolerance tolerance = options.tolerance;
  tolerance.error_growth = sample.error_growth;
  const Comparison comparison = Compare(expected, actual, tolerance);
  const bool by_snr = tolerance.is_snr();
  const std::string verdict = !comparison.close ? "DIFFERS" : by_snr && comparison.mismatches > 0 ? "close" : "equal";
  if (!comparison.comparable || !expected || !actual) {
    std::printf("  output %zu  %s: %s%s\n", index, Describe(actual).c_str(), verdict.c_str(),
                comparison.close ? "" : (", PyTorch: " + Describe(expected)).c_str());
    return comparison.close;
  }
  std::printf("  output %zu  %s: %s, max |difference| %.3g", index, Describe(actual).c_str(), verdict.c_str(),
              comparison.max_difference);
  const DtypeTolerance* by_dtype = FindTolerance(expected->layout.dtype);
  const bool has_reason = !comparison.close && by_dtype != nullptr;
  if (by_snr || has_reason) {
    std::printf(", SNR %.1f dB%s", comparison.snr_by_dtype,
                sample.quantized ? " against PyTorch with the quantized weights" : "");
  }
  std::printf("\n");
  if (!comparison.close && comparison.mismatches > 0) {
    const size_t at = comparison.first_mismatch;
    std::printf("    %zu of %zu elements differ, first %s: PyTorch %s, this binary %s\n", comparison.mismatches,
                expected->layout.numel(), IndexText(expected->layout, at).c_str(),
                ElementText(*expected, ElementOffset(expected->layout, at)).c_str(),
                ElementText(*actual, ElementOffset(actual->layout, at)).c_str());
  }
  if (has_reason) {
    PrintRatio(comparison, Widen(*by_dtype, tolerance.error_growth), tolerance);
  }
  if (options.verbose) {
    PrintSideBySide(*expected, *actual, options.print);
  }
  return comparison.close;
}

std::vector<Value> Run(Model* model, const std::string& method, const Sample& sample, RunKind kind,
                       RunObserver* observer, double* seconds) {
  if (observer != nullptr) {
    observer->Prepare(kind);
  }
  return model->Run(method, sample.inputs, seconds);
}

// Runs all samples once. Returns the seconds of the method.
double Repeat(Model* model, const std::string& method, const std::vector<Sample>& samples, RunKind kind,
              RunObserver* observer) {
  double total = 0;
  for (const Sample& sample : samples) {
    double seconds = 0;
    Run(model, method, sample, kind, observer, &seconds);
    total += seconds;
  }
  return total;
}

// Runs the warm-up, then the timed runs. Returns the sorted seconds of the timed runs.
std::vector<double> TimedRuns(Model* model, const std::string& method, const std::vector<Sample>& samples,
                              const Options& options, RunObserver* observer) {
  ProgressBar bar(options.warmup + options.iterations);
  for (int i = 0; i < options.warmup; ++i) {
    Repeat(model, method, samples, RunKind::kWarmUp, observer);
    bar.Step();
  }
  std::vector<double> times;
  for (int i = 0; i < options.iterations; ++i) {
    times.push_back(Repeat(model, method, samples, RunKind::kTimed, observer));
    bar.Step();
  }
  std::sort(times.begin(), times.end());
  return times;
}

// The numbers of samples and outputs that were compared with PyTorch's, and of outputs that differ.
struct Counts {
  size_t samples = 0;
  size_t outputs = 0;
  size_t different = 0;
  double error_growth = 1;                     // the largest of the samples
  std::bitset<std::size(kTolerances)> dtypes;  // the entries of kTolerances for the outputs
};

// What was allowed for outputs of these dtypes, for the last line of a check.
std::string AllowedText(const Tolerance& tolerance, const Counts& counts) {
  char text[160];
  if (tolerance.is_snr()) {
    std::snprintf(text, sizeof(text), "SNR of at least %g dB", tolerance.least_snr);
    return text;
  }
  if (!tolerance.is_by_dtype()) {
    std::snprintf(text, sizeof(text), "allowed %g + %g * |PyTorch's|", tolerance.absolute.value_or(Tolerance::kOther),
                  tolerance.relative.value_or(Tolerance::kOther));
    return text;
  }
  std::string allowed;
  for (size_t i = 0; i < std::size(kTolerances); ++i) {
    if (counts.dtypes[i]) {
      const DtypeTolerance row = Widen(kTolerances[i], counts.error_growth);
      std::snprintf(text, sizeof(text), "%s%g + %g * |PyTorch's| + %g * largest, SNR %g dB (%s)",
                    allowed.empty() ? "" : ", ", row.atol, row.rtol, row.of_largest, row.least_snr, row.dtype);
      allowed += text;
    }
  }
  if (counts.error_growth > 1 && !allowed.empty()) {
    std::snprintf(text, sizeof(text), ", for rounding errors of %.3g times PyTorch's", counts.error_growth);
    allowed += text;
  }
  return "allowed " + (allowed.empty() ? "no difference" : allowed);
}

// Runs a method and adds the results of the comparison to `counts`. `load_ms` is the time to load the model.
void RunMethod(Model* model, const std::string& method, const Options& options, double load_ms, RunObserver* observer,
               Counts* counts) {
  const Signature signature = model->GetSignature(method);
  const std::vector<Sample> samples = ChooseInputs(options, method, signature);
  const bool has_outputs = options.inputs.empty() && !options.samples.empty();
  const auto load_start = std::chrono::steady_clock::now();
  model->LoadMethod(method);
  load_ms += Milliseconds(load_start);

  const std::string name = model->path().substr(model->path().rfind('/') + 1);
  std::printf("program %s, %zu bytes, method %s\n", name.c_str(), File(model->path()).size(), method.c_str());
  size_t different = 0;
  double first_run = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    std::printf("%s%s\n", has_outputs ? "sample " : "run", has_outputs ? std::to_string(i).c_str() : "");
    for (size_t j = 0; j < samples[i].inputs.size(); ++j) {
      PrintValue("input", j, samples[i].inputs[j], options.print);
    }
    double seconds = 0;
    const std::vector<Value> outputs = Run(model, method, samples[i], RunKind::kFirst, observer, &seconds);
    first_run = i == 0 ? seconds : first_run;
    for (size_t j = 0; j < outputs.size(); ++j) {
      if (options.check) {
        different += CheckOutput(j, samples[i], outputs[j], options) ? 0 : 1;
        const DtypeTolerance* by_dtype = outputs[j] ? FindTolerance(outputs[j]->layout.dtype) : nullptr;
        if (by_dtype != nullptr) {
          counts->dtypes.set(static_cast<size_t>(by_dtype - kTolerances));
        }
      } else {
        PrintValue("output", j, outputs[j], options.print);
      }
    }
  }
  std::printf("time load %.3f ms, first run %.3f ms", load_ms, first_run * 1e3);
  if (options.iterations > 0) {
    const std::vector<double> times = TimedRuns(model, method, samples, options, observer);
    std::printf(", then %d times all %zu: min %.3f ms, median %.3f ms", options.iterations, samples.size(),
                times.front() * 1e3, times[times.size() / 2] * 1e3);
  }
  std::printf("\n");
  if (options.check) {
    const std::string verdict = different == 0 ? "passed" : std::to_string(different) + " outputs differ";
    std::printf("method %s: %zu samples, %zu outputs each, %s\n", method.c_str(), samples.size(),
                signature.outputs.size(), verdict.c_str());
  }
  for (const Sample& sample : samples) {
    counts->error_growth = std::max(counts->error_growth, sample.error_growth);
  }
  counts->samples += samples.size();
  counts->outputs += samples.size() * signature.outputs.size();
  counts->different += different;
}

}  // namespace

void ListMethods(Model* model) {
  for (const std::string& method : model->MethodNames()) {
    const Signature signature = model->GetSignature(method);
    std::printf("%s\n", method.c_str());
    bool is_dynamic = false;
    for (size_t i = 0; i < signature.inputs.size(); ++i) {
      const Port& input = signature.inputs[i];
      const bool has_sizes = input.is_tensor() && !input.allowed_sizes.empty();
      is_dynamic = is_dynamic || has_sizes;
      std::printf("  input %zu   %s\n", i,
                  (has_sizes ? Describe(input.layout, input.allowed_sizes) : Describe(input)).c_str());
    }
    for (size_t i = 0; i < signature.outputs.size(); ++i) {
      const Port& output = signature.outputs[i];
      std::printf("  output %zu  %s%s\n", i, Describe(output).c_str(),
                  is_dynamic && output.is_tensor() ? " at most" : "");
    }
  }
}

std::vector<std::string> MethodsToRun(Model* model, const Options& options) {
  if (!options.methods.empty()) {
    return options.methods;
  }
  return options.check ? model->MethodNames() : std::vector<std::string>{"forward"};
}

int RunModel(Model* model, const std::vector<std::string>& methods, const Options& options, double load_ms,
             RunObserver* observer) {
  Counts counts;
  for (const std::string& method : methods) {
    RunMethod(model, method, options, load_ms, observer, &counts);
  }
  if (!options.check) {
    return 0;
  }
  std::printf("%s: %zu samples, %zu outputs, %zu methods, %s", counts.different == 0 ? "PASSED" : "FAILED",
              counts.samples, counts.outputs, methods.size(), AllowedText(options.tolerance, counts).c_str());
  if (counts.different > 0) {
    std::printf("; %zu outputs differ", counts.different);
  }
  std::printf("\n");
  return counts.different == 0 ? 0 : 1;
}

}  // namespace rules_executorch
