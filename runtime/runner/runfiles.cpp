#include "runtime/runner/runfiles.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "runtime/runner/file.h"

namespace rules_executorch {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The file of a path in a manifest, which has lines `<path> <file>`.
std::string LookUp(const std::string& manifest, const std::string& path) {
  std::ifstream lines(manifest);
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > path.size() && line[path.size()] == ' ' && line.compare(0, path.size(), path) == 0) {
      return line.substr(path.size() + 1);
    }
  }
  return "";
}

}  // namespace

bool IsReadable(const std::string& path) { return File(path).problem().empty(); }

std::string FindRunfile(const std::string& path, const std::string& argv0) {
  std::vector<std::string> folders = {Environment("RUNFILES_DIR"), Environment("TEST_SRCDIR")};
  std::vector<std::string> manifests = {Environment("RUNFILES_MANIFEST_FILE")};
  std::error_code error;
  // The second one is for binaries found on the PATH or run through a symlink.
  for (const std::string& binary : {std::filesystem::absolute(argv0, error).lexically_normal().string(),
                                    std::filesystem::read_symlink("/proc/self/exe", error).string()}) {
    folders.push_back(binary + ".runfiles");
    manifests.push_back(binary + ".runfiles_manifest");
    const size_t inside = binary.rfind(".runfiles/");
    if (inside != std::string::npos) {
      folders.push_back(binary.substr(0, inside) + ".runfiles");
    }
  }
  for (const std::string& folder : folders) {
    if (!folder.empty() && IsReadable(folder + "/" + path)) {
      return folder + "/" + path;
    }
  }
  for (const std::string& manifest : manifests) {
    const std::string file = LookUp(manifest, path);
    if (!file.empty() && IsReadable(file)) {
      return file;
    }
  }
  return path;
}

}  // namespace rules_executorch
