"""Tests of the runner: its results compared with PyTorch's, its output, and all errors.

$RUNNER is a runner with all operators and without a built-in program.
"""

from __future__ import annotations

import contextlib
import os
import pty
import re
import resource
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

import torch
from absl.testing import absltest
from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer

from codegen.model.prim_ops import PRIM_OPS
from export.exporter import export

_RUNNER = Path(os.environ["RUNNER"]).absolute()
_RUNNER_WITHOUT_THREADS = Path(os.environ["RUNNER_WITHOUT_THREADS"]).absolute()

_ADD = """
import torch
class Add(torch.nn.Module):
    def forward(self, x, y): return x + y
def get_model():
    return Add(), (torch.ones(2, 3), torch.tensor([[0.5, 1., 2.], [3., 4., float("nan")]]))
"""

_WIDE = """
import torch
class Scale(torch.nn.Module):
    def forward(self, x, y): return x * y + x
def get_model(): return Scale(), (torch.randn(200, 1001), torch.randn(200, 1001))
"""

_DYNAMIC = """
import torch
class Double(torch.nn.Module):
    def forward(self, x): return x + x
def get_model(): return Double(), (torch.ones(2, 3),)
def get_dynamic_shapes(): return ({0: torch.export.Dim("n", max=8)},)
def get_sample_inputs(): return [(torch.full((n, 3), float(n)),) for n in (1, 8)]
"""

_SIZES = """
import torch
class Twice(torch.nn.Module):
    def forward(self, x, y): return x + x, y + y
def get_model(): return Twice(), (torch.ones(3, 4), torch.ones(6, 4))
def get_dynamic_shapes():
    n = torch.export.Dim("n", min=2, max=5)
    return ({0: n}, {0: 2 * n})
"""

_DTYPES = """
import torch
DTYPES = [torch.float, torch.double, torch.half, torch.bfloat16, torch.int8, torch.uint8, torch.int16, torch.int32,
          torch.int64, torch.bool]
class Clone(torch.nn.Module):
    def forward(self, *xs): return [x.clone() for x in xs]
def get_model():
    xs = [torch.tensor([[0, 1, 2], [3, 4, 5]]).to(dtype) for dtype in DTYPES]
    last = torch.arange(24.).reshape(1, 2, 3, 4).to(memory_format=torch.channels_last)
    return Clone(), (*xs, torch.tensor(2.5), torch.zeros(0, 3), last)
"""

_STATE = """
import torch
class Count(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.tensor([5., 7.]))
    def forward(self, x):
        self.total.add_(x)
        return self.total * 1
def get_model(): return Count(), (torch.zeros(2),)
def get_sample_inputs(): return [(torch.full((2,), float(i)),) for i in range(4)]
"""

_SCALARS = """
import torch
class Scale(torch.nn.Module):
    def forward(self, x, times, plus, flag, nothing): return x * times + plus, times, nothing
def get_model(): return Scale(), (torch.ones(2), 3, 0.5, True, None)
"""

_METHODS = """
import torch
class Add(torch.nn.Module):
    def forward(self, x): return x + 1
class Mul(torch.nn.Module):
    def forward(self, x): return x * 2
def get_model(): return {"add": (Add(), (torch.ones(2),)), "mul": (Mul(), (torch.ones(2),))}
"""

_CUSTOM = """
import torch
library = torch.library.Library("runner_test", "DEF")
library.define("triple(Tensor x) -> Tensor")
library.define("triple.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
library.impl("triple", lambda x: x * 3, "CompositeExplicitAutograd")
library.impl("triple.out", lambda x, *, out: out.copy_(x * 3), "CompositeExplicitAutograd")
class Triple(torch.nn.Module):
    def forward(self, x): return torch.ops.runner_test.triple(x)
def get_model(): return Triple(), (torch.ones(2),)
"""

_EMBEDDING = """
import torch
class Embed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(4, 2)
    def forward(self, x): return self.table(x)
def get_model(): return Embed(), (torch.tensor([0, 3]),)
"""

_INTEGERS = """
import torch
class Next(torch.nn.Module):
    def forward(self, x): return x + 1
def get_model(): return Next(), (torch.tensor([0, 3]),)
"""

_MODELS = {
    "add": _ADD,
    "wide": _WIDE,
    "dynamic": _DYNAMIC,
    "sizes": _SIZES,
    "dtypes": _DTYPES,
    "state": _STATE,
    "scalars": _SCALARS,
    "methods": _METHODS,
    "custom": _CUSTOM,
    "embedding": _EMBEDDING,
    "integers": _INTEGERS,
}


_FOLDER = Path()


def setUpModule() -> None:
    """Exports the models once for all tests."""
    global _FOLDER  # noqa: PLW0603
    _FOLDER = Path(tempfile.mkdtemp(dir=absltest.get_default_test_tmpdir()))
    for name, source in _MODELS.items():
        model = _FOLDER / f"{name}.py"
        model.write_text(source)
        with open(os.devnull, "w") as null, contextlib.redirect_stderr(null):
            exported = export(model)
        (_FOLDER / f"{name}.pte").write_bytes(exported.pte)
        (_FOLDER / f"{name}.ptd").write_bytes(exported.ptd)


# Limits: less memory than a wrong size needs, and more time than any run needs.
_MEMORY = 1 << 30
_SECONDS = 60


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


class RunnerTest(absltest.TestCase):
    def run_runner(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        # One thread, because the memory of the pool grows with the number of processors.
        threads = [] if any(argument.startswith("--threads") for argument in arguments) else ["--threads=1"]
        return subprocess.run(
            [_RUNNER, *threads, *arguments],
            cwd=_FOLDER,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
            preexec_fn=_limit_memory,
        )

    def succeed(self, *arguments: str) -> str:
        result = self.run_runner(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        return result.stdout

    def fail_with(self, arguments: list[str], *expected: str) -> str:
        """Runs the runner, expects an error, and returns stderr."""
        result = self.run_runner(*arguments)
        self.assertEqual(result.returncode, 1, result.stdout)
        first = result.stderr.partition("\n\n")[0]
        self.assertRegex(first, r"(?s)^error: .*\n  Likely cause: .*\n  Fix: [^\n]*$")
        for text in expected:
            self.assertIn(text, first)
        return result.stderr

    def check(self, name: str, *arguments: str) -> str:
        return self.succeed(f"--program={name}.pte", f"--samples={name}.ptd", "--check", *arguments)

    def outputs(self, text: str) -> list[str]:
        return re.findall(r"^  output \d+  (.*)$", text, re.M)


class ResultsTest(RunnerTest):
    def test_equal_to_pytorch(self) -> None:
        for name, samples in (("add", 1), ("dynamic", 2), ("dtypes", 1), ("state", 4), ("scalars", 1)):
            with self.subTest(name):
                self.assertIn(f"\nPASSED: {samples} samples", self.check(name))

    def test_methods(self) -> None:
        for method, result in (("add", "2 2"), ("mul", "2 2")):
            text = self.succeed("--program=methods.pte", f"--method={method}", "--input=1,1")
            self.assertEqual(self.outputs(text), [f"float32 [2]: {result}"])
            self.assertIn("\nPASSED: 1 samples, 1 outputs, 1 methods, ", self.check("methods", f"--method={method}"))
        text = self.check("methods", "--iterations=2")
        self.assertEqual(
            re.findall(r"^method .*$", text, re.M),
            ["method add: 1 samples, 1 outputs each, passed", "method mul: 1 samples, 1 outputs each, passed"],
        )
        self.assertIn("\nPASSED: 2 samples, 2 outputs, 2 methods, ", text)

    def test_state_carries_over(self) -> None:
        text = self.succeed("--program=state.pte", "--samples=state.ptd")
        self.assertEqual(
            self.outputs(text),
            ["float32 [2]: 5 7", "float32 [2]: 6 8", "float32 [2]: 8 10", "float32 [2]: 11 13"],
        )

    def test_dtypes_are_printed_as_pytorch_names_them(self) -> None:
        text = self.succeed("--program=dtypes.pte", "--samples=dtypes.ptd", "--print=6")
        names = ["float32", "float64", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64"]
        self.assertEqual(
            self.outputs(text),
            [
                *[f"{name} [2, 3]: 0 1 2 3 4 5" for name in names],
                "bool [2, 3]: false true true true true true",
                "float32 []: 2.5",
                "float32 [0, 3]",
                # row-major for all dim orders
                "float32 [1, 2, 3, 4] dim order [0, 2, 3, 1]: 0 1 2 3 4 5 ...",
            ],
        )

    def test_inputs(self) -> None:
        raw = _FOLDER / "raw.bin"
        raw.write_bytes(b"".join(map(bytes, [b"\x00\x00\x80\x3f"] * 6)))  # 1.0 in little-endian float32.
        for spec, doubled in (
            ("ones", "2 2 2 2 2 2"),
            ("zeros", "0 0 0 0 0 0"),
            ("arange", "0 2 4 6 8 10"),
            ("1,2,3,-4,5e-1,inf", "2 4 6 -8 1 inf"),
            ("@raw.bin", "2 2 2 2 2 2"),
        ):
            with self.subTest(spec):
                text = self.succeed("--program=dynamic.pte", f"--input=2x3:{spec}")
                self.assertEqual(self.outputs(text), [f"float32 [2, 3]: {doubled}"])

    def test_default_inputs_are_ones_of_the_largest_shape(self) -> None:
        text = self.succeed("--program=dynamic.pte", "--print=1")
        self.assertEqual(self.outputs(text), ["float32 [8, 3]: 2 ..."])

    def test_random_inputs_depend_on_the_seed_only(self) -> None:
        first, again, other = (
            self.outputs(self.succeed("--program=dynamic.pte", f"--input=1x3:rand:{seed}"))[0] for seed in (1, 1, 2)
        )
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        self.assertTrue(all(0 <= float(v) < 2 for v in first.partition(": ")[2].split()), first)

    def test_sizes_that_the_model_was_not_exported_for(self) -> None:
        has = "has the size {} in dimension {}, and "
        for shapes, expected in (
            (
                ("1x4", "2x4"),
                "input 0 (float32 [1, 4]) " + has.format(1, 0) + "the model was exported for sizes from 2 to 5",
            ),
            (("3x3", "6x4"), "input 0 (float32 [3, 3]) " + has.format(3, 1) + "the model was exported for the size 4"),
            (
                ("3x4", "5x4"),
                "input 1 (float32 [5, 4]) " + has.format(5, 0) + "the model was exported for sizes of 2 * n",
            ),
            (
                ("3x4", "8x4"),
                has.format(8, 0) + "the model needs 6 there, since input 0 has the size 3 in dimension 0",
            ),
        ):
            self.fail_with(["--program=sizes.pte", *(f"--input={shape}:ones" for shape in shapes)], expected)
        self.succeed("--program=sizes.pte", "--input=2x4:ones", "--input=4x4:ones")
        self.succeed("--program=sizes.pte")

    def test_damaged_sizes(self) -> None:
        content = (_FOLDER / "sizes.pte").read_bytes()
        # Two inputs, of which the first has two dimensions, the first from 2 to 5.
        sizes = struct.pack("<5i", 2, 2, 2, 5, 0)
        self.assertEqual(content.count(sizes), 1)
        for wrong in ((3, 2, 2, 5, 0), (2, 99, 2, 5, 0), (2, 2, 6, 5, 0), (2, 2, 2, 5, 1 << 30), (-1, 2, 2, 5, 0)):
            (_FOLDER / "wrong.pte").write_bytes(content.replace(sizes, struct.pack("<5i", *wrong)))
            self.fail_with(["--program=wrong.pte"], "wrong.pte is not", "the sizes of its inputs are damaged")

    def test_inputs_that_are_no_tensors(self) -> None:
        inputs = [f"--input={spec}" for spec in ("1,2", "3", "0.5", "true", "none")]
        text = self.succeed("--program=scalars.pte", *inputs)
        self.assertEqual(self.outputs(text), ["float32 [2]: 3.5 6.5", "int64 []: 3", "None"])

    def test_list_methods(self) -> None:
        self.assertEqual(
            self.succeed("--program=add.pte", "--list_methods"),
            "forward\n  input 0   float32 [2, 3]\n  input 1   float32 [2, 3]\n  output 0  float32 [2, 3]\n",
        )
        self.assertEqual(
            self.succeed("--program=sizes.pte", "--list_methods"),
            "forward\n  input 0   float32 [s0=2..5, 4]\n  input 1   float32 [2*s0=4..10, 4]\n"
            "  output 0  float32 [5, 4] at most\n  output 1  float32 [10, 4] at most\n",
        )
        content, twice = (_FOLDER / "sizes.pte").read_bytes(), struct.pack("<5i", 4, 10, 0, 2, 0)
        self.assertEqual(content.count(twice), 1)
        for offset, formula in ((1, "2*s0+1=5..11"), (-1, "2*s0-1=3..9")):
            shifted = struct.pack("<5i", 4 + offset, 10 + offset, 0, 2, offset)
            (_FOLDER / "shifted.pte").write_bytes(content.replace(twice, shifted))
            self.assertIn(f" [{formula}, 4]", self.succeed("--program=shifted.pte", "--list_methods"))
        text = self.succeed("--program=dynamic.pte", "--list_methods")
        self.assertEqual(re.findall(r"input \d +(.*)", text), ["float32 [0..8, 3]"])
        text = self.succeed("--program=scalars.pte", "--list_methods")
        self.assertEqual(re.findall(r"input \d +(.*)", text), ["float32 [2]", "int", "float", "bool", "None"])

    def test_list_operators(self) -> None:
        operators = self.succeed("--list_operators").splitlines()
        self.assertIn("aten::add.out", operators)
        self.assertEqual(operators, sorted(set(operators)))
        self.assertEqual(PRIM_OPS & set(operators), set())

    def test_threads(self) -> None:
        command = [str(_RUNNER), "--program=wide.pte", "--samples=wide.ptd", "--check", "--print=10000000"]
        outputs = []
        for flags, threads in (("--threads=1", 1), ("--threads=2", 2), ("--threads=5", 5)):
            with self.subTest(flags):
                result = subprocess.run([*command, *flags.split()], cwd=_FOLDER, capture_output=True, text=True)
                self.assertIn("\nPASSED: 1 samples", result.stdout, result.stderr)
                outputs.append(self.outputs(result.stdout))
                self.assertEqual(outputs[-1], outputs[0])
                self.assertEqual(self.count_threads([*command, *flags.split(), "--iterations=1000000"]), threads)

    def test_threads_by_default(self) -> None:
        """Tests that the default is one thread for each processor that the process may use."""
        processors = sorted(os.sched_getaffinity(0))
        command = [str(_RUNNER), "--program=wide.pte", "--iterations=1000000"]
        for usable in (processors[:1], processors):
            with self.subTest(usable):
                # On some processors, ExecuTorch's pool only uses the fast cores.
                count = self.count_threads(command, usable)
                self.assertIn(count, range(min(2, len(usable)), len(usable) + 1))
        self.assertIn("from 1 to 1024. Default: one for each processor.", self.succeed("--help"))

    def count_threads(self, command: list[str], processors: Collection[int] = ()) -> int:
        """The number of threads of a running runner, on all processors or on the given ones."""
        if processors:
            command = ["taskset", "-c", ",".join(map(str, processors)), *command]
        with subprocess.Popen(command, cwd=_FOLDER, stdout=subprocess.DEVNULL) as process:
            time.sleep(1)
            count = len(os.listdir(f"/proc/{process.pid}/task"))
            process.kill()
        return count

    def test_times(self) -> None:
        text = self.check("state", "--iterations=3", "--warmup=0")
        self.assertRegex(
            text, r"time load [\d.]+ ms, first run [\d.]+ ms, then 3 times all 4: min [\d.]+ ms, median [\d.]+ ms\n"
        )

    def test_bar(self) -> None:
        shown = self.on_terminal(f"--iterations={self.iterations(seconds=7)}")
        self.assertRegex(shown, r"\r\[#*\.+\] \d+ of \d+ runs, \d+ s left\x1b\[K")
        self.assertTrue(shown.endswith("\r\x1b[K"), shown)  # erased

    def test_no_bar(self) -> None:
        self.assertEqual(self.on_terminal("--iterations=3"), "")
        self.assertEqual(self.on_terminal(f"--iterations={self.iterations(seconds=2)}"), "")
        long = f"--iterations={self.iterations(seconds=60)}"
        self.assertIn(" runs, ", self.on_terminal(long, seconds=2))
        self.assertEqual(self.on_terminal(long, seconds=2, TERM="dumb"), "")
        command = [str(_RUNNER), "--program=wide.pte", long]
        with subprocess.Popen(command, cwd=_FOLDER, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            time.sleep(2)
            process.kill()
            self.assertEqual(process.communicate(), (None, b""))

    def iterations(self, seconds: float) -> int:
        """The approximate number of iterations that take the given time."""
        start = time.monotonic()
        text = self.succeed("--program=wide.pte", "--iterations=2000")
        self.assertIn("then 2000 times", text)
        return max(1, round(2000 * seconds / (time.monotonic() - start)))

    def on_terminal(self, *arguments: str, seconds: float | None = None, **environment: str) -> str:
        """The output of a runner to stderr if stderr is a terminal; if `seconds` is given, during these seconds."""
        terminal, stderr = pty.openpty()
        command = [str(_RUNNER), "--program=wide.pte", "--threads=1", *arguments]
        with subprocess.Popen(
            command,
            cwd=_FOLDER,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            env={**os.environ, "TERM": "xterm", **environment},
        ) as process:
            os.close(stderr)
            if seconds is not None:
                time.sleep(seconds)
                process.kill()
            shown = b""
            with contextlib.suppress(OSError):  # on Linux, the end of a terminal is an OSError
                while chunk := os.read(terminal, 1 << 16):
                    shown += chunk
        self.assertEqual(process.returncode, 0 if seconds is None else -signal.SIGKILL)
        os.close(terminal)
        return shown.decode()

    def test_help(self) -> None:
        text = self.succeed("--help")
        for flag in (
            "program",
            "method",
            "input",
            "samples",
            "check",
            "rtol",
            "atol",
            "min_snr",
            "print",
            "iterations",
            "warmup",
        ):
            self.assertIn(f"--{flag}", text)
        self.assertTrue(all(len(line) <= 120 for line in text.splitlines()))
        self.assertIn("the one that is not given is 1e-05.\n                      Default: by dtype. ", text)
        self.assertRegex(text, r"\n    float16 +atol 1e-05 +rtol 0.001 +of_largest 0.004 +SNR 40 dB\n")


class CheckTest(RunnerTest):
    def altered(self, name: str, key: str, value: torch.Tensor, *others: tuple[str, torch.Tensor]) -> str:
        """The samples with some tensors replaced."""
        payload = FlatTensorSerializer().deserialize((_FOLDER / f"{name}.ptd").read_bytes())
        buffers = list(payload.buffers)
        for changed, tensor in ((key, value), *others):
            buffers[payload.named_data[changed].buffer_index] = bytes(tensor.contiguous().untyped_storage())
        payload.buffers = buffers
        (_FOLDER / "altered.ptd").write_bytes(bytes(FlatTensorSerializer().serialize(payload)))
        return "--samples=altered.ptd"

    def differ(self, name: str, *arguments: str) -> str:
        result = self.run_runner(f"--program={name}.pte", "--check", *arguments)
        self.assertEqual((result.returncode, result.stderr), (1, ""), result.stdout)
        return result.stdout

    def test_difference_is_found(self) -> None:
        expected = torch.tensor([[1.5, 2.0, 3.0], [4.0, 5.5, float("nan")]])
        text = self.differ("add", self.altered("add", "forward/0/output/0", expected))
        # The ratio is 10 log10((1.5**2 + 2**2 + 3**2 + 4**2 + 5.5**2) / 0.5**2) = 23.9.
        self.assertIn("DIFFERS, max |difference| 0.5, SNR 23.9 dB\n", text)
        self.assertIn("    1 of 6 elements differ, first [1, 1]: PyTorch 5.5, this binary 5\n", text)
        others = "; atol and rtol are for single elements\n"
        self.assertIn(f'    min_snr = "23" of the rule, or --min_snr=23, accepts this output{others}', text)
        self.assertIn("\nFAILED: 1 samples, 1 outputs, 1 methods, ", text)

    def test_difference_in_any_method_is_found(self) -> None:
        for wrong, right in (("add", "mul"), ("mul", "add")):
            text = self.differ("methods", self.altered("methods", f"{wrong}/0/output/0", torch.tensor([2.0, 7.0])))
            self.assertIn(f"\nmethod {wrong}: 1 samples, 1 outputs each, 1 outputs differ\n", text)
            self.assertIn(f"\nmethod {right}: 1 samples, 1 outputs each, passed\n", text)
            self.assertRegex(text, r"\nFAILED: 2 samples, 2 outputs, 2 methods, allowed .*; 1 outputs differ\n$")

    def test_tolerances_by_dtype(self) -> None:
        # About one unit in the last place.
        near = torch.tensor([[1.5, 2.0, 3.0], [4.0, 5.0, float("nan")]]) * (1 + 1e-7)
        text = self.succeed("--program=add.pte", self.altered("add", "forward/0/output/0", near), "--check")
        allowed = "allowed 1e-05 + 1.3e-06 * |PyTorch's| + 0.0001 * largest, SNR 60 dB (float32)\n"
        self.assertIn(f"PASSED: 1 samples, 1 outputs, 1 methods, {allowed}", text)
        text = self.check("dtypes")
        self.assertRegex(text, r", allowed .* \(float64\), .* \(float32\), .* \(float16\), .* \(bfloat16\)\n$")
        for index, dtype in ((2, torch.half), (3, torch.bfloat16)):
            rounded = torch.tensor([[0, 1, 2], [3, 4, 5]], dtype=dtype) * (1 + torch.finfo(dtype).eps)
            samples = self.altered("dtypes", f"forward/0/output/{index}", rounded)
            self.succeed("--program=dtypes.pte", samples, "--check")
            self.differ("dtypes", samples, "--atol=1e-5")

    def test_integers_only(self) -> None:
        self.assertRegex(self.check("integers"), r"\nPASSED: .*, allowed no difference\n$")
        text = self.differ("integers", self.altered("integers", "forward/0/output/0", torch.tensor([1, 5])))
        self.assertIn("DIFFERS, max |difference| 1\n    1 of 2 elements differ, first [1]: PyTorch 5, ", text)
        self.assertNotIn("min_snr", text)

    def test_small_elements_beside_a_large_one(self) -> None:
        # Each element may be 1e-4 * 190000 = 19 away.
        # The ratio is 10 log10((190000**2 + 200199 * 200**2) / (200199 * 18**2)) = 28.3.
        expected = torch.full((200, 1001), 200.0)
        expected[0, 0] = 190000
        x, y = torch.full((200, 1001), 218.0), torch.zeros(200, 1001)
        x[0, 0] = 190000
        inputs = (("forward/0/input/0", x), ("forward/0/input/1", y))
        text = self.differ("wide", self.altered("wide", "forward/0/output/0", expected, *inputs))
        self.assertIn("    no element alone differs too much, but the SNR is below 60 dB\n", text)
        others = "; atol and rtol are for single elements\n"
        self.assertIn(f'    min_snr = "28" of the rule, or --min_snr=28, accepts this output{others}', text)

    def test_masked_elements(self) -> None:
        expected = torch.full((200, 1001), 10.0)
        expected[:, ::3] = -1e9
        inputs = (("forward/0/input/0", expected), ("forward/0/input/1", torch.zeros(200, 1001)))
        samples = self.altered("wide", "forward/0/output/0", expected, *inputs)
        self.assertIn("PASSED", self.succeed("--program=wide.pte", samples, "--check"))
        wrong = expected.where(expected < 0, 10.5)
        samples = self.altered("wide", "forward/0/output/0", wrong, *inputs)
        text = self.differ("wide", samples)
        # 10 log10(10.5**2 / 0.5**2) = 26.4; with the mask, 10 log10(334 * 10**18 / (667 * 0.5**2)) = 183.0.
        self.assertIn(": DIFFERS, max |difference| 0.5, SNR 26.4 dB\n", text)
        self.assertRegex(
            text,
            r'    min_snr = "(\d+)" of the rule, or --min_snr=\1, accepts this output; min_snr counts outliers, too; '
            "atol and rtol are for single elements\n",
        )
        self.assertIn("SNR 183.0 dB\n", self.succeed("--program=wide.pte", samples, "--check", "--min_snr=183"))

    def test_tolerances(self) -> None:
        samples = self.altered("add", "forward/0/output/0", torch.tensor([[1.5, 2.0, 3.0], [4.0, 5.5, float("nan")]]))
        self.succeed("--program=add.pte", samples, "--check", "--atol=0.5", "--rtol=0")
        self.succeed("--program=add.pte", samples, "--check", "--atol=0", "--rtol=0.1")
        self.differ("add", samples, "--atol=0.4", "--rtol=0")
        # Without the other one: 1e-5.
        text = self.succeed("--program=add.pte", samples, "--check", "--atol=0.49995")
        self.assertIn(", allowed 0.49995 + 1e-05 * |PyTorch's|\n", text)
        text = self.differ("add", samples, "--rtol=0.0909")
        self.assertIn(", allowed 1e-05 + 0.0909 * |PyTorch's|; 1 outputs differ\n", text)

    def test_signal_to_noise_ratio_of_quantized_weights(self) -> None:
        payload = FlatTensorSerializer().deserialize((_FOLDER / "add.ptd").read_bytes())
        payload.named_data["forward/0/quantized"] = payload.named_data["forward/0/output/0"]
        (_FOLDER / "quantized.ptd").write_bytes(bytes(FlatTensorSerializer().serialize(payload)))
        text = self.succeed("--program=add.pte", "--samples=quantized.ptd", "--check", "--min_snr=20")
        self.assertIn("SNR inf dB against PyTorch with the quantized weights\n", text)

    def test_signal_to_noise_ratio(self) -> None:
        # The output has 5 instead of 5.5: 10 log10((1.5**2 + 2**2 + 3**2 + 4**2 + 5.5**2) / 0.5**2) = 23.9.
        expected = torch.tensor([[1.5, 2.0, 3.0], [4.0, 5.5, float("nan")]])
        samples = self.altered("add", "forward/0/output/0", expected)
        text = self.succeed("--program=add.pte", samples, "--check", "--min_snr=23.9")
        self.assertIn(": close, max |difference| 0.5, SNR 23.9 dB\n", text)
        self.assertIn("PASSED: 1 samples, 1 outputs, 1 methods, SNR of at least 23.9 dB\n", text)
        text = self.differ("add", samples, "--min_snr=24")
        self.assertIn("DIFFERS, max |difference| 0.5, SNR 23.9 dB\n", text)
        self.assertIn('    min_snr = "23" of the rule, or --min_snr=23, accepts this output\n', text)
        self.assertIn("equal, max |difference| 0, SNR inf dB\n", self.check("add", "--min_snr=24"))
        nan = torch.tensor([[1.5, 2.0, 3.0], [float("nan"), 5.0, float("nan")]])
        text = self.differ("add", self.altered("add", "forward/0/output/0", nan), "--min_snr=1")
        self.assertIn("max |difference| nan, SNR -inf dB\n", text)
        self.assertIn("    no min_snr accepts this output\n", text)

    def test_nan_equals_nan_only(self) -> None:
        self.assertIn("PASSED", self.check("add", "--rtol=0", "--atol=0"))
        expected = torch.tensor([[1.5, 2.0, 3.0], [float("nan"), 5.0, float("nan")]])
        text = self.differ("add", self.altered("add", "forward/0/output/0", expected), "--atol=100")
        self.assertIn("max |difference| nan", text)
        self.assertIn("first [1, 0]: PyTorch nan, this binary 4", text)

    def test_infinity_is_not_within_any_tolerance(self) -> None:
        expected = torch.tensor([[1.5, 2.0, 3.0], [4.0, float("inf"), float("nan")]])
        text = self.differ("add", self.altered("add", "forward/0/output/0", expected), "--rtol=1")
        self.assertIn("PyTorch inf, this binary 5", text)

    def test_integers_have_no_tolerance(self) -> None:
        expected = torch.tensor([[0, 1, 2], [3, 4, 6]])
        text = self.differ("dtypes", self.altered("dtypes", "forward/0/output/8", expected), "--atol=10")
        self.assertIn("first [1, 2]: PyTorch 6, this binary 5", text)

    def test_side_by_side(self) -> None:
        text = self.check("state", "--verbose")
        self.assertRegex(text, r"element +PyTorch +this binary +difference\n +\[0\] +5 +5 +0\n +\[1\] +7 +7 +0\n")


class ErrorTest(RunnerTest):
    def test_program_cannot_be_read(self) -> None:
        self.fail_with(["--program=missing.pte"], "cannot read the program missing.pte", "--program=FILE")
        self.fail_with([f"--program={_FOLDER}"], "cannot read the program")

    def test_no_program(self) -> None:
        self.fail_with([], "no program to run", "--program=FILE")

    def test_not_a_program(self) -> None:
        whole = (_FOLDER / "add.pte").read_bytes()
        for name, data in (
            ("empty", b""),
            ("truncated", whole[: len(whole) // 2]),
            ("short", whole[:40]),
            ("random", bytes(range(256)) * 20),
            ("samples", (_FOLDER / "add.ptd").read_bytes()),
            ("other identifier", whole[:4] + b"XX00" + whole[8:]),
        ):
            with self.subTest(name):
                (_FOLDER / "bad.pte").write_bytes(data)
                self.fail_with(["--program=bad.pte"], "bad.pte is not an ExecuTorch program", "export the model again")

    def test_no_such_method(self) -> None:
        self.fail_with(["--program=methods.pte", "--method=sub"], "no method sub; it has: add, mul")

    def test_missing_operator(self) -> None:
        text = self.fail_with(["--program=custom.pte"], "runner_test::triple.out", "executorch_generated_lib")
        self.assertNotIn("aten::", text.partition("\n")[0])

    def test_kernel_fails(self) -> None:
        self.fail_with(["--program=embedding.pte", "--input=0,4"], "see the log below")

    def test_samples(self) -> None:
        (_FOLDER / "bad.ptd").write_bytes(b"no samples")
        add = "--program=add.pte"
        self.fail_with([add, "--samples=missing.ptd"], "cannot read the samples missing.ptd")
        self.fail_with([add, "--samples=bad.ptd"], "not a .ptd file")
        self.fail_with([add, "--samples=scalars.ptd"], "forward/0/input/2, but method forward has 2 inputs")
        self.fail_with([add, "--samples=methods.ptd"], "have none for method forward")
        self.fail_with([add, "--check"], "--check needs samples")
        self.fail_with([add, "--check", "--samples=add.ptd", "--input=ones"], "--check and --input exclude each other")

    def test_inputs(self) -> None:
        add, dynamic = "--program=add.pte", "--program=dynamic.pte"
        self.fail_with([add, "--input=ones"], "has 2 inputs (float32 [2, 3]; float32 [2, 3]), and 1 are given")
        self.fail_with([add, *["--input=ones"] * 3], "and 3 are given")
        self.fail_with([add, "--input=1,2", "--input=ones"], "input 0 (float32 [2, 3]): 2 values for 6 elements")
        self.fail_with([add, "--input=ones", "--input=1,2,3,4,5,x"], "for input 1", "'x' is no float32")
        self.fail_with([add, "--input=ones", "--input=@none.bin"], "cannot read none.bin")
        self.fail_with([add, "--input=1x3:ones", "--input=ones"], "has another shape, and the program allows one only")
        self.fail_with([dynamic, "--input=9x3:ones"], "is larger in dimension 0", "float32 [8, 3] at most")
        self.fail_with([dynamic, "--input=3:ones"], "the shape has 1 dimensions, the input has 2")
        (_FOLDER / "short.bin").write_bytes(b"\0" * 5)
        self.fail_with([dynamic, "--input=1x3:@short.bin"], "short.bin has 5 bytes; float32 [1, 3] needs 12")
        self.fail_with(["--program=embedding.pte", "--input=0,1.5"], "'1.5' is no int64")
        self.fail_with([add, "--input=ones", "--input=1,2,3,4,5,1e39"], "'1e39' is no float32")

    def test_inputs_that_are_no_tensors(self) -> None:
        specs = ["ones", "3", "0.5", "true", "none"]
        for index, wrong, expected in (
            (1, "4", "is not the value that the program was exported with"),
            (1, "x", "'x' is no int64"),
            (4, "1", "exported with None"),
        ):
            given = [*specs[:index], wrong, *specs[index + 1 :]]
            self.fail_with(["--program=scalars.pte", *(f"--input={spec}" for spec in given)], expected)

    def test_samples_of_another_program(self) -> None:
        self.fail_with(["--program=state.pte", "--samples=embedding.ptd"], "has another dtype", "takes float32 [2]")
        self.fail_with(["--program=dynamic.pte", "--samples=state.ptd"], "has another number of dimensions")

    def test_inputs_that_have_no_end(self) -> None:
        os.mkfifo(_FOLDER / "pipe")
        add, dynamic = "--program=add.pte", "--program=dynamic.pte"
        self.fail_with([dynamic, "--input=99999x99999:ones"], "has 9999800001 elements", "2147483647 elements at most")
        self.fail_with([dynamic, "--input=99999x3:ones"], "is larger in dimension 0", "float32 [8, 3] at most")
        for path, problem in (
            ("/", "is a folder"),
            ("/dev/zero", "a device"),
            ("pipe", "a pipe"),
            ("no", "No such file"),
        ):
            with self.subTest(path):
                self.fail_with([add, f"--input=@{path}", "--input=ones"], f"cannot read {path}: ", problem)
                self.fail_with([f"--program={path}"], f"cannot read the program {path}: ", problem)
                self.fail_with([add, f"--samples={path}"], f"cannot read the samples {path}: ", problem)

    def test_no_memory(self) -> None:
        with (_FOLDER / "large.ptd").open("wb") as file:
            file.truncate(2 * _MEMORY)
        self.fail_with(["--program=add.pte", "--samples=large.ptd"], "there is no memory left")

    def test_plans_more_memory_than_there_is(self) -> None:
        content = (_FOLDER / "add.pte").read_bytes()
        planned = deserialize_pte_binary(content).program.execution_plan[0].non_const_buffer_sizes
        sizes = struct.pack(f"<I{len(planned)}q", len(planned), *planned)
        self.assertEqual(content.count(sizes), 1)
        (_FOLDER / "bad.pte").write_bytes(content.replace(sizes, sizes[:-8] + struct.pack("<q", 1 << 45)))
        self.fail_with(["--program=bad.pte", "--input=ones", "--input=ones"], "plans 35184372088832 bytes of memory")

    def test_output_that_cannot_be_written(self) -> None:
        for arguments in (["--program=add.pte"], ["--program=add.pte", "--list_methods"], ["--help"]):
            with self.subTest(arguments), open("/dev/full", "wb") as full:
                self.assertIn("cannot write to stdout: No space left", self.fail_to_write(arguments, stdout=full))
        closed = self.fail_to_write(["--program=add.pte"], preexec_fn=lambda: os.close(1))
        self.assertIn("cannot write to stdout: Bad file descriptor", closed)

    def fail_to_write(self, arguments: list[str], **how: Any) -> str:
        result: subprocess.CompletedProcess[str] = subprocess.run(
            [_RUNNER, *arguments], cwd=_FOLDER, stderr=subprocess.PIPE, text=True, check=False, timeout=_SECONDS, **how
        )
        self.assertEqual(result.returncode, 1)
        return result.stderr

    def test_messages_are_bounded_and_plain(self) -> None:
        add = "--program=add.pte"
        for arguments in (
            [add, "--input=ones", "--input=" + "7" * 100_000],
            [add, "--method=" + "m" * 100_000],
            ["--" + "f" * 100_000],
            ["--rtol=" + "1" * 100_000 + "x"],
        ):
            self.assertLess(len(self.fail_with(arguments)), 5000)
        self.assertNotIn("\x1b", self.fail_with([add, "--method=\x1b[31mred"], "no method ?[31mred"))

    def test_threads_of_a_runtime_without_a_pool(self) -> None:
        command = [str(_RUNNER_WITHOUT_THREADS), "--list_methods", "--program=add.pte"]
        self.assertEqual(subprocess.run([*command, "--threads=1"], cwd=_FOLDER, capture_output=True).returncode, 0)
        result = subprocess.run([*command, "--threads=2"], cwd=_FOLDER, capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("--threads=2: these threads are not to be had.", result.stderr)
        self.assertIn("built without ExecuTorch's pool", result.stderr)

    def test_flags(self) -> None:
        self.fail_with(["--nope"], "there is no flag --nope", "--help")
        self.fail_with(["--iter=1"], "there is no flag --iter.")
        self.fail_with(["-x"], "there is no flag -x.")
        self.fail_with(["--check=yes"], "--check takes no value")
        self.fail_with(["--method="], "--method needs a value")
        self.fail_with(["--method=add", "--method=mul"], "--method is given twice")
        self.fail_with(["--check", "--nocheck"], "--nocheck, or its opposite, is given twice")
        for tolerance in ("inf", "nan", "-1", "1e999", "x", " 1", "1e-5,"):
            self.fail_with([f"--rtol={tolerance}"], f"--rtol={tolerance} is not a number that is finite and 0 or more")
        for count in ("-1", "1000001", "9" * 30, "1.5", " 1"):
            self.fail_with([f"--iterations={count}"], f"--iterations={count} is no whole number from 0 to 1000000")
        for threads in ("0", "1025", "-1", "two"):
            self.fail_with([f"--threads={threads}"], f"--threads={threads} is no whole number from 1 to 1024")
        for seed in ("banana", "-1", "4294967296", "1.5", ""):
            self.fail_with(
                ["--program=dynamic.pte", f"--input=rand:{seed}"],
                f"--input=rand:{seed} for input 0",
                "the seed of rand:SEED is a whole number from 0 to 4294967295",
            )
        self.fail_with(["--program"], "--program needs a value")
        self.fail_with(["add.pte"], "unexpected argument add.pte")
        self.fail_with(["--print=-1"], "--print=-1 is no whole number")
        self.fail_with(["--iterations=many"], "--iterations=many is no whole number")
        self.fail_with(["--atol=nan"], "--atol=nan is not a number")


if __name__ == "__main__":
    absltest.main()
