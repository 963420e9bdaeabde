#include "runtime/runner/memory.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

namespace rules_executorch {
namespace {

void PrintLine(const char* name, size_t bytes) { std::printf("  %-40s %14zu bytes\n", name, bytes); }

}  // namespace

void* CountingAllocator::allocate(size_t size, size_t alignment) {
  bytes_ += size;
  most_ = std::max(most_, bytes_);
  return MallocMemoryAllocator::allocate(size, alignment);
}

void CountingAllocator::reset() {
  bytes_ = 0;
  MallocMemoryAllocator::reset();
}

std::optional<ProcessMemory> ReadProcessMemory() {
  // getrusage() would also count the program that started this one.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/status", "r"), std::fclose);
  ProcessMemory memory;
  char line[256];
  while (file != nullptr && std::fgets(line, sizeof(line), file.get()) != nullptr) {
    const char* const colon = std::strchr(line, ':');
    const std::string name(line, colon == nullptr ? 0 : static_cast<size_t>(colon - line));
    size_t* const field = name == "VmHWM"     ? &memory.most
                          : name == "RssFile" ? &memory.of_files
                          : name == "RssAnon" ? &memory.of_heap
                                              : nullptr;
    if (field != nullptr) {
      *field = std::strtoull(colon + 1, nullptr, 10) * 1024;
    }
  }
  return memory.most > 0 ? std::optional<ProcessMemory>(memory) : std::nullopt;
}

void PrintMemory(const ProgramMemory& memory, std::optional<ProcessMemory> before) {
  std::printf("memory\n");
  PrintLine(memory.is_mapped ? "program file, mapped" : "program file", memory.file);
  if (memory.weights > 0) {
    PrintLine(memory.is_mapped ? "weights files, mapped" : "weights files", memory.weights);
  }
  PrintLine("planned memory", memory.planned);
  PrintLine("objects of the runtime", memory.runtime);
  PrintLine("scratch memory of kernels, at most", memory.scratch);
  PrintLine("inputs and outputs of the runner", memory.values);
  const std::optional<ProcessMemory> now = ReadProcessMemory();
  if (!before || !now) {
    return;
  }
  const size_t files = memory.file + memory.weights;
  const size_t mapped = std::min(memory.is_mapped ? files : 0, now->of_files);
  PrintLine("code and data of binary and libraries", now->of_files - mapped);
  PrintLine("heap before the program was loaded", before->of_heap);
  PrintLine("sum", files + memory.planned + memory.runtime + memory.scratch + memory.values + now->of_files - mapped +
                       before->of_heap);
  PrintLine("process at most, by the system", now->most);
}

}  // namespace rules_executorch
