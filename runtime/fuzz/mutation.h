#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rules_executorch {

using Bytes = std::vector<uint8_t>;

// Mutates a FlatBuffer with segments after it, such as a .pte or .ptd file, with one to four changes: changes bits,
// words and fields of tables; copies and removes parts; inserts parts of another file; truncates the file.
//
// Args:
//   file: the file to mutate.
//   other: a file of the same kind from which parts may be copied.
//   seed: the same seed gives the same changes with all compilers and libraries.
//   changes: receives a description of the changes, for a report.
Bytes Mutate(const Bytes& file, const Bytes& other, uint64_t seed, std::string* changes);

}  // namespace rules_executorch
