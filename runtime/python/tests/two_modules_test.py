"""Two modules with different kernels for one operator are in one process."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy
from absl.testing import absltest

_CODE = """
import json, sys
sys.path[:] = {path!r}
import numpy
{before}
from runtime.python.tests import {modules}
x = numpy.linspace(-1, 1, num=16, dtype=numpy.float32).reshape(2, 8)
print(json.dumps([module.forward(x).tolist() for module in ({modules},)]))
"""


def _results(*modules: str, before: str = "") -> Any:
    """The results of modules, in a process that runs `before`, and then imports the modules in this order."""
    code = _CODE.format(path=sys.path, before=before, modules=", ".join(modules))
    return json.loads(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)


class TwoModulesTest(absltest.TestCase):
    def test_each_module_has_its_own_kernels(self) -> None:
        (own,), (other,) = _results("squareplus"), _results("other_squareplus")
        self.assertGreater(numpy.abs(numpy.subtract(own, other)).max(), 0.1)
        self.assertEqual(_results("squareplus", "other_squareplus"), [own, other])
        self.assertEqual(_results("other_squareplus", "squareplus"), [other, own])

    def test_executorch_beside_a_module(self) -> None:
        """ExecuTorch's own runtime for Python has another registry."""
        (own,) = _results("squareplus")
        self.assertEqual(_results("squareplus", before="from executorch.runtime import Runtime; Runtime.get()"), [own])


if __name__ == "__main__":
    absltest.main()
