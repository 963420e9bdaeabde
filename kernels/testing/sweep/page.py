"""The page docs/kernels.md with the findings of a sweep over all operators."""

from collections.abc import Iterable, Mapping, Sequence

import torch

from kernels.testing import inputs
from kernels.testing.sweep.departures import DEPARTURES, Departure
from kernels.testing.sweep.findings import Findings
from kernels.testing.sweep.sweep import Extent
from kernels.testing.sweep.undefined import UNDEFINED
from kernels.testing.tolerances import TOLERANCES

_PASSES, _NOT_IN_PYTORCH, _NOT_HERE, _PARTLY = "✓", "·", "✗", "(✓)"

_INTRODUCTION = f"""# Kernels against PyTorch

`tools/bazel run //kernels/testing/sweep` writes this page. The sweep calls each operator as a program does, through the
operator registry:

- with the calls of the operator that PyTorch's own samples (`OpInfo`) lead to, in every dtype, or with calls by hand of
  operators that no sample calls,
- with the inputs that PyTorch's samples of errors hold,
- with variations of these calls that Hypothesis makes: other dtypes, shapes of up to eight dimensions, dim orders,
  infinities, NaNs and the dtypes' extremes, arguments out of range, out tensors of other sizes, out tensors that cannot
  be resized, and, of pointwise operators, out tensors that share memory with an input.

PyTorch judges: the kernel gives PyTorch's values, or fails with `InvalidArgument` and a logged reason where PyTorch
refuses. Inputs end at a page without access, and out tensors lie between guard bytes. A sample of the sweep runs with
the tests.

## Operators and dtypes

A column is the dtype of the first tensor, of `where` that of the second, or of the result where the operator takes no
tensor. Calls with empty tensors do not count. The last column is the number of results that were compared.

- `{_PASSES}`: the results are PyTorch's.
- `{_NOT_IN_PYTORCH}`: PyTorch has no kernel of that dtype.
- `{_NOT_HERE}`: PyTorch has a kernel and this library has none: the departures below say why.
- `{_PARTLY}`: both; other arguments, such as a number or a second tensor, decide which.
"""


def render(results: Mapping[str, Findings], extent: Extent) -> str:
    """The whole page."""
    run = (
        f"This run: seed {extent.seed}, at most {extent.calls} samples of an operator for each dtype, and "
        f"{extent.variations} variations.\n"
    )
    return "\n".join(
        [
            _INTRODUCTION,
            run,
            *_operators(results),
            "",
            render_departures(),
            "",
            render_undefined(),
            "",
            render_tolerances(),
            "",
        ]
    )


def render_departures() -> str:
    """The part of the page with the departures."""
    return "\n".join([_DEPARTURES, *_table(["Operators", "What", "Why"], map(_departure, DEPARTURES))])


def render_undefined() -> str:
    """The part of the page with the results that PyTorch leaves undefined."""
    rows = [[_operator_list(undefined.operators), undefined.what] for undefined in UNDEFINED]
    return "\n".join([_UNDEFINED, *_table(["Operators", "What is undefined, and what is compared"], rows)])


def render_tolerances() -> str:
    """The part of the page with the table of tolerances."""
    rows = []
    for rounding, tolerances in TOLERANCES.items():
        allowed = [
            f"{_name(dtype)}: {t.relative:g} · &#124;x&#124; + {t.absolute:g}" for dtype, t in tolerances.items()
        ]
        rows.append([rounding.name, "<br>".join(allowed), rounding.value])
    return "\n".join([_TOLERANCES, *_table(["Row", "Allowed difference from x", "Why"], rows)])


_DEPARTURES = """## Departures from PyTorch

The sweep excuses these calls and no others. `//kernels/testing/sweep/tests:departures_test` makes a call of each, which
fails where kernel and PyTorch agree.
"""

_UNDEFINED = """## What PyTorch leaves undefined
"""

_TOLERANCES = """## Tolerances

Integers and Bools are equal. Floats differ by no more than the row that a test names. The sweep takes RESULT, of
`aten::grid_sampler_2d.out` POSITION, and of `mixed_linear.out` and `mixed_mm.out` SUM; beyond that, a result must be at
most twice as far as PyTorch's from what PyTorch calculates in Double, plus the row.
"""


def _operators(results: Mapping[str, Findings]) -> list[str]:
    dtypes = inputs.MOVABLE_DTYPES
    rows = [
        [f"`{name}`", *(_cell(findings, dtype) for dtype in dtypes), str(findings.equal)]
        for name, findings in sorted(results.items())
    ]
    return _table(["Operator", *map(_name, dtypes), "Calls"], rows)


def _cell(findings: Findings, dtype: torch.dtype) -> str:
    if dtype in findings.passes:
        return _PARTLY if dtype in findings.refused else _PASSES
    return _NOT_HERE if dtype in findings.refused else _NOT_IN_PYTORCH


def _departure(departure: Departure) -> list[str]:
    return [_operator_list(departure.operators) or "all", departure.what, departure.reason]


def _operator_list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows)]
