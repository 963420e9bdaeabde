#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/runner/flat_buffer.h"
#include "runtime/runner/flat_file.h"
#include "runtime/runner/value.h"

namespace rules_executorch {

// The tensors of a .ptd file, which has samples or the constants of programs. Reads the file without trust in its
// content.
class TensorFile {
 public:
  // `bytes` and `path` stay until the end of this object. `refuse` is called with the error; must not return.
  TensorFile(const uint8_t* bytes, size_t size, const std::string& path, FlatBuffer::Refuse refuse);

  // Data in the file. Data of backends has no layout.
  struct Data {
    std::optional<Layout> layout;
    Range range;
  };

  // The data of a key. Empty if the file does not have the key. Refuses data that is too small for its layout.
  std::optional<Data> Find(std::string_view key) const;

  std::vector<std::string_view> Keys() const;

  // Whether the file has samples, by its keys.
  bool has_samples() const;

  // Refuses the file because of a key.
  [[noreturn]] void Refuse(std::string_view key, const std::string& found) const;

 private:
  static FlatBuffer FindFlatBuffer(const uint8_t* bytes, size_t size, const std::string& path,
                                   FlatBuffer::Refuse refuse);

  FlatBuffer whole_;
  FlatBuffer file_;
  std::vector<Range> segments_;
  std::map<std::string_view, size_t> tables_;  // the tables with the segments of the keys
};

}  // namespace rules_executorch
