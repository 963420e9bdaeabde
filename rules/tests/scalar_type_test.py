"""ScalarType of rules/defs.bzl has exactly the runtime's dtypes. The arguments are its fields, each as `name=value`."""

from __future__ import annotations

import sys
import unittest

from codegen.model.scalar_types import SCALAR_TYPES

_ARGUMENTS = sys.argv[1:]
del sys.argv[1:]


class ScalarTypeTest(unittest.TestCase):
    def test_fields_are_the_runtimes_dtypes(self) -> None:
        self.assertEqual(sorted(_ARGUMENTS), sorted(f"{name}={name}" for name in SCALAR_TYPES))


if __name__ == "__main__":
    unittest.main()
