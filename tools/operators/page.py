"""The page of the operators' ways."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tools.operators.ways import WITHOUT_WAY, Way

PAGE = Path("docs", "operators.md")
_HEAD = """\
# Operators of PyTorch in programs

`tools/bazel run //tools/operators` writes this page. The operators are those of Core ATen (PyTorch's tag
`core_aten_ir`), and others that published packages call. The second column is what a program calls in place of the
operator, without graph passes:

- the operator's own kernel;
- the operators into which an export decomposes it, by PyTorch's decompositions, ExecuTorch's or
  [ours](../export/lower/decompositions.py);
- nothing, with the reason.

[Kernels against PyTorch](kernels.md) has the dtypes of each kernel.

Vectors of `eigh` and `svd` are unique up to a sign, and may have another one than PyTorch's
([how a model fixes signs](../kernels/linalg/README.md#signs)).

"""


def page(ways: Mapping[str, Way]) -> str:
    """Returns the page of the ways, by the names of the operators."""
    rows = [f"| `{name}` | {_text(name, way)} |" for name, way in ways.items()]
    return _HEAD + "\n".join(["| operator | a program calls |", "|---|---|", *rows]) + "\n"


def _text(name: str, way: Way) -> str:
    if way.missing:
        return f"none: {WITHOUT_WAY.get(name, 'no kernel has ' + ', '.join(way.missing))}"
    return way.note or ", ".join(f"`{one}`" for one in way.operators) or "nothing: the result is known at the export"
