#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace rules_executorch {

// The bytes of a cache line. Vectors that cross cache lines take twice as long.
constexpr size_t kLineBytes = 64;

// Asks for huge pages for new memory, so that the processor translates fewer addresses when it reads weights. Does
// nothing if the system has no huge pages or if the memory is small.
void RequestHugePages(void* memory, size_t size);

// Allocates memory at the start of a cache line, in huge pages if the memory is large.
template <typename T>
struct LineAllocator {
  using value_type = T;

  T* allocate(size_t n) {
    void* const memory = ::operator new(n * sizeof(T), std::align_val_t(kLineBytes));
    RequestHugePages(memory, n * sizeof(T));
    return static_cast<T*>(memory);
  }
  void deallocate(T* p, size_t) { ::operator delete(p, std::align_val_t(kLineBytes)); }
  bool operator==(const LineAllocator&) const { return true; }
  bool operator!=(const LineAllocator&) const { return false; }
};

using Lines = std::vector<uint8_t, LineAllocator<uint8_t>>;

// The same for memory that is written at once, and needs no zeros first.
struct FreeLines {
  void operator()(uint8_t* memory) const { LineAllocator<uint8_t>().deallocate(memory, 0); }
};
using UnwrittenLines = std::unique_ptr<uint8_t, FreeLines>;
inline UnwrittenLines AllocateLines(size_t size) { return UnwrittenLines(LineAllocator<uint8_t>().allocate(size)); }

}  // namespace rules_executorch
