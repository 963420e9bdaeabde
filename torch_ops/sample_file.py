"""Reads a sample file with arguments for tests of an operator. README.md beside this file has the contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from diagnostics.errors import Location
from export.user.user_file import Inputs, UserFile

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
    source: UserFile
    at: Location


def load(file: UserFile, entry_point: str) -> Samples:
    """Runs a sample file.

    Args:
        file: the file.
        entry_point: the name of the function in the file that returns the samples.
    Raises:
        InputError: the file, or the function's result, does not match README.md.
    """
    module = file.run()
    get_samples = file.entry_point(module, entry_point, _CONTRACT)
    torch.manual_seed(0)
    samples = file.call(get_samples)
    at = file.location(get_samples)
    if not isinstance(samples, (list, tuple)) or not samples:
        raise file.nonsense(at, f"{entry_point}()", samples, _CONTRACT)
    return Samples(tuple(_inputs(file, at, f"{entry_point}()[{i}]", s) for i, s in enumerate(samples)), file, at)


def _inputs(file: UserFile, at: Location, what: str, sample: Any) -> Inputs:
    # No operator takes a tuple or a dict, so a pair of them is (positional arguments, keyword arguments).
    if isinstance(sample, tuple) and [type(part) for part in sample] == [tuple, dict]:
        return Inputs(sample[0], sample[1])
    return file.inputs(at, what, sample)
