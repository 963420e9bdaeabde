"""Exports a PyTorch model to an ExecuTorch program, with sample inputs and eager outputs to test it against.

The model is a Python file with an entry point; README.md beside this file has the contract. Success prints nothing; bad
input prints one error and exits with status 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from absl import app, flags

from diagnostics.errors import Finding
from export import command

_PROGRAM = flags.DEFINE_string("program", None, "Where to write the program (.pte).")
_SAMPLES = flags.DEFINE_string("samples", None, "Where to write sample inputs and eager outputs (.ptd).")
_BACKENDS = flags.DEFINE_multi_string(
    "backend", [], "Name of a recipe that lowers to a backend. May be given several times: the first takes first."
)
_QUANTIZE = flags.DEFINE_string("quantize", "", "Name of a recipe that quantizes the model before.")
_REPORT = flags.DEFINE_string("report", None, "Where to write what went to which backend, and why, as text.")
_REPORT_JSON = flags.DEFINE_string("report_json", None, "The same as JSON.")
_GRAPH_PASSES = flags.DEFINE_multi_string(
    "graph_passes",
    ["default"],
    "Name of a pass, or of a group of passes, that prepares the graphs for kernels: README.md has them. May be given"
    " several times; empty for none.",
)
_STRICT_PASSES = flags.DEFINE_bool(
    "strict_passes", False, "End the export where a graph pass raises; by default, the export goes on with a warning."
)
_PASSES = flags.DEFINE_string("passes_report", None, "Where to write what the graph passes did, as text.")
_PASSES_JSON = flags.DEFINE_string("passes_report_json", None, "The same as JSON.")
_ORIGINS = flags.DEFINE_string(
    "origins", None, "Where to write which line of Python each instruction comes from (.json)."
)
_ETRECORD = flags.DEFINE_string(
    "etrecord", None, "Where to write an ETRecord, with which ExecuTorch's Inspector reads profiles. Needs pandas."
)


def _load() -> command.Export:
    from export import delegation, exporter
    from export.graph_passes import report as passes_report

    # The model file may change the working directory.
    program, samples, report, report_json, passes, passes_json, origins, etrecord = (
        Path(flag.value).absolute() if flag.value else None
        for flag in (_PROGRAM, _SAMPLES, _REPORT, _REPORT_JSON, _PASSES, _PASSES_JSON, _ORIGINS, _ETRECORD)
    )

    def export(model: Path, entry_point: str, import_paths: Sequence[Path]) -> Sequence[Finding]:
        done = exporter.export(
            model,
            entry_point,
            import_paths,
            backends=_BACKENDS.value,
            quantize=_QUANTIZE.value,
            graph_passes=[] if _GRAPH_PASSES.value == [""] else _GRAPH_PASSES.value,
            strict_passes=_STRICT_PASSES.value,
            with_etrecord=etrecord is not None,
        )
        for file, content in (
            (program, done.pte),
            (samples, done.ptd),
            (report, delegation.as_text(done.delegations).encode()),
            (report_json, delegation.as_json(done.delegations).encode()),
            (passes, passes_report.as_text(done.graph_passes).encode()),
            (passes_json, passes_report.as_json(done.graph_passes).encode()),
            (origins, done.origins),
            (etrecord, done.etrecord),
        ):
            if file and content:
                file.write_bytes(content)
        return done.warnings

    return export


def main(argv: Sequence[str]) -> int:
    return command.run(argv, _load)


if __name__ == "__main__":
    app.run(main)
