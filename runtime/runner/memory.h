#pragma once

#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>

#include <cstddef>
#include <optional>

namespace rules_executorch {

// Memory of the heap, with the largest number of bytes that were allocated at one time.
class CountingAllocator : public executorch::extension::MallocMemoryAllocator {
 public:
  void* allocate(size_t size, size_t alignment = kDefaultAlignment) override;
  void reset() override;

  size_t most() const { return most_; }

 private:
  size_t bytes_ = 0;
  size_t most_ = 0;
};

// The memory of a program, in bytes. Backends of delegates have memory of their own.
struct ProgramMemory {
  size_t file = 0;         // the program's file
  size_t weights = 0;      // the files with its constants; 0 if the program has them
  bool is_mapped = false;  // whether the files are mapped, and not read
  size_t planned = 0;      // the planned memory of the method with the most
  size_t runtime = 0;      // the runtime's objects of the loaded methods
  size_t scratch = 0;      // the most that one call of a kernel allocated
  size_t values = 0;       // the most for inputs and outputs of one run, outside of planned memory
};

// The physical memory of the process, in bytes.
struct ProcessMemory {
  size_t most = 0;      // the largest until now
  size_t of_files = 0;  // mapped files: the binary, its libraries, and a mapped program
  size_t of_heap = 0;   // the heap and the stack
};

// Empty if the system does not tell.
std::optional<ProcessMemory> ReadProcessMemory();

// Prints the memory of a program. `before` is the memory of the process before the program was loaded.
void PrintMemory(const ProgramMemory& memory, std::optional<ProcessMemory> before);

}  // namespace rules_executorch
