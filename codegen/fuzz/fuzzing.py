"""The common part of the fuzz targets: arguments, seeds, and allowed errors."""

from __future__ import annotations

import contextlib
import hashlib
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["codegen"]):
    from diagnostics.errors import InputError

# The timeout for one input, in seconds. The machine may run other work.
_TIMEOUT = 10


@contextlib.contextmanager
def answer() -> Iterator[None]:
    """Allows an InputError in the block. Any other exception ends the run."""
    try:
        yield
    except InputError as error:
        str(error)


class File:
    """A temporary file for the inputs, one after another."""

    def __init__(self) -> None:
        self._directory = tempfile.TemporaryDirectory()
        self.path = f"{self._directory.name}/input"

    def write(self, data: bytes) -> None:
        Path(self.path).write_bytes(data)


def run(test: Callable[[bytes], None], seeds: Callable[[Path], Iterable[bytes]]) -> None:
    """Fuzzes until the limits in libFuzzer's options, which are among this program's arguments.

    Args:
        test: takes one input.
        seeds: makes seed inputs from each file among the arguments.
    """
    options = [argument for argument in sys.argv[1:] if argument.startswith("-")]
    files = [Path(argument) for argument in sys.argv[1:] if not argument.startswith("-")]
    with tempfile.TemporaryDirectory() as corpus:
        for file in files:
            for seed in seeds(file):
                Path(corpus, hashlib.sha256(seed).hexdigest()).write_bytes(seed)
        # libFuzzer begins with small inputs, which keeps a run fast. -max_len would truncate the real files.
        atheris.Setup([sys.argv[0], f"-timeout={_TIMEOUT}", *options, corpus], test)
        atheris.Fuzz()
