"""Attributes each byte of a binary to an operator or another part, by the names of symbols."""

from __future__ import annotations

import bisect
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from codegen.binaries.image import UNWINDING, Image, Section, Symbol
from codegen.model import sizes
from codegen.model.sizes import Part, SharedCode

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

# The code that stays without operators, and its name among the users of code.
_OF_PROGRAM = (sizes.RUNNER, sizes.REGISTRATION)
_PROGRAM = "the program"

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


@dataclass(frozen=True, slots=True)
class _Claim:
    """Bytes of a section, from `begin` to before `end`, with the symbol that names them and with their owner."""

    symbol: Symbol
    owner: Owner
    begin: int
    end: int


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
        named = 0
        for claim in self._claims(section, owners):
            count = claim.end - claim.begin
            text = self._text(claim.symbol)
            is_kernel = claim.owner.group in (sizes.OPERATORS, sizes.SHARED_KERNEL_CODE)
            piece = (section.name, self._library.sub("", text))
            yield piece, Part(claim.owner.group, claim.owner.name, dtypes(text) if is_kernel else "", count)
            named += count
        rest = _purpose(section.name, _LINKED_SECTIONS) or _purpose(section.name, _OTHER_SECTIONS)
        name = f"{section.name}: {rest}" if rest else section.name
        yield (section.name, ""), Part(sizes.SECTIONS, name, "", section.size - named)

    def _claims(self, section: Section, owners: Mapping[int, Owner]) -> Iterator[_Claim]:
        """Yields the named bytes of a section in order. Each byte is in one claim at most."""
        purpose = _purpose(section.name, _LINKED_SECTIONS)
        symbols = section.symbols if purpose is None or section.name == UNWINDING else ()
        end = 0
        # Of symbols with the same start, the longest one owns the bytes. Of aliases, a kernel's name comes first, and a
        # global name comes before a local one.
        for symbol in sorted(symbols, key=self._order):
            begin, stop = max(symbol.start, end, 0), min(symbol.start + symbol.size, section.size)
            if stop > begin:
                yield _Claim(symbol, self._owner(symbol, owners), begin, stop)
                end = stop

    def shared_code(self, image: Image, references: Iterable[tuple[int, int]]) -> tuple[SharedCode, ...]:
        """Returns the code that kernels share by the operators that use it, the largest first.

        Args:
            image: the binary.
            references: the addresses that refer, and those that they refer to.
        """
        owners = self._file_owners(image)
        claims = [(section, claim) for section in image.sections for claim in self._claims(section, owners)]
        graph = _Graph(claims, references)
        users = graph.users()
        # An entry of the unwind table has the users of its function.
        by_function: dict[tuple[str, int], set[str]] = {}
        for (_, claim), of_claim in zip(claims, users, strict=True):
            by_function.setdefault((claim.symbol.name, claim.symbol.source), set()).update(of_claim)
        names: dict[frozenset[str], dict[str, int]] = {}
        for _, claim in claims:
            if claim.owner.group == sizes.SHARED_KERNEL_CODE:
                of = names.setdefault(frozenset(by_function[claim.symbol.name, claim.symbol.source]), {})
                of[claim.owner.name] = of.get(claim.owner.name, 0) + claim.end - claim.begin
        found = [
            SharedCode(
                tuple(sorted(of_names - {_PROGRAM})),
                _PROGRAM in of_names,
                tuple(sorted(counts.items(), key=lambda each: (-each[1], each[0]))),
            )
            for of_names, counts in names.items()
        ]
        return tuple(sorted(found, key=lambda shared: (-shared.bytes, shared.operators)))

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


class _Graph:
    """The references between the claims of a binary."""

    def __init__(self, claims: Sequence[tuple[Section, _Claim]], references: Iterable[tuple[int, int]]) -> None:
        self._claims = [claim for _, claim in claims]
        # Of sections for each thread, addresses are in other sections.
        placed = sorted(
            (section.address + claim.begin, section.address + claim.end, number)
            for number, (section, claim) in enumerate(claims)
            if section.address and section.name != UNWINDING and not section.name.startswith((".tbss", ".tdata"))
        )
        begins = [begin for begin, _, _ in placed]

        def at(address: int) -> int | None:
            place = bisect.bisect_right(begins, address) - 1
            return placed[place][2] if place >= 0 and address < placed[place][1] else None

        self._next: dict[int, set[int]] = {}
        for place, target in references:
            first, second = at(place), at(target)
            if first is not None and second is not None and first != second:
                self._next.setdefault(first, set()).add(second)

    def users(self) -> list[set[str]]:
        """Returns the operators that reach each claim, and _PROGRAM if other code reaches it without an operator."""
        starts: dict[str, list[int]] = {}
        for number, claim in enumerate(self._claims):
            if claim.owner.group == sizes.OPERATORS:
                for operator in claim.owner.name.split(", "):
                    starts.setdefault(operator, []).append(number)
            elif claim.owner.group in _OF_PROGRAM:
                starts.setdefault(_PROGRAM, []).append(number)
        found: list[set[str]] = [set() for _ in self._claims]
        for name, numbers in starts.items():
            # A table of kernels leads to all operators.
            barred = (sizes.OPERATORS,) if name == _PROGRAM else _OF_PROGRAM
            for number in self._reached(numbers, barred):
                found[number].add(name)
        return found

    def _reached(self, numbers: Iterable[int], barred: Collection[str]) -> set[int]:
        reached = set(numbers)
        open_ = list(reached)
        while open_:
            for number in self._next.get(open_.pop(), ()):
                if number not in reached and self._claims[number].owner.group not in barred:
                    reached.add(number)
                    open_.append(number)
        return reached


def added(image: Image, attribution: Attribution, other: Image, other_attribution: Attribution) -> tuple[Part, ...]:
    """Returns the parts that the models of another binary would add to a binary: for each name, the bytes that are new.

    The other binary's runner is left out: the models run in the program that the binary has.
    """
    have: dict[tuple[str, str], int] = {}
    for name, part in attribution.pieces(image):
        have[name] = have.get(name, 0) + part.bytes
    parts: list[Part] = []
    for name, part in other_attribution.pieces(other):
        more = max(part.bytes - have.get(name, 0), 0)
        have[name] = have.get(name, 0) - (part.bytes - more)
        if part.group != sizes.RUNNER:
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
