from __future__ import annotations

import re
from pathlib import Path

from absl.testing import absltest

_ROOT = Path(__file__).parents[2]


class VersionTest(absltest.TestCase):
    def test_the_module_has_the_newest_version_of_the_changelog(self) -> None:
        versions = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", (_ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
        module = re.search(r'^module\(.*?^    version = "([^"]*)"', (_ROOT / "MODULE.bazel").read_text(), re.M | re.S)
        assert module is not None
        self.assertEqual(versions[0], module[1])
        self.assertIn(
            f'bazel_dep(name = "rules_executorch", version = "{module[1]}")', (_ROOT / "README.md").read_text()
        )


if __name__ == "__main__":
    absltest.main()
