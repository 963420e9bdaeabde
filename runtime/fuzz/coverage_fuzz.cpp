// A libFuzzer target: reads mutated programs, samples and --input texts with the runner's readers. Arguments are those
// of libFuzzer, and folders with files to begin with.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/fuzz/mutation.h"
#include "runtime/fuzz/readers.h"

using rules_executorch::Bytes;

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rules_executorch::ReadAnyFile(Bytes(data, data + size));
  return 0;
}

// Half of the mutations are those of a FlatBuffer, which change fields of tables. The others are libFuzzer's own.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  if (seed % 2 == 0) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  const Bytes file(data, data + size);
  std::string changes;
  // A multiple of four gives one change. libFuzzer calls this function several times for an input.
  const Bytes mutated = rules_executorch::Mutate(file, file, uint64_t{seed} * 4, &changes);
  const size_t mutated_size = std::min(mutated.size(), max_size);
  std::copy_n(mutated.begin(), mutated_size, data);
  return mutated_size;
}
