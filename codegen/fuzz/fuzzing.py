"""What the fuzz targets have in common: arguments, seeds, and what counts as an answer."""

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

# No input may take longer, in seconds. The machine may be busy with more than this.
_TIMEOUT = 10


@contextlib.contextmanager
def answer() -> Iterator[None]:
    """An error of ours is an answer, as a result is. Anything else ends the run."""
    try:
        yield
    except InputError as error:
        str(error)


class File:
    """A file that holds one input after the other."""

    def __init__(self) -> None:
        self._directory = tempfile.TemporaryDirectory()
        self.path = f"{self._directory.name}/input"

    def write(self, data: bytes) -> None:
        Path(self.path).write_bytes(data)


def run(test: Callable[[bytes], None], seeds: Callable[[Path], Iterable[bytes]]) -> None:
    """Fuzzes until libFuzzer's options, among this program's arguments, say that it is enough.

    Args:
        test: takes one input.
        seeds: makes inputs to start from of each file among the arguments.
    """
    options = [argument for argument in sys.argv[1:] if argument.startswith("-")]
    files = [Path(argument) for argument in sys.argv[1:] if not argument.startswith("-")]
    with tempfile.TemporaryDirectory() as corpus:
        for file in files:
            for seed in seeds(file):
                Path(corpus, hashlib.sha256(seed).hexdigest()).write_bytes(seed)
        # Beginning with small inputs keeps a run fast; -max_len would cut the real files off.
        atheris.Setup([sys.argv[0], f"-timeout={_TIMEOUT}", *options, corpus], test)
        atheris.Fuzz()
