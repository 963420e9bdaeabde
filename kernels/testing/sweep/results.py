"""Findings on disk: a sweep that is stopped goes on where it was."""

import hashlib
import pathlib
import pickle
import shutil
from collections.abc import Iterable

from kernels.testing.sweep.findings import Findings
from kernels.testing.sweep.sweep import Extent


class Results:
    """The findings of operators, in a folder.

    Findings of another library, or of another sweep, count no longer: they are deleted.

    Args:
      folder: the folder, which need not exist.
      files: what findings depend on: the library of the kernels, the sweep's own sources.
      extent: how much the sweep does for each operator.
    """

    def __init__(self, folder: pathlib.Path, files: Iterable[pathlib.Path], extent: Extent) -> None:
        digest = hashlib.sha256()
        for file in sorted(files):
            digest.update(hashlib.sha256(file.read_bytes()).digest())
        current = folder / digest.hexdigest()
        for other in folder.glob("*"):
            if other != current:
                shutil.rmtree(other)
        self._folder = current / f"{extent.seed}_{extent.dtypes}_{extent.calls}_{extent.variations}"
        self._folder.mkdir(parents=True, exist_ok=True)

    def find(self, operator: str) -> Findings | None:
        """The findings that were kept of an operator."""
        try:
            data = self._file(operator).read_bytes()
        except FileNotFoundError:
            return None
        findings = pickle.loads(data)
        assert isinstance(findings, Findings)
        return findings

    def keep(self, operator: str, findings: Findings) -> None:
        written = self._file(operator).with_suffix(".new")
        written.write_bytes(pickle.dumps(findings))
        written.rename(self._file(operator))  # Whole or not at all, whenever the sweep is stopped.

    def _file(self, operator: str) -> pathlib.Path:
        return self._folder / f"{operator.replace('::', '__')}.findings"
