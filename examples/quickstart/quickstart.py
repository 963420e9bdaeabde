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


def _operators(binary: pathlib.Path) -> list[str]:
    return _output_of(binary, "--list_operators").split()


def main() -> None:
    runner, runner_all = _HERE / "runner", _HERE / "runner_all"
    operators, every_operator = _operators(runner), _operators(runner_all)
    size, size_all = runner.stat().st_size, runner_all.stat().st_size

    print(f"Operators linked: {len(operators)}")
    for operator in operators:
        print(f"  {operator}")
    print()
    print(f"Size of the binary: {size:,} bytes; with all {len(every_operator)} operators: {size_all:,} bytes")
    print()
    print("The model's outputs by PyTorch and by the binary:")
    print(_output_of(runner, "--check", "--verbose"), end="")


if __name__ == "__main__":
    main()
