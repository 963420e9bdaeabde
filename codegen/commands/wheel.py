"""Writes a wheel of Python files and shared libraries, and checks that the libraries fit the wheel's platform.

    codegen wheel --label //app:wheel --output classifier-1.0-py3-none-manylinux_2_36_x86_64.whl \\
        --distribution classifier --version 1.0 --platform manylinux_2_36_x86_64 --requires 'numpy>=2.1' \\
        --path classifier.py --source app/classifier.py

The same files give the same wheel.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from codegen.binaries import dynamic_linking
from codegen.binaries.private_copy import private_copy
from codegen.commands import define, shared_flags
from diagnostics.errors import Finding, InputError

FLAGS = shared_flags.flag_values()

_LABEL = shared_flags.label(FLAGS, "the wheel")
_OUTPUT = shared_flags.output(FLAGS, "the wheel")
_DISTRIBUTION = define.required(FLAGS, "distribution", "The name of the package.")
_VERSION = define.required(FLAGS, "version", "The version of the package.")
_PLATFORM = define.required(FLAGS, "platform", "The platform tag.")
_REQUIRES = define.several(FLAGS, "requires", "A package that this one needs.")
_PYTHON_REQUIRES = define.required(FLAGS, "python_requires", "The versions of Python.")
_SUMMARY = define.required(FLAGS, "summary", "The description, as one line.")
_PATHS = define.several(FLAGS, "path", "The path of a file in the wheel.")
_SOURCES = define.several(FLAGS, "source", "The file itself, one for each --path.")

_MANYLINUX = re.compile(r"manylinux_2_(\d+)_(\w+)")
# The processors of tags, as ELF files name them.
_PROCESSORS = {"aarch64": "AArch64", "x86_64": "x86-64"}
# What a platform tag promises, as PyPA's policies have it: from a minor version of glibc on, there are the symbol
# versions GLIBCXX_3.4.x and CXXABI_1.3.x of libstdc++.
_POLICIES = ((17, 19, 7), (24, 22, 10), (27, 24, 11), (31, 28, 12), (34, 29, 13), (35, 30, 13), (39, 33, 15))
_VERSIONS = {"GLIBC_2.": 0, "GLIBCXX_3.4.": 1, "CXXABI_1.3.": 2}
_OF_SYSTEM = re.compile(
    r"(?:ld-linux-.*|lib(?:atomic|c|dl|gcc_s|m|mvec|pthread|rt|stdc\+\+))\.so\.\d+"
    # PyTorch's, which a library of operators finds in the process.
    r"|lib(?:c10|c10_cuda|torch|torch_cpu|torch_cuda|torch_python)\.so"
)
_TIME = (1980, 1, 1, 0, 0, 0)


def run() -> None:
    files = dict(zip(_PATHS.value, map(Path, _SOURCES.value), strict=True))
    findings = list(_mistakes(files))
    if findings:
        raise InputError(findings)
    info = f"{_DISTRIBUTION.value}-{_VERSION.value}.dist-info"
    contents = {path: _without_build_paths(file.read_bytes()) for path, file in files.items()}
    contents[f"{info}/METADATA"] = "".join(
        [
            "Metadata-Version: 2.1\n",
            f"Name: {_DISTRIBUTION.value}\nVersion: {_VERSION.value}\nSummary: {_SUMMARY.value}\n",
            f"Requires-Python: {_PYTHON_REQUIRES.value}\n",
            *(f"Requires-Dist: {one}\n" for one in _REQUIRES.value),
        ]
    ).encode()
    contents[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: rules_executorch\nRoot-Is-Purelib: false\nTag: py3-none-{_PLATFORM.value}\n"
    ).encode()
    record = "".join(f"{path},sha256={_digest(content)},{len(content)}\n" for path, content in contents.items())
    contents[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    with zipfile.ZipFile(_OUTPUT.value, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in contents.items():
            entry = zipfile.ZipInfo(path, _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            wheel.writestr(entry, content)


def _without_build_paths(content: bytes) -> bytes:
    """Returns a file. A library looks for others in its own folder only, and not in the folders of the build."""
    return private_copy(content, "executorch", "$ORIGIN") if content.startswith(b"\x7fELF") else content


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def _mistakes(files: dict[str, Path]) -> Iterator[Finding]:
    linkings = {path: linking for path, file in files.items() if (linking := dynamic_linking.read(file)) is not None}
    own = {path.rpartition("/")[2] for path in files}
    strange = [
        f"{path} needs {library}"
        for path, linking in linkings.items()
        for library in linking.needed
        if library not in own and not _OF_SYSTEM.fullmatch(library)
    ]
    if strange:
        yield Finding(
            id="wheel-needs-library",
            where=_LABEL.value,
            found="libraries of the wheel need a library that is neither in the wheel nor on each Linux",
            cause="deps of the library have a shared library of the machine, by linkopts or as a file",
            fix="link the library statically, or take a kernel that does not need the library",
            details=tuple(strange),
        )
    match = _MANYLINUX.fullmatch(_PLATFORM.value)
    if not match:
        return
    others = [f"{path}: {each.machine}" for path, each in linkings.items() if each.machine != _PROCESSORS.get(match[2])]
    if others:
        yield Finding(
            id="wheel-platform",
            where=_LABEL.value,
            found=f"the wheel is for {_PLATFORM.value}, and its libraries are for another processor",
            cause="--platforms names another platform than that of the wheel",
            fix="choose the platform by select(), as for other attributes that depend on the processor",
            details=tuple(others),
        )
    needed = max((_least(linking) for linking in linkings.values()), default=0)
    if needed > int(match[1]):
        right = _PLATFORM.value.replace(f"_2_{match[1]}_", f"_2_{needed}_")
        yield Finding(
            id="wheel-platform",
            where=_LABEL.value,
            found=f"the wheel is for {_PLATFORM.value}, and its libraries need the newer {right}",
            cause="the C++ toolchain links with the glibc and the libstdc++ of this machine",
            fix=f'set platform = "{right}", or build with a toolchain for the older systems',
            details=tuple(path for path, linking in linkings.items() if _least(linking) == needed),
        )


def _least(linking: dynamic_linking.DynamicLinking) -> int:
    """Returns the minor version of the oldest glibc with which a library loads."""
    most = [0, 0, 0]
    for versions in linking.versions.values():
        for version in versions:
            for prefix, place in _VERSIONS.items():
                if version.startswith(prefix):
                    most[place] = max(most[place], int(version.removeprefix(prefix).partition(".")[0]))
    fits = (policy[0] for policy in _POLICIES if policy[1] >= most[1] and policy[2] >= most[2])
    return max(most[0], next(fits, most[0] + 1))
