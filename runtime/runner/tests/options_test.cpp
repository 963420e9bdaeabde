#include "runtime/runner/options.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace rules_executorch {
namespace {

constexpr RunnerText kText = {"a program", ".pte", "", "", "  --load=HOW\n", "  --memory\n", ""};

RunnerDefaults WithTolerance(std::optional<double> rtol, std::optional<double> atol) {
  RunnerDefaults defaults;
  defaults.rtol = rtol;
  defaults.atol = atol;
  return defaults;
}

Tolerance Parse(const RunnerDefaults& defaults, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"runner", "--program=a.pte"});
  std::vector<char*> pointers;
  for (std::string& argument : arguments) {
    pointers.push_back(argument.data());
  }
  return ParseOptions(static_cast<int>(pointers.size()), pointers.data(), defaults, kText).tolerance;
}

bool HelpHas(const RunnerDefaults& defaults, const std::string& text) {
  return HelpText("runner", defaults, kText).find(text) != std::string::npos;
}

TEST(OptionsTest, TolerancesAreByDtype) {
  const Tolerance tolerance = Parse({}, {});
  EXPECT_TRUE(tolerance.is_by_dtype());
  EXPECT_FALSE(tolerance.relative || tolerance.absolute);
  EXPECT_TRUE(HelpHas({}, "Default: by dtype."));
}

TEST(OptionsTest, TolerancesOfTheRule) {
  const RunnerDefaults defaults = WithTolerance(0.25, {});
  const Tolerance tolerance = Parse(defaults, {});
  EXPECT_FALSE(tolerance.is_by_dtype());
  EXPECT_EQ(tolerance.relative, 0.25);
  EXPECT_FALSE(tolerance.absolute);
  EXPECT_TRUE(HelpHas(defaults, "Default: 0.25 and 1e-05."));
  EXPECT_TRUE(HelpHas(WithTolerance({}, 0.25), "Default: 1e-05 and 0.25."));
}

TEST(OptionsTest, TolerancesOfFlags) {
  const Tolerance tolerance = Parse(WithTolerance(0.25, {}), {"--atol=0.5"});
  EXPECT_EQ(tolerance.relative, 0.25);
  EXPECT_EQ(tolerance.absolute, 0.5);
  EXPECT_FALSE(Parse({}, {"--rtol=0"}).is_by_dtype());
  EXPECT_TRUE(Parse({}, {"--min_snr=20"}).is_snr());
  EXPECT_TRUE(Parse({}, {"--min_snr=0"}).is_by_dtype());
}

bool MapsProgram(std::vector<std::string> arguments, const RunnerText& text = kText) {
  arguments.insert(arguments.begin(), {"runner", "--program=a.pte"});
  std::vector<char*> pointers;
  for (std::string& argument : arguments) {
    pointers.push_back(argument.data());
  }
  return ParseOptions(static_cast<int>(pointers.size()), pointers.data(), {}, text).maps_program;
}

using Paths = std::vector<std::string>;

Paths Weights(std::vector<std::string> arguments) {
  RunnerDefaults defaults;
  defaults.program = "built.pte";
  defaults.weights = {"base.weights.ptd", "built.weights.ptd"};
  arguments.insert(arguments.begin(), "runner");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) {
    pointers.push_back(argument.data());
  }
  return ParseOptions(static_cast<int>(pointers.size()), pointers.data(), defaults, kText).weights;
}

TEST(OptionsTest, WeightsBelongToTheProgram) {
  const Paths built = Weights({});
  ASSERT_EQ(built.size(), 2u);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "base.weights.ptd", built[0]);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "built.weights.ptd", built[1]);
  EXPECT_EQ(Weights({"--program=a.pte"}), Paths());
  EXPECT_EQ(Weights({"--weights=a.ptd"}), Paths{"a.ptd"});
  EXPECT_EQ(Weights({"--weights=a.ptd", "--program=a.pte"}), Paths{"a.ptd"});
  EXPECT_EQ(Weights({"--program=a.pte", "--weights=a.ptd"}), Paths{"a.ptd"});
  EXPECT_EQ(Weights({"--weights=a.ptd", "--weights=b.ptd"}), (Paths{"a.ptd", "b.ptd"}));
}

TEST(OptionsTest, Load) {
  EXPECT_FALSE(MapsProgram({}));
  EXPECT_FALSE(MapsProgram({"--load=read"}));
  EXPECT_TRUE(MapsProgram({"--load=mmap"}));
  EXPECT_EXIT(MapsProgram({"--load=copy"}), testing::ExitedWithCode(1), "--load=copy is neither read nor mmap");
  RunnerText text = kText;
  text.load = "";
  text.memory = "";
  EXPECT_EXIT(MapsProgram({"--load=mmap"}, text), testing::ExitedWithCode(1), "there is no flag --load");
  EXPECT_EXIT(MapsProgram({"--weights=a.ptd"}, text), testing::ExitedWithCode(1), "there is no flag --weights");
  EXPECT_EXIT(MapsProgram({"--memory"}, text), testing::ExitedWithCode(1), "there is no flag --memory");
}

}  // namespace
}  // namespace rules_executorch
