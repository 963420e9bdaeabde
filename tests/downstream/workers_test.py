"""The code generator and the export in workers and without: the same bytes, and errors where they belong."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import re

from absl.testing import absltest

from tests.downstream import nested_bazel

_TMP = pathlib.Path(os.environ["TEST_TMPDIR"])
_OUTPUTS = (
    "KernelTable.cpp",
    "RegisterKernels.cpp",
    "RegisteredNames.cpp",
    "NativeFunctions.h",
    "Functions.h",
    "registered.json",
    "selected_operators.yaml",
)
_PROGRAM_OUTPUTS = ("model.pte", "model.ptd", "model.delegation.json", "model.passes.json", "model.origins.json")
_BUILD = """
load("@rules_executorch//rules:defs.bzl", "et_operator_library", "executorch_generated_lib", "executorch_program")
load("@rules_python//python:defs.bzl", "py_library")

py_library(
    name = "scale_op",
    srcs = ["scale_op.py"],
)

executorch_program(
    name = "model",
    model = "model.py",
    deps = [":scale_op"],
)

executorch_program(
    name = "raising",
    model = "raising_model.py",
)

# What the model imports is a file of the workspace, and no input of the export.
executorch_program(
    name = "undeclared",
    model = "model.py",
)

[
    et_operator_library(
        name = "operators_{}".format(i),
        ops = ops,
    )
    for i, ops in enumerate([["aten::add.out"], ["aten::mul.out", "aten::add.out"], ["aten::nonsense.out"]])
]

[
    executorch_generated_lib(
        name = "lib_{}".format(i),
        functions_yaml_target = "@rules_executorch//kernels/portable:functions.yaml",
        deps = [":operators_{}".format(i)],
    )
    for i in range(3)
]
"""
_GOOD = ("//:lib_0", "//:lib_1")
_MNEMONICS = ("EtSelect", "EtGenerate")
_SANDBOXED_WORKERS = ("--worker_sandboxing", "--experimental_worker_multiplex_sandboxing")
# One flag: a second one would take the place of the first.
_UNCACHED = ("--modify_execution_info=Et(Select|Generate|Export)=+no-cache",)
_PATH_MAPPING = ("--experimental_output_paths=strip", "--@rules_executorch//rules:path_mapping")


class WorkersTest(absltest.TestCase):
    _place: pathlib.Path
    _workspace: nested_bazel.Workspace

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls._place = _TMP / "workers"
        app = nested_bazel.make_app(cls._place)
        (app / "BUILD.bazel").write_text(_BUILD)
        cls._workspace = nested_bazel.Workspace(app, "--noenable_workspace")

    @classmethod
    def tearDownClass(cls) -> None:
        cls._workspace.__exit__()
        super().tearDownClass()

    def _build(self, *options: str, targets: tuple[str, ...] = _GOOD, code: int = 0) -> str:
        """Builds what the code generator makes, and compiles none of it; returns stderr."""
        result = self._workspace.bazel("build", "--keep_going", "--output_groups=manifest", *options, *targets)
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stderr

    def _runners(self, log: pathlib.Path) -> dict[str, set[str]]:
        """How each of the tools' actions ran, by mnemonic, out of an execution log."""
        runners: dict[str, set[str]] = {}
        for text in log.read_text().replace("}{", "}\0{").split("\0"):
            spawn = json.loads(text)
            if spawn["mnemonic"] in _MNEMONICS:
                runners.setdefault(spawn["mnemonic"], set()).add(spawn["runner"])
        return runners

    def _fresh(
        self, *options: str, targets: tuple[str, ...] = _GOOD, outputs: tuple[str, ...] = _OUTPUTS
    ) -> tuple[dict[str, str], str]:
        """Runs the tools' actions; returns the outputs' digests, and stderr."""
        self._workspace.bazel("clean")
        stderr = self._build(*_UNCACHED, *options, targets=targets)
        root = (self._place / "app/bazel-bin").resolve()
        digests = {
            str(file.relative_to(root)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted(root.rglob("*"))
            if file.name in outputs
        }
        self.assertEqual(len(digests), len(targets) * len(outputs))
        return digests, stderr

    def _fresh_code(self, *options: str) -> tuple[dict[str, str], dict[str, set[str]]]:
        """Runs the code generator's actions; returns the outputs' digests, and how the actions ran."""
        log = self._place / "log.json"
        digests, _ = self._fresh(f"--execution_log_json_file={log}", *options)
        return digests, self._runners(log)

    def _fresh_program(self, *options: str) -> tuple[dict[str, str], bool]:
        """Exports a model; returns the outputs' digests, and whether a worker did it.

        An execution log would take ten seconds, since it has the digests of all files of PyTorch's packages.
        """
        digests, stderr = self._fresh(
            *options, "--output_groups=samples", targets=("//:model",), outputs=_PROGRAM_OUTPUTS
        )
        (summary,) = re.findall(r"^INFO: \d+ process(?:es)?: (.*)\.$", stderr, re.MULTILINE)
        return digests, bool(re.search(r"\b1 worker\b", summary))

    def test_same_bytes_however_it_runs(self) -> None:
        without = [f"--strategy={mnemonic}=sandboxed" for mnemonic in _MNEMONICS]
        expected, runners = self._fresh_code(*without)
        self.assertEqual(runners, {mnemonic: {"linux-sandbox"} for mnemonic in _MNEMONICS})
        only_workers = [f"--strategy={mnemonic}=worker" for mnemonic in _MNEMONICS]
        for options in (
            (),
            _SANDBOXED_WORKERS,
            ("--noworker_multiplex", "--worker_sandboxing"),
        ):
            with self.subTest(options):
                digests, runners = self._fresh_code(*only_workers, *options)
                self.assertEqual(digests, expected)
                self.assertEqual(runners, {mnemonic: {"worker"} for mnemonic in _MNEMONICS})
        with self.subTest("mapped paths"):
            digests, runners = self._fresh_code(*_PATH_MAPPING)
            self.assertEqual(digests, expected)
            self.assertEqual(runners, {mnemonic: {"linux-sandbox"} for mnemonic in _MNEMONICS})

    def test_exports(self) -> None:
        expected, is_by_worker = self._fresh_program("--strategy=EtExport=sandboxed")
        self.assertFalse(is_by_worker)
        for options in (
            (),
            _SANDBOXED_WORKERS,
            ("--noworker_multiplex", "--worker_sandboxing"),
        ):
            with self.subTest(options):
                digests, is_by_worker = self._fresh_program(*options)
                self.assertEqual(digests, expected)
                self.assertTrue(is_by_worker)
                failing = ("//:model", "//:raising", "//:undeclared")
                stderr = self._build(*options, "--output_groups=default", targets=failing, code=1)
                self.assertIn("//:raising: cannot export\nraising_model.py:", stderr)
                self.assertIn("No module named 'scale_op'", stderr)
                self.assertNotIn("did not return a WorkResponse", stderr)

    def test_an_error_appears_with_its_action_and_the_worker_goes_on(self) -> None:
        self._workspace.bazel("clean")
        stderr = self._build(*_SANDBOXED_WORKERS, *_UNCACHED, targets=(*_GOOD, "//:lib_2"), code=1)
        self.assertIn("Generating kernel registration for //:lib_2 failed", stderr)
        self.assertIn("//:lib_2: error: aten::nonsense.out, which //:operators_2 asks for, is not provided", stderr)
        self.assertNotIn("did not return a WorkResponse", stderr)
        self._build(*_SANDBOXED_WORKERS, *_UNCACHED)

    def test_two_configurations_share_what_has_mapped_paths(self) -> None:
        for options, shared in ((_PATH_MAPPING, True), ((), False)):
            with self.subTest(options):
                log = self._place / "log.json"
                for mode in ("opt", "dbg"):
                    self._workspace.bazel("clean")
                    self._build(
                        *options,
                        *(f"--strategy={mnemonic}=sandboxed" for mnemonic in _MNEMONICS),
                        f"--compilation_mode={mode}",
                        f"--execution_log_json_file={log}",
                    )
                runner = "disk cache hit" if shared else "linux-sandbox"
                self.assertEqual(self._runners(log), {mnemonic: {runner} for mnemonic in _MNEMONICS})


if __name__ == "__main__":
    absltest.main()
