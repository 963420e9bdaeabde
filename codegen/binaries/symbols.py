"""Reads the functions that object files, archives and shared libraries define, with `nm`."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from codegen.cache import content_cache
from diagnostics.errors import Finding, InputError

# nm's letters for functions with external linkage: in the text section, weak, indirect.
_LINKABLE = frozenset("TWVui")
_LOCAL = frozenset("t")
# With --print-file-name: "<path>:<value> <letter> <name>", and "<path>:<member>:" for a member of an archive.
_LINE = re.compile(r"^(.+?):(?:([^:\n]+):)? ?[0-9a-fA-F]+ ([A-Za-z]) (.+)$", re.MULTILINE)
# The part before the name in a line for one file.
_NAME = re.compile(r"^\s*(?:[0-9a-fA-F]+ )?\S ")
_UNNAMED = "(anonymous namespace)"
_LTO_MARK = "__gnu_lto_slim"


@dataclass(frozen=True, slots=True)
class Symbol:
    """One function.

    Attributes:
        name: the qualified name, `custom::native::add_out`.
        parameters: the parameters; None for a function with C linkage.
        is_local: whether other files cannot link with the function.
        library: the name of the file that defines the function; in an archive with the member: `libops.a(op_add.o)`.
    """

    name: str
    parameters: str | None
    is_local: bool
    library: str

    @property
    def base_name(self) -> str:
        return self.name.rpartition("::")[2]

    def __str__(self) -> str:
        return f"{self.name}({self.parameters})" if self.parameters is not None else f'extern "C" {self.name}'


@content_cache.by_content
def read(paths: tuple[str, ...], nm: str) -> list[Symbol]:
    """Returns the functions that the files define. Of a shared library, only exported functions count.

    Raises:
        InputError: nm cannot be run, or cannot read a file.
    """
    shared = [path for path in paths if re.search(r"\.(?:so(?:\.\d+)*|dylib)$", path)]
    static = [path for path in paths if path not in shared]
    symbols: list[Symbol] = []
    for files, options in ((static, ()), (shared, ("--dynamic",))):
        if files:
            symbols += _parse(_run([nm, "--demangle", "--defined-only", "--print-file-name", *options, *files]))
    return symbols


def defined_names(path: str, nm: str) -> list[str]:
    """Returns the demangled names of all symbols that one file defines, with local ones; none for a stripped file.

    Raises:
        InputError: nm cannot be run, or cannot read the file.
    """
    lines = _run([nm, "--demangle", "--defined-only", path]).splitlines()
    return [fields[2] for line in lines if len(fields := line.split(" ", 2)) == 3]


def undefined_names(path: str, nm: str) -> dict[str, str]:
    """Returns the undefined symbols of a shared library: the mangled names with the demangled names.

    Raises:
        InputError: nm cannot be run, or cannot read the file.
    """
    return _with_demangled(nm, "--dynamic", "--undefined-only", path)


def demangled_names(path: str, nm: str) -> dict[str, str]:
    """Returns the symbols that a binary defines: the mangled names with the demangled names.

    Raises:
        InputError: nm cannot be run, or cannot read the file.
    """
    return _with_demangled(nm, "--defined-only", path)


def _with_demangled(nm: str, *options: str) -> dict[str, str]:
    # With --no-sort, both outputs have the same order.
    plain, demangled = (
        [_NAME.sub("", line).split("@")[0] for line in _run([nm, *more, "--no-sort", *options]).splitlines()]
        for more in ((), ("--demangle",))
    )
    return dict(zip(plain, demangled, strict=True))


@content_cache.by_content
def exported_names(paths: tuple[str, ...], nm: str) -> frozenset[str]:
    """Returns the mangled names of all symbols that shared libraries export.

    Raises:
        InputError: nm cannot be run, or cannot read a file.
    """
    lines = _run([nm, "--dynamic", "--defined-only", *paths]).splitlines()
    return frozenset(line.rpartition(" ")[2].split("@")[0] for line in lines)


def normalized(text: str) -> str:
    """Normalizes a demangled name, since demanglers and standard libraries spell names differently."""
    for inline_namespace in ("__1::", "__ndk1::", "__cxx11::"):
        text = text.replace(f"std::{inline_namespace}", "std::")
    return text.replace("long long", "long").replace("> >", ">>").replace("> >", ">>")


def _run(command: list[str]) -> str:
    try:
        result = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise InputError(
            Finding(
                id="unreadable-symbols",
                where=command[0],
                found=f"cannot run nm: {error.strerror}",
                cause="the C++ toolchain names no nm, or one that is not on this machine",
                fix="use a C++ toolchain that has nm, from binutils or llvm",
            )
        ) from error
    # llvm-nm and GNU nm both report an unknown file and continue with the next file.
    problems = [line for line in result.stderr.splitlines() if not re.search(r"no symbols", line)]
    if result.returncode != 0 or problems:
        raise InputError(
            Finding(
                id="unreadable-symbols",
                where=Path(command[0]).name,
                found="cannot read the symbols of the libraries",
                cause="a file is not an object file, archive or shared library of this platform, or was compiled with "
                "link-time optimization by a compiler other than that of this nm",
                fix="compile the libraries without link-time optimization, with the toolchain that the build uses",
                details=tuple(problems[:5]),
            )
        )
    return result.stdout


def _parse(output: str) -> list[Symbol]:
    symbols: list[Symbol] = []
    for match in _LINE.finditer(output):
        path, member, letter, text = match.groups()
        library = f"{Path(path).name}({member})" if member else Path(path).name
        if text == _LTO_MARK:
            raise InputError(
                Finding(
                    id="link-time-optimization",
                    where=library,
                    found="the object file holds no machine code, only the compiler's own form of it",
                    cause="the object file was compiled with link-time optimization (-flto)",
                    fix="compile the kernels without this optimization, for example with copts = ['-fno-lto']",
                )
            )
        if letter in _LINKABLE or letter in _LOCAL:
            symbol = _symbol(text, letter in _LOCAL, library)
            if symbol:
                symbols.append(symbol)
    return symbols


def _symbol(text: str, is_local: bool, library: str) -> Symbol | None:
    """Returns the function of a demangled name; None for names that cannot be kernels, such as template instances."""
    if "[clone" in text:
        return None
    plain = text.replace(_UNNAMED, "{anonymous}")
    name, parenthesis, parameters = plain.partition("(")
    if " " in name or "<" in name:
        return None
    name = name.replace("{anonymous}", _UNNAMED)
    if not parenthesis:
        return Symbol(name, None, is_local, library)
    parameters = parameters.replace("{anonymous}", _UNNAMED)
    if not parameters.endswith(")"):
        return None
    return Symbol(name, normalized(parameters[:-1]), is_local, library)
