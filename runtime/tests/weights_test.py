"""Tests of the runner with constants in a file of their own: right, missing, wrong and damaged files.

$RUNNER is a runner without a built-in program, $SHORT a program, and $SHARED the constants of this program and another.
$FILES_RUNNER is a runner of a .pte file and a .ptd file.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

from absl.testing import absltest
from executorch.exir.scalar_type import ScalarType
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer

from export.exporter import export
from export.lower import weights

_RUNNER = Path(os.environ["RUNNER"]).absolute()

_MODEL = """
import torch
class Embed(torch.nn.Module):
    def __init__(self, seed):
        super().__init__()
        torch.manual_seed(seed)
        self.table = torch.nn.Embedding(300, 2)
    def forward(self, x): return self.table(x)
def get_model():
    return {{"forward": (Embed({0}), (torch.tensor([0, 299]),)), "other": (Embed({0} + 1), (torch.tensor([7, 3]),))}}
"""

_FOLDER = Path()


def setUpModule() -> None:
    """Exports the models once for all tests."""
    global _FOLDER  # noqa: PLW0603
    _FOLDER = Path(tempfile.mkdtemp(dir=absltest.get_default_test_tmpdir()))
    for name, seed in (("model", 1), ("another", 5), ("over", 2)):
        model = _FOLDER / f"{name}.py"
        model.write_text(_MODEL.format(seed))
        with open(os.devnull, "w") as null, contextlib.redirect_stderr(null):
            exported = export(model, external_weights=True)
        assert exported.weights is not None
        (_FOLDER / f"{name}.pte").write_bytes(exported.pte)
        (_FOLDER / f"{name}.weights.ptd").write_bytes(exported.weights)
        (_FOLDER / f"{name}.ptd").write_bytes(exported.ptd)
    # The first table of this model is the second one of the base.
    base = _FOLDER / "model.weights.ptd"
    for name in ("over", "model"):
        adapter = weights.merge([_FOLDER / f"{name}.weights.ptd"], [base])
        (_FOLDER / f"{name}.adapter.ptd").write_bytes(adapter)


class WeightsTest(absltest.TestCase):
    def run_runner(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        program = [] if any(one.startswith("--program=") for one in arguments) else ["--program=model.pte"]
        command = [str(_RUNNER), "--threads=1", *program, *arguments]
        return subprocess.run(command, cwd=_FOLDER, capture_output=True, text=True, check=False, timeout=60)

    def succeed(self, *arguments: str) -> str:
        result = self.run_runner(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        return result.stdout

    def fail_with(self, arguments: list[str], *expected: str) -> None:
        result = self.run_runner(*arguments)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertRegex(result.stderr, r"(?s)^error: .*\n  Likely cause: .*\n  Fix: [^\n]*\n$")
        for text in expected:
            self.assertIn(text, result.stderr)

    def altered(self, **changes: object) -> str:
        """Writes the weights with other layouts."""
        payload = FlatTensorSerializer().deserialize((_FOLDER / "model.weights.ptd").read_bytes())
        for key, entry in payload.named_data.items():
            payload.named_data[key] = replace(entry, tensor_layout=replace(entry.tensor_layout, **changes))
        (_FOLDER / "altered.ptd").write_bytes(bytes(FlatTensorSerializer().serialize(payload)))
        return "--weights=altered.ptd"

    def test_both_methods_read_and_mapped(self) -> None:
        for load in ("read", "mmap"):
            text = self.succeed("--weights=model.weights.ptd", "--samples=model.ptd", "--check", f"--load={load}")
            self.assertIn("\nPASSED: 2 samples, 2 outputs, 2 methods, ", text)

    def test_memory(self) -> None:
        size = (_FOLDER / "model.weights.ptd").stat().st_size
        # Two tables of 300 rows of two floats.
        self.assertGreater(size, 2 * 300 * 2 * 4)
        samples = ("--weights=model.weights.ptd", "--samples=model.ptd", "--memory")
        self.assertRegex(self.succeed(*samples), rf"\n  weights files +{size} bytes\n")
        self.assertRegex(self.succeed(*samples, "--load=mmap"), rf"\n  weights files, mapped +{size} bytes\n")

    def test_programs_share_a_file(self) -> None:
        shared, short = Path(os.environ["SHARED"]).absolute(), Path(os.environ["SHORT"]).absolute()
        # Both programs have the same table.
        self.assertEqual(shared.read_bytes(), short.with_suffix(".weights.ptd").read_bytes())
        samples = short.with_suffix(".ptd")
        self.succeed(f"--program={short}", f"--weights={shared}", f"--samples={samples}", "--check")

    def test_files_of_no_rule(self) -> None:
        command = [str(Path(os.environ["FILES_RUNNER"]).absolute()), "--input=0,299"]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)

    def test_two_files(self) -> None:
        both = ["--weights=model.weights.ptd", "--weights=over.adapter.ptd"]
        samples = ("--program=over.pte", "--samples=over.ptd", "--check")
        for load in ("read", "mmap"):
            for files in (both, both[::-1]):
                text = self.succeed(*samples, *files, f"--load={load}")
                self.assertIn("\nPASSED: 2 samples, 2 outputs, 2 methods, ", text)
        size = sum((_FOLDER / name.partition("=")[2]).stat().st_size for name in both)
        self.assertRegex(self.succeed(*samples, *both, "--memory"), rf"\n  weights files +{size} bytes\n")
        # A program reads no file without constants, which ExecuTorch refuses.
        self.succeed("--weights=model.adapter.ptd", "--weights=model.weights.ptd", "--samples=model.ptd", "--check")

    def test_two_files_without_a_constant(self) -> None:
        program, wrong = "--program=over.pte", "are not those of over.pte: the program needs float32[300,2]@"
        for name in ("model.weights", "over.adapter"):
            self.fail_with([program, f"--weights={name}.ptd"], f"the weights {name}.ptd {wrong}", "not in the file")
        self.fail_with(
            [program, "--weights=another.weights.ptd", "--weights=over.adapter.ptd"],
            f"the weights another.weights.ptd, over.adapter.ptd {wrong}",
            "which is in none of the files",
        )
        self.fail_with(
            [program, "--weights=over.ptd", "--weights=over.adapter.ptd"],
            "over.ptd has samples, such as forward/0/input/0, and no weights",
        )
        self.fail_with([program, "--weights=model.adapter.ptd"], f"the weights model.adapter.ptd {wrong}")

    def test_two_files_with_one_constant(self) -> None:
        self.fail_with(
            ["--program=over.pte", "--weights=model.weights.ptd", "--weights=over.weights.ptd"],
            " is in the weights model.weights.ptd and in the weights over.weights.ptd.",
            "executorch_weights wrote over this base",
        )
        self.fail_with(["--weights=model.weights.ptd", "--weights=model.weights.ptd"], "and in the weights model")

    def test_second_file_is_checked(self) -> None:
        payload = FlatTensorSerializer().deserialize((_FOLDER / "over.adapter.ptd").read_bytes())
        ((key, entry),) = payload.named_data.items()
        layout = entry.tensor_layout
        assert layout is not None
        payload.named_data[key] = replace(entry, tensor_layout=replace(layout, sizes=[2, 300]))
        (_FOLDER / "other.adapter.ptd").write_bytes(bytes(FlatTensorSerializer().serialize(payload)))
        self.fail_with(
            ["--program=over.pte", "--weights=model.weights.ptd", "--weights=other.adapter.ptd"],
            "the weights other.adapter.ptd are not those of over.pte",
            "which is float32 [2, 300] in the file",
        )
        content = (_FOLDER / "over.adapter.ptd").read_bytes()
        (_FOLDER / "cut.adapter.ptd").write_bytes(content[:100])
        self.fail_with(
            ["--program=over.pte", "--weights=model.weights.ptd", "--weights=cut.adapter.ptd"],
            "cannot use the weights cut.adapter.ptd: ",
        )

    def test_no_weights(self) -> None:
        self.fail_with([], "model.pte needs constants of another file, such as float32[300,2]@", "--weights=FILE")

    def test_wrong_files(self) -> None:
        self.fail_with(["--weights=missing.ptd"], "cannot read the weights missing.ptd: No such file")
        self.fail_with(["--weights=."], "cannot read the weights .: it is a folder")
        self.fail_with(["--weights=model.pte"], "cannot use the weights model.pte: it is a program, a .pte file")
        self.fail_with(["--weights=model.py"], "cannot use the weights model.py: it is not a .ptd file")
        self.fail_with(["--weights=model.ptd"], "model.ptd has samples, such as forward/0/input/0, and no weights")
        self.fail_with(
            ["--weights=another.weights.ptd"],
            "the weights another.weights.ptd are not those of model.pte: the program needs float32[300,2]@",
            "which is not in the file",
        )
        self.fail_with(
            ["--weights=model.weights.ptd", "--samples=model.weights.ptd"],
            "cannot read the samples model.weights.ptd: it has constants, such as float32[300,2]@",
        )

    def test_other_layouts(self) -> None:
        self.fail_with([self.altered(sizes=[2, 300])], "as float32 [300, 2], which is float32 [2, 300] in the file")
        self.fail_with([self.altered(scalar_type=ScalarType.INT)], "which is int32 [300, 2] in the file")
        self.fail_with(
            [self.altered(dim_order=[1, 0])], "as float32 [300, 2], which is float32 [300, 2] dim order [1, 0]"
        )
        self.fail_with([self.altered(sizes=[300, 1 << 30])], "cannot use the weights altered.ptd: float32[300,")

    def test_damaged_files(self) -> None:
        weights = (_FOLDER / "model.weights.ptd").read_bytes()
        elements = len(weights) - 2 * 300 * 2 * 4
        damaged = {f"cut at {size}": weights[:size] for size in range(0, len(weights), 97)}
        for at in range(elements):
            for byte in (0xFF, weights[at] ^ 1):
                damaged[f"byte {at} is {byte}"] = weights[:at] + bytes([byte]) + weights[at + 1 :]
        refused = 0
        for what, content in damaged.items():
            (_FOLDER / "damaged.ptd").write_bytes(content)
            result = self.run_runner("--weights=damaged.ptd", "--input=0,299")
            self.assertIn(result.returncode, (0, 1), what)
            refused += result.returncode
            if result.returncode:
                self.assertRegex(result.stderr, r"^error: ", what)
        self.assertGreater(refused, len(damaged) // 4)


if __name__ == "__main__":
    absltest.main()
