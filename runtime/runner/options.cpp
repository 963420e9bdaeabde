#include "runtime/runner/options.h"

#include <getopt.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "runtime/runner/failure.h"
#include "runtime/runner/runfiles.h"

namespace rules_executorch {
namespace {

enum Flag : int {
  kProgram = 256,  // Beyond all characters, which getopt keeps for one-letter flags.
  kMethod,
  kSamples,
  kInput,
  kCheck,
  kNoCheck,
  kRtol,
  kAtol,
  kIterations,
  kWarmup,
  kPrint,
  kListOperators,
  kListMethods,
};

constexpr option kFlags[] = {
    {"help", no_argument, nullptr, 'h'},
    {"verbose", no_argument, nullptr, 'v'},
    {"program", required_argument, nullptr, kProgram},
    {"method", required_argument, nullptr, kMethod},
    {"samples", required_argument, nullptr, kSamples},
    {"input", required_argument, nullptr, kInput},
    {"check", no_argument, nullptr, kCheck},
    {"nocheck", no_argument, nullptr, kNoCheck},
    {"rtol", required_argument, nullptr, kRtol},
    {"atol", required_argument, nullptr, kAtol},
    {"iterations", required_argument, nullptr, kIterations},
    {"warmup", required_argument, nullptr, kWarmup},
    {"print", required_argument, nullptr, kPrint},
    {"list_operators", no_argument, nullptr, kListOperators},
    {"list_methods", no_argument, nullptr, kListMethods},
    {nullptr, 0, nullptr, 0},
};

constexpr char kHelp[] = R"(Usage: %s [flags]

Runs a method of %s and prints its inputs, outputs and times.

What to run
  --program=FILE      The %s file. Default: %s
  --method=NAME       Default: forward.

Inputs, in this order of precedence
  --input=SPEC        One for each input, in order. SPEC is one of
                        ones, zeros           the same value everywhere
                        arange                0, 1, 2, ...
                        rand, rand:SEED       floats in [0, 1), integers in 0..9; the same for the same seed
                        V,V,...               the values, row-major; bools as true/false or 1/0
                        @FILE                 raw bytes of the input's dtype, row-major
                      A leading SHAPE: sets the shape where the program allows several: 2x3:ones.
                      For an input that is no tensor: its value, or none for None.
  --samples=FILE      Runs every sample of the method in a .ptd file that an export wrote, one after another,
                      on one instance of the method, so that state such as a KV cache carries over.
                      Default: %s
  Without either, all inputs are ones.

Checking
  --check             Compares every output with PyTorch's, from the samples; exits with 1 if one differs.%s
  --nocheck           Only runs.
  --rtol=X --atol=X   An output may be atol + rtol * |PyTorch's| away. Defaults: %g and %g. NaN equals NaN;
                      integers and bools must be the same.

Output
  --print=N           How many elements of each tensor to print. Default: 10.
  -v, --verbose       With --check: PyTorch's and the binary's elements side by side.
  --iterations=N      Runs all inputs N more times and prints minimum and median. Default: 0.
  --warmup=N          Untimed runs before those. Default: 1.

Questions
  --list_methods      Prints each method with the dtypes and shapes of its inputs and outputs.
  --list_operators    %s
  -h, --help          Prints this.
)";

[[noreturn]] void FailToParse(const std::string& found) {
  Fail(found, "the flag or its value is misspelt.", "see --help.");
}

double Number(const char* flag, const char* text) {
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(number >= 0)) {
    FailToParse(std::string("--") + flag + "=" + text + " is no number of 0 or more.");
  }
  return number;
}

int Count(const char* flag, const char* text) {
  errno = 0;
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || number < 0 || number > std::numeric_limits<int>::max()) {
    FailToParse(std::string("--") + flag + "=" + text + " is no whole number of 0 or more.");
  }
  return static_cast<int>(number);
}

}  // namespace

Options ParseOptions(int argc, char** argv, const RunnerDefaults& defaults, const RunnerText& text) {
  Options options;
  options.program = defaults.program.empty() ? "" : FindRunfile(defaults.program, argv[0]);
  options.samples = defaults.samples.empty() ? "" : FindRunfile(defaults.samples, argv[0]);
  options.check = defaults.check;
  options.tolerance = {defaults.rtol, defaults.atol};
  bool samples_given = false;
  bool check_given = false;
  opterr = 0;  // Errors are reported here.
  int index = -1;
  for (int flag = 0; (flag = getopt_long(argc, argv, ":hv", kFlags, &index)) != -1; index = -1) {
    switch (flag) {
      case 'h':
        options.action = Options::Action::kHelp;
        break;
      case 'v':
        options.verbose = true;
        break;
      case kProgram:
        options.program = optarg;
        // The samples that were built in are those of the program that was built in.
        options.samples = samples_given ? options.samples : "";
        options.check = check_given && options.check;
        break;
      case kMethod:
        options.method = optarg;
        break;
      case kSamples:
        options.samples = optarg;
        samples_given = true;
        break;
      case kInput:
        options.inputs.emplace_back(optarg);
        break;
      case kCheck:
      case kNoCheck:
        options.check = flag == kCheck;
        check_given = true;
        break;
      case kRtol:
        options.tolerance.relative = Number("rtol", optarg);
        break;
      case kAtol:
        options.tolerance.absolute = Number("atol", optarg);
        break;
      case kIterations:
        options.iterations = Count("iterations", optarg);
        break;
      case kWarmup:
        options.warmup = Count("warmup", optarg);
        break;
      case kPrint:
        options.print = static_cast<size_t>(Count("print", optarg));
        break;
      case kListOperators:
        options.action = Options::Action::kListOperators;
        break;
      case kListMethods:
        options.action = Options::Action::kListMethods;
        break;
      case ':':
        FailToParse(std::string("flag ") + argv[optind - 1] + " needs a value.");
      default:
        FailToParse(std::string("there is no flag ") + argv[optind - 1] + ", or it takes no value.");
    }
  }
  if (optind < argc) {
    FailToParse(std::string("unexpected argument ") + argv[optind] + ".");
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
  const auto format = [&](char* buffer, size_t size) {
    return std::snprintf(buffer, size, kHelp, name.c_str(), text.model, text.extension, or_none(defaults.program),
                         or_none(defaults.samples), defaults.check ? " The default here." : "", defaults.rtol,
                         defaults.atol, text.operators);
  };
  std::string help(static_cast<size_t>(format(nullptr, 0)), '\0');
  format(help.data(), help.size() + 1);
  return help;
}

}  // namespace rules_executorch
