"""Resolves packages to a lock with uv, and the CPU builds of PyTorch with pip."""

from __future__ import annotations

import dataclasses
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Mapping

import uv

from rules.private.repositories import indexes, versions
from tools.lock.request import FIND_LINKS, LockError, Request

_REQUIREMENTS = pathlib.Path(__file__).parents[2] / "requirements"
_VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
# An export does not import all declared dependencies of ExecuTorch, and PyTorch's CPU build does not need the
# dependencies of the CUDA build. //requirements:export.in has the needed dependencies of both.
_WITHOUT_REQUIREMENTS = ("executorch", "torch")
# Packages with a separate CPU build for Linux on x86-64 in PyTorch's index.
_CPU_BUILDS = ("torch", "torchaudio", "torchvision")
_CPU_PLATFORM = "manylinux_2_28_x86_64"
_CPU_MARKER = 'sys_platform == "linux" and platform_machine == "x86_64"'
_OTHER_MARKER = 'sys_platform != "linux" or platform_machine != "x86_64"'
# What goes with a version of ExecuTorch.
_PYTORCH = ("executorch", "torch", "torchao")
# torchvision and others require one version of torch, and would come in any version.
_OVERRIDDEN_PYTORCH = """\
--override={requirement}: expected a package other than executorch, torch and torchao, which keep their versions
  Likely cause: a package requires an older or a newer PyTorch
  Fix: --no_deps=NAME of this package, and the packages that it needs as arguments; --executorch for other versions"""
_NETWORK = ("Failed to fetch", "client error", "dns error", "Request failed")


def _metadata(names: Iterable[str]) -> str:
    """Returns a configuration of uv in which packages, in all their versions, require nothing."""
    return "".join(f'[[dependency-metadata]]\nname = "{name}"\nrequires-dist = []\n\n' for name in names)


def _compile(
    folder: pathlib.Path, where: indexes.Indexes, with_extra: bool, *options: str
) -> subprocess.CompletedProcess[str]:
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
            *options,
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


def _error(packages: Collection[str], pins: list[str], stderr: str) -> LockError:
    lines = ["no versions found for " + (", ".join(packages) or "an export"), stderr.strip()]
    if any(sign in stderr for sign in _NETWORK):
        lines += [
            "Likely cause: no network, or the index does not answer",
            "Fix: check that `pip download --no-deps " + next(iter(packages), "torch") + "` works on this machine",
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
    elif "no usable wheels" in stderr:
        lines += [
            f"Likely cause: a package has a source distribution only, or no wheel for Python {_VERSION}",
            "Fix: build its wheel with `pip wheel --no-deps --wheel-dir=wheels NAME` in the workspace, and add "
            "--wheels=wheels; or leave the package out with --exclude=NAME if the models do not import it",
        ]
    else:
        lines += [
            f"Likely cause: the packages do not fit {', '.join(pins)}",
            "Fix: give other packages or versions, such as transformers==5.23.0; or, if a requirement is stricter than "
            "needed, --override=REQUIREMENT such as --override='numpy>=2', or --no_deps=NAME for all requirements of a "
            "package",
        ]
    return LockError("\n  ".join(lines))


def _cpu_file(package: str, version: str, where: indexes.Indexes) -> str:
    """Returns the hash of the CPU build's file for this Python on Linux x86-64; empty if pip finds no file."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"),
                *("--only-binary=:all:", f"--platform={_CPU_PLATFORM}", f"--python-version={_VERSION}"),
                *(f"--find-links={place}" for place in where.find_links),
                *(f"--dest={folder}", f"{package}=={version}+cpu"),
            ],
            capture_output=True,
        )
        for file in pathlib.Path(folder).iterdir():
            return hashlib.sha256(file.read_bytes()).hexdigest()
    return ""


def _with_cpu_builds(lock: str, where: indexes.Indexes) -> tuple[str, list[str]]:
    """Adds the CPU builds of PyTorch's packages to a lock. Returns the lock and the packages without a CPU build."""
    missing = []
    for package in _CPU_BUILDS:
        pin = re.search(rf"^{package}==(\S+)", lock, re.MULTILINE)
        if not pin or "+" in pin[1]:
            continue
        sha256 = _cpu_file(package, pin[1], where)
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


def _run(folder: pathlib.Path, where: indexes.Indexes, *options: str) -> subprocess.CompletedProcess[str]:
    # An extra index often has only some files of a version. The lock is also for other machines, so the first try is
    # without the extra index.
    run = _compile(folder, where, False, *options)
    if run.returncode != 0 and where.extra and not where.is_offline:
        run = _compile(folder, where, True, *options)
    return run


def _write_changes(request: Request, folder: pathlib.Path) -> list[str]:
    """Writes what changes the requirements of packages. Returns uv's options."""
    for requirement in request.overrides:
        if re.split(r"[^\w.-]", requirement)[0] in _PYTORCH:
            raise LockError(_OVERRIDDEN_PYTORCH.format(requirement=requirement))
    (folder / "uv.toml").write_text(_metadata((*_WITHOUT_REQUIREMENTS, *request.no_deps)))
    (folder / "overrides.in").write_text("".join(f"{requirement}\n" for requirement in request.overrides))
    (folder / "excludes.in").write_text("".join(f"{name}\n" for name in request.excludes))
    return ["--only-binary=:all:", f"--overrides={folder / 'overrides.in'}", f"--excludes={folder / 'excludes.in'}"]


def resolve(
    request: Request, where: indexes.Indexes, previous: str = "", upgrade: bool = False
) -> tuple[str, list[str]]:
    """Returns the lock of the packages of an export and of further packages, with all dependencies.

    Args:
        request: the further packages, and ExecuTorch's version. PyTorch has the version that goes with it.
        where: the package indexes, with the request's folder of wheels.
        previous: a lock whose versions stay if possible.
        upgrade: whether to take the newest versions instead.

    Returns:
        The lock, and the pins of PyTorch's packages for which pip finds no CPU build.

    Raises:
        LockError: there are no compatible versions.
    """
    executorch = request.executorch or versions.DEFAULT_EXECUTORCH
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        options = _write_changes(request, folder)
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
            kept = re.sub(rf"^{FIND_LINKS}.*\n", "", kept, flags=re.MULTILINE)
        # If uv finds both builds, a pin with === selects the version without a local suffix.
        exact = {"torch": pins["torch"]} if "torch" in pins else {}
        while True:
            for package, version in exact.items():
                export = re.sub(rf"^{package}==.*\n", "", export, flags=re.MULTILINE)
                export += f"{package}==={version}\n"
            (folder / "packages.in").write_text(export + "".join(f"{package}\n" for package in request.packages))
            (folder / "lock.txt").write_text(kept)
            run = _run(folder, where, *options)
            if run.returncode != 0:
                raise _error(request.packages, fixed, run.stderr)
            lock = (folder / "lock.txt").read_text()
            exact = dict(re.findall(rf"^({'|'.join(_CPU_BUILDS)})==(\S+)\+cpu ", lock, re.MULTILINE))
            if not exact:
                break
    lock, missing = _with_cpu_builds(lock, where)
    return (f"{FIND_LINKS}{request.wheels}\n{lock}" if request.wheels else lock), missing


def _newest(names: Collection[str], where: indexes.Indexes, *options: str) -> dict[str, str]:
    """Returns the newest version of each package alone, whatever it requires; empty if there is none of one."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "uv.toml").write_text(_metadata(names))
        (folder / "packages.in").write_text("".join(f"{package}\n" for package in names))
        if _run(folder, where, "--no-deps", *options).returncode != 0:
            return {}
        return dict(re.findall(r"^(\S+)==(\S+)", (folder / "lock.txt").read_text(), re.MULTILINE))


def _why_not(request: Request, where: indexes.Indexes, pin: str, is_kept: bool) -> tuple[str, str]:
    """Returns on one line each why a version is not in the lock, and the way to this version."""
    name = pin.partition("==")[0]
    try:
        resolve(dataclasses.replace(request, packages=(*request.packages, pin)), where)
    except LockError as error:
        words = str(error).partition("Because ")[2].partition("we can conclude")[0]
        reason = " ".join(words.split()).rstrip(",") or "other packages do not go with it"
        ways = f"--override=REQUIREMENT, --exclude=NAME or --no_deps={name}, with --upgrade"
        return reason, f"if a requirement is too strict: {ways}"
    if is_kept:
        return "the existing lock has this version", "--upgrade"
    return "other packages then have newer versions", f"'{pin}' as argument"


def notes_of_old_versions(
    request: Request, where: indexes.Indexes, lock: str, changed: Collection[str], kept: Collection[str]
) -> list[str]:
    """Returns a note for each requested package that is not the newest, with the reason.

    Args:
        request: what was locked. Who requests a version of a package gets no note of this package.
        where: the package indexes, with the request's folder of wheels.
        lock: the lock.
        changed: the pins that no earlier lock had.
        kept: the pins of an earlier lock that also get notes.
    """
    pins = dict(re.findall(r"^(\S+)==([^\s+]+)", lock, re.MULTILINE))
    names = {
        re.sub(r"[-_.]+", "-", package).lower() for package in request.packages if re.fullmatch(r"[\w.-]+", package)
    }
    names &= {name for name in pins if f"{name}=={pins[name]}" in {*changed, *kept}}
    newest = _newest(sorted(names), where) if names else {}
    old = sorted(name for name in names if newest.get(name, pins[name]) != pins[name])
    with_wheels = _newest(old, where, "--only-binary=:all:") if old else {}
    notes = []
    for name in old:
        note = f"note: {name} is {pins[name]}, not the newest, {newest[name]}, "
        if with_wheels.get(name) == pins[name]:
            note += (
                f"because newer versions have no wheel for Python {_VERSION}\n  Fix, if the newest is needed: "
                f"`pip wheel --no-deps --wheel-dir=wheels {name}` in the workspace, and --wheels=wheels --upgrade"
            )
        else:
            is_kept = f"{name}=={pins[name]}" in kept
            reason, way = _why_not(request, where, f"{name}=={with_wheels.get(name, newest[name])}", is_kept)
            note += f"because {reason}\n  Fix, if the newest is needed: {way}"
        notes.append(note)
    return notes
