"""Prints the build and load environment of operator libraries: Python, PyTorch with its headers, the compiler.

tools/bazel run //torch_ops:environment
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from absl import app

_SETTINGS = Path(__file__).with_name("environment_settings.json")


def _real(path: str) -> str:
    """Resolves a path of the build. The execution root comes from the real path of the settings' file."""
    root = os.path.realpath(_SETTINGS).rpartition("/bazel-out/")[0]
    return os.path.realpath(os.path.join(root, path))


def _first_line(command: list[str]) -> str:
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return (result.stdout or result.stderr).partition("\n")[0]


def report(settings: Mapping[str, Any], root: Path) -> Iterator[tuple[str, str]]:
    """Yields the lines of the report, each a name and a value.

    Args:
        settings: the settings of the build, environment_settings.json.
        root: the folder of the libraries in the runfiles.
    """
    yield "Python", f"{platform.python_version()}, {sys.executable}"
    yield "PyTorch in Python", f"{torch.__version__}, {Path(torch.__file__ or '').resolve().parent}"
    yield "  C++ ABI", f"_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
    yield "  CUDA", torch.version.cuda or "none"
    yield "PyTorch in C++", f"{settings['version']}, -std={settings['cxx_standard']}"
    yield "  definitions", " ".join(settings["defines"])
    for include in map(_real, settings["includes"]):
        if os.path.isdir(include):  # The folder of generated headers may not exist.
            yield "  include", include
    for library in settings["libraries"]:
        yield "  lib", str((root / library).resolve())
    yield "CUDA toolkit", settings["cuda"] or "none: libraries with sources in CUDA are skipped"
    yield "C++ compiler", f"{settings['compiler']}: {_first_line([settings['compiler'], '--version'])}"
    yield "  flags", " ".join(settings["compile_flags"])
    yield "Linker's flags", " ".join(settings["link_flags"])
    yield "Compilation mode", f"{settings['compilation_mode']}, for {settings['cpu']}"


def main(argv: Sequence[str]) -> int:
    del argv
    settings = json.loads(_SETTINGS.read_text())
    for name, value in report(settings, _SETTINGS.parents[1]):
        print(f"{name:<18} {value}")
    if settings["version"] != torch.__version__.partition("+")[0]:
        print(
            "\nerror: PyTorch in Python and in C++ are of two versions; operator libraries may not load",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    app.run(main)
