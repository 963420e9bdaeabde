#include "runtime/runner/lines.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <ios>
#include <sstream>
#include <string>

namespace rules_executorch {
namespace {

constexpr char kHugePages[] = "/sys/kernel/mm/transparent_hugepage/enabled";

// The flags of the mapping that contains an address (`VmFlags` of proc_pid_smaps(5)).
std::string FlagsAt(const void* memory) {
  const auto address = reinterpret_cast<uintptr_t>(memory);
  std::ifstream maps("/proc/self/smaps");
  bool is_found = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t first = 0, last = 0;
    char dash = 0;
    std::istringstream text(line);
    if (text >> std::hex >> first >> dash >> last && dash == '-') {
      is_found = first <= address && address < last;
    } else if (is_found && line.rfind("VmFlags:", 0) == 0) {
      return line;
    }
  }
  return "";
}

TEST(LinesTest, LargeMemoryIsInHugePages) {
  if (!std::ifstream(kHugePages)) {
    GTEST_SKIP() << "the kernel has no huge pages";
  }
  const Lines lines(size_t{16} << 20);
  EXPECT_NE(FlagsAt(lines.data() + lines.size() / 2).find(" hg"), std::string::npos);
}

TEST(LinesTest, MemoryBeginsWithALine) {
  for (size_t size : {1, 100, 5000, 3 << 20}) {
    const Lines lines(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(lines.data()) % kLineBytes, 0) << size;
  }
}

}  // namespace
}  // namespace rules_executorch
