// Writes programs with the defects of ExecuTorch's security advisories, from which a fuzzer begins.
//
// Arguments: the program without a defect, and the folder.

#include <string>

#include "runtime/fuzz/advisories.h"
#include "runtime/fuzz/files.h"

int main(int, char** argv) {
  using namespace rules_executorch;
  size_t number = 0;
  for (const Advisory& advisory : MakeAdvisories(ReadFile(argv[1]))) {
    WriteFile(std::string(argv[2]) + "/advisory_" + std::to_string(number++) + ".pte", advisory.program);
  }
  return 0;
}
