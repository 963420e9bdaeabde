"""Installs Bazel: `__main__.py PREFIX`, called by tools/bazel. PREFIX is the folder of the private install."""

import pathlib
import sys

# Without a Bazel, nothing else sets the import path.
sys.path[0] = str(pathlib.Path(__file__).absolute().parents[2])

from tools.launcher import cache, errors  # noqa: E402
from tools.launcher.debian import install  # noqa: E402

if __name__ == "__main__":
    try:
        cache.ensure(pathlib.Path(sys.argv[1]), install.install)
    except errors.LauncherError as error:
        sys.exit(f"tools/bazel: {error}")
    except KeyboardInterrupt:
        print("tools/bazel: interrupted", file=sys.stderr)
        sys.exit(130)
