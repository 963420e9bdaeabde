"""Selections: the operators and kernels that models and lists of operators request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from codegen.model.kernel_keys import DEFAULT


@dataclass(frozen=True, slots=True)
class SelectedOperator:
    """One selected operator.

    Attributes:
        asked_by: the labels of the targets or models that request the operator.
        all_overloads: whether a name without an overload selects all overloads.
        kernel_keys: the keys of the selected kernels, see codegen/model/kernel_keys.py.
        is_root: whether a caller calls the operator. If false, no library has to provide the operator.
        is_used_for_training: a field for PyTorch. ExecuTorch ignores it.
    """

    asked_by: frozenset[str] = frozenset()
    all_overloads: bool = False
    kernel_keys: frozenset[str] = frozenset({DEFAULT})
    is_root: bool = True
    is_used_for_training: bool = True

    def __or__(self, other: SelectedOperator) -> SelectedOperator:
        return SelectedOperator(
            self.asked_by | other.asked_by,
            self.all_overloads or other.all_overloads,
            self.kernel_keys | other.kernel_keys,
            self.is_root or other.is_root,
            self.is_used_for_training or other.is_used_for_training,
        )


@dataclass(frozen=True, slots=True)
class Selection:
    """Operators by their full names. `include_all` also selects all operators that a library provides."""

    operators: Mapping[str, SelectedOperator]
    include_all: bool = False


def of(wanted: Mapping[str, Iterable[str]], asked_by: str) -> Selection:
    """Returns the selection of one target or model: operators with kernel keys."""
    source = frozenset({asked_by})
    return Selection({name: SelectedOperator(source, kernel_keys=frozenset(keys)) for name, keys in wanted.items()})


def unite(selections: Iterable[Selection]) -> Selection:
    """Returns the union of selections."""
    operators: dict[str, SelectedOperator] = {}
    include_all = False
    for selection in selections:
        include_all = include_all or selection.include_all
        for name, operator in selection.operators.items():
            operators[name] = operators[name] | operator if name in operators else operator
    return Selection(operators, include_all)
