"""Tests of the guides: what they show is what is built."""

from __future__ import annotations

import re
import subprocess
import textwrap
from pathlib import Path

from absl.testing import absltest

from codegen.inputs import functions_yaml, selected_operators
from codegen.model import schema_types
from rules.private.repositories import versions
from tools.from_buck import from_buck

_DOCS = Path("docs")
_EXAMPLES = _DOCS / "tests" / "yaml"
_QUICKSTART = Path("examples/quickstart")


def _fences(page: str, *languages: str) -> list[str]:
    """The code that a page shows."""
    text = (_DOCS / page).read_text()
    return re.findall(rf"^```(?:{'|'.join(languages)})\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def _keys(section: str) -> set[str]:
    """The first column of a section's table."""
    return set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))


class FastTest(absltest.TestCase):
    def test_call_is_that_of_the_example(self) -> None:
        (call,) = _fences("fast.md", "cpp")
        name, argument = call.strip().rstrip(")").split("(")
        example = Path("examples/module_api/main.cpp").read_text()
        self.assertIn(name, example)
        self.assertIn(argument, example)


class WeightsTest(absltest.TestCase):
    def test_code_is_that_of_the_example(self) -> None:
        example = Path("examples/lora")
        (code,) = _fences("weights.md", "cpp")
        self.assertIn(textwrap.indent(code, "  "), (example / "main.cpp").read_text())
        visibility = re.compile(r"^    visibility = (?:.*\],|\[\n(?:.*\n)*?    \],)\n", re.MULTILINE)
        build = visibility.sub("", (example / "BUILD.bazel").read_text())
        (targets,) = _fences("weights.md", "starlark")
        for target in targets.split("\n\n"):
            self.assertIn(target.strip(), build)


class CompiledProgramsTest(absltest.TestCase):
    def test_files_are_those_of_the_example(self) -> None:
        example = Path("examples/compiled")
        build, _, board_build, _, web_build = _fences("compiled_programs.md", "starlark")
        main, _, board_main, web_main = _fences("compiled_programs.md", "cpp")
        (main_in_c,) = _fences("compiled_programs.md", "c")
        self.assertEqual(main, (example / "main.cpp").read_text())
        self.assertEqual(main_in_c, (example / "main_in_c.c").read_text())
        # Behind what is loaded.
        visibility = re.compile(r"^    visibility = .*\n", re.MULTILINE)
        self.assertIn(build.partition("\n\n")[2], visibility.sub("", (example / "BUILD.bazel").read_text()))
        board = Path("examples/microcontroller")
        self.assertEqual(board_main, (board / "main.cpp").read_text())
        self.assertIn(board_build, (board / "BUILD.bazel").read_text())
        web = Path("examples/web")
        (script,) = _fences("compiled_programs.md", "js")
        self.assertEqual(web_main, (web / "main.cpp").read_text())
        self.assertIn(web_build, (web / "BUILD.bazel").read_text())
        self.assertIn(textwrap.indent(script, "  "), (web / "index.html").read_text())


class FirstOperatorTest(absltest.TestCase):
    def test_files_are_those_of_the_quickstart(self) -> None:
        files = [
            _QUICKSTART / name for name in ("squareplus_op.py", "squareplus_kernel.cpp", "custom_ops.yaml", "model.py")
        ]
        texts = [file.read_text() for file in files]
        fences = _fences("first_operator.md", "python", "cpp", "yaml")
        self.assertEqual(4, len(fences))
        for fence in fences:
            self.assertTrue(any(fence in text for text in texts), fence)

    def test_operators_of_the_binary(self) -> None:
        command = [str(_DOCS / "tests" / "model" / "perceptron"), "--list_operators"]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        self.assertIn(f"--list_operators\n{listed}$ ", (_DOCS / "first_operator.md").read_text())


class ModelTest(absltest.TestCase):
    def test_examples_are_built(self) -> None:
        built = (_DOCS / "tests" / "model" / "BUILD.bazel").read_text()
        first, written_out, *others = _fences("model.md", "starlark")
        self.assertIn(first.replace('"classifier"', '"in_one"'), built)
        # Behind what is loaded.
        for fence in (written_out.partition("\n)\n")[2], *others):
            self.assertIn(fence, built)


class MovingTest(absltest.TestCase):
    def test_conversion(self) -> None:
        buck, bazel = _fences("moving.md", "starlark")
        folder = Path(self.create_tempdir().full_path)
        for name in ("mul3.cpp", "mul4.cpp", "custom_ops.yaml"):
            (folder / name).touch()
        (folder / "targets.bzl").write_text(buck)
        conversion = from_buck.convert(folder / "targets.bzl", "targets.bzl", "@rules_executorch")
        self.assertEqual(bazel, conversion.text)
        self.assertIn("\n".join(conversion.notes), (_DOCS / "moving.md").read_text())


class PlatformsTest(absltest.TestCase):
    def test_table_has_the_toolchains(self) -> None:
        table = re.findall(r"^\|[^|]*\|([^|]*)\|", (_DOCS / "platforms.md").read_text(), re.MULTILINE)
        toolchains = re.findall(r'"//third_party/cross:(\w+)_toolchain"', Path("WORKSPACE").read_text())
        names = set(re.findall(r"`(\w+)`", " ".join(table)))
        # The compiler for fuzzers of this machine.
        self.assertEqual(set(toolchains) - names, {"libfuzzer"})

    def test_instruction_sets_of_arm64(self) -> None:
        """The page names each set that kernels are compiled for."""
        rule = Path("rules/private/actions/instruction_sets.bzl").read_text()
        sets = re.findall(r'^    "(\w+)": \[', rule.partition("_ARM64 = {")[2].partition("\n}")[0], re.MULTILINE)
        self.assertLen(sets, 2)
        for page in ("platforms.md", "optimized_kernels.md"):
            for name in sets:
                self.assertIn(f"`{name}`", (_DOCS / page).read_text())


class WorkspaceTest(absltest.TestCase):
    def test_versions(self) -> None:
        """The pages have the versions of the table that the rules check."""
        rows = ["| ExecuTorch | torch | Python | in `MODULE.bazel` | |", "|---|---|---|---|---|"]
        for minor, row in versions.VERSIONS.items():
            untested = [torch for torch in row["torch"] if torch not in row["tested"]]
            torches = row["tested"] + ([f"without tests: {', '.join(untested)}"] if untested else [])
            line = f"[a lock](new_executorch.md) for `--executorch={minor}`"
            if minor == versions.DEFAULT_EXECUTORCH:
                line = "nothing"
            elif row["lock"]:
                line = f'`executorch.python(requirements = "@rules_executorch//requirements:{row["lock"]}")`'
            oldest, newest = row["pythons"]
            cells = [row["pins"]["executorch"], "; ".join(torches), f"3.{oldest} to 3.{newest}", line, row["differs"]]
            rows.append(f"| {' | '.join(cells)} |")
        self.assertIn("\n".join(["", *rows, ""]), (_DOCS / "workspace.md").read_text())

    def test_default_version(self) -> None:
        default = versions.VERSIONS[versions.DEFAULT_EXECUTORCH]
        pythons = "3.{} to 3.{}".format(*default["pythons"])
        pages = [_DOCS / f"{page}.md" for page in ("first_operator", "not_supported", "remote", "workspace")]
        for page in [Path("README.md"), *pages]:
            self.assertIn(pythons, " ".join(page.read_text().split()), page)
        pair = f"| {versions.DEFAULT_EXECUTORCH} with {default['tested'][0]} by default"
        self.assertIn(pair, (_DOCS / "workspace.md").read_text())

    def test_locks(self) -> None:
        """Each lock has the pins of its row."""
        for row in versions.VERSIONS.values():
            if row["lock"]:
                for lock in (row["lock"], row["lock"].replace("export", "examples")):
                    text = Path("requirements", lock).read_text()
                    for package, version in row["pins"].items():
                        self.assertRegex(text, rf"(?m)^{package}=={re.escape(version)} ", lock)
        runtime = Path("requirements/runtime.txt").read_text()
        version = versions.VERSIONS[versions.DEFAULT_EXECUTORCH]["pins"]["executorch"]
        self.assertStartsWith(runtime, f"executorch=={version} ")

    def test_archives(self) -> None:
        """The page's WORKSPACE has the versions of this repository's own, with which its tests pass."""
        shown, own = (
            re.findall(r"^http_archive\(\n.*?^\)$", Path(file).read_text(), re.DOTALL | re.MULTILINE)
            for file in ("docs/workspace.md", "WORKSPACE")
        )
        self.assertLen(shown, 4)
        self.assertEqual(shown, own)


class RunnerTest(absltest.TestCase):
    def test_every_flag_is_on_the_page(self) -> None:
        command = [str(_QUICKSTART / "model"), "--help"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        flags = set(re.findall(r"--\w+", printed))
        self.assertIn("--threads", flags)
        self.assertContainsSubset(flags, re.findall(r"--\w+", (_DOCS / "runner.md").read_text()))


class WritingAKernelTest(absltest.TestCase):
    def test_types_are_those_of_the_code_generator(self) -> None:
        rows = re.findall(
            r"^\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \|$", (_DOCS / "writing_a_kernel.md").read_text(), re.M
        )
        self.assertGreater(len(rows), 15)
        for name, executorch, aten in rows:
            found = schema_types.find(name)
            assert found.executorch is not None and found.aten is not None
            self.assertEqual(executorch, found.executorch.parameter.replace("executorch::aten::", ""))
            self.assertEqual(aten, found.aten.parameter)

    def test_code_is_built(self) -> None:
        kernel = (_QUICKSTART / "squareplus_kernel.cpp").read_text()
        # guides_test builds the kernel of this page.
        kernels = [kernel, *_fences("own_kernel.md", "cpp")]
        for fence in _fences("writing_a_kernel.md", "cpp"):
            self.assertTrue(any(fence in text for text in kernels), fence)

    def test_functions_of_scalars(self) -> None:
        header = (Path("kernels") / "tensors" / "scalar.h").read_text()
        page = (_DOCS / "writing_a_kernel.md").read_text()
        defined = re.findall(r"^(?:inline )?\w+ (\w+)\(const Scalar& ", header, re.MULTILINE)
        shown = re.findall(r"^\| `(\w+)(?:<T>)?\(scalar\b", page, re.MULTILINE)
        self.assertEqual(sorted(defined), sorted(shown))
        (target,) = _fences("writing_a_kernel.md", "starlark")
        self.assertIn(target, (_DOCS / "first_operator.md").read_text())


class YamlTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        _, self.operators, self.selection, self.ops_dict = (_DOCS / "yaml.md").read_text().split("\n## ")

    def test_every_key_is_explained(self) -> None:
        keys = functions_yaml._ENTRY_KEYS | functions_yaml._KERNEL_KEYS
        self.assertEqual(keys, _keys(self.operators))
        for key in functions_yaml._IGNORED_KEYS:
            self.assertIn(f"`{key}`", self.operators)
        self.assertEqual(selected_operators._KEYS | selected_operators._OPERATOR_KEYS, _keys(self.selection))

    def test_every_key_is_in_an_example(self) -> None:
        shown = "".join(_fences("yaml.md", "yaml"))
        without_effect = {
            "build_features",
            "custom_classes",
            "include_all_non_op_selectives",
            "kernel_metadata",
            "name",
        }
        for key in _keys(self.operators) | _keys(self.selection) - without_effect:
            self.assertIn(f"{key}:", shown)

    def test_examples_are_built(self) -> None:
        built = [file.read_text() for file in _EXAMPLES.iterdir() if file.suffix in (".bazel", ".yaml")]
        for fence in _fences("yaml.md", "yaml", "starlark"):
            self.assertTrue(any(fence in text for text in built), fence)


if __name__ == "__main__":
    absltest.main()
