"""Checks that the ops of a package fit the operators of PyTorch that they compute."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from absl import app, flags

from codegen.model import schema as schemas
from diagnostics.errors import Finding, InputError, Location
from diagnostics.suggest import did_you_mean, nearest_operators
from qnn import package_files
from qnn.checks import operator_schema
from qnn.registration import registration

if TYPE_CHECKING:
    from codegen.model.schema import FunctionSchema

_XML = flags.DEFINE_multi_string("xml", None, "An XML file of the package. May be given several times.", required=True)
_LABEL = flags.DEFINE_string("label", None, "The label of the package.", required=True)
_BACKEND = flags.DEFINE_string("backend", "HTP", "The backend that the package is for.")
_TORCH_OPS = flags.DEFINE_multi_string(
    "torch_op", [], "<op>=<operator>: the operator of PyTorch's that an op computes."
)
_MODULES = flags.DEFINE_multi_string("module", [], "A module that registers operators when it is imported.")
_IMPORT_PATHS = flags.DEFINE_multi_string("import_path", [], "Folder in which modules are looked up first.")
_REPORT = flags.DEFINE_string("report", None, "Where to write what was checked.", required=True)


def main(argv: Sequence[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {' '.join(argv[1:])}")
    findings: list[Finding] = []
    report = []
    try:
        package, _ = package_files.read(_XML.value, _BACKEND.value, _LABEL.value)
        for op_type, operator in (text.split("=", 1) for text in _TORCH_OPS.value):
            op_def = package_files.op(package, op_type, _LABEL.value, "torch_ops")
            schema = _schema(operator)
            report.append(f"{package.name} {op_type}: {schema}\n")
            found = operator_schema.judge(package, op_def, schema, _BACKEND.value)
            findings += found
            report += [f"{finding}\n" for finding in found]
    except InputError as error:
        findings += error.findings
    errors = [finding for finding in findings if finding.severity == "error"]
    for finding in findings:
        print(finding, file=sys.stderr)
    if not errors:
        Path(_REPORT.value).write_text("".join(report))
    return int(bool(errors))


def _schema(operator: str) -> FunctionSchema:
    """Returns the schema of an operator in PyTorch, after the import of the modules.

    Raises:
        InputError: PyTorch has no operator of that name.
    """
    name = registration.operator_name(operator, _LABEL.value)
    dispatcher = _dispatcher()
    qualified = f"{name.namespace}::{name.name}"
    names = dispatcher._dispatch_get_all_op_names()
    if str(name) not in names:
        near = nearest_operators(str(name), names)
        raise InputError.of(
            _LABEL.value,
            f"attribute torch_ops: no library registers the operator {operator}{did_you_mean(near)}",
            "a typo, or no module of `deps` registers the operator at import",
            "add the library that registers the operator to `deps`; for a torch_op_library, its py_library",
            id="unknown-torch-operator",
        )
    text = str(dispatcher._get_schema(qualified, name.overload))
    return schemas.parse(text, lambda offset: Location(text))


def _dispatcher() -> Any:
    """Imports the modules, which register operators. Returns PyTorch's dispatcher."""
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(Path(path).absolute()) for path in _IMPORT_PATHS.value]
    import torch  # The import takes seconds, which --help avoids.

    for module in _MODULES.value:
        try:
            importlib.import_module(module)
        except Exception as error:
            raise InputError.of(
                _LABEL.value,
                f"importing {module} raised {type(error).__name__}: {error}",
                "the module has a mistake, or its `deps` lack a library that the module imports",
                f"correct the module, and check that `import {module}` works in Python",
                tuple(_frames(error)),
                id="user-code-raised",
            ) from error
    return torch._C


def _frames(error: BaseException) -> Iterator[str]:
    """Yields the frames of an exception in the user's own modules."""
    trace = error.__traceback__
    while trace:
        path = Path(trace.tb_frame.f_code.co_filename)
        if any(path.is_relative_to(Path(folder).absolute()) for folder in _IMPORT_PATHS.value):
            yield f"{path.name}:{trace.tb_lineno}, in {trace.tb_frame.f_code.co_name}"
        trace = trace.tb_next


if __name__ == "__main__":
    app.run(main)
