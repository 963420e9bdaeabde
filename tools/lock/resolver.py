"""Resolves packages to a lock with uv, and the CPU builds of PyTorch with pip."""

from __future__ import annotations

import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping

import uv

from rules.private.repositories import indexes, versions

_REQUIREMENTS = pathlib.Path(__file__).parents[2] / "requirements"
_VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
# An export does not import all declared dependencies of ExecuTorch, and PyTorch's CPU build does not need the
# dependencies of the CUDA build. //requirements:export.in has the needed dependencies of both.
_METADATA = """\
[[dependency-metadata]]
name = "executorch"
requires-dist = []

[[dependency-metadata]]
name = "torch"
requires-dist = []
"""
# Packages with a separate CPU build for Linux on x86-64 in PyTorch's index.
_CPU_BUILDS = ("torch", "torchaudio", "torchvision")
_CPU_PLATFORM = "manylinux_2_28_x86_64"
_CPU_MARKER = 'sys_platform == "linux" and platform_machine == "x86_64"'
_OTHER_MARKER = 'sys_platform != "linux" or platform_machine != "x86_64"'
# What goes with a version of ExecuTorch.
_PYTORCH = ("executorch", "torch", "torchao")
_NETWORK = ("Failed to fetch", "client error", "dns error", "Request failed")


class LockError(Exception):
    """A lock cannot be made. The message has the finding, the likely cause and the fix."""


def _compile(folder: pathlib.Path, where: indexes.Indexes, with_extra: bool) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            uv.find_uv_bin(),
            "pip",
            "compile",
            "--quiet",
            "--color=never",
            f"--config-file={folder / 'uv.toml'}",
            "--generate-hashes",
            "--no-annotate",
            "--no-header",
            "--only-binary=:all:",
            f"--python={sys.executable}",
            f"--output-file={folder / 'lock.txt'}",
            *indexes.uv_options(where, with_extra),
            str(folder / "packages.in"),
        ],
        capture_output=True,
        cwd=folder,
        env=indexes.uv_environment(where),
        text=True,
    )


def _error(packages: list[str], pins: list[str], stderr: str) -> LockError:
    lines = ["no versions found for " + (", ".join(packages) or "an export"), stderr.strip()]
    if any(sign in stderr for sign in _NETWORK):
        lines += [
            "Likely cause: no network, or the index does not answer",
            "Fix: check that `pip download --no-deps " + (packages or ["torch"])[0] + "` works on this machine",
        ]
    elif "no version of executorch" in stderr:
        lines += [
            "Likely cause: the package index does not have this version of ExecuTorch",
            f"Fix: give another --executorch; these rules know {', '.join(versions.VERSIONS)}",
        ]
    elif "not found" in stderr:
        lines += [
            "Likely cause: a typo, or a package with another name than its module",
            "Fix: give the package name for `pip install`",
        ]
    else:
        lines += [
            f"Likely cause: the packages do not fit {', '.join(pins)}, or have no wheel for Python {_VERSION}",
            "Fix: give other packages or versions, such as transformers==5.23.0",
        ]
    return LockError("\n  ".join(lines))


def _cpu_file(package: str, version: str) -> str:
    """Returns the hash of the CPU build's file for this Python on Linux x86-64; empty if pip finds no file."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"),
                *("--only-binary=:all:", f"--platform={_CPU_PLATFORM}", f"--python-version={_VERSION}"),
                *(f"--dest={folder}", f"{package}=={version}+cpu"),
            ],
            capture_output=True,
        )
        for file in pathlib.Path(folder).iterdir():
            return hashlib.sha256(file.read_bytes()).hexdigest()
    return ""


def _with_cpu_builds(lock: str) -> tuple[str, list[str]]:
    """Adds the CPU builds of PyTorch's packages to a lock. Returns the lock and the packages without a CPU build."""
    missing = []
    for package in _CPU_BUILDS:
        pin = re.search(rf"^{package}==(\S+)", lock, re.MULTILINE)
        if not pin or "+" in pin[1]:
            continue
        sha256 = _cpu_file(package, pin[1])
        if not sha256:
            missing.append(f"{package}=={pin[1]}")
        elif sha256 in lock:
            continue
        elif package == "torch":
            # The installer of the lock appends +cpu to the version if it takes the CPU build.
            lock = lock.replace(f"{pin[0]} \\\n", f"{pin[0]} \\\n    --hash=sha256:{sha256} \\\n")
        else:
            build = f"{pin[0]}+cpu ; {_CPU_MARKER} \\\n    --hash=sha256:{sha256}\n"
            lock = lock.replace(f"{pin[0]} \\\n", f"{build}{pin[0]} ; {_OTHER_MARKER} \\\n")
    return lock, missing


def _pins(executorch: str) -> dict[str, str]:
    """Returns the pins of a version of ExecuTorch, minor or full, and of what goes with it."""
    row = versions.VERSIONS.get(versions.minor(executorch))
    pins = dict(row["pins"]) if row else {"executorch": executorch}
    if executorch != versions.minor(executorch):
        pins["executorch"] = executorch
    elif not row:
        pins["executorch"] += ".*"
    return pins


def without_pytorch(lock: str) -> str:
    """Returns a lock without what goes with a version of ExecuTorch."""
    return re.sub(rf"^(?:{'|'.join(_PYTORCH)})==.*\n(?: .*\n)*", "", lock, flags=re.MULTILINE)


def _with_pins(export: str, pins: Mapping[str, str]) -> str:
    """Returns the packages of an export with other pins. A package of PyTorch that is not in `pins` has no pin."""
    for package in _PYTORCH:
        pin = f"{package}=={pins[package]}" if package in pins else package
        export = re.sub(rf"^{package}==.*$", pin, export, flags=re.MULTILINE)
    return export


def _run(folder: pathlib.Path, packages: list[str], pins: list[str], where: indexes.Indexes) -> str:
    # An extra index often has only some files of a version. The lock is also for other machines, so the first try is
    # without the extra index.
    run = _compile(folder, where, with_extra=False)
    if run.returncode != 0 and where.extra and not where.is_offline:
        run = _compile(folder, where, with_extra=True)
    if run.returncode != 0:
        raise _error(packages, pins, run.stderr)
    return (folder / "lock.txt").read_text()


def resolve(
    packages: list[str],
    where: indexes.Indexes,
    previous: str = "",
    upgrade: bool = False,
    executorch: str = versions.DEFAULT_EXECUTORCH,
) -> tuple[str, list[str]]:
    """Returns the lock of the packages of an export and of further packages, with all dependencies.

    Args:
        packages: the further packages in pip's notation, with or without versions.
        where: the package indexes.
        previous: a lock whose versions stay if possible.
        upgrade: whether to take the newest versions instead.
        executorch: the version of ExecuTorch, minor or full. PyTorch has the version that goes with it.

    Returns:
        The lock, and the pins of PyTorch's packages for which pip finds no CPU build.

    Raises:
        LockError: there are no compatible versions.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "uv.toml").write_text(_METADATA)
        pins = _pins(executorch)
        export = _with_pins((_REQUIREMENTS / "export.in").read_text(), pins)
        fixed = [line for line in export.splitlines() if "==" in line]
        # uv keeps the versions and the hashes of an existing output file.
        row = versions.VERSIONS.get(versions.minor(executorch))
        if row and row["lock"]:
            kept = (_REQUIREMENTS / row["lock"]).read_text()
        else:
            kept = without_pytorch((_REQUIREMENTS / "export.txt").read_text())
        if previous and not upgrade:
            # Lines with a marker are CPU builds, which are resolved again below.
            kept = re.sub(r"^\S+\+cpu ; .*\n(?: .*\n)*", "", previous, flags=re.MULTILINE)
        # If uv finds both builds, a pin with === selects the version without a local suffix.
        exact = {"torch": pins["torch"]} if "torch" in pins else {}
        while True:
            for package, version in exact.items():
                export = re.sub(rf"^{package}==.*\n", "", export, flags=re.MULTILINE)
                export += f"{package}==={version}\n"
            (folder / "packages.in").write_text(export + "".join(f"{package}\n" for package in packages))
            (folder / "lock.txt").write_text(kept)
            lock = _run(folder, packages, fixed, where)
            exact = dict(re.findall(rf"^({'|'.join(_CPU_BUILDS)})==(\S+)\+cpu ", lock, re.MULTILINE))
            if not exact:
                break
    return _with_cpu_builds(lock)
