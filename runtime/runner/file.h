#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace rules_executorch {

// A regular file, open for reading: folders, pipes and devices have no size, and some have no end.
class File {
 public:
  explicit File(const std::string& path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Why it cannot be read, e.g. `it is a folder`; empty if it can.
  const std::string& problem() const { return problem_; }

  size_t size() const { return size_; }

  // Reads the whole file into size() bytes; if that fails, problem() says why.
  void Read(uint8_t* bytes);

 private:
  std::string problem_;
  size_t size_ = 0;
  int descriptor_ = -1;
};

}  // namespace rules_executorch
