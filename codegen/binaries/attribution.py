"""Attributes each byte of a binary to an operator or another part, by the names of symbols."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from codegen.binaries.image import UNWINDING, Image, Section, Symbol
from codegen.model import sizes
from codegen.model.sizes import Part

# The dtypes of ScalarType, by the C++ types of template arguments.
_DTYPES = {
    "unsigned char": "Byte",
    "signed char": "Char",
    "short": "Short",
    "int": "Int",
    "long": "Long",
    "long long": "Long",
    "float": "Float",
    "double": "Double",
    "bool": "Bool",
    "unsigned short": "UInt16",
    "unsigned int": "UInt32",
    "unsigned long": "UInt64",
    "unsigned long long": "UInt64",
    **{f"{space}::{name}": name for space in ("c10", "executorch::runtime::etensor") for name in ("Half", "BFloat16")},
}
# A template's name up to the arguments. Arguments of other libraries' templates are no dtypes: `std::array<int, 3>`.
_TEMPLATE = re.compile(r"(?:\(anonymous namespace\)|operator\(\)|[\w:])+<")
_FOREIGN = ("std::", "executorch::", "c10::", "__gnu_cxx::")
_UNNAMED = r"(?:\(anonymous namespace\)::|internal::)*"
_SHARED = re.compile(rf"(?<![\w:])rules_executorch::kernels::{_UNNAMED}(\w+)")
_KERNELS = re.compile(r"(?<![\w:])torch::executor::native::")
_RUNNER = re.compile(rf"(?<![\w:])rules_executorch::{_UNNAMED}(\w+)")
_RUNTIME = re.compile(r"(?<![\w:])(?:executorch::|torch::executor::|c10::|et_pal_)")
_OPENING, _CLOSING = "<({[", ">)}]"
# Beginnings of compiler-generated names of local symbols.
_FILE_LOCAL = ("_Z", "_GLOBAL__sub_I_", "CSWTCH.", "switch.table.")
_INITIALIZER = "_GLOBAL__sub_I_"
# The source file of a library's registration. It may have an initializer as its only symbol.
_REGISTRATION_FILE = "RegisterKernels.cpp"
_OPERATOR_FILE = re.compile(r"(?:^|_)op_(\w+)\.\w+$")

# The purposes of sections that linkers fill, by the beginnings of the sections' names. Symbols do not name their parts.
_LINKED_SECTIONS = {
    ".eh_frame": "unwinding",
    ".gcc_except_table": "unwinding",
    ".ARM.ex": "unwinding",
    ".rel": "relocations",
    ".plt": "calls into shared libraries",
    ".got": "addresses in shared libraries",
    ".dyn": "dynamic symbols",
    ".gnu.": "dynamic symbols",
    ".hash": "dynamic symbols",
    ".interp": "name of the dynamic linker",
    ".note": "notes",
    "__TEXT,__eh_frame": "unwinding",
    "__TEXT,__gcc_except_tab": "unwinding",
    "__TEXT,__unwind_info": "unwinding",
    "__TEXT,__stub": "calls into shared libraries",
    "__TEXT,__objc_stubs": "calls into shared libraries",
    "__TEXT,__auth_stubs": "calls into shared libraries",
    "__DATA,__la_symbol_ptr": "addresses in shared libraries",
    "__DATA,__nl_symbol_ptr": "addresses in shared libraries",
    "__DATA,__got": "addresses in shared libraries",
    "__DATA_CONST,__got": "addresses in shared libraries",
}
_OTHER_SECTIONS = {
    ".text": "padding, code without symbols",
    ".rodata": "strings and constants",
    ".data": "data without symbols",
    ".bss": "zeroed data without symbols",
    "__TEXT,__text": "padding, code without symbols",
    "__TEXT,__const": "strings and constants",
    "__TEXT,__cstring": "strings and constants",
    "__TEXT,__literal": "strings and constants",
    "__DATA_CONST,__const": "strings and constants",
    "__DATA,__data": "data without symbols",
    "__DATA,__bss": "zeroed data without symbols",
    "__DATA,__common": "zeroed data without symbols",
}


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of bytes: a group and a name in the group, as in sizes.Part."""

    group: str
    name: str


@dataclass(frozen=True)
class Attribution:
    """Attributes the bytes of one binary.

    Attributes:
        operators: the operators that each kernel computes, by the kernel's qualified C++ name.
        libraries: the labels of generated libraries, by the namespaces of their generated code.
        demangled: the demangled names of the binary's symbols.
    """

    operators: Mapping[str, Iterable[str]]
    libraries: Mapping[str, str]
    demangled: Mapping[str, str]
    _kernel: re.Pattern[str] = field(init=False)
    _library: re.Pattern[str] = field(init=False)
    _namespaces: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        namespaces = {name.rpartition("::")[0] for name in self.operators} - {""}
        object.__setattr__(self, "_kernel", _any_of(self.operators, r"(?=[(<\[ ]|$)"))
        object.__setattr__(self, "_library", _any_of(self.libraries, "::"))
        object.__setattr__(self, "_namespaces", _any_of(namespaces, "::"))

    def parts(self, image: Image) -> tuple[Part, ...]:
        """Returns the parts of a binary. Each byte counts once."""
        return sizes.united(part for _, part in self.pieces(image))

    def pieces(self, image: Image) -> Iterator[tuple[tuple[str, str], Part]]:
        """Yields the parts of a binary by section and symbol name. Each byte counts once.

        Names are without the namespaces of generated libraries, which depend on the libraries' labels.
        """
        owners = self._file_owners(image)
        for section in image.sections:
            yield from self._section(section, owners)

    def _section(self, section: Section, owners: Mapping[int, Owner]) -> Iterator[tuple[tuple[str, str], Part]]:
        purpose = _purpose(section.name, _LINKED_SECTIONS)
        end = named = 0
        symbols = section.symbols if purpose is None or section.name == UNWINDING else ()
        # Of symbols with the same start, the longest one owns the bytes. Of aliases, a kernel's name comes first, and a
        # global name comes before a local one.
        for symbol in sorted(symbols, key=self._order):
            stop = min(symbol.start + symbol.size, section.size)
            count = stop - max(symbol.start, end, 0)
            if count > 0:
                owner = self._owner(symbol, owners)
                text = self._text(symbol)
                is_kernel = owner.group in (sizes.OPERATORS, sizes.SHARED_KERNEL_CODE)
                piece = (section.name, self._library.sub("", text))
                yield piece, Part(owner.group, owner.name, dtypes(text) if is_kernel else "", count)
                named += count
                end = stop
        rest = purpose or _purpose(section.name, _OTHER_SECTIONS)
        name = f"{section.name}: {rest}" if rest else section.name
        yield (section.name, ""), Part(sizes.SECTIONS, name, "", section.size - named)

    def _order(self, symbol: Symbol) -> tuple[int, int, bool, bool, str]:
        text = self._text(symbol)
        return (symbol.start, -symbol.size, not self._kernel.search(text), symbol.is_local, symbol.name)

    def _text(self, symbol: Symbol) -> str:
        return self.demangled.get(symbol.name, symbol.name)

    def _file_owners(self, image: Image) -> dict[int, Owner]:
        """Returns the owners of source files whose local symbols all have one owner."""
        texts: dict[int, list[str]] = {}
        for section in image.sections:
            for symbol in section.symbols:
                if symbol.is_local and symbol.source >= 0:
                    texts.setdefault(symbol.source, []).append(self._text(symbol))
        found = ((source, self._file_owner(image.sources[source], each)) for source, each in texts.items())
        return {source: owner for source, owner in found if owner}

    def _file_owner(self, source: str, texts: list[str]) -> Owner | None:
        if any(self._is_kernel(text) for text in texts):
            # The kernels of an instruction set were linked into one object file, which made all symbols local. Formerly
            # global symbols come after the name of the last source file, and may be from any file.
            return None
        if library := next(filter(None, map(self._library.search, texts)), None):
            return Owner(sizes.REGISTRATION, self.libraries[library[1]])
        if source == _REGISTRATION_FILE:
            return Owner(sizes.REGISTRATION, ", ".join(sorted(set(self.libraries.values()))))
        kernels = {match[1] for text in texts if (match := self._kernel.search(text))}
        if not kernels and (match := _OPERATOR_FILE.search(source)):
            # For example, op_add.cpp defines add_out.
            stem = match[1]
            kernels = {
                name for name in self.operators if f"{name.rpartition('::')[2].lstrip('_')}_".startswith(f"{stem}_")
            }
        if kernels:
            return self._operators(kernels)
        if any(_SHARED.search(text) for text in texts):
            stem = re.sub(r"^kernels_[a-z]+_|\.\w+$", "", source)
            return Owner(sizes.SHARED_KERNEL_CODE, stem)
        if any(_RUNNER.search(text) for text in texts):
            return Owner(sizes.RUNNER, re.sub(r"\.\w+$", "", source))
        return None

    def _is_kernel(self, text: str) -> bool:
        """Returns whether a name is that of a kernel, not of a lambda in the kernel or a compiler's clone."""
        match = self._kernel.match(text)
        if match is None or text[match.end() :][:1] != "(":
            return False
        return _end(text, match.end() + 1) == len(text) - 1

    def _operators(self, kernels: Iterable[str]) -> Owner:
        return Owner(sizes.OPERATORS, ", ".join(sorted({op for kernel in kernels for op in self.operators[kernel]})))

    def _owner(self, symbol: Symbol, owners: Mapping[int, Owner]) -> Owner:
        text = self._text(symbol)
        if match := self._library.search(text):
            return Owner(sizes.REGISTRATION, self.libraries[match[1]])
        if match := self._kernel.search(text):
            return self._operators([match[1]])
        in_file = owners.get(symbol.source) if symbol.name.startswith(_FILE_LOCAL) else None
        if in_file and in_file.group in (sizes.OPERATORS, sizes.REGISTRATION):
            return in_file
        if match := _SHARED.search(text):
            return Owner(sizes.SHARED_KERNEL_CODE, match[1])
        if _KERNELS.search(text) or self._namespaces.search(text):
            return Owner(sizes.SHARED_KERNEL_CODE, "kernels' code of no single operator")
        if match := _RUNNER.search(text):
            return Owner(sizes.RUNNER, match[1])
        if in_file:
            return in_file
        if text == "main":
            return Owner(sizes.RUNNER, text)
        if _RUNTIME.search(text):
            return Owner(sizes.RUNTIME, "code of its headers and static libraries")
        if text.startswith(_INITIALIZER):
            return Owner(sizes.OTHER_CODE, "initializers")
        if not symbol.name.startswith("_Z"):
            return Owner(sizes.LIBRARIES, "C library and compiler's support")
        if re.search(r"(?<![\w:])(?:std::|__gnu_cxx::|__cxxabiv1::|operator (?:new|delete))", text):
            return Owner(sizes.LIBRARIES, "C++ library")
        return Owner(sizes.OTHER_CODE, re.split(r"[(<]", text)[0].rpartition(" ")[2] or text)


def added(image: Image, attribution: Attribution, other: Image, other_attribution: Attribution) -> tuple[Part, ...]:
    """Returns the parts that another binary would add to a binary: for each name, the bytes that are not there yet."""
    have: dict[tuple[str, str], int] = {}
    for name, part in attribution.pieces(image):
        have[name] = have.get(name, 0) + part.bytes
    parts: list[Part] = []
    for name, part in other_attribution.pieces(other):
        more = max(part.bytes - have.get(name, 0), 0)
        have[name] = have.get(name, 0) - (part.bytes - more)
        parts.append(replace(part, bytes=more))
    return sizes.united(parts)


def dtypes(text: str) -> str:
    """Returns the dtypes among a demangled name's template arguments, `Float` or `Float, Half`; empty for none."""
    found: set[str] = set()
    for match in _TEMPLATE.finditer(text):
        if not match[0].startswith(_FOREIGN):
            found.update(_DTYPES[argument] for argument in _arguments(text, match.end()) if argument in _DTYPES)
    return ", ".join(sorted(found))


def _arguments(text: str, start: int) -> Iterator[str]:
    """Yields the arguments of a template. The arguments begin at `start`."""
    begin = start
    depth = 0
    end = _end(text, start)
    for at in range(start, end):
        depth += (text[at] in _OPENING) - (text[at] in _CLOSING)
        if text[at] == "," and depth == 0:
            yield text[begin:at].strip()
            begin = at + 1
    yield text[begin:end].strip()


def _end(text: str, start: int) -> int:
    """Returns the place of the bracket that closes the one before `start`; the length of the text if there is none."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in _OPENING) - (text[at] in _CLOSING)
        if depth < 0:
            return at
    return len(text)


def _any_of(names: Iterable[str], end: str) -> re.Pattern[str]:
    """Returns a pattern that matches one of the names as a whole name. Without names, the pattern matches nothing."""
    choices = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![\w:])({choices}){end}" if choices else r"(?!)()")


def _purpose(section: str, purposes: Mapping[str, str]) -> str | None:
    return next((purpose for start, purpose in purposes.items() if section.startswith(start)), None)
