"""Selects the requested operators from the provided ones. Missing operators give findings."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from codegen.checks import missing
from codegen.model import aten_kernels, kernel_keys, prim_ops
from codegen.model.operators import Operator
from codegen.model.selection import SelectedOperator, Selection
from diagnostics.errors import Finding, InputError


def select(wanted: Selection, provided: Mapping[str, Operator], providers: str, label: str) -> list[Operator]:
    """Returns the selected operators, sorted by name, each with the kernels that the selected calls need.

    Args:
        wanted: the selection.
        provided: the provided operators, by their full names.
        providers: the providers of the operators, for messages.
        label: the label of the library.

    Raises:
        InputError: operators or kernels of the selection are not provided. The error has a finding for each.
    """
    selected = set(provided) if wanted.include_all else set()
    # The operators for which the selection may request only some kernels.
    by_key = set(wanted.operators) - selected
    findings: list[Finding] = []
    for name, operator in sorted(wanted.operators.items()):
        if name in prim_ops.PRIM_OPS or not operator.is_root:
            continue
        names = [name] if name in provided else []
        if operator.all_overloads and "." not in name:
            names = [candidate for candidate in provided if candidate.partition(".")[0] == name]
            by_key.difference_update(names)
        if not names:
            findings.append(_missing(name, operator, provided, providers, label))
        selected.update(names)
    operators = []
    for name in sorted(selected):
        whole = provided[name]
        operators.append(_with_kernels(whole, wanted.operators[name], findings) if name in by_key else whole)
    if findings:
        raise InputError(findings)
    return operators


def _missing(
    name: str, wanted: SelectedOperator, provided: Mapping[str, Operator], providers: str, label: str
) -> Finding:
    if isinstance(provided, aten_kernels.WithAtenKernels):
        finding = aten_kernels.no_out_variant(name, sorted(wanted.asked_by), label)
        if finding:
            return finding
    own = missing.own_kernels(name, provided)
    fixes = [own or "add the operator with a kernel of your own to a YAML of the library"]
    prebuilt = missing.prebuilt_kernels(name)
    if prebuilt:
        fixes.append(f"link {prebuilt}, ExecuTorch's own kernels, in place of the library")
    if not own and not missing.is_pytorchs(name):
        fixes.insert(0, "correct the name where it is selected")
    elif not own and not isinstance(provided, aten_kernels.WithAtenKernels):
        fixes.insert(
            0,
            'for PyTorch\'s own kernel, give the executorch_generated_lib fallback = "aten"; executorch_model takes '
            "such a library in its attribute library",
        )
    return missing.operator(
        name, asked_by=wanted.asked_by, provided=provided, providers=providers, where=label, fixes=fixes
    )


def _with_kernels(operator: Operator, wanted: SelectedOperator, findings: list[Finding]) -> Operator:
    """Returns the operator with the kernels that calls of the selected dtypes and dim orders need."""
    declared = [key for kernel in operator.kernels for key in kernel.keys]
    calls = set(filter(kernel_keys.is_call, wanted.kernel_keys))
    unmatched = missing.unmatched_keys(declared, calls)
    # The dtypes that are selected for all calls; None for all dtypes.
    dtypes = kernel_keys.dtypes(wanted.kernel_keys - calls) if wanted.kernel_keys - calls else frozenset[int]()

    def is_reached(key: str) -> bool:
        if dtypes is None:
            return True
        if key == kernel_keys.DEFAULT:
            return bool(unmatched or dtypes)
        return key in calls or not dtypes.isdisjoint(kernel_keys.dtypes([key]) or ())

    kernels = [dataclasses.replace(kernel, keys=tuple(filter(is_reached, kernel.keys))) for kernel in operator.kernels]
    reached = tuple(kernel for kernel in kernels if kernel.keys)
    if operator.default is None and (unmatched or not reached):
        needed = unmatched or sorted(wanted.kernel_keys)
        findings.append(
            missing.kernel(operator.name, needed, declared, wanted.asked_by, operator.location, hidden=operator.hidden)
        )
    return dataclasses.replace(operator, kernels=reached)
