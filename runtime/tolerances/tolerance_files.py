"""The header and the module with the table of tolerances.yaml, for the runner and for the export."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import yaml

from runtime.tolerances.tolerance import OUTLIER_MEDIANS, Tolerance

_WRITTEN = "The default tolerances by dtype. Written from runtime/tolerances/tolerances.yaml, which describes them."
_NUMBERS = tuple(field.name for field in dataclasses.fields(Tolerance))


def read(text: str) -> dict[str, Tolerance]:
    """The tolerances of tolerances.yaml by dtype, in their order.

    Args:
        text: the contents of the file: a list of dtypes with the numbers of a Tolerance.
    Raises:
        ValueError: a number is missing, misspelt or negative, or two entries have one dtype.
    """
    tolerances: dict[str, Tolerance] = {}
    for entry in yaml.safe_load(text):
        dtype = entry["dtype"]
        if dtype in tolerances:
            raise ValueError(f"two entries have the dtype {dtype}")
        if set(entry) != {"dtype", *_NUMBERS}:
            raise ValueError(f"{dtype}: expected the numbers {', '.join(_NUMBERS)}, got {', '.join(entry)}")
        tolerances[dtype] = Tolerance(**{name: _number(dtype, name, entry[name]) for name in _NUMBERS})
    return tolerances


def header(tolerances: Mapping[str, Tolerance]) -> str:
    """The C++ header with the table."""
    rows = "".join(
        f'    {{"{dtype}", {", ".join(repr(getattr(tolerance, name)) for name in _NUMBERS)}}},\n'
        for dtype, tolerance in tolerances.items()
    )
    fields = "".join(f"  double {name};\n" for name in _NUMBERS)
    return (
        f"#pragma once\n\n// {_WRITTEN}\n\nnamespace rules_executorch {{\n\n"
        f"// The tolerance for outputs of one dtype.\nstruct DtypeTolerance {{\n  const char* dtype;\n{fields}}};\n\n"
        f"inline constexpr DtypeTolerance kTolerances[] = {{\n{rows}}};\n\n"
        f"// An element whose size is more than this number of medians is an outlier.\n"
        f"inline constexpr double kOutlierMedians = {OUTLIER_MEDIANS!r};\n\n}}  // namespace rules_executorch\n"
    )


def module(tolerances: Mapping[str, Tolerance]) -> str:
    """The Python module with the table."""
    rows = "".join(f'    "{dtype}": {tolerance!r},\n' for dtype, tolerance in tolerances.items())
    return f'"""{_WRITTEN}"""\n\nfrom runtime.tolerances.tolerance import Tolerance\n\nTOLERANCES = {{\n{rows}}}\n'


def _number(dtype: str, name: str, value: Any) -> float:
    # YAML reads 1e-7 as a string, and 1.0e-7 as a number.
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise ValueError(f"{dtype}: {name}: expected a number of at least 0, such as 1.0e-7, got {value!r}")
    return float(value)
