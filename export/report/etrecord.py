"""Writes an ETRecord: a program's graphs with the lines of Python behind the nodes, for ExecuTorch's Inspector."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping

from executorch.exir import ExecutorchProgramManager
from torch.export import ExportedProgram

from diagnostics.errors import InputError
from export.graph_passes import graphs
from export.report import origins
from export.user.model_file import Method

# The id of a graph: in the JSON within JSON by which a node names its source nodes, and alone in a file.
_GRAPH = re.compile(rb'(graph_id\\*": )(\d+)')
_GRAPH_ALONE = re.compile(rb"()(\d+)")


def check(method: Method) -> None:
    """Checks that executorch.devtools, which writes ETRecords, can be imported.

    Raises:
        InputError: the import failed. executorch.devtools imports the Inspector, which imports pandas.
    """
    try:
        import executorch.devtools.etrecord  # noqa: F401
    except ImportError as error:
        package = (error.name or "pandas").partition(".")[0]
        raise InputError.of(
            method.at,
            f"ExecuTorch cannot write an ETRecord: {error}",
            f"executorch.devtools imports {package}, which neither the lock nor `deps` has.",
            f"add {package} to the lock of executorch.python(requirements = ...), or to the program's `deps`.",
            id="etrecord-cannot-import",
        ) from error


def serialize(program: ExecutorchProgramManager, method: Method) -> bytes:
    """Returns the bytes of a program's ETRecord, without times and paths of the machine.

    Args:
        program: a program lowered with `to_edge_transform_and_lower(generate_etrecord = True)`.
        method: a method of the program, for error messages.
    Raises:
        InputError: ExecuTorch cannot write the program's graphs.
    """
    record = program.get_etrecord()
    for exported in _programs(record.exported_program, record.edge_dialect_program):
        for node in graphs.all_nodes(exported.graph_module):
            if trace := node.meta.get("stack_trace"):
                node.meta["stack_trace"] = origins.without_folders(trace)
    written = io.BytesIO()
    try:
        record.save(written)
    except Exception as error:
        raise method.source.failure(
            "ExecuTorch's ETRecord",
            error,
            at=method.at,
            cause="ETRecord holds no branches and loops with constants in them, nor every value that a graph can have.",
            fix="build the output groups without etrecord; the page of a profile needs none.",
        ) from error
    return _reproducible(written)


def _programs(*programs: ExportedProgram | Mapping[str, ExportedProgram] | None) -> Iterator[ExportedProgram]:
    for program in programs:
        if isinstance(program, Mapping):
            yield from program.values()
        elif program is not None:
            yield program


def _reproducible(archive: io.BytesIO) -> bytes:
    """Removes the archive's times, and numbers the graphs, whose ids in PyTorch are memory addresses."""
    numbers: dict[bytes, int] = {}

    def numbered(graph: re.Match[bytes]) -> bytes:
        return graph[1] + str(numbers.setdefault(graph[2], len(numbers))).encode()

    written = io.BytesIO()
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(written, "w") as new:
        for name in old.namelist():
            pattern = _GRAPH_ALONE if name == "export_graph_id" else _GRAPH
            new.writestr(zipfile.ZipInfo(name), pattern.sub(numbered, old.read(name)))
    return written.getvalue()
