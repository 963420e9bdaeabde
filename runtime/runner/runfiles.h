#pragma once

#include <string>

namespace rules_executorch {

// Finds a file that the build put beside the binary.
//
// Args:
//   path: relative to the root of the runfiles, e.g. `_main/examples/quickstart/model.pte`.
//   argv0: as main() got it.
// Returns the first that exists of: the path in $RUNFILES_DIR, in $TEST_SRCDIR, in `<binary>.runfiles`, in the runfiles
// folder that the binary itself lies in, in $RUNFILES_MANIFEST_FILE or `<binary>.runfiles_manifest`; else the path
// itself, so that an error can name it.
std::string FindRunfile(const std::string& path, const std::string& argv0);

// Whether there is a file that can be read.
bool IsReadable(const std::string& path);

}  // namespace rules_executorch
