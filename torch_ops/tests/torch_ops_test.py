"""Tests of the operator tester: checks pass where they should, and every mistake is one error that says what to do."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import torch
from absl.testing import absltest

from diagnostics.errors import InputError
from export.user.source import Source
from torch_ops import checks, operators, report, sample_file

_OPCHECK = [
    "opcheck.test_schema",
    "opcheck.test_autograd_registration",
    "opcheck.test_faketensor",
    "opcheck.test_aot_dispatch_dynamic",
]
_ALL = checks.Options(gradcheck=True, vmap=True, compile=True, export=True)
_numbers = itertools.count()


def _library(*lines: str, samples: str = "(torch.ones(3),)") -> str:
    """A sample file that registers operators in a namespace of its own, NS."""
    body = textwrap.dedent("\n".join(lines))
    return f"""
import torch
library = torch.library.Library("NS", "FRAGMENT")
{body}
def get_samples():
    return [{samples}]
"""


_SCALE = """
@torch.library.custom_op("NS::scale", mutates_args=())
def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
    return x * factor

@scale.register_fake
def _(x, factor):
    return torch.empty_like(x)

def setup_context(ctx, inputs, output):
    ctx.factor = inputs[1]

def backward(ctx, grad):
    return grad * ctx.factor, None

scale.register_autograd(backward, setup_context=setup_context)

@scale.register_vmap
def _(info, in_dims, x, factor):
    return scale(x, factor), in_dims[0]
"""
_SCALE_SAMPLES = """
    (torch.randn(3, dtype=torch.float64, requires_grad=True), 2.0),
    {"x": torch.randn(2, 3), "factor": -1.0},
    ((torch.randn(0, 3),), {"factor": 0.5}),
"""


class _Case(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = Path(self.create_tempdir().full_path)
        self.file = self.folder / "samples.py"
        self.namespace = f"op_test_{next(_numbers)}"

    def load(self, source: str, operator: str = "") -> tuple[torch._ops.OpOverload, sample_file.Samples]:
        self.file.write_text(source.replace("NS", self.namespace))
        samples = sample_file.load(Source(self.file, kind="sample", rule="torch_op_test"), "get_samples")
        return operators.find(operator.replace("NS", self.namespace), samples.at), samples

    def run_checks(self, source: str, operator: str, options: checks.Options | None = None) -> dict[str, checks.Result]:
        operator_and_samples = self.load(source, operator)
        return {result.check: result for result in checks.run(*operator_and_samples, options or checks.Options())}


class ChecksTest(_Case):
    def test_every_check_is_reported_by_name(self) -> None:
        results = self.run_checks(_library(_SCALE, samples=_SCALE_SAMPLES), "NS::scale", _ALL)
        self.assertEqual([*results], ["eager", *_OPCHECK, "gradcheck", "vmap", "compile", "export"])
        self.assertEqual({check: result.status for check, result in results.items()}, dict.fromkeys(results, "PASSED"))

    def test_operator_that_writes_to_an_argument(self) -> None:
        source = _library(
            """
            @torch.library.custom_op("NS::add_to", mutates_args=("x",))
            def add_to(x: torch.Tensor, y: torch.Tensor) -> None:
                x.add_(y)

            @add_to.register_fake
            def _(x, y):
                return None

            @add_to.register_vmap
            def _(info, in_dims, x, y):
                if in_dims[0] is None:
                    raise RuntimeError("one x cannot take several sums")
                add_to(x.movedim(in_dims[0], 0), y if in_dims[1] is None else y.movedim(in_dims[1], 0))
                return None, None
            """,
            samples="(torch.randn(3), torch.randn(3))",
        )
        results = self.run_checks(source, "NS::add_to", checks.Options(vmap=True, compile=True, export=True))
        self.assertEqual([r.check for r in results.values() if r.finding], [])
        self.assertEqual(results["opcheck.test_autograd_registration"].status, "SKIPPED")

    def test_lists_optionals_and_several_results(self) -> None:
        source = _library(
            'library.define("join(Tensor[] parts, int times, *, Tensor? more=None) -> (Tensor, Tensor[])")',
            "def join(parts, times, *, more=None):",
            "    return parts[0] * times, [part + 1 for part in parts]",
            'library.impl("join", join, "CompositeExplicitAutograd")',
            samples='([torch.ones(3), torch.ones(2)], 2), (([torch.ones(3)], 2), {"more": torch.ones(1)})',
        )
        results = self.run_checks(source, "NS::join", checks.Options(compile=True, export=True))
        self.assertEqual([r.check for r in results.values() if r.finding], [])

    def test_the_loop_that_pytorch_makes_up_is_noted(self) -> None:
        source = _library(_SCALE.partition("@scale.register_vmap")[0], samples="(torch.ones(3), 2.0)")
        vmap = self.run_checks(source, "NS::scale", checks.Options(vmap=True))["vmap"]
        self.assertEqual((vmap.status, "loop" in vmap.note), ("PASSED", True))

    def test_aten_operator(self) -> None:
        options = checks.Options(vmap=True, compile=True)
        results = self.run_checks(_library(samples="(torch.ones(3), torch.ones(3))"), "aten::mul.Tensor", options)
        self.assertEqual([r.check for r in results.values() if r.finding], [])


class FailureTest(_Case):
    def assert_finding(self, result: checks.Result, id_: str, *expected: str) -> None:
        self.assertEqual(result.status, "FAILED", result.check)
        assert result.finding is not None
        message = str(result.finding)
        self.assertEqual(result.finding.id, id_, message)
        self.assertTrue(message.startswith(f"{self.file}:"), message)
        for text in (*expected, "Likely cause: ", "Fix: ", f"See: docs/errors.md#{id_}"):
            self.assertIn(text.replace("NS", self.namespace), message)
        self.assertNotIn("site-packages", message)
        self.assertNotIn("Traceback", message)

    def test_kernel_for_meta_only(self) -> None:
        source = _library(
            'library.define("twice(Tensor x) -> Tensor")', 'library.impl("twice", torch.empty_like, "Meta")'
        )
        results = self.run_checks(source, "NS::twice")
        self.assertEqual([*results], ["eager"])
        self.assert_finding(
            results["eager"],
            "no-kernel",
            "NS::twice, on sample 0, has no kernel for CPU",
            'register_kernel("NS::twice", "cpu")',
            "TORCH_LIBRARY_IMPL(NS, CPU, m)",
        )

    def test_no_fake_kernel(self) -> None:
        source = _library(
            'library.define("twice(Tensor x) -> Tensor")', 'library.impl("twice", lambda x: x * 2, "CPU")'
        )
        results = self.run_checks(source, "NS::twice", checks.Options(compile=True, export=True))
        failed = ["opcheck.test_faketensor", "opcheck.test_aot_dispatch_dynamic", "compile", "export"]
        self.assertEqual([check for check, result in results.items() if result.finding], failed)
        for check in failed:
            self.assert_finding(results[check], "no-fake-kernel", '@torch.library.register_fake("NS::twice")', "Meta")

    def test_mutable_argument_not_declared(self) -> None:
        source = _library(
            'library.define("bump(Tensor x, Tensor? y) -> Tensor")',
            'library.impl("bump", lambda x, y: y.add_(1) + x, "CPU")',
            'torch.library.register_fake("NS::bump", lambda x, y: torch.empty_like(x))',
            samples="(torch.ones(3), torch.ones(3)), (torch.ones(2), torch.ones(2))",
        )
        self.assert_finding(
            self.run_checks(source, "NS::bump")["opcheck.test_schema"],
            "undeclared-mutation",
            "NS::bump, on samples 0, 1, writes to its argument y, which its schema does not declare",
            'mutates_args=("y",)',
            "NS::bump(Tensor x, Tensor(a!)? y) -> Tensor;",
        )

    def test_returned_argument(self) -> None:
        for name, argument, returned, kernel, fake, check in (
            ("same", "Tensor x", "Tensor", "x", "torch.empty_like(x)", "opcheck.test_schema"),
            ("bump", "Tensor(a!) x", "Tensor(a!)", "x.add_(1)", "x", "opcheck.test_aot_dispatch_dynamic"),
        ):
            source = _library(
                f'library.define("{name}({argument}) -> {returned}")',
                f'library.impl("{name}", lambda x: {kernel}, "CPU")',
                f'torch.library.register_fake("NS::{name}", lambda x: {fake})',
            )
            with self.subTest(argument):
                result = self.run_checks(source, f"NS::{name}")[check]
                self.assert_finding(result, "returned-argument", "on sample 0, returns one of its arguments", "clone()")

    def test_python_operator_that_returns_its_argument(self) -> None:
        source = _library(
            '@torch.library.custom_op("NS::same", mutates_args=("x",))',
            "def same(x: torch.Tensor) -> torch.Tensor:",
            "    return x.add_(1)",
        )
        self.assert_finding(self.run_checks(source, "NS::same")["eager"], "returned-argument", "clone()")

    def test_wrong_fake_kernel(self) -> None:
        source = _library(
            'library.define("twice(Tensor x) -> Tensor")',
            'library.impl("twice", lambda x: x * 2, "CPU")',
            'torch.library.register_fake("NS::twice", lambda x: x.new_empty(x.shape[0]))',
            samples="(torch.ones(3, 2),)",
        )
        self.assert_finding(
            self.run_checks(source, "NS::twice")["opcheck.test_faketensor"], "wrong-fake-kernel", "Shapes", "[3, 2]"
        )

    def test_no_autograd_formula(self) -> None:
        source = _library(_SCALE.partition("def setup_context")[0], samples="(torch.ones(3, requires_grad=True), 2.0)")
        self.assert_finding(
            self.run_checks(source, "NS::scale")["opcheck.test_aot_dispatch_dynamic"],
            "no-autograd-formula",
            "torch.library.register_autograd",
        )

    def test_autograd_in_the_kernel(self) -> None:
        source = _library(
            "class Twice(torch.autograd.Function):",
            "    @staticmethod",
            "    def forward(ctx, x): return x * 2",
            "    @staticmethod",
            "    def backward(ctx, grad): return grad * 2",
            'library.define("twice(Tensor x) -> Tensor")',
            'library.impl("twice", Twice.apply, "CPU")',
            'torch.library.register_fake("NS::twice", torch.empty_like)',
            samples="(torch.ones(3, requires_grad=True),)",
        )
        result = self.run_checks(source, "NS::twice")["opcheck.test_autograd_registration"]
        self.assert_finding(result, "autograd-in-kernel", "torch.library.register_autograd")

    def test_wrong_gradient(self) -> None:
        wrong = _SCALE.replace("grad * ctx.factor, None", "grad, None")
        result = self.run_checks(_library(wrong, samples=_SCALE_SAMPLES), "NS::scale", _ALL)["gradcheck"]
        self.assert_finding(result, "wrong-gradient", "NS::scale, on sample 0, has an autograd formula that is wrong")

    def test_no_sample_for_gradcheck(self) -> None:
        source = _library(_SCALE, samples="(torch.ones(3, requires_grad=True), 2.0)")
        result = self.run_checks(source, "NS::scale", checks.Options(gradcheck=True))["gradcheck"]
        self.assert_finding(result, "no-gradcheck-sample", "dtype=torch.float64, requires_grad=True")

    def test_wrong_vmap(self) -> None:
        wrong = _SCALE.replace("in_dims[0]", "0")
        source = _library(wrong, samples="(torch.ones(3, 3), 2.0)")
        result = self.run_checks(source, "NS::scale", checks.Options(vmap=True))["vmap"]
        self.assert_finding(result, "operator-check-failed", "vmap of NS::scale on sample 0", "register_vmap")

    def test_no_vmap_rule(self) -> None:
        source = _library(
            'library.define("join(Tensor[] parts) -> Tensor")',
            'library.impl("join", lambda parts: torch.cat(parts), "CompositeExplicitAutograd")',
            samples="([torch.ones(3), torch.ones(2)],)",
        )
        result = self.run_checks(source, "NS::join", checks.Options(vmap=True))["vmap"]
        self.assert_finding(result, "no-vmap-rule", 'torch.library.register_vmap("NS::join")')

    def test_kernel_that_raises(self) -> None:
        source = _library(
            '@torch.library.custom_op("NS::fails", mutates_args=())',
            "def fails(x: torch.Tensor) -> torch.Tensor:",
            "    raise ValueError('no such mode')",
        )
        results = self.run_checks(source, "NS::fails", _ALL)
        self.assertEqual([*results], ["eager"])
        self.assert_finding(
            results["eager"],
            "operator-check-failed",
            f"{self.file}:6:",
            "eager of NS::fails on sample 0 raised ValueError: no such mode",
            "torch.ops.NS.fails.default(Tensor float32 [3])",
        )

    def test_sample_that_does_not_fit_the_schema(self) -> None:
        source = _library(_SCALE, samples='(torch.ones(3), "two")')
        result = self.run_checks(source, "NS::scale")["eager"]
        self.assert_finding(result, "operator-check-failed", "Expected a value of type 'float' for argument 'factor'")


class SampleFileTest(_Case):
    def assert_error(self, source: str, operator: str, line: int, id_: str, *expected: str) -> None:
        with self.assertRaises(InputError) as caught:
            self.load(source, operator)
        message = str(caught.exception)
        where = f"{self.file}:{line}:" if line else f"{self.file}: "
        self.assertEqual(message[: len(where)], where)
        for text in (*expected, "Likely cause: ", "Fix: ", f"See: docs/errors.md#{id_}"):
            self.assertIn(text.replace("NS", self.namespace), message)

    def test_code_that_pytorch_compiles_is_not_the_users(self) -> None:
        file = Source(self.file, (Path.cwd(),), kind="sample", rule="torch_op_test")
        self.assertFalse(file.is_users("<string>"))

    def test_raises(self) -> None:
        source = "def helper():\n    return 1 / 0\ndef get_samples():\n    return [helper()]\n"
        self.assert_error(
            source,
            "NS::x",
            2,
            "user-code-raised",
            "get_samples() raised ZeroDivisionError",
            "samples.py:4, in get_samples",
        )

    def test_imports_what_is_not_there(self) -> None:
        self.assert_error("import my_ops\n", "NS::x", 1, "user-code-raised", "No module", "`deps` of the torch_op_test")

    def test_no_entry_point(self) -> None:
        self.assert_error("def get_sample(): ...\n", "NS::x", 0, "no-entry-point", "did you mean get_sample?")

    def test_wrong_return_value(self) -> None:
        for value, expected in (
            ("[]", "get_samples() is []; expected a list of samples"),
            ("None", "get_samples() is None"),
            (
                "[torch.ones(1)]",
                "get_samples()[0] is Tensor float32 [1]; expected a tuple of arguments (a tuple of one",
            ),
        ):
            with self.subTest(value):
                source = f"import torch\ndef get_samples():\n    return {value}\n"
                self.assert_error(source, "NS::x", 2, "wrong-return-value", expected)

    def test_unknown_operator(self) -> None:
        self.assert_error(
            _library(_SCALE),
            "NS::scael",
            25,
            "unknown-torch-operator",
            "no operator NS::scael is registered; did you mean NS::scale",
            "registered in NS: NS::scale",
            "companion py_library",
        )

    def test_unknown_namespace(self) -> None:
        self.assert_error(_library(), "NS_::scale", 5, "unknown-torch-operator", "registered in NS_: nothing")

    def test_overloaded_operator(self) -> None:
        self.assert_error(_library(), "aten::mul_", 5, "unknown-torch-operator", "aten::mul_.Scalar, aten::mul_.Tensor")

    def test_only_overload(self) -> None:
        source = _library('library.define("twice.int(Tensor x) -> Tensor")')
        self.assertEqual(self.load(source, "NS::twice")[0].name(), f"{self.namespace}::twice.int")


class ReportTest(_Case):
    def test_each_finding_once_and_a_case_for_each_check(self) -> None:
        source = _library(
            'library.define("twice(Tensor x) -> Tensor")', 'library.impl("twice", lambda x: x * 2, "CPU")'
        )
        results = [*self.run_checks(source, "NS::twice").values()]
        self.assertEqual(report.summary("my_ops::twice", results).count("error: "), 1)
        self.assertEqual(
            report.summary("my_ops::twice", results).splitlines()[-1],
            "FAILED: opcheck.test_faketensor, opcheck.test_aot_dispatch_dynamic of my_ops::twice",
        )
        self.assertEqual(
            [report.line(result).split()[0] for result in results], ["PASSED", "PASSED", "SKIPPED", "FAILED", "FAILED"]
        )
        suite = ElementTree.fromstring(report.xml("my_ops::twice", results))[0]
        self.assertEqual([case.get("name") for case in suite], ["eager", *_OPCHECK])
        self.assertEqual([child.tag for case in suite for child in case], ["skipped", "failure", "failure"])
        self.assertEqual((suite.get("failures"), suite.get("skipped"), suite.get("tests")), ("2", "1", "5"))


class CommandTest(_Case):
    """The tool as a test runs it."""

    def assert_fails(self, source: str, check: str, *expected: str) -> str:
        """Fails unless the one failure is of that check; returns what was printed."""
        self.file.write_text(source)
        xml = self.folder / "test.xml"
        path = os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), *sys.path]))
        result = subprocess.run(
            [sys.executable, "-m", "torch_ops.main", "--op=my_ops::mul3", f"--samples={self.file}"],
            env={**os.environ, "PYTHONPATH": path, "XML_OUTPUT_FILE": str(xml)},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        for text in expected:
            self.assertIn(text, result.stdout)
        self.assertEqual(result.stdout.splitlines()[-1], f"FAILED: {check} of my_ops::mul3")
        (case,) = ElementTree.fromstring(xml.read_text())[0]
        self.assertEqual((case.get("name"), case[0].tag), (check, "failure"))
        return result.stdout

    def test_failure_to_load_the_samples(self) -> None:
        source = "def get_samples():\n    raise OSError('disk on fire')\n"
        printed = self.assert_fails(source, "samples", "get_samples() raised OSError: disk on fire")
        self.assertTrue(printed.startswith(f"{self.file}:2:"), printed)

    def test_kernel_that_aborts(self) -> None:
        source = _library(
            'library.define("mul3(Tensor x) -> Tensor")', 'library.impl("mul3", lambda x: os.abort(), "CPU")'
        )
        printed = self.assert_fails(
            "import os\n" + source.replace("NS", "my_ops"),
            "process",
            f"{self.file}: error: the process that calls my_ops::mul3 aborts, in the check after the last one above\n",
            "See: docs/errors.md#operator-ends-process",
        )
        self.assertTrue(printed.startswith("my_ops::mul3(Tensor x) -> Tensor: 1 samples\n"), printed)

    def test_sample_file_that_exits(self) -> None:
        self.assert_fails("import os\nos._exit(0)\n", "process", "the process that calls my_ops::mul3 ends, in")


if __name__ == "__main__":
    absltest.main()
