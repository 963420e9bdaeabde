"""Tests of workspaces that are made of a model's file, without the network."""

from __future__ import annotations

import os
import pathlib
from unittest import mock

from absl.testing import absltest

from docs.tests import guide
from rules.tests import wheels
from tools.init import imports, init
from tools.lock import request

_MODEL = """\
import math
import os.path

import numpy as np
import torch
from PIL import Image
from transformers import BertModel
import layers


def get_model():
    import scipy.special
    return layers.Net(), ()
"""


class InitTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.root = pathlib.Path(self.create_tempdir().full_path)
        self.folder = self.root / "app"
        self.folder.mkdir()
        self.model = self.folder / "model.py"
        self.model.write_text(_MODEL)
        (self.folder / "layers.py").write_text("import torch\nimport blocks\nfrom sklearn import svm\n")
        (self.folder / "blocks.py").write_text("import layers\n")
        index = self.root / "index"
        index.mkdir()
        wheels.write_exports(index)
        for package in ("pillow", "scikit-learn", "scipy", "transformers"):
            wheels.write(index, package, "1.0")
        pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index), "PIP_CONFIG_FILE": os.devnull}
        self.enter_context(mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(self.root / "cache"), **pip}))

    def make(self, entry_point: str = "get_model") -> list[str]:
        return [*init.make(self.model, self.root / "rules", entry_point).lines]

    def files(self) -> dict[str, str]:
        return {file.name: file.read_text() for file in self.folder.iterdir() if file.suffix != ".py"}

    def test_imports(self) -> None:
        found = imports.of(self.model)
        self.assertEqual(("numpy", "pillow", "scikit-learn", "scipy", "torch", "transformers"), found.packages)
        self.assertEqual(("blocks.py", "layers.py"), found.files)

    def test_files(self) -> None:
        self.make()
        files = self.files()
        self.assertEqual(
            {".bazelrc", ".bazelversion", "BUILD.bazel", "MODULE.bazel", "requirements_lock.txt"}, set(files)
        )
        self.assertIn(
            "# Made by: bazel run @rules_executorch//tools/lock -- pillow scikit-learn scipy transformers\n",
            files["requirements_lock.txt"],
        )
        self.assertIn('    path = "../rules",\n', files["MODULE.bazel"])
        self.assertIn('requirements = "//:requirements_lock.txt"', files["MODULE.bazel"])
        self.assertIn('    name = "model_files",\n    srcs = [\n        "blocks.py",\n', files["BUILD.bazel"])
        self.assertIn(
            '    deps = [\n        ":model_files",\n        "@executorch_python//:numpy",\n', files["BUILD.bazel"]
        )
        self.assertIn('"@executorch_python//:scikit_learn"', files["BUILD.bazel"])

    def test_lock_that_linux_cannot_install(self) -> None:
        """The files are written all the same."""
        wheels.write(self.root / "index", "torchvision", "0.28.0")
        self.model.write_text("import torchvision\n\n\ndef get_model():\n    return torchvision, ()\n")
        report = init.make(self.model, None, "get_model")
        self.assertIn("pip finds no CPU build of torchvision==0.28.0", report.problem)
        self.assertIn("requirements_lock.txt", self.files()["MODULE.bazel"])

    def test_model_of_pytorch_alone(self) -> None:
        """The files are those of the README and of docs/model.md."""
        self.model.write_text("import torch\n\n\ndef get_model():\n    pass\n")
        init.make(self.model, None, "get_model")
        files = self.files()
        self.assertNotIn("requirements_lock.txt", files)
        readme = guide.blocks(pathlib.Path("README.md").read_text())
        self.assertIn(files["MODULE.bazel"], [block.text for block in readme])
        model = guide.blocks(pathlib.Path("docs/model.md").read_text())
        target = files["BUILD.bazel"].partition("\n\n")[2].replace('"model"', '"classifier"')
        self.assertIn(target, [block.text for block in model])
        self.assertEqual(pathlib.Path(".bazelversion").read_text(), files[".bazelversion"])

    def test_files_stay(self) -> None:
        module = self.folder / "MODULE.bazel"
        module.write_text('module(name = "mine")\n')
        text = "\n".join(self.make())
        self.assertEqual('module(name = "mine")\n', module.read_text())
        self.assertIn("MODULE.bazel: exists, and is unchanged; the new content would be\n    bazel_dep(", text)
        self.assertIn("BUILD.bazel: written", text)
        self.assertNotIn("written", "\n".join(self.make()))

    def test_errors_write_nothing(self) -> None:
        for model, found in (
            ("def model():\n    pass\n", "model.py: error: the file defines no get_model()"),
            ("def get_model(:\n", "model.py:1: error: invalid syntax"),
        ):
            self.model.write_text(model)
            with self.assertRaisesRegex(imports.ModelError, found.replace("(", r"\(").replace(")", r"\)")):
                self.make()
        self.model.write_text("import absent_package\n\n\ndef get_model():\n    pass\n")
        with self.assertRaisesRegex(request.LockError, "absent-package was not found"):
            self.make()
        self.model.unlink()
        with self.assertRaisesRegex(imports.ModelError, "model.py: error: No such file"):
            self.make()
        self.assertEqual({}, self.files())

    def test_entry_point(self) -> None:
        self.model.write_text("import torch\n\nbuild = torch.nn.Identity\n")
        self.make("build")
        self.assertIn('    entry_point = "build",\n', self.files()["BUILD.bazel"])


if __name__ == "__main__":
    absltest.main()
