#pragma once

#include <string>

namespace rules_executorch {

// Finds a runfile of the binary.
//
// Args:
//   path: relative to the root of the runfiles, e.g. `_main/examples/quickstart/model.pte`.
//   argv0: argv[0] of main().
// Returns the first existing file of: the path in $RUNFILES_DIR, in $TEST_SRCDIR, in `<binary>.runfiles`, in the
// runfiles folder of the binary, in $RUNFILES_MANIFEST_FILE or in `<binary>.runfiles_manifest`. If there is none,
// returns the path itself, so that an error can name it.
std::string FindRunfile(const std::string& path, const std::string& argv0);

// Whether the file exists and can be read.
bool IsReadable(const std::string& path);

}  // namespace rules_executorch
