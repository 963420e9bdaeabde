"""Reads the functions that object files, archives and shared libraries define, with `nm`."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from codegen.binaries import formats
from codegen.cache import content_cache
from diagnostics.errors import InputError

# nm's letters for functions with external linkage: in the text section, weak, indirect.
_LINKABLE = frozenset("TWVui")
_LOCAL = frozenset("t")
# With --print-file-name: "<path>:<value> <letter> <name>", and "<path>:<member>:" for a member of an archive.
# llvm-nm puts the processor before the path in a file for several processors.
_LINE = re.compile(r"^(?:\(for architecture \S+\):)?(.+?):(?:([^:\n]+):)? ?[0-9a-fA-F]+ ([A-Za-z]) (.+)$", re.MULTILINE)
# The part before the name in a line for one file.
_NAME = re.compile(r"^\s*(?:[0-9a-fA-F]+ )?\S ")
_UNNAMED = "(anonymous namespace)"
_LTO_MARK = "__gnu_lto_slim"
# A function of Microsoft's compilers, by its mangled name, or with the calling convention that demanglers write.
_MICROSOFT = re.compile(r"^\?|\b__(?:cdecl|thiscall|vectorcall)\b")


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
    is_mach_o = _is_mach_o(*paths)
    for files, options in ((static, ()), (shared, (_exported_only(is_mach_o),))):
        if files:
            output = _run([nm, "--demangle", "--defined-only", "--print-file-name", *options, *files])
            symbols += _parse(output, is_mach_o)
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
    return _with_demangled(nm, path, "--undefined-only", _exported_only(_is_mach_o(path)))


def demangled_names(path: str, nm: str) -> dict[str, str]:
    """Returns the symbols that a binary defines: the mangled names with the demangled names.

    Raises:
        InputError: nm cannot be run, or cannot read the file.
    """
    return _with_demangled(nm, path, "--defined-only")


def _with_demangled(nm: str, path: str, *options: str) -> dict[str, str]:
    # With --no-sort, both outputs have the same order.
    plain, demangled = (
        [_NAME.sub("", line).split("@")[0] for line in _run([nm, *more, "--no-sort", *options, path]).splitlines()]
        for more in ((), ("--demangle",))
    )
    named = dict(zip(plain, demangled, strict=True))
    if not _is_mach_o(path):
        return named
    return {name.removeprefix("_"): text if text != name else text.removeprefix("_") for name, text in named.items()}


@content_cache.by_content
def exported_names(paths: tuple[str, ...], nm: str) -> frozenset[str]:
    """Returns the mangled names of all symbols that shared libraries export.

    Raises:
        InputError: nm cannot be run, or cannot read a file.
    """
    is_mach_o = _is_mach_o(*paths)
    lines = _run([nm, _exported_only(is_mach_o), "--defined-only", *paths]).splitlines()
    names = (line.rpartition(" ")[2].split("@")[0] for line in lines)
    return frozenset(name.removeprefix("_") if is_mach_o else name for name in names)


def _is_mach_o(*paths: str) -> bool:
    """Returns whether files are Mach-O files, whose symbols have one underscore more. All files are of one platform."""
    found = (formats.of_file(path) for path in paths)
    return next(filter(None, found), None) == formats.MACH_O


def _exported_only(is_mach_o: bool) -> str:
    """Returns nm's option for the exported symbols of shared libraries. Only ELF has a table of its own for these."""
    return "--extern-only" if is_mach_o else "--dynamic"


def normalized(text: str) -> str:
    """Normalizes a demangled name, since demanglers and standard libraries spell names differently."""
    for inline_namespace in ("__1::", "__2::", "__ndk1::", "__cxx11::"):
        text = text.replace(f"std::{inline_namespace}", "std::")
    return text.replace("long long", "long").replace("> >", ">>").replace("> >", ">>")


def _run(command: list[str]) -> str:
    try:
        result = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise InputError.of(
            id="unreadable-symbols",
            where=command[0],
            found=f"cannot run nm: {error.strerror}",
            cause="the C++ toolchain names no nm, or one that is not on this machine",
            fix="use a C++ toolchain that has nm, from binutils or llvm",
        ) from error
    # llvm-nm and GNU nm both report an unknown file and continue with the next file.
    problems = [line for line in result.stderr.splitlines() if not re.search(r"no symbols", line)]
    if result.returncode != 0 or problems:
        raise InputError.of(
            id="unreadable-symbols",
            where=Path(command[0]).name,
            found="cannot read the symbols of the libraries",
            cause="a file is not an object file, archive or shared library of this platform, or was compiled with "
            "link-time optimization by a compiler other than that of this nm",
            fix="compile the libraries without link-time optimization, with the toolchain that the build uses",
            details=tuple(problems[:5]),
        )
    return result.stdout


def _parse(output: str, is_mach_o: bool) -> list[Symbol]:
    symbols: list[Symbol] = []
    for match in _LINE.finditer(output):
        path, member, letter, text = match.groups()
        library = f"{Path(path).name}({member})" if member else Path(path).name
        if text == _LTO_MARK:
            raise InputError.of(
                id="link-time-optimization",
                where=library,
                found="the object file holds no machine code, only the compiler's own form of it",
                cause="the object file was compiled with link-time optimization (-flto)",
                fix="compile the kernels without this optimization, for example with copts = ['-fno-lto']",
            )
        if _MICROSOFT.search(text):
            if letter not in _LINKABLE:
                continue
            raise InputError.of(
                id="unreadable-symbols",
                where=library,
                found=f"cannot read the name of the function {text}",
                cause="the object file was compiled for Windows with the names of Microsoft's compiler",
                fix="compile the kernels with MinGW, or with clang for the target x86_64-windows-gnu",
            )
        if letter in _LINKABLE or letter in _LOCAL:
            # nm keeps the underscore of functions with C linkage only.
            is_plain = is_mach_o and "(" not in text
            symbol = _symbol(text.removeprefix("_") if is_plain else text, letter in _LOCAL, library)
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
