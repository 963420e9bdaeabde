"""Fails if a binary has more bytes than a limit.

codegen size_limit --label //app:size --report size.json --max_bytes 100000 --output within_limit
"""

from __future__ import annotations

from pathlib import Path

from absl import flags

from codegen.artifacts import size_report
from codegen.commands import define, shared_flags
from codegen.model import sizes
from diagnostics.errors import InputError

FLAGS = shared_flags.flag_values()

_LABEL = shared_flags.label(FLAGS, "the report")
_REPORT = define.required(FLAGS, "report", "The JSON of 'codegen size'.")
_MAX_BYTES = flags.DEFINE_integer("max_bytes", None, "The limit.", required=True, lower_bound=1, flag_values=FLAGS)
_OUTPUT = shared_flags.output(FLAGS, "an empty file")

_SHOWN = 5


def run() -> None:
    report = size_report.read(_REPORT.value)
    over = report.bytes - _MAX_BYTES.value
    if over > 0:
        by_operator: dict[str, int] = {}
        for part in report.parts:
            if part.group == sizes.OPERATORS:
                by_operator[part.name] = by_operator.get(part.name, 0) + part.bytes
        largest = sorted(by_operator.items(), key=lambda each: (-each[1], each[0]))[:_SHOWN]
        raise InputError.of(
            id="binary-too-large",
            where=_LABEL.value,
            found=f"{report.label} has {report.bytes:,} bytes in memory, {over:,} more than max_bytes",
            cause="a model, an operator, a dtype or a library came to the binary",
            fix=f"look at {Path(_REPORT.value).with_suffix('.html').name} beside the JSON; select fewer operators "
            "or dtypes, or raise max_bytes",
            details=tuple(f"{name}: {count:,} bytes" for name, count in largest),
        )
    Path(_OUTPUT.value).write_text("")
