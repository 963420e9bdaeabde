"""What a program needs of a binary: the operators that it calls, and the backends that it delegates to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from codegen.model import kernel_keys


@dataclass(slots=True)
class Calls:
    """The calls of an operator.

    Attributes:
        keys: the kernel keys that the runtime looks kernels for them up by.
        listed: the dtypes that only tensors in lists have, which no key tells of and which the kernel meets, too.
        kinds: the kinds of the values of each, named as in program.fbs, such as `Tensor`; the last value of a call is
            what it returns.
    """

    keys: set[str] = field(default_factory=set)
    listed: set[int] = field(default_factory=set)
    kinds: set[tuple[str, ...]] = field(default_factory=set)

    @property
    def dtypes(self) -> frozenset[int]:
        """The dtypes of all tensors of the calls."""
        return frozenset(self.listed).union(*(kernel_keys.dtypes([key]) or () for key in self.keys))

    @property
    def selected(self) -> frozenset[str]:
        """What to select for the calls: their keys, and one of each dtype of lists."""
        return frozenset([*self.keys, *map(kernel_keys.of_dtype, self.listed)])


@dataclass(frozen=True, slots=True)
class Program:
    """What any method of a program needs of a binary.

    Attributes:
        calls: the calls of operators, by their full names: `aten::add.out`. What a delegate runs is not among them: it
            brings its own.
        methods: the names of its methods.
        backends: the names of the backends that it delegates to.
    """

    calls: Mapping[str, Calls]
    methods: tuple[str, ...]
    backends: frozenset[str]
