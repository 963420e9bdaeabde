#include "runtime/runner/profile.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

namespace rules_executorch {
namespace {

// A run whose instructions take the given nanoseconds.
ProfiledRun MakeRun(RunKind kind, const std::vector<uint64_t>& ns) {
  ProfiledRun run{kind, 100, {}};
  for (size_t i = 0; i < ns.size(); ++i) {
    run.ticks += ns[i];
    run.instructions.push_back({0, static_cast<int64_t>(i), ns[i], {}});
  }
  return run;
}

// The row with a name, with one space between its cells.
std::string RowOf(const std::string& text, const std::string& name) {
  std::smatch row;
  const bool found = std::regex_search(text, row, std::regex("\n([^\n]*  " + name + ")\n"));
  return found ? std::regex_replace(row[1].str(), std::regex(" +"), " ") : "";
}

const std::vector<std::vector<std::string>> kNames = {{"aten::mm.out", "aten::add.out", "aten::add.out"}};

TEST(ProfileTest, ANodeHasItsMedianAndSpread) {
  std::vector<ProfiledRun> runs;
  for (uint64_t i = 0; i < 11; ++i) {
    runs.push_back(MakeRun(RunKind::kTimed, {10000 + 1000 * i, 4000}));
  }
  const std::string text = ProfileText(runs, kNames);
  EXPECT_EQ(
      text.rfind("profile 11 timed runs, besides 0 first runs and 0 warm-up runs: median 19.1 us, p10 15.1, p90 23.1\n",
                 0),
      0)
      << text;
  EXPECT_EQ(RowOf(text, "the runtime itself"), " 0.1 0.5 0.1 0.1 the runtime itself");
  EXPECT_NE(text.find("15.0   78.5        11.0        19.0      0  aten::mm.out"), std::string::npos) << text;
}

TEST(ProfileTest, APreemptedNodeDoesNotShow) {
  // Each run has another slow instruction, so that no run is typical.
  std::vector<ProfiledRun> runs;
  for (size_t run = 0; run < 1000; ++run) {
    std::vector<uint64_t> ns(20, 1000);
    ns[run % ns.size()] += 8000000;
    runs.push_back(MakeRun(RunKind::kTimed, ns));
  }
  const std::string text = ProfileText(runs, {std::vector<std::string>(20, "aten::add.out")});
  const std::string nodes = text.substr(text.find("the runtime itself"));
  EXPECT_EQ(nodes.find("800"), std::string::npos) << text;
  EXPECT_EQ(RowOf(nodes, "aten::add.out"), " 1.0 0.0 1.0 1.0 0 aten::add.out") << text;
  // The time of an operator is the sum of the medians of its nodes.
  EXPECT_EQ(RowOf(text, "aten::add.out"), " 20.0 0.2 20 aten::add.out") << text;
}

TEST(ProfileTest, OtherRunsAreCountedApart) {
  const std::vector<ProfiledRun> runs = {MakeRun(RunKind::kFirst, {900000}),  MakeRun(RunKind::kWarmUp, {800000}),
                                         MakeRun(RunKind::kWarmUp, {800000}), MakeRun(RunKind::kTimed, {1000}),
                                         MakeRun(RunKind::kTimed, {2000}),    MakeRun(RunKind::kTimed, {3000})};
  EXPECT_EQ(ProfileText(runs, kNames).substr(0, 86),
            "profile 3 timed runs, besides 1 first run and 2 warm-up runs: median 2.1 us, p10 1.3, ");
  EXPECT_EQ(ProfileText({runs[0]}, kNames).substr(0, 29), "profile 1 run: median 900.1 u");
  EXPECT_EQ(ProfileText({}, kNames), "profile 0 runs\n");
}

TEST(ProfileTest, CallsOfALoopAddUp) {
  ProfiledRun run = MakeRun(RunKind::kTimed, {1000});
  for (int i = 0; i < 2; ++i) {
    run.instructions.push_back({0, 0, 1000, {{"part", 500}}});
    run.ticks += 1000;
  }
  const std::string text = ProfileText({run}, kNames);
  EXPECT_EQ(RowOf(text, "aten::mm.out").substr(0, 5), " 3.0 ") << text;
  EXPECT_NE(text.find("part\n", text.find("part\n") + 1), std::string::npos) << text;
}

}  // namespace
}  // namespace rules_executorch
