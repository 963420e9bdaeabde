"""Reads a sample file with arguments for tests of an operator. README.md beside this file has the contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from diagnostics.errors import Location
from export.user import inputs, user_file
from export.user.inputs import Inputs
from export.user.source import Source

_CONTRACT = "a list of samples, each a tuple of arguments, a dict of keyword arguments, or a pair of both"


@dataclass(frozen=True)
class Samples:
    """Samples: arguments for calls of an operator.

    Attributes:
        inputs: the arguments of each call.
        source: the sample file.
        at: the location of the entry point.
    """

    inputs: tuple[Inputs, ...]
    source: Source
    at: Location


def load(source: Source, entry_point: str) -> Samples:
    """Runs a sample file.

    Args:
        source: the file.
        entry_point: the name of the function in the file that returns the samples.
    Raises:
        InputError: the file, or the function's result, does not match README.md.
    """
    get_samples = user_file.run(source).entry_point(entry_point, _CONTRACT)
    torch.manual_seed(0)
    samples = source.call(get_samples)
    at = source.location(get_samples)
    if not isinstance(samples, (list, tuple)) or not samples:
        raise source.nonsense(at, f"{entry_point}()", samples, _CONTRACT)
    return Samples(tuple(_inputs(source, at, f"{entry_point}()[{i}]", s) for i, s in enumerate(samples)), source, at)


def _inputs(source: Source, at: Location, what: str, sample: Any) -> Inputs:
    # No operator takes a tuple or a dict, so a pair of them is (positional arguments, keyword arguments).
    if isinstance(sample, tuple) and [type(part) for part in sample] == [tuple, dict]:
        return Inputs(sample[0], sample[1])
    return inputs.read(source, at, what, sample)
