#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace rules_executorch {

// A regular file, open for reading. Folders, pipes and devices are refused, because they have no size and may have no
// end.
class File {
 public:
  explicit File(const std::string& path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // The reason why the file cannot be read, e.g. `it is a folder`. Empty if it can be read.
  const std::string& problem() const { return problem_; }

  size_t size() const { return size_; }

  // Reads the whole file into size() bytes. If reading fails, problem() has the reason.
  void Read(uint8_t* bytes);

 private:
  std::string problem_;
  size_t size_ = 0;
  int descriptor_ = -1;
};

}  // namespace rules_executorch
