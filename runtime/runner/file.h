#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace rules_executorch {

// Memory that a file is mapped to, until the destructor.
class Mapping {
 public:
  Mapping() = default;
  Mapping(void* memory, size_t size) : memory_(static_cast<uint8_t*>(memory)), size_(size) {}
  ~Mapping();
  Mapping(Mapping&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    return *this;
  }

  uint8_t* data() const { return memory_; }
  size_t size() const { return size_; }

 private:
  uint8_t* memory_ = nullptr;
  size_t size_ = 0;
};

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

  // Maps the whole file to memory. Writes to the memory do not reach the file. If this fails, problem() has the reason.
  Mapping Map();

 private:
  std::string problem_;
  size_t size_ = 0;
  int descriptor_ = -1;
};

}  // namespace rules_executorch
