"""The operators of a kernel library."""

import pathlib

import yaml


def read_operators(functions: pathlib.Path) -> list[str]:
    """The registered names of the operators in a functions.yaml, in its order."""
    names = []
    for entry in yaml.safe_load(functions.read_text()):
        name = entry["op"] if "op" in entry else entry["func"].partition("(")[0]
        names.append(name if "::" in name else f"aten::{name}")
    return names
