"""Fails if a program needs more memory than a limit.

codegen memory_limit --label //app:memory --report memory.json --max_bytes 100000 --output within_limit
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from absl import flags

from codegen.artifacts import memory_report
from codegen.artifacts.memory_report import MemoryReport
from codegen.commands import define, shared_flags
from diagnostics.errors import Finding, InputError

FLAGS = shared_flags.flag_values()

_LABEL = shared_flags.label(FLAGS, "the report")
_REPORT = define.required(FLAGS, "report", "The JSON of 'codegen memory'.")
_MAX_BYTES = flags.DEFINE_integer(
    "max_bytes", None, "The limit of the program's file and planned memory.", lower_bound=1, flag_values=FLAGS
)
_MAX_PLANNED_BYTES = flags.DEFINE_integer(
    "max_planned_bytes", None, "The limit of planned memory.", lower_bound=1, flag_values=FLAGS
)
_OUTPUT = shared_flags.output(FLAGS, "an empty file")

_SHOWN = 5


def run() -> None:
    report = memory_report.read(_REPORT.value)
    findings = [
        *_findings(report, "max_bytes", _MAX_BYTES.value, report.bytes),
        *_findings(report, "max_planned_bytes", _MAX_PLANNED_BYTES.value, report.planned),
    ]
    if findings:
        raise InputError(findings)
    Path(_OUTPUT.value).write_text("")


def _findings(report: MemoryReport, attribute: str, limit: int | None, needed: int) -> Iterator[Finding]:
    if limit is None or needed <= limit:
        return
    method = report.largest
    assert method
    planned = f"of planned memory for the method {method.name}"
    if attribute == "max_planned_bytes":
        needs = f"{needed:,} bytes {planned}"
    else:
        weights = f", {report.weights_bytes:,} of its weights" if report.weights_bytes else ""
        needs = f"{needed:,} bytes, {report.program_bytes:,} of its file{weights} and {method.planned:,} {planned}"
    yield Finding(
        id="memory-too-large",
        where=_LABEL.value,
        found=f"{report.label} needs {needs}, {needed - limit:,} more than {attribute}",
        cause="a tensor, a constant or a larger upper bound of a size came to the model",
        fix=f"look at {Path(_REPORT.value).with_suffix('.html').name} beside the JSON; export smaller tensors, or "
        f"raise {attribute}",
        details=tuple(
            f"{tensor.bytes:,} bytes: {tensor.name or method.instructions[tensor.first]}, {tensor.tensor}"
            for tensor in method.at_peak[:_SHOWN]
        ),
    )
