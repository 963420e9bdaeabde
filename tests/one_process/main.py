"""Runs the tests of several files in one process.

    main [--every=N] FILE...

The files are tests of absltest, given by their paths in the repository. `--every=N` runs one test method in N.
"""

import importlib
import sys
import unittest
from pathlib import Path

from absl.testing import absltest

_EVERY = "--every="


class _Loader(absltest.TestLoader):
    """Selects one method in `every`, over all classes."""

    def __init__(self, every: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._every = every
        self._count = 0

    def getTestCaseNames(self, test_case_class: type[unittest.TestCase]) -> list[str]:  # noqa: N802
        names = []
        for name in super().getTestCaseNames(test_case_class):  # type: ignore[no-untyped-call]
            if self._count % self._every == 0:
                names.append(name)
            self._count += 1
        return names


def main() -> None:
    program, *arguments = sys.argv
    sys.argv = [program]  # absltest reads its own flags from here.
    every = 1
    if arguments[0].startswith(_EVERY):
        every = int(arguments.pop(0).removeprefix(_EVERY))
    for file in arguments:
        module = importlib.import_module(".".join(Path(file).with_suffix("").parts))
        for name, value in vars(module).items():
            # absltest looks for the classes of this module.
            if isinstance(value, type) and issubclass(value, absltest.TestCase):
                globals()[f"{module.__name__}.{name}"] = value
    absltest.main(testLoader=_Loader(every))


if __name__ == "__main__":
    main()
