"""Two libraries of one namespace: an exception where PyTorch aborts; //examples/torch_matmul:collision fails to "
"build."""

import shutil
import subprocess
import sys

import torch
from absl.testing import absltest

from examples.torch_matmul import matmul_ops


class CollisionTest(absltest.TestCase):
    def test_the_second_library_is_not_imported(self) -> None:
        with self.assertRaises(ImportError) as raised:
            import examples.torch_matmul.rival_ops  # noqa: F401
        for part in (
            "//examples/torch_matmul:rival_ops: error: the namespace custom_ops is defined 2 times",
            "\n    registered at examples/torch_matmul/matmul.cpp:37",
            "\n    //examples/torch_matmul:rival_ops (examples/torch_matmul/rival.cpp:11:1)",
            "TORCH_LIBRARY_FRAGMENT(custom_ops, m)",
        ):
            self.assertIn(part, str(raised.exception))
        # The first is as it was.
        a = torch.eye(2)
        self.assertTrue(torch.equal(torch.ops.custom_ops.matmul(a, a), a))

    def test_a_library_is_loaded_once(self) -> None:
        for module in [name for name in sys.modules if name.endswith("matmul_ops")]:
            del sys.modules[module]
        import examples.torch_matmul.matmul_ops as again

        self.assertIsNot(again, matmul_ops)
        self.assertEqual(again.LIBRARY, matmul_ops.LIBRARY)

    def test_pytorch_aborts(self) -> None:
        """What the checks are for: a copy of a library is another library."""
        copy = self.create_tempfile("libmatmul_ops.so").full_path
        shutil.copyfile(matmul_ops.LIBRARY, copy)
        load = f"import torch; [torch.ops.load_library(path) for path in ({matmul_ops.LIBRARY!r}, {copy!r})]"
        environment = {"PYTHONPATH": ":".join(sys.path)}
        result = subprocess.run([sys.executable, "-c", load], capture_output=True, text=True, env=environment)
        self.assertEqual(result.returncode, -6, result.stderr)
        self.assertIn("Only a single TORCH_LIBRARY can be used to register the namespace custom_ops", result.stderr)


if __name__ == "__main__":
    absltest.main()
