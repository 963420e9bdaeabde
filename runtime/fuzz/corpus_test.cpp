// Reads the files from which coverage_fuzz begins, as coverage_fuzz does, and changes of these files.
//
// Arguments: programs, each with its samples next to it (model.pte, model.ptd), and a file with a text of --input in
// each line.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "runtime/fuzz/advisories.h"
#include "runtime/fuzz/files.h"
#include "runtime/fuzz/mutation.h"
#include "runtime/fuzz/readers.h"

namespace rules_executorch {
namespace {

constexpr uint64_t kMutations = 20000;

struct Files {
  std::vector<std::string> programs;
  std::string specs;
};

Files& Given() {
  static auto* files = new Files;
  return *files;
}

std::string SamplesOf(const std::string& program) { return program.substr(0, program.rfind('.')) + ".ptd"; }

Bytes ToBytes(const std::string& text) { return {text.begin(), text.end()}; }

TEST(CorpusTest, ReadsProgramsAndSamples) {
  for (const std::string& program : Given().programs) {
    // The backend is not linked.
    const bool has_delegate = program.find("delegated.pte") != std::string::npos;
    EXPECT_EQ(ReadAnyFile(ReadFile(program)),
              has_delegate ? "method forward needs the backend XnnpackBackend, which is not in this binary." : "")
        << program;
    EXPECT_EQ(ReadAnyFile(ReadFile(SamplesOf(program))), "") << program;
  }
}

TEST(CorpusTest, RefusesProgramsOfAdvisories) {
  for (const Advisory& advisory : MakeAdvisories(ReadFile(Given().programs[0]))) {
    EXPECT_PRED_FORMAT2(testing::IsSubstring, advisory.error, ReadAnyFile(advisory.program)) << advisory.name;
  }
}

TEST(CorpusTest, ReadsTextsOfInputs) {
  std::ifstream file(Given().specs);
  size_t taken = 0;
  size_t refused = 0;
  for (std::string line; std::getline(file, line);) {
    const std::string found = ReadAnyFile(ToBytes(line));
    ++(found.empty() ? taken : refused);
    if (!found.empty()) {
      EXPECT_PRED_FORMAT2(testing::IsSubstring, " for input 0 (int32 [1, 3, 2, 2] dim order [0, 2, 3, 1]): ", found);
    }
  }
  EXPECT_GT(taken, 0u);
  EXPECT_GT(refused, 0u);
}

TEST(CorpusTest, AnswersChangedFiles) {
  std::vector<Bytes> files;
  for (const std::string& program : Given().programs) {
    files.push_back(ReadFile(program));
    files.push_back(ReadFile(SamplesOf(program)));
  }
  size_t taken = 0;
  for (uint64_t i = 0; i < kMutations; ++i) {
    std::string changes;
    const Bytes changed = Mutate(files[i % files.size()], files[(i + 2) % files.size()], i, &changes);
    taken += ReadAnyFile(changed).empty() ? 1 : 0;
  }
  EXPECT_GT(taken, kMutations / 20);
  EXPECT_LT(taken, kMutations);
}

}  // namespace
}  // namespace rules_executorch

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  rules_executorch::Given().programs.assign(argv + 1, argv + argc - 1);
  rules_executorch::Given().specs = argv[argc - 1];
  return RUN_ALL_TESTS();
}
