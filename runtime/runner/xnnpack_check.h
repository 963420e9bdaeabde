#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/runner/flat_buffer.h"
#include "runtime/runner/flat_file.h"

namespace rules_executorch {

// The name of the backend whose data CheckXnnpackData reads.
constexpr char kXnnpackBackend[] = "XnnpackBackend";

// Checks the data that a program has for the backend XNNPACK: the header, the graph after the header, and the sizes
// of constants. The backend trusts its data.
//
// Returns the number of tensors that a call of the delegate takes and gives.
// Args:
//   named: the sizes of the program's named data, by the keys. Constants may be there.
//   refuse: is called with the error; must not return.
//   external: gets the constants that must be in another file.
size_t CheckXnnpackData(const uint8_t* bytes, size_t size, const std::map<std::string_view, size_t>& named,
                        const std::string& path, const std::string& place, FlatBuffer::Refuse refuse,
                        std::vector<ExternalData>* external);

}  // namespace rules_executorch
