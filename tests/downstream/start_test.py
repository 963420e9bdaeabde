"""From an empty folder with a model that imports transformers: the commands of docs/model.md, without the network.

tools/bazel starts //tools/init of this build, which makes the lock out of small wheels. The workspace then has the
packages of this build.
"""

from __future__ import annotations

import os
import pathlib
import shlex
import shutil
import subprocess
import sys

from absl.testing import absltest

from docs.tests import guide
from rules.tests import wheels
from tests.downstream import nested_bazel

_TMP = pathlib.Path(os.environ["TEST_TMPDIR"])
_MODEL = '''\
"""A layer of GPT-2."""

import torch
from transformers.pytorch_utils import Conv1D


def get_model() -> tuple[torch.nn.Module, tuple[torch.Tensor]]:
    """The module and its example inputs."""
    return Conv1D(3, 4), (torch.randn(2, 4),)
'''
# In place of `bazel run @rules_executorch//tools/init -- model.py`, in the checkout.
_INIT = """\
#!/bin/sh
[ "$1 $2 $3" = "run @rules_executorch//tools/init --" ] || exit 4
shift 3
BUILD_WORKSPACE_DIRECTORY="$PWD" BUILD_WORKING_DIRECTORY="$PWD" exec "{python}" -m tools.init.init "$@"
"""


class StartTest(absltest.TestCase):
    def test_start(self) -> None:
        rules = nested_bazel.copy_rules(_TMP / "start/rules_executorch")
        shutil.copytree("tools/launcher", rules / "tools/launcher")
        shutil.copy("tools/bazel", rules / "tools/bazel")
        index = _TMP / "start/index"
        index.mkdir()
        wheels.write_exports(index)
        wheels.write(index, "transformers", "5.23.0")
        bazel = _TMP / "start/bazel"
        bazel.write_text(_INIT.format(python=sys.executable))
        bazel.chmod(0o755)
        app = _TMP / "start/app"
        app.mkdir()
        (app / "model.py").write_text(_MODEL)

        typed = [command.text for command in guide.commands(pathlib.Path("docs/model.md").read_text())]
        first, second = [command for command in typed if command.startswith("../rules_executorch/tools/bazel ")]
        path = os.pathsep.join(str(pathlib.Path(folder).absolute()) for folder in sys.path if folder)
        pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index), "PIP_CONFIG_FILE": os.devnull}
        started = subprocess.run(
            shlex.split(first),
            capture_output=True,
            cwd=app,
            env=os.environ
            | pip
            | {"BAZEL_REAL": str(bazel), "PYTHONPATH": path, "XDG_CACHE_HOME": str(_TMP / "start/cache")},
            text=True,
        )
        self.assertEqual(0, started.returncode, started.stderr)
        self.assertIn("\nNext: ../rules_executorch/tools/bazel run :model -- --check\n", started.stdout)
        self.assertIn("\ntransformers==5.23.0", (app / "requirements_lock.txt").read_text())

        module = app / "MODULE.bazel"
        requirements = 'executorch.python(requirements = "//:requirements_lock.txt")\n'
        self.assertIn(requirements, module.read_text())
        module.write_text(module.read_text().replace(requirements, nested_bazel.module_tags()))
        with (app / ".bazelrc").open("a") as file:
            file.write(nested_bazel.STRICT_BAZELRC)
        with nested_bazel.Workspace(app, all_sets=True, config="bazel10") as workspace:
            run = workspace.succeed(*shlex.split(second)[1:])
            self.assertIn("PASSED: 1 samples", run.stdout)


if __name__ == "__main__":
    absltest.main()
