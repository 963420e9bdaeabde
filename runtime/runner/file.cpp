#include "runtime/runner/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rules_executorch {

Mapping::~Mapping() {
  if (memory_ != nullptr) {
    munmap(memory_, size_);
  }
}

File::File(const std::string& path) {
  // Non-blocking, because opening a pipe without a writer would block.
  descriptor_ = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status;
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
    problem_ = std::strerror(errno);
  } else if (S_ISDIR(status.st_mode)) {
    problem_ = "it is a folder";
  } else if (!S_ISREG(status.st_mode)) {
    problem_ = "it is a pipe or a device, and no file";
  } else {
    size_ = static_cast<size_t>(status.st_size);
  }
}

File::~File() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

void File::Read(uint8_t* bytes) {
  for (size_t done = 0; done < size_;) {
    const ssize_t count = read(descriptor_, bytes + done, size_ - done);
    if (count > 0) {
      done += static_cast<size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      problem_ = count == 0 ? "it became shorter while it was read" : std::strerror(errno);
      return;
    }
  }
}

Mapping File::Map() {
  if (!problem_.empty() || size_ == 0) {
    return {};  // No memory has 0 bytes.
  }
  void* const memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor_, 0);
  if (memory == MAP_FAILED) {
    problem_ = std::strerror(errno);
    return {};
  }
  return Mapping(memory, size_);
}

}  // namespace rules_executorch
