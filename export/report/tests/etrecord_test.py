"""Tests of ETRecords; //profiles/tests:inspector_test has ExecuTorch's Inspector read them."""

from __future__ import annotations

import io
import os
import sys
import time
import zipfile
from pathlib import Path
from unittest import mock

from absl.testing import absltest

from diagnostics.errors import Finding, InputError
from export import exporter

_MODEL = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
    def forward(self, x):
        return {forward}

def get_model():
    return Model(), (torch.ones(4, 4),)
"""
_LAYERS = "torch.relu(self.linear(x))"


class EtrecordTest(absltest.TestCase):
    def _export(self, forward: str, *, with_etrecord: bool = True) -> exporter.Exported:
        model = Path(self.create_tempdir().full_path) / "model.py"
        model.write_text(_MODEL.format(forward=forward))
        return exporter.export(model, with_etrecord=with_etrecord)

    def _finding(self, forward: str) -> Finding:
        with self.assertRaises(InputError) as raised:
            self._export(forward)
        (finding,) = raised.exception.findings
        return finding

    def test_same_bytes_everywhere(self) -> None:
        first = self._export(_LAYERS)
        with mock.patch.object(time, "localtime", lambda *_: time.gmtime(1e9)):
            second = self._export(_LAYERS)
        assert first.etrecord
        self.assertEqual(first.etrecord, second.etrecord)
        with zipfile.ZipFile(io.BytesIO(first.etrecord)) as archive:
            graph = archive.read("edge_dialect_exported_program/forward")
        self.assertRegex(graph, rb'File [\\"]+model.py[\\"]+, line 9')
        for folder in (self.create_tempdir().full_path, os.getcwd(), sys.prefix):
            self.assertNotIn(folder.encode(), first.etrecord)

    def test_program_stays_the_same(self) -> None:
        without = self._export(_LAYERS, with_etrecord=False)
        self.assertIsNone(without.etrecord)
        self.assertEqual(self._export(_LAYERS).pte, without.pte)

    def test_without_pandas(self) -> None:
        loaded = {name: None for name in sys.modules if name.startswith("executorch.devtools")}
        with mock.patch.dict(sys.modules, {**loaded, "executorch.devtools.etrecord": None}):
            finding = self._finding(_LAYERS)
        self.assertEqual(finding.id, "etrecord-cannot-import")
        self.assertIn("ExecuTorch cannot write an ETRecord", finding.found)

    def test_graph_that_cannot_be_written(self) -> None:
        finding = self._finding("torch.cond(x.sum() > 0, lambda t: t * 2, lambda t: t + 1, (x,))")
        self.assertEqual(finding.id, "user-code-raised")
        self.assertIn("ExecuTorch's ETRecord raised SerializeError", finding.found)


if __name__ == "__main__":
    absltest.main()
