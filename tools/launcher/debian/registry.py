"""Checks whether Bazel reaches the registry of modules."""

import pathlib
import shutil
from collections.abc import Sequence

from tools.launcher.debian import process


def is_reached(bazel: Sequence[str], folder: pathlib.Path, commands: process.Commands) -> bool:
    """Tries to look up the modules that Bazel itself needs, with the user's settings of registries and proxies.

    Args:
        bazel: the beginning of Bazel's command line.
        folder: a folder that does not exist, for the trial.
        commands: runs Bazel.
    """
    workspace = folder / "workspace"
    workspace.mkdir(parents=True)
    (workspace / "MODULE.bazel").touch()
    options = ["--lockfile_mode=off", "--http_connector_attempts=1", "--http_timeout_scaling=0.2"]
    try:
        commands.run([*bazel, "--batch", f"--output_user_root={folder}/output", "mod", "graph", *options], workspace)
    except process.CommandError:
        return False
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return True
