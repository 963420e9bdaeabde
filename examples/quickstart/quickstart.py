"""Shows what the build made: the operators that are linked, the binary's size, its results next to PyTorch's."""

from __future__ import annotations

import pathlib
import subprocess
import sys

_HERE = pathlib.Path(__file__).parent


def _output_of(binary: pathlib.Path, *flags: str) -> str:
    result = subprocess.run([str(binary), *flags], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(result.stdout + result.stderr)
    return result.stdout


def main() -> None:
    runner = _HERE / "model"
    operators = _output_of(runner, "--list_operators").split()

    print(f"Operators linked: {len(operators)}")
    for operator in operators:
        print(f"  {operator}")
    print()
    print(f"Size of the binary: {runner.stat().st_size:,} bytes")
    print()
    print("The model's outputs by PyTorch and by the binary:")
    print(_output_of(runner, "--check", "--verbose"), end="")


if __name__ == "__main__":
    main()
