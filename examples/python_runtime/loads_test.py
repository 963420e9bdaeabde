"""Which programs load in ExecuTorch's runtime for Python, as the README says."""

import re
from pathlib import Path

import torch
from absl.testing import absltest
from executorch.runtime import Method, Runtime

_HERE = Path(__file__).parent
_README = (_HERE / "README.md").read_text()


def _load(name: str) -> Method:
    return Runtime.get().load_program(_HERE / name).load_method("forward")


class LoadsTest(absltest.TestCase):
    def test_target_of_the_readme(self) -> None:
        (target,) = re.findall(r"^```starlark\n(.*?)^```$", _README, re.DOTALL | re.MULTILINE)
        self.assertIn(target, (_HERE / "BUILD.bazel").read_text())
        (output,) = _load("for_python.pte").execute([torch.randn(2, 8)])
        torch.testing.assert_close(output.sum(dim=-1), torch.ones(2))

    def test_all_passes(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "error: 0x:14") as raised:
            _load("all_passes.pte")
        self.assertIn(f"`{raised.exception}`", _README)


if __name__ == "__main__":
    absltest.main()
