"""Runs the example's test of a pass, once the pass and the view of its operator are among this project's."""

import importlib
from unittest import mock

from absl.testing import absltest

from export.graph_passes import calls, passes

_PACKAGE = "tests.contributing.pass_operator"

if __name__ == "__main__":
    view = importlib.import_module(f"{_PACKAGE}.calls").ReluSquared
    with mock.patch.object(calls, "ReluSquared", view, create=True):
        example = importlib.import_module(f"{_PACKAGE}.relu_squared").PASS
        with mock.patch.object(passes, "PASSES", passes.ordered([*passes.PASSES, example])):
            absltest.main(module=importlib.import_module(f"{_PACKAGE}.relu_squared_test"))
