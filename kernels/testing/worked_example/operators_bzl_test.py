"""The worked example's entry in operators.bzl says what the example's targets are."""

import json
import sys
from pathlib import Path

from absl.testing import absltest


class OperatorsBzlTest(absltest.TestCase):
    def test_entry(self) -> None:
        names: dict[str, object] = {"operator_file": lambda operators, common: [operators, common]}
        entry = eval("{" + Path(sys.argv[1]).read_text() + "}", names)
        self.assertEqual(entry, json.loads(sys.argv[2]))


if __name__ == "__main__":
    absltest.main(argv=sys.argv[:1])
