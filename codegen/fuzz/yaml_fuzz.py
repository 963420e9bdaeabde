"""Fuzzes the readers of YAML: functions.yaml, custom_ops.yaml, selected_operators.yaml."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import atheris

from codegen.fuzz import fuzzing

with atheris.instrument_imports(include=["codegen"]):
    from codegen.inputs import functions_yaml, selected_operators

_FILE = fuzzing.File()
_SELECTION = b"""\
et_kernel_metadata:
  aten::add.out: [default]
include_all_operators: false
operators:
  aten::add.out: {debug_info: [//a:b], include_all_overloads: false, is_root_operator: true, is_used_for_training: true}
"""


def _test(data: bytes) -> None:
    _FILE.write(data)
    with fuzzing.answer():
        functions_yaml.read(_FILE.path, None, max_kernels=2000)
    with fuzzing.answer():
        functions_yaml.read(None, _FILE.path, max_kernels=2000)
    with fuzzing.answer():
        selected_operators.read(_FILE.path)


def _seeds(file: Path) -> Iterator[bytes]:
    """Yields the whole file, each of its entries, and a selection."""
    content = file.read_bytes()
    yield content
    yield _SELECTION
    yield from (b"- " + entry for entry in content.split(b"\n- ")[1:])


if __name__ == "__main__":
    fuzzing.run(_test, _seeds)
