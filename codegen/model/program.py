"""A program's requirements of a binary: called operators, methods and backends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from codegen.model import kernel_keys


@dataclass(slots=True)
class Calls:
    """The calls of an operator.

    Attributes:
        keys: the kernel keys of the calls.
        listed: the dtypes of tensors in lists only. Keys do not have these dtypes, but kernels must support them.
        kinds: the kinds of the values of each call, named as in program.fbs, such as `Tensor`. The last value of a call
            is the result.
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
        """The keys to select for the calls: the kernel keys, and a key for each dtype of lists."""
        return frozenset([*self.keys, *map(kernel_keys.of_dtype, self.listed)])


@dataclass(frozen=True, slots=True)
class Program:
    """The requirements of all methods of a program.

    Attributes:
        calls: the calls of operators, by their full names: `aten::add.out`. Operators in delegates are not included,
            since backends have their own kernels.
        methods: the names of the methods.
        backends: the names of the backends to which the program delegates.
        has_constants_in_other_files: whether a method needs constants that another file has.
    """

    calls: Mapping[str, Calls]
    methods: tuple[str, ...]
    backends: frozenset[str]
    has_constants_in_other_files: bool
