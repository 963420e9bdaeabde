// The runner answers each program with a defect of ExecuTorch's security advisories with one error.

#include "runtime/fuzz/advisories.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "runtime/fuzz/files.h"
#include "runtime/fuzz/runner_process.h"

namespace rules_executorch {
namespace {

std::string program_path;

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(AdvisoriesTest, TheProgramItselfIsAccepted) {
  const RunnerResult result =
      RunInProcess({"--program=" + program_path, "--list_methods"}, testing::TempDir() + "/program.log");
  EXPECT_EQ(result.crash, "");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.text, "");
}

TEST(AdvisoriesTest, EachProgramIsRefusedWithOneError) {
  const std::string path = testing::TempDir() + "/advisory.pte";
  std::set<std::string> numbers;
  for (const Advisory& advisory : MakeAdvisories(ReadFile(program_path))) {
    SCOPED_TRACE(advisory.name);
    WriteFile(path, advisory.program);
    const RunnerResult result = RunInProcess({"--program=" + path}, testing::TempDir() + "/advisory.log");
    EXPECT_EQ(result.crash, "");
    EXPECT_EQ(result.status, 1);
    EXPECT_PRED_FORMAT2(testing::IsSubstring, advisory.error, result.text);
    EXPECT_EQ(Count(result.text, "error: "), 1u) << result.text;
    EXPECT_EQ(Count(result.text, "  Fix: "), 1u) << result.text;
    numbers.insert(advisory.name.substr(0, advisory.name.find(',')));
  }
  EXPECT_EQ(numbers, (std::set<std::string>{"CVE-2025-30402", "CVE-2025-30404", "CVE-2025-30405", "CVE-2025-54949",
                                            "CVE-2025-54950", "CVE-2025-54951", "CVE-2025-54952"}));
}

}  // namespace
}  // namespace rules_executorch

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  rules_executorch::program_path = argv[1];
  return RUN_ALL_TESTS();
}
