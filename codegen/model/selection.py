"""A selection: which operators, and which of their kernels, models and lists of operators ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from codegen.model.kernel_keys import DEFAULT


@dataclass(frozen=True, slots=True)
class SelectedOperator:
    """One selected operator.

    Attributes:
        asked_by: the labels of the targets or models that want it.
        all_overloads: whether a name without an overload stands for all overloads.
        kernel_keys: the kernels that are wanted, see codegen/model/kernel_keys.py.
        is_root: whether anything calls the operator; if not, nothing need provide it.
        is_used_for_training: what PyTorch selects by, and ExecuTorch does not.
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
    """Operators by their full names, and whether everything that a library provides is wanted on top."""

    operators: Mapping[str, SelectedOperator]
    include_all: bool = False


def of(wanted: Mapping[str, Iterable[str]], asked_by: str) -> Selection:
    """The selection of operators, each with kernel keys, that one target or model asks for."""
    source = frozenset({asked_by})
    return Selection({name: SelectedOperator(source, kernel_keys=frozenset(keys)) for name, keys in wanted.items()})


def unite(selections: Iterable[Selection]) -> Selection:
    """What any of the selections asks for."""
    operators: dict[str, SelectedOperator] = {}
    include_all = False
    for selection in selections:
        include_all = include_all or selection.include_all
        for name, operator in selection.operators.items():
            operators[name] = operators[name] | operator if name in operators else operator
    return Selection(operators, include_all)
