"""Another workspace uses these rules by MODULE.bazel: what builds there, and what must not."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess

from absl.testing import absltest

from tests.downstream import nested_bazel

_TMP = pathlib.Path(os.environ["TEST_TMPDIR"])


class BzlmodTest(absltest.TestCase):
    workspace: nested_bazel.Workspace

    @classmethod
    def setUpClass(cls) -> None:
        app = nested_bazel.make_app(_TMP / "bzlmod")
        cls.workspace = nested_bazel.Workspace(app, "--noenable_workspace")
        cls.addClassCleanup(cls.workspace.__exit__)

    def assert_does_not_build(self, target: str, *parts: str) -> None:
        result = self.workspace.bazel("build", target)
        self.assertNotEqual(result.returncode, 0)
        for part in parts:
            self.assertIn(part, result.stderr)
        self.assertNotIn("Traceback", result.stderr)

    def test_runs_and_equals_pytorch(self) -> None:
        build = self.workspace.succeed("build", "//:model_test")
        self.assertNotIn("WARNING", build.stderr)
        self.workspace.succeed("test", "//:model_test")
        self.assertIn("3 -6 1.5", self.workspace.succeed("run", "//:runner").stdout)

    def test_workspaces_of_pages(self) -> None:
        for model in ("//plain:classifier", "//first_operator:perceptron"):
            run = self.workspace.succeed("run", model, "--", "--check")
            self.assertNotIn("WARNING", run.stderr)
            self.assertIn("PASSED: 1 samples", run.stdout)

    def test_files_of_a_program(self) -> None:
        found = self.workspace.succeed(
            "cquery", "--output=files", "--output_groups=+samples", "//plain:classifier.pte"
        ).stdout
        self.assertEqual(
            ["classifier.ptd", "classifier.pte"], sorted(path.rpartition("/")[2] for path in found.split())
        )

    def test_model_whose_attributes_do_not_go_together(self) -> None:
        load = 'load("@rules_executorch//rules:defs.bzl", "executorch_model")'
        good = f'{load}\nexecutorch_model(name = "m", model = "m.py"'
        for attributes, found in (
            ('library = ":l", kernel_deps = [":k"])', '//wrong:m: library = ":l" excludes kernel_deps'),
            ('library = ":l", kernels = [":k"])', '//wrong:m: library = ":l" excludes kernels'),
            ("quantized = 1)", "got unexpected keyword argument: quantized (did you mean 'quantize'?)"),
            (')\nexecutorch_model(name = "m", model = "m.py")', "'m.pte' in package 'wrong' conflicts with existing"),
            (')\nfilegroup(name = "m_lib")', "'m_lib' in package 'wrong' conflicts with existing"),
        ):
            with self.subTest(attributes):
                (self.workspace.root / "wrong").mkdir(exist_ok=True)
                (self.workspace.root / "wrong/BUILD.bazel").write_text(f"{good}, {attributes}\n")
                result = self.workspace.bazel("build", "//wrong:m")
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(found, result.stderr)

    def test_from_buck(self) -> None:
        root = self.workspace.root
        (root / "TARGETS").write_text(
            'et_operator_library(name = "selected", ops = ["aten::add.out"], platforms = [1])\n'
        )
        run = self.workspace.succeed("run", "@rules_executorch//tools/from_buck", "--", "TARGETS")
        self.assertIn('load("@rules_executorch//rules:defs.bzl", "et_operator_library")', run.stdout)
        self.assertIn("TARGETS:1:", run.stderr)

    def test_odd_names(self) -> None:
        """Folders and targets with spaces and punctuation, which a compiler and a command line read otherwise."""
        root = self.workspace.root
        folder = root / "odd dir"
        folder.mkdir()
        for file in ("model.py", "custom_ops.yaml", "scale_kernel.cpp", "scale_op.py"):
            shutil.copy(root / file, folder)
        targets = (root / "BUILD.bazel").read_text().partition("# A binary by hand")[0]
        names = "|".join(re.findall(r'^    name = "(\w+)"', targets, re.MULTILINE))
        targets = re.sub(rf'"(:?)({names})"', r'"\g<1>1 \2+=,@~"', targets)
        targets = targets.replace('srcs = ["scale_op.py"],', 'srcs = ["scale_op.py"],\n    imports = ["."],')
        (folder / "BUILD.bazel").write_text(targets)
        # Bazel 7 builds a test whose path has a space, and cannot run any such test.
        self.workspace.succeed("build", "//odd dir:1 runner+=,@~", "//odd dir:1 model_test+=,@~")
        report = (root / "bazel-bin/odd dir/1 runner+=,@~.operators.txt").read_text()
        self.assertIn("\napp::scale.out: //odd dir:1 model_lib+=,@~\n", report)

    def test_binary_by_hand(self) -> None:
        self.workspace.succeed("build", "//:by_hand", "//:model")
        run = subprocess.run(
            ["bazel-bin/by_hand", "bazel-bin/model.pte"], cwd=self.workspace.root, capture_output=True, text=True
        )
        self.assertEqual(run.stdout, "30 60 90\n", run.stderr)

    def test_selected_operators_that_no_yaml_provides(self) -> None:
        self.assert_does_not_build(
            "//:misspelt_lib",
            "//:misspelt_operators",
            "app::scal.out",
            "app::scale.out",
            "aten::add.oout",
            "aten::add.out",
        )

    def test_program_needs_an_operator_that_the_binary_lacks(self) -> None:
        self.assert_does_not_build("//:runner_without_scale", "app::scale.out", "//:model", "//:add_lib")

    def test_program_needs_a_dtype_that_the_binary_lacks(self) -> None:
        self.assert_does_not_build(
            "//:runner_without_float",
            "//:model: error: aten::add.out is called with Float",
            "//:double_lib has its kernel for Double only",
        )

    def test_program_needs_a_backend_that_the_binary_lacks(self) -> None:
        self.assert_does_not_build(
            "//:runner_without_backend",
            "//:lowered: error: the program delegates to XnnpackBackend",
            "add @rules_executorch//runtime:backend_xnnpack to deps of //:runner_without_backend",
        )

    def test_binary_by_hand_with_a_kernel_twice(self) -> None:
        self.assert_does_not_build("//:by_hand_twice", "kernel_registered_by_two_libraries::aten__add__out__for_any")

    def test_binary_by_hand_with_a_kernel_for_two_dtypes(self) -> None:
        self.assert_does_not_build(
            "//:by_hand_with_two_dtypes", "kernel_built_for_dtypes_by_two_libraries::", "_kernels_portable_op_add_cpp"
        )

    def test_kernel_defined_nowhere(self) -> None:
        self.assert_does_not_build(
            "//:undefined_kernel_lib", "custom_ops.yaml:4:20", "app::native::scale_out", "double factor"
        )

    def test_model_that_is_no_program(self) -> None:
        self.assert_does_not_build("//:not_a_program", "not_a_program.pte")

    def test_model_file_that_raises(self) -> None:
        self.assert_does_not_build("//:raising_model", "raising_model.py:6", "ValueError: no checkpoint here")


if __name__ == "__main__":
    absltest.main()
