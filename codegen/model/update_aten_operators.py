"""Updates aten_operators.txt: the schemas of all ATen operators, from torchgen in the installed torch wheel.

    tools/bazel run //codegen/model:update_aten_operators -- $PWD/codegen/model/aten_operators.txt

Only this module needs torch. The code generator itself reads the file.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from pathlib import Path

import torchgen
from absl import app
from torchgen.gen import parse_native_yaml


def render() -> str:
    """Returns the text of aten_operators.txt: a header with torch's version, then one schema a line, sorted."""
    native = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
    functions = parse_native_yaml(str(native / "native_functions.yaml"), str(native / "tags.yaml")).native_functions
    version = importlib.metadata.version("torch").partition("+")[0]
    header = f"# The operators of torch {version}, with the out variants torchgen adds; see update_aten_operators.py.\n"
    return header + "".join(sorted(f"{function.func}\n" for function in functions))


def main(argv: Sequence[str]) -> None:
    if len(argv) != 2:
        raise app.UsageError("Give the path of the file to write, and nothing else.")
    Path(argv[1]).write_text(render())


if __name__ == "__main__":
    app.run(main)
