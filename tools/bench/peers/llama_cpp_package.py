"""Installs llama.cpp's Python package from a lock. The package has no wheels, and its build takes minutes.

The package is compiled for the processor of the machine, or for one instruction set.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import uv

from rules.private.repositories import indexes

_LOCK = Path(__file__).parents[3] / "requirements" / "llama_cpp.txt"
_PACKAGE = "llama-cpp-python"
_AVX2 = "-DGGML_NATIVE=OFF -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_BMI2=ON -DGGML_F16C=ON -DGGML_FMA=ON"
# The options of ggml's CMakeLists.txt, by instruction set.
CMAKE_ARGUMENTS = {
    "avx2": _AVX2,
    "avx512": f"{_AVX2} -DGGML_AVX512=ON",
}


def installed(state: Path, instruction_set: str = "") -> Path:
    """Returns the folder of the package in a state folder, which exists if the package is installed.

    Args:
        state: the state folder.
        instruction_set: the set that the package is compiled for, a key of CMAKE_ARGUMENTS; empty for the processor.
    """
    name = f"llama_cpp_{instruction_set}" if instruction_set else "llama_cpp"
    return state / f"{name}-{hashlib.sha256(_LOCK.read_bytes()).hexdigest()[:16]}"


def install(state: Path, instruction_set: str = "") -> str:
    """Installs the package if it is not installed. Returns the error, if any. Arguments as of installed()."""
    folder = installed(state, instruction_set)
    if folder.exists():
        return ""
    machine = indexes.of_machine()
    draft = folder.with_suffix(".draft")
    command = [
        *(uv.find_uv_bin(), "pip", "install", "--quiet", "--no-config", "--no-deps", "--require-hashes"),
        *("--only-binary=:all:", f"--no-binary={_PACKAGE}", f"--requirements={_LOCK}", f"--build-constraints={_LOCK}"),
        *(f"--python={sys.executable}", f"--target={draft}"),
        *indexes.uv_options(machine, with_extra=True),
    ]
    environment = indexes.uv_environment(machine)
    if instruction_set:
        command.append("--no-cache")  # uv's cache may have the package for another set.
        environment = {**environment, "CMAKE_ARGS": CMAKE_ARGUMENTS[instruction_set]}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr
    draft.rename(folder)
    return ""
