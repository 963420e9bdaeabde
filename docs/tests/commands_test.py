"""Every command of every page is run by a test, or is in the list of those that no test can run, with the reason.

Run here are targets in --run, whose output is compared with what the page shows. Files that a page shows are compared
with those that the build makes. `.ci/run` builds and tests whatever else has a name in a BUILD file.
"""

from __future__ import annotations

import fnmatch
import json
import os
import posixpath
import re
import shlex
import subprocess
from pathlib import Path

from absl import flags
from absl.testing import absltest

from docs.tests import guide

_SOURCE_TREE = flags.DEFINE_string(
    "source_tree", None, "JSON: the repository's files, and the text of BUILD files.", required=True
)
_RUN = flags.DEFINE_multi_string("run", [], "A target that is run: its label, `=`, its executable.")
_BUILT = flags.DEFINE_multi_string("built", [], "A target that is built: its label.")
_SOURCE = flags.DEFINE_multi_string("source", [], "Where flags are defined: a target's label, `=`, a source.")
_PAGES = sorted(str(page) for page in Path().rglob("*.md"))

# Commands by the test that runs them in another way: in another workspace, as the tool's own test, or for a shorter
# time. A command is a pattern as of file names.
_ELSEWHERE = {
    "../rules_executorch/tools/bazel run *": "//tests/downstream:start_test",
    "bazel build --@rules_executorch//rules:instruction_sets=* //app*": "//rules/tests:instruction_sets_tests",
    "bazel * --platforms=//:linux_arm64 *": "//tests/downstream:platforms_test",
    "bazel build --output_groups=etrecord :model": "//export/report/tests:etrecord_test",
    "bazel build --output_groups=memory :classifier_compiled": "//tests/compiled:memory_test",
    "bazel build --output_groups=selective_build": "//rules/tests:executorch_generated_lib_tests",
    "bazel build --output_groups=times :model": "//export/process/tests:phases_test",
    "bazel build -c opt --platforms=*:wasm32 :digits.wasm": "//examples/web:browser_test",
    "bazel build --platforms=*:cortex_m7 * :image": "//examples/microcontroller:image_test",
    "bazel build --platforms=//:android_arm64 //app": "//rules/tests:toolchains_tests",
    "bazel build :memory": "//tests/memory:memory_test",
    "bazel build :size*": "//tests/size:size_test",
    "bazel cquery --output=files --output_groups=+samples *": "//tests/downstream:bzlmod_test",
    "bazel run :<name> -- --check": "//tests/downstream:bzlmod_test",
    "bazel run :<name>.numbers": "//profiles/tests:numbers_test",
    "bazel run :<name>.profile": "//profiles/tests:profile_test",
    "bazel run :<name>.skeleton": "//qnn/skeleton/tests:skeleton_test",
    "bazel run :classifier -- --check": "//tests/downstream:bzlmod_test",
    "bazel run :perceptron -- --check": "//tests/downstream:bzlmod_test",
    "bazel run :runner -- --profile*": "//profiles/tests:profile_test",
    "bazel run :runner.profile -- --etdump=/tmp/out.etdp": "//profiles/tests:profile_test",
    "bazel run @rules_executorch//tools/compile_commands": "//tools/compile_commands/tests:compile_commands_test",
    "bazel run @rules_executorch//tools/from_buck -- path/to/TARGETS > BUILD.bazel": "//tests/downstream:bzlmod_test",
    "bazel run @rules_executorch//tools/lock -- *": "//tools/lock:lock_test",
    "bazel run @executorch_python//:install -- /opt/executorch": "//rules/tests:python_environment_test",
    "bazel test --platforms=@rules_executorch//third_party/cross:linux_riscv64 *": "//tests/downstream:platforms_test",
    "bazel test --platforms=@rules_executorch//third_party/cross:wasm32 *": "//tests/compiled:wasm32_test",
    "bazel test --extra_toolchains=*": "//tests/downstream:monorepo_test",
    "bazel test //...": "//tests/downstream:bzlmod_test",
    "qemu-system-arm * -kernel bazel-bin/image": "//examples/microcontroller:image_test",
    "tools/bazel build *//examples/aoti:runner_without_matmul": "//rules/tests:torch_aoti_tests",
    "tools/bazel build *//examples/custom_ops:runner_with_mul4_twice": "//codegen/tests:check_command_test",
    "tools/bazel build *//examples/custom_ops:runner_without_mul3": "//examples/custom_ops:selection_test",
    "tools/bazel build *//examples/torch_matmul:collision": "//examples/torch_matmul:collision_test",
    "tools/bazel build --platforms=//third_party/cross:linux_arm64 *": "//tests/platforms:linux_arm64_test",
    "tools/bazel run //codegen/fuzz:cpp_fuzz -- *": "//codegen/fuzz:cpp_fuzz",
    "tools/bazel run //codegen/fuzz:program_fuzz -- *": "//codegen/fuzz:program_fuzz",
    "tools/bazel run //diagnostics/golden:update": "//diagnostics/tests:golden_test",
    "tools/bazel run //diagnostics:update_errors": "//diagnostics/tests:error_list_test",
    "tools/bazel run //examples/qnn_op_package:example_op_package.skeleton": "//qnn/skeleton/tests:skeleton_test",
    "tools/bazel run //examples/mobilenet_v2:runner.profile*": "//profiles/tests:profile_test",
    "tools/bazel run //export -- *": "//export/process/tests:command_test",
    "tools/bazel run //export:graph_passes_reference": "//export/graph_passes/tests:selection_test",
    "tools/bazel run //export/fuzz -- --count=*": "//export/fuzz:fuzz_test",
    "tools/bazel run //export/fuzz -- --functions=*": "//export/fuzz:functions_fuzz_test",
    "tools/bazel run //kernels/testing/sweep": "//kernels/testing/sweep/tests:sweep_test",
    "tools/bazel run //kernels:write_operators": "//kernels/tests:operator_lists_test",
    "tools/bazel run //runtime/fuzz:coverage_fuzz -- *": "//runtime/fuzz:corpus_test",
    "tools/bazel run //tools/compile_commands": "//tools/compile_commands/tests:compile_commands_test",
    "tools/bazel run //tools/floors": "//tools/floors:floors_test",
    "tools/bazel run //tools/from_buck -- TARGETS": "//tools/from_buck/tests:from_buck_test",
    "tools/bazel run //tools/models:matrix": "//tools/models:matrix_test",
    "tools/bazel run //tools/operators": "//tools/operators/tests:operators_test",
    "tools/bazel run //tools/toolchains*": "//tools/toolchains:toolchains_test",
    "tools/bazel run //tools/reference": "//tools/reference:reference_test",
    "tools/bazel run //tools/reference:own_operators": "//tools/reference:own_operators_test",
    "tools/bazel run //tools/release -- *": "//tools/release:entry_test",
    "tools/bazel run //tools/zoo*": "//tools/zoo/tests:zoo_test",
}
_SDK = "needs Qualcomm's SDKs"
_DEBUGGING = "compiles the runner and kernels once more"
# Commands that no test runs, and why. Their targets exist.
_BY_HAND = {
    ".ci/run": "runs all tests",
    "bazel-bin/examples/qnn_op_package/*": "needs a phone",
    "bazel build --jobs=1": "builds all again; it is for machines with little memory",
    "bazel build -c dbg *": _DEBUGGING,
    "bazel run --copt=-fsanitize=address*": _DEBUGGING,
    "export *": _SDK,
    "gdb *": _DEBUGGING,
    "libraries=*": _DEBUGGING,
    "tools/bazel --bazelrc=... *": "needs the servers of //tests/remote:serve",
    "tools/bazel run * //tools/bench:*": "measures for minutes",
    "tools/bazel run //examples/qnn_op_package:lower *": _SDK,
    "tools/bazel run //export/fuzz:fuzz_arm64 *": "compiles all kernels for arm64; a test runs those of this machine",
    "tools/bazel run //export/fuzz:fuzz_compiled *": "compiles thousands of programs; a test compiles 8",
    "tools/bazel run //runtime/fuzz:program_fuzz *": "runs a million programs; a test runs 5,000",
    "tools/bazel run //tools/bench:*": "measures for minutes",
    "tools/bazel run //tools/bench/peers:*": "exports a model of full size",
    "tools/bazel run //tests/remote*": "starts a remote execution engine, whose programs come from package mirrors",
    "tools/bazel run //tools/lint*": "needs the source tree; .ci/run runs it",
    "tools/bazel test --config=torch_ops_check //...": "runs all tests; .ci/run does so",
    "tools/check --changed": "runs slow tests; //tools:check_test runs the script without Bazel",
    "tools/check --everything": "takes hours; //tools:check_test runs the script without Bazel",
    "tools/sanitize": "compiles all kernels three times; .ci/run runs a sample",
}


def _label(target: str) -> str:
    """A target with the name that its folder gives."""
    return target if ":" in target or "..." in target else f"{target}:{target.rpartition('/')[2]}"


def _shape(line: str) -> str:
    """A line without what differs between machines: bytes; where numbers have fractions, all numbers."""
    numbers = r"-?\d[\d,.]*(?:e[-+]?\d+)?" if re.search(r"\d\.\d", line) else r"\d[\d,]*(?= bytes)"
    return " ".join(re.sub(numbers, "#", line).split())


class CommandsTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.run_targets = dict(value.split("=") for value in _RUN.value)
        self.sources: dict[str, str] = {}
        for target, source in (value.split("=") for value in _SOURCE.value):
            self.sources[target] = self.sources.get(target, "") + Path(source).read_text()
        tree = json.loads(Path(_SOURCE_TREE.value).read_text())
        self.build_files: dict[str, str] = tree["build_files"]
        self.files: list[str] = tree["files"]
        self.commands = [(page, command) for page in _PAGES for command in guide.commands(Path(page).read_text())]

    def _assert_prints(self, command: guide.Command, printed: str) -> None:
        lines = [_shape(line) for line in printed.splitlines()]
        for line in command.output.splitlines():
            if line != "...":
                self.assertIn(_shape(line), lines, printed)

    def _run(self, command: guide.Command, executable: str, arguments: list[str]) -> None:
        folder = Path(self.create_tempdir().full_path)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RUNFILES")}
        arguments = [argument.replace("$PWD", str(folder)) for argument in arguments]
        run = subprocess.run(
            [Path(executable).absolute(), *arguments],
            capture_output=True,
            check=False,
            env=environment | {"BUILD_WORKING_DIRECTORY": str(folder), "BUILD_WORKSPACE_DIRECTORY": str(folder)},
            text=True,
        )
        self.assertEqual(0, run.returncode, f"{command.text}\n{run.stdout}{run.stderr}")
        self._assert_prints(command, run.stdout + run.stderr)

    def _assert_exists(self, target: str) -> None:
        """That a target is run or built here, or that its BUILD file has its name.

        Lists and executorch_model add endings to a name, and macros more after a dot.
        """
        label = _label(target)
        if target == "//..." or label in (*self.run_targets, *_BUILT.value):
            return
        package, _, name = label.removeprefix("//").partition(":")
        if package.endswith("/..."):
            below = package.removesuffix("...")
            self.assertTrue(any(f"{one}/".startswith(below) for one in self.build_files), f"{target} has no package")
            return
        self.assertTrue(package in self.build_files, f"{target} is in no package")
        if name and name != "all":
            names = re.findall(r'"([^"\n]+)"', self.build_files[package])
            # A macro makes a test of each file of a list.
            names = [one.removesuffix(".py") for one in names if one.strip("{}*")]
            pattern = "|".join(re.sub(r"\\\{\\\}|\\\*", r"\\w+", re.escape(one)) for one in names)
            endings = r"(_compiled)?(_(lib|numbers|operators|profile|size|test))?$"
            candidates = (name.partition(".")[0], re.sub(endings, "", name))
            self.assertTrue(any(re.fullmatch(pattern, one) for one in candidates), f"no target {target}")

    def _bazel(self, page: str, command: guide.Command) -> None:
        words = shlex.split(command.text)
        while "=" in words[0]:
            del words[0]
        _, verb, *rest = words
        arguments = rest[rest.index("--") + 1 :] if "--" in rest else []
        rest = rest[: rest.index("--")] if "--" in rest else rest
        targets = [word for word in rest if not word.startswith("--")]
        self.assertTrue(targets, "no target")
        for target in targets:
            self._assert_exists(target)
            if verb == "test":
                suites = "all|all_models|full_size|op_tests_of_all_sets|quick|slow"
                self.assertRegex(target, rf"_test$|/\.\.\.$|:({suites})$")
        if verb == "run" and _label(targets[0]) in self.run_targets:
            self._run(command, self.run_targets[_label(targets[0])], arguments)
        elif verb == "run":
            self.fail("no test runs this command")
        elif verb == "build":
            self.assertEqual("", command.output, "no test runs this command")

    def test_commands(self) -> None:
        used = set()
        for page, command in self.commands:
            with self.subTest(f"{page}:{command.line}: {command.text}"):
                if page in guide.GUIDES and command.text.startswith(("bazel ", "cat ")):
                    continue
                known = [pattern for pattern in (*_ELSEWHERE, *_BY_HAND) if fnmatch.fnmatchcase(command.text, pattern)]
                used.update(known)
                if command.text.startswith("tools/bazel "):
                    if known:
                        typed, _, arguments = command.text.partition(" -- ")
                        for target in re.findall(r"(?<=\s)//\S+", typed):
                            self._assert_exists(target)
                            for flag in re.findall(r"--(\w+)", arguments):
                                names = f"{flag}|{flag.removeprefix('no')}"
                                source = self.sources.get(_label(target))
                                self.assertTrue(
                                    source is None or re.search(rf'"(--)?({names})"', source),
                                    f"{target} has no flag {flag}",
                                )
                    else:
                        self._bazel(page, command)
                elif command.text.startswith("cat "):
                    self._assert_prints(command, Path(command.text.removeprefix("cat bazel-bin/")).read_text())
                elif not known:
                    self.fail("no test runs this command")
        self.assertEqual({*_ELSEWHERE, *_BY_HAND}, used, "entries without a command")

    def test_tests(self) -> None:
        for test in _ELSEWHERE.values():
            self.assertRegex(test, "_(tests?|fuzz)$")
            self._assert_exists(test)

    def test_tests_of_documents(self) -> None:
        """docs/documents.md names tests that exist."""
        tests = re.findall(r"`(//[\w/]+:\w+_tests?)`", Path("docs/documents.md").read_text())
        self.assertNotEmpty(tests)
        for test in tests:
            with self.subTest(test):
                self._assert_exists(test)

    def test_links(self) -> None:
        """To files that are no pages; //tools/site looks at the others."""
        known = {*self.files, *(posixpath.dirname(file) for file in self.files)}
        for page in _PAGES:
            for link in guide.links(Path(page).read_text()):
                path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
                self.assertTrue(path in known, f"{page} links to {link}, which does not exist")


if __name__ == "__main__":
    absltest.main()
