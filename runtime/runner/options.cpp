#include "runtime/runner/options.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>

#include "runtime/runner/failure.h"
#include "runtime/runner/runfiles.h"

namespace rules_executorch {
namespace {

enum class Flag {
  kHelp,
  kVerbose,
  kProgram,
  kWeights,
  kLoad,
  kMethod,
  kSamples,
  kInput,
  kCheck,
  kNoCheck,
  kRtol,
  kAtol,
  kMinSnr,
  kIterations,
  kWarmup,
  kThreads,
  kPrint,
  kMemory,
  kListOperators,
  kListMethods,
};

struct FlagName {
  const char* name;
  Flag flag;
  bool takes_value;
};

constexpr FlagName kFlags[] = {
    {"-h", Flag::kHelp, false},
    {"--help", Flag::kHelp, false},
    {"-v", Flag::kVerbose, false},
    {"--verbose", Flag::kVerbose, false},
    {"--program", Flag::kProgram, true},
    {"--weights", Flag::kWeights, true},
    {"--load", Flag::kLoad, true},
    {"--method", Flag::kMethod, true},
    {"--samples", Flag::kSamples, true},
    {"--input", Flag::kInput, true},
    {"--check", Flag::kCheck, false},
    {"--nocheck", Flag::kNoCheck, false},
    {"--rtol", Flag::kRtol, true},
    {"--atol", Flag::kAtol, true},
    {"--min_snr", Flag::kMinSnr, true},
    {"--iterations", Flag::kIterations, true},
    {"--warmup", Flag::kWarmup, true},
    {"--threads", Flag::kThreads, true},
    {"--print", Flag::kPrint, true},
    {"--memory", Flag::kMemory, false},
    {"--list_operators", Flag::kListOperators, false},
    {"--list_methods", Flag::kListMethods, false},
};

constexpr int kMostThreads = 1024;

// The largest number of timed runs. The time of each run is stored.
constexpr long kMostIterations = 1000000;

constexpr char kHelp[] = R"(Usage: %s [flags]

Runs a method of %s and prints its inputs, outputs and times.
A flag is given once, unless its description says otherwise.

What to run
  --program=FILE      The %s file. Default: %s
  --method=NAME       Default: forward; with --check, %s.

%s  --threads=N         How many threads an inference runs on, from 1 to %d. Default: %s.

Inputs, in this order of precedence
  --input=SPEC        One for each input, in order. SPEC is one of
                        ones, zeros           the same value everywhere
                        arange                0, 1, 2, ...
                        rand, rand:SEED       floats in [0, 1), integers in 0..9; the same for the same 32-bit seed
                        V,V,...               the values, row-major; bools as true/false or 1/0
                        @FILE                 raw bytes of the input's dtype, row-major, in a regular file
                      A leading SHAPE: sets the shape where the program allows several: 2x3:ones.
                      For an input that is no tensor: its value, or none for None.
  --samples=FILE      Runs every sample of the method in a .ptd file that an export wrote, one after another,
                      on one instance of the method, so that state such as a KV cache carries over.
                      Default: %s
  Without either, all inputs are ones.

Checking
  --check             Compares every output with PyTorch's, from the samples; exits with 1 if one differs.%s
  --nocheck           Only runs.
  --rtol=X --atol=X   An element of floats may be atol + rtol * |PyTorch's| away; the one that is not given is %g.
                      Default: %s. NaN equals NaN; integers and bools must be the same.
  --min_snr=DB        Judges each output of floats as a whole, as the outputs of quantized programs need: PyTorch's
                      must be at least so many decibels stronger than the differences. Default: %g; 0 is for
                      --rtol and --atol.
  By dtype, an element may be atol + rtol * |PyTorch's| + of_largest * largest away: `largest` is the largest finite
  |PyTorch's| of the output, or %g medians if this is less. Elements above so many medians, such as the -1e9 of masks,
  are outliers, and their own |PyTorch's| is the largest. The others must have the SNR, unless none is more than atol
  away:
%s
Output
  --print=N           How many elements of each tensor to print. Default: 10.
  -v, --verbose       With --check: PyTorch's and the binary's elements side by side.
  --iterations=N      Runs all inputs N more times, at most 1000000, and prints minimum and median. Default: 0.
  --warmup=N          Untimed runs before those. Default: 1.
%s
Questions
  --list_methods      Prints each method with the dtypes and shapes of its inputs and outputs: [2..5, 4]
                      for sizes from 2 to 5 in the first dimension.
  --list_operators    %s
  -h, --help          Prints this.
%s)";

[[noreturn]] void FailToParse(const std::string& found) {
  Fail(found, "the flag or its value is misspelt.", "see --help.");
}

// A flag and its value, if it has one.
struct Argument {
  std::string name;
  Flag flag;
  std::string value;

  std::string text() const { return Shorten(name + "=" + value); }
};

// Removes the next flag and its value from the command line.
Argument Take(int argc, char** argv, int* index) {
  const std::string text = argv[(*index)++];
  if (text.size() < 2 || text[0] != '-') {
    FailToParse("unexpected argument " + Shorten(text) + ".");
  }
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const auto* known =
      std::find_if(std::begin(kFlags), std::end(kFlags), [&](const FlagName& flag) { return name == flag.name; });
  if (known == std::end(kFlags)) {
    FailToParse("there is no flag " + Shorten(name) + ".");
  }
  if (!known->takes_value && equals != std::string::npos) {
    FailToParse("flag " + name + " takes no value.");
  }
  Argument argument{name, known->flag, ""};
  if (known->takes_value) {
    if (equals != std::string::npos) {
      argument.value = text.substr(equals + 1);
    } else if (*index < argc) {
      argument.value = argv[(*index)++];
    }
    if (argument.value.empty()) {
      FailToParse("flag " + name + " needs a value.");
    }
  }
  return argument;
}

double Number(const Argument& argument) {
  const char* text = argument.value.c_str();
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  if (std::isspace(static_cast<unsigned char>(*text)) || *end != '\0' || !std::isfinite(number) ||
      std::signbit(number)) {
    FailToParse(argument.text() + " is not a number that is finite and 0 or more.");
  }
  return number;
}

int Count(const Argument& argument, long most, long least = 0) {
  errno = 0;
  char* end = nullptr;
  const char* text = argument.value.c_str();
  const long number = std::strtol(text, &end, 10);
  if (!std::isdigit(static_cast<unsigned char>(*text)) || *end != '\0' || errno != 0 || number < least ||
      number > most) {
    FailToParse(argument.text() + " is no whole number from " + std::to_string(least) + " to " + std::to_string(most) +
                ".");
  }
  return static_cast<int>(number);
}

// The rows of kTolerances.
std::string TolerancesText() {
  std::string text;
  for (const DtypeTolerance& row : kTolerances) {
    char line[120];
    std::snprintf(line, sizeof(line), "    %-10satol %-7g rtol %-9g of_largest %-8g SNR %g dB\n", row.dtype, row.atol,
                  row.rtol, row.of_largest, row.least_snr);
    text += line;
  }
  return text;
}

// The default of --rtol and --atol.
std::string DefaultTolerance(const RunnerDefaults& defaults) {
  if (!defaults.rtol && !defaults.atol) {
    return "by dtype";
  }
  char text[64];
  std::snprintf(text, sizeof(text), "%g and %g", defaults.rtol.value_or(Tolerance::kOther),
                defaults.atol.value_or(Tolerance::kOther));
  return text;
}

}  // namespace

Options ParseOptions(int argc, char** argv, const RunnerDefaults& defaults, const RunnerText& text) {
  Options options;
  options.program = defaults.program.empty() ? "" : FindRunfile(defaults.program, argv[0]);
  for (const std::string& weights : defaults.weights) {
    options.weights.push_back(FindRunfile(weights, argv[0]));
  }
  options.samples = defaults.samples.empty() ? "" : FindRunfile(defaults.samples, argv[0]);
  options.check = defaults.check;
  options.tolerance = {defaults.rtol, defaults.atol, defaults.min_snr};
  uint32_t given = 0;  // one bit for each flag
  const auto is_given = [&given](Flag flag) { return (given >> static_cast<int>(flag) & 1) != 0; };
  for (int index = 1; index < argc;) {
    const Argument argument = Take(argc, argv, &index);
    // --check and --nocheck are values of the same flag.
    const Flag flag = argument.flag == Flag::kNoCheck ? Flag::kCheck : argument.flag;
    const bool is_again = is_given(flag);
    if (is_again && flag != Flag::kInput && flag != Flag::kWeights) {
      FailToParse("flag " + argument.name + (flag == Flag::kCheck ? ", or its opposite," : "") + " is given twice.");
    }
    given |= 1u << static_cast<int>(flag);
    switch (argument.flag) {
      case Flag::kHelp:
        options.action = Options::Action::kHelp;
        break;
      case Flag::kVerbose:
        options.verbose = true;
        break;
      case Flag::kProgram:
        options.program = argument.value;
        // The built-in weights and samples belong to the built-in program.
        if (!is_given(Flag::kWeights)) {
          options.weights.clear();
        }
        options.samples = is_given(Flag::kSamples) ? options.samples : "";
        options.check = is_given(Flag::kCheck) && options.check;
        break;
      case Flag::kWeights:
        if (*text.load == '\0') {
          FailToParse("there is no flag --weights.");
        }
        if (!is_again) {
          options.weights.clear();
        }
        options.weights.push_back(argument.value);
        break;
      case Flag::kLoad:
        if (*text.load == '\0') {
          FailToParse("there is no flag --load.");
        }
        if (argument.value != "read" && argument.value != "mmap") {
          FailToParse(argument.text() + " is neither read nor mmap.");
        }
        options.maps_program = argument.value == "mmap";
        break;
      case Flag::kMethod:
        options.methods = {argument.value};
        break;
      case Flag::kSamples:
        options.samples = argument.value;
        break;
      case Flag::kInput:
        options.inputs.push_back(argument.value);
        break;
      case Flag::kCheck:
      case Flag::kNoCheck:
        options.check = argument.flag == Flag::kCheck;
        break;
      case Flag::kRtol:
        options.tolerance.relative = Number(argument);
        break;
      case Flag::kAtol:
        options.tolerance.absolute = Number(argument);
        break;
      case Flag::kMinSnr:
        options.tolerance.least_snr = Number(argument);
        break;
      case Flag::kIterations:
        options.iterations = Count(argument, kMostIterations);
        break;
      case Flag::kWarmup:
        options.warmup = Count(argument, kMostIterations);
        break;
      case Flag::kThreads:
        options.threads = Count(argument, kMostThreads, /*least=*/1);
        break;
      case Flag::kPrint:
        options.print = static_cast<size_t>(Count(argument, std::numeric_limits<int>::max()));
        break;
      case Flag::kMemory:
        if (*text.memory == '\0') {
          FailToParse("there is no flag --memory.");
        }
        options.memory = true;
        break;
      case Flag::kListOperators:
        options.action = Options::Action::kListOperators;
        break;
      case Flag::kListMethods:
        options.action = Options::Action::kListMethods;
        break;
    }
  }
  // As the samples, the built-in methods belong to the built-in program.
  if (options.check && !is_given(Flag::kMethod) && !is_given(Flag::kProgram)) {
    options.methods = defaults.methods;
  }
  const bool runs = options.action == Options::Action::kRun;
  if (options.program.empty() && (runs || options.action == Options::Action::kListMethods)) {
    Fail("no program to run.", "this binary was built without one.",
         std::string("give a ") + text.extension + " file with --program=FILE.");
  }
  if (options.check && runs && (!options.inputs.empty() || options.samples.empty())) {
    Fail(options.inputs.empty() ? "--check needs samples." : "--check and --input exclude each other.",
         "PyTorch's outputs are known for the samples of an export only.",
         "give --samples=FILE, or leave out " + std::string(options.inputs.empty() ? "--check." : "--input."));
  }
  return options;
}

std::string HelpText(const std::string& binary, const RunnerDefaults& defaults, const RunnerText& text) {
  const std::string name = binary.substr(binary.rfind('/') + 1);
  const auto or_none = [](const std::string& path) { return path.empty() ? "none." : path.c_str(); };
  const std::string tolerance = DefaultTolerance(defaults), tolerances = TolerancesText();
  const std::string checked = defaults.methods.empty() ? "all" : Join(defaults.methods);
  const auto format = [&](char* buffer, size_t size) {
    return std::snprintf(buffer, size, kHelp, name.c_str(), text.model, text.extension, or_none(defaults.program),
                         checked.c_str(), text.load, kMostThreads, text.threads, or_none(defaults.samples),
                         defaults.check ? " The default here." : "", Tolerance::kOther, tolerance.c_str(),
                         defaults.min_snr, kOutlierMedians, tolerances.c_str(), text.memory, text.operators, text.more);
  };
  std::string help(static_cast<size_t>(format(nullptr, 0)), '\0');
  format(help.data(), help.size() + 1);
  return help;
}

}  // namespace rules_executorch
