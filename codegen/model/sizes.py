"""The parts of a size report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# The groups of parts, in the order in which reports show them.
OPERATORS = "operators"
SHARED_KERNEL_CODE = "code that kernels share"
REGISTRATION = "registration"
RUNNER = "runner"
RUNTIME = "runtime"
LIBRARIES = "C and C++ library"
OTHER_CODE = "other code and data"
SECTIONS = "rest of the sections"
GROUPS = (OPERATORS, SHARED_KERNEL_CODE, REGISTRATION, RUNNER, RUNTIME, LIBRARIES, OTHER_CODE, SECTIONS)


@dataclass(frozen=True, slots=True)
class Part:
    """Some bytes of a binary.

    Attributes:
        group: one of GROUPS.
        name: the owner of the bytes: an operator; several operators that share a function or a file, joined with ", ";
            or a description, a class or a function.
        dtype: the dtypes of the bytes, as in `Float` or `Float, Half`; empty if no symbol's name has dtypes.
        bytes: the number of bytes.
    """

    group: str
    name: str
    dtype: str
    bytes: int

    def __post_init__(self) -> None:
        if self.group not in GROUPS or self.bytes < 0:
            raise ValueError(f"no part of a binary: {self}")


def united(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Returns the parts, sorted by group and name. Parts with the same group, name and dtype are added up."""
    sums: dict[tuple[str, str, str], int] = {}
    for part in parts:
        key = (part.group, part.name, part.dtype)
        sums[key] = sums.get(key, 0) + part.bytes
    return tuple(
        Part(*key, count)
        for key, count in sorted(sums.items(), key=lambda entry: (GROUPS.index(entry[0][0]), *entry[0][1:]))
        if count
    )


@dataclass(frozen=True, slots=True)
class SharedCode:
    """Code of SHARED_KERNEL_CODE that the same operators use.

    Attributes:
        operators: the operators, sorted. A binary without all of these lacks the code. Empty if no use was found.
        is_of_program: whether the runner or the registration uses the code too, so that it stays.
        names: the bytes of each class or function, the largest first.
    """

    operators: tuple[str, ...]
    is_of_program: bool
    names: tuple[tuple[str, int], ...]

    @property
    def bytes(self) -> int:
        """The number of bytes."""
        return sum(count for _, count in self.names)
