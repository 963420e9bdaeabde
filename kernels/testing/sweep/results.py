"""Findings on disk, so that a sweep that was stopped can continue."""

import hashlib
import pathlib
import pickle
import shutil
from collections.abc import Iterable

from kernels.testing.sweep.findings import Findings
from kernels.testing.sweep.sweep import Extent


class Results:
    """The findings of operators, in a folder.

    Findings of another library or of another sweep are deleted.

    Args:
      folder: the folder. It may be missing.
      files: the files on which findings depend: the library of the kernels and the sources of the sweep.
      extent: the extent of the sweep for each operator.
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
        """The saved findings of an operator. None if there are none."""
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
        written.rename(self._file(operator))  # atomic, because the sweep may be stopped at any time

    def _file(self, operator: str) -> pathlib.Path:
        return self._folder / f"{operator.replace('::', '__')}.findings"
