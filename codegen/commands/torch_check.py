"""Checks that one process can load several operator libraries: no two of them define the same namespace.

    codegen torch_check --label //app:ops --manifest a.torch.json --manifest b.torch.json --output report.txt

With --operators, the command also checks that no library derives an operator that another library defines. With
--package and --needed, the command checks that the libraries define all operators that a package of AOTInductor calls.
Writes a report of the namespaces and the libraries that define them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from absl import flags

from codegen.artifacts import torch_manifest, torch_operators
from codegen.artifacts.torch_operators import TorchOperators
from codegen.checks import torch_namespaces
from codegen.commands import define, shared_flags
from diagnostics import derived_operator
from diagnostics.errors import Finding, InputError
from diagnostics.suggest import did_you_mean, nearest_operators

FLAGS = shared_flags.flag_values()

_LABEL = shared_flags.label(FLAGS, "what loads the libraries")
_MANIFESTS = define.several(FLAGS, "manifest", "The .torch.json of an operator library.")
_PACKAGE = flags.DEFINE_string("package", "", "The label of the package of AOTInductor.", flag_values=FLAGS)
_NEEDED = define.optional(FLAGS, "needed", "Operators that the package calls, one a line.")
_OPERATORS = define.several(FLAGS, "operators", "The .torch_operators.json of an operator library.")
_OUTPUT = shared_flags.output(FLAGS, "the report")

# The dispatch keys of kernels for the CPU.
_CPU_KEYS = {"CPU", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutograd"}


def run() -> None:
    manifests = [torch_manifest.read(path) for path in _MANIFESTS.value]
    findings = torch_namespaces.duplicates(_LABEL.value, manifests)
    libraries = [torch_operators.read(path) for path in _OPERATORS.value]
    findings += _derived(_LABEL.value, libraries)
    if _NEEDED.value:
        needed = Path(_NEEDED.value).read_text().split()
        findings += _missing(_LABEL.value, _PACKAGE.value, needed, libraries)
    if findings:
        raise InputError(findings)
    lines = [
        f"{registration.namespace}: {registration.kind}{registration.dispatch_key and ' ' + registration.dispatch_key}"
        f" of {manifest.place(registration)}\n"
        for manifest in manifests
        for registration in manifest.registrations
    ]
    Path(_OUTPUT.value).write_text("What the operator libraries register with PyTorch:\n" + "".join(sorted(lines)))


def _derived(label: str, libraries: Sequence[TorchOperators]) -> list[Finding]:
    """Returns a finding for each operator that one library derives from the out variant and another defines."""
    deriving = {o.name: o.derived_by for library in libraries for o in library.operators if o.derived_by}
    return [
        derived_operator.finding(label, operator.name, library.label, deriving[operator.name])
        for library in libraries
        for operator in library.operators
        if not operator.derived_by and operator.name in deriving
    ]


def _missing(label: str, package: str, needed: Sequence[str], libraries: Sequence[TorchOperators]) -> list[Finding]:
    """Returns a finding for each operator of a package without a kernel in the libraries."""
    kernels: dict[str, set[str]] = {}
    for operator in (operator for library in libraries for operator in library.operators):
        kernels.setdefault(operator.name, set()).update(operator.kernels)
    provided = [name for name, keys in kernels.items() if keys & _CPU_KEYS]
    where = ", ".join(library.label for library in libraries) or "none is in deps"
    return [
        Finding(
            id="missing-torch-operator",
            where=label,
            found=f"{name}, which {package} calls, "
            + ("has no kernel for the CPU" if name in kernels else "is defined by none of the operator libraries")
            + f" ({where}){did_you_mean(nearest_operators(name, provided))}",
            cause="the library that Python loaded when the package was compiled is not linked into the binary",
            fix="add the torch_op_library that defines it to deps",
        )
        for name in needed
        if name not in provided
    ]
