"""Compares the list of prim ops with what the runtime registers by itself.

Give the path of //runtime:list_registered_operators, which is linked with the runtime alone, as the last argument.
"""

from __future__ import annotations

import subprocess
import sys

from absl.testing import absltest

from codegen import prim_ops

_LIST_REGISTERED_OPERATORS = sys.argv.pop()


class PrimOpsTest(absltest.TestCase):
    def test_list_is_the_runtimes(self) -> None:
        result = subprocess.run([_LIST_REGISTERED_OPERATORS], capture_output=True, text=True, check=True)
        self.assertEqual(result.stdout.splitlines(), sorted(prim_ops.PRIM_OPS))


if __name__ == "__main__":
    absltest.main()
