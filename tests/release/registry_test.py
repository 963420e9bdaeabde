"""This tree by the rules of the central registry: its archives, its entry, its test module and its workflows."""

from __future__ import annotations

import dataclasses
import fnmatch
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml
from absl.testing import absltest

from docs.tests import guide
from tools.release import candidate, release

_ROOT = Path(__file__).parents[2]
_TEST_MODULE = _ROOT / "examples/plain_model"
_WORKFLOWS = _ROOT / ".github/workflows"
# In place of `tools/bazel run //tools/release`.
_BAZEL = """\
#!/bin/sh
[ "$1 $2 $3" = "run //tools/release --" ] || exit 4
shift 3
echo "$@" | sed 's/--output=.*/--output/' > arguments
for argument; do to=${argument#--output=}; done
touch "$to/rules_executorch.tar.gz" "$to/rules_executorch.docs.tar.gz" "$to/other"
echo "the notes" > "$to/release_notes.md"
echo "what Bazel prints"
"""


def _workflow(name: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((_WORKFLOWS / name).read_text())
    return read


class RegistryTest(absltest.TestCase):
    def test_rules_of_the_registry(self) -> None:
        folder = _ROOT / "tools/release"
        version = candidate.read(_ROOT, folder / candidate.ARCHIVE, folder / candidate.DOCS)
        # The template has no maintainers before the first release.
        filled = {
            **version.metadata,
            "homepage": "https://github.com/some/rules_executorch",
            "maintainers": [{"github": "someone", "github_user_id": 1}],
            "repository": ["github:some/rules_executorch"],
        }
        problems = release.problems(dataclasses.replace(version, metadata=filled))
        self.assertEqual("", "\n".join(map(str, problems)))

    def test_test_module_is_the_workspace_of_the_readme(self) -> None:
        shown = guide.files((_ROOT / "README.md").read_text())
        override = 'local_path_override(\n    module_name = "rules_executorch",\n    path = "../..",\n)\n'
        self.assertEqual(f"{shown['MODULE.bazel']}\n{override}", (_TEST_MODULE / "MODULE.bazel").read_text())
        build_file = (_TEST_MODULE / "BUILD.bazel").read_text()
        self.assertEqual(shown["BUILD.bazel"], build_file[: len(shown["BUILD.bazel"])])
        presubmit = yaml.safe_load((_ROOT / ".bcr/presubmit.yml").read_text())
        self.assertEqual(str(_TEST_MODULE.relative_to(_ROOT)), presubmit["bcr_test_module"]["module_path"])


class WorkflowsTest(absltest.TestCase):
    def test_release(self) -> None:
        jobs = _workflow("release.yml")["jobs"]
        pattern = jobs["release"]["with"]["release_files"]
        for file in (candidate.ARCHIVE, candidate.DOCS):
            self.assertTrue(fnmatch.fnmatch(file, pattern), file)
        self.assertEqual(("test", "release"), (jobs["release"]["needs"], jobs["publish"]["needs"]))
        self.assertEqual("./.github/workflows/publish.yml", jobs["publish"]["uses"])

    def test_attestations(self) -> None:
        """The registry verifies who attested: these workflows, by a whole version, with the permission to sign."""
        for name, job, workflow in (
            ("release.yml", "release", "bazel-contrib/.github/.github/workflows/release_ruleset.yaml"),
            ("publish.yml", "publish", "bazel-contrib/publish-to-bcr/.github/workflows/publish.yaml"),
        ):
            used = _workflow(name)["jobs"][job]
            self.assertRegex(used["uses"], rf"^{re.escape(workflow)}@v\d+\.\d+\.\d+$")
            self.assertEqual({"attestations": "write", "contents": "write", "id-token": "write"}, used["permissions"])
        self.assertTrue(_workflow("publish.yml")["jobs"]["publish"]["with"]["attest"])

    def test_release_prep(self) -> None:
        folder = Path(self.create_tempdir().full_path)
        (folder / "tools").mkdir()
        (folder / "tools/bazel").write_text(_BAZEL)
        (folder / "tools/bazel").chmod(0o755)
        run = subprocess.run(
            [_WORKFLOWS / "release_prep.sh", "v1.2.3"],
            capture_output=True,
            check=True,
            cwd=folder,
            env={**os.environ, "GITHUB_REPOSITORY": "some/rules", "TMPDIR": str(folder)},
            text=True,
        )
        self.assertEqual(("the notes\n", "what Bazel prints\n"), (run.stdout, run.stderr))
        self.assertEqual("--tag=v1.2.3 --repository=some/rules --output\n", (folder / "arguments").read_text())
        archives = sorted(file.name for file in folder.glob("*.tar.gz"))
        self.assertEqual(sorted([candidate.ARCHIVE, candidate.DOCS]), archives)


if __name__ == "__main__":
    absltest.main()
