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

`tools/bazel run //kernels/testing/sweep` writes this page. The sweep calls each operator through the operator registry,
as a program does, with these arguments:

- the calls of the operator in PyTorch's samples (`OpInfo`), in every dtype; handwritten calls, if no sample calls the
  operator;
- the inputs of PyTorch's samples of errors;
- variations of these calls by Hypothesis: other dtypes, shapes of up to eight dimensions, dim orders, infinities, NaNs
  and the dtypes' extremes, arguments out of range, out tensors of other sizes, out tensors that cannot be resized, and,
  for pointwise operators, out tensors that share memory with an input.

A kernel passes if its values equal PyTorch's, or if it fails with `InvalidArgument` and a logged reason where PyTorch
raises an error. Inputs end at a page without access, and out tensors are between guard bytes. A sample of the sweep is
part of the tests.

## Operators and dtypes

A column is the dtype of the first tensor; for `where`, of the second tensor; for an operator without tensor arguments,
of the result. Calls with empty tensors do not count. The last column has the number of compared results.

- `{_PASSES}`: the results equal PyTorch's.
- `{_NOT_IN_PYTORCH}`: PyTorch has no kernel for this dtype.
- `{_NOT_HERE}`: PyTorch has a kernel, and this library has none. The differences below have the reasons.
- `{_PARTLY}`: the support depends on other arguments, such as a number or a second tensor.
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
    return "\n".join([_DEPARTURES, *_table(["Operators", "Difference", "Reason"], map(_departure, DEPARTURES))])


def render_undefined() -> str:
    """The part of the page with the results that PyTorch leaves undefined."""
    rows = [[_operator_list(undefined.operators), undefined.what] for undefined in UNDEFINED]
    return "\n".join([_UNDEFINED, *_table(["Operators", "Undefined part, and comparison"], rows)])


def render_tolerances() -> str:
    """The part of the page with the table of tolerances."""
    rows = []
    for rounding, tolerances in TOLERANCES.items():
        allowed = [
            f"{_name(dtype)}: {t.relative:g} · &#124;x&#124; + {t.absolute:g}" for dtype, t in tolerances.items()
        ]
        rows.append([rounding.name, "<br>".join(allowed), rounding.value])
    return "\n".join([_TOLERANCES, *_table(["Row", "Allowed difference from x", "Reason"], rows)])


_DEPARTURES = """## Differences from PyTorch

The sweep allows these differences only. `//kernels/testing/sweep/tests:departures_test` has an example of each
difference, and fails if the kernel and PyTorch agree.
"""

_UNDEFINED = """## Undefined results of PyTorch
"""

_TOLERANCES = """## Tolerances

Integers and Bools must be equal. Floats may differ by the row that a test names. The sweep uses the row RESULT, except
POSITION for `aten::grid_sampler_2d.out`, and SUM for `mixed_linear.out` and `mixed_mm.out`. For a larger difference,
the error of the result must be at most twice the error of PyTorch's result, plus the row. Both errors are differences
from PyTorch's result in Double.
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
