"""The operators of a kernel library."""

import pathlib
from collections.abc import Iterable

import yaml


def read_operators(paths: Iterable[str]) -> list[str]:
    """The registered names of the operators in YAML files, in their order."""
    names = []
    for path in paths:
        for entry in yaml.safe_load(pathlib.Path(path).read_text()):
            name = entry["op"] if "op" in entry else entry["func"].partition("(")[0]
            names.append(name if "::" in name else f"aten::{name}")
    return names
