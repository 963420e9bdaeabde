#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rules_executorch {

using Bytes = std::vector<uint8_t>;

// Changes a file that is a FlatBuffer with segments behind it, as .pte and .ptd files are, in one to four ways: bits,
// words and fields of tables become others, parts are copied, taken out, or taken from another file, the end is cut
// off.
//
// Args:
//   file: what to change.
//   other: a file of the same kind, of which parts may be taken.
//   seed: the same seed gives the same changes, with every compiler and library.
//   changes: says what was changed, for a report.
Bytes Mutate(const Bytes& file, const Bytes& other, uint64_t seed, std::string* changes);

}  // namespace rules_executorch
