"""Runs the example's test of a kernel, once the operator's schema is among this project's."""

import importlib
from pathlib import Path
from unittest import mock

from absl.testing import absltest

from kernels.optimized.tests import own_schemas

_PACKAGE = "tests.contributing.pass_operator"
_YAML = Path(__file__).with_name("own_custom_ops.yaml")

if __name__ == "__main__":
    with mock.patch.object(own_schemas, "SCHEMAS", own_schemas.read(_YAML)):
        absltest.main(module=importlib.import_module(f"{_PACKAGE}.op_relu_squared_test"))
