"""Installs llama.cpp's Python package from a lock. The package has no wheels, and its build takes minutes."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import uv

from rules.private.repositories import indexes

_LOCK = Path(__file__).parents[3] / "requirements" / "llama_cpp.txt"
_PACKAGE = "llama-cpp-python"


def installed(state: Path) -> Path:
    """Returns the folder of the package in a state folder, which exists if the package is installed."""
    return state / f"llama_cpp-{hashlib.sha256(_LOCK.read_bytes()).hexdigest()[:16]}"


def install(state: Path) -> str:
    """Installs the package, compiled for this processor, if it is not installed. Returns the error, if any."""
    folder = installed(state)
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
    done = subprocess.run(command, env=indexes.uv_environment(machine), capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr
    draft.rename(folder)
    return ""
