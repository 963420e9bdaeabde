"""The adapters' files are small, and a C++ program runs each program with the base's file and the adapter's."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import torch
from absl.testing import absltest

from codegen.inputs import tensor_data_reader
from examples.lora import model

_HERE = Path(__file__).parent
_PAGE = Path("docs/weights.md")
_WEIGHTS = {name: _HERE / f"{name}.weights.ptd" for name in ("base", "adapter_a", "adapter_b", "with_a", "with_b")}


class LoraTest(absltest.TestCase):
    def test_sizes_are_those_of_the_page(self) -> None:
        sizes = {name: path.stat().st_size for name, path in _WEIGHTS.items()}
        self.assertLess(sizes["adapter_a"], sizes["base"] / 10)
        rows = dict(re.findall(r"^\| `(\w+)\.weights\.ptd` \| ([\d,]+) \|", _PAGE.read_text(), re.MULTILINE))
        self.assertEqual({name: int(size.replace(",", "")) for name, size in rows.items()}, sizes)

    def test_each_constant_is_in_one_file(self) -> None:
        keys = {name: set(tensor_data_reader.read_layouts(str(path))) for name, path in _WEIGHTS.items()}
        for adapter in ("a", "b"):
            own = keys[f"adapter_{adapter}"]
            self.assertTrue(own.isdisjoint(keys["base"]))
            self.assertContainsSubset(keys[f"with_{adapter}"], own | keys["base"])
            # Two packed matrices in each of two layers of four blocks.
            self.assertLen(own, 16)

    def test_module_api(self) -> None:
        programs: dict[tuple[str, ...], Callable[[], tuple[torch.nn.Module, tuple[torch.Tensor]]]] = {
            ("with_a", "base", "adapter_a"): model.get_with_a,
            ("with_b", "base", "adapter_b"): model.get_with_b,
            ("base", "base"): model.get_base,
        }
        for (program, *weights), get in programs.items():
            paths = [_HERE / f"{program}.pte", *map(_WEIGHTS.__getitem__, weights)]
            printed = subprocess.run([_HERE / "main", *paths], check=True, capture_output=True, text=True).stdout
            found = re.fullmatch(r"scores: (\S+) (\S+)\n", printed)
            assert found is not None, printed
            module, inputs = get()
            torch.testing.assert_close(torch.tensor([float(found[1]), float(found[2])]), module(*inputs)[0, :2])

    def test_module_api_with_a_missing_file(self) -> None:
        paths = [_HERE / "with_a.pte", _WEIGHTS["base"]]
        run = subprocess.run([_HERE / "main", *paths], check=False, capture_output=True, text=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn("forward() failed", run.stderr)

    def test_runner_names_both_files(self) -> None:
        usage = subprocess.run([_HERE / "a", "--help"], check=True, capture_output=True, text=True).stdout
        self.assertRegex(usage, r"Default: \S+/base\.weights\.ptd, \S+/adapter_a\.weights\.ptd\n")


if __name__ == "__main__":
    absltest.main()
