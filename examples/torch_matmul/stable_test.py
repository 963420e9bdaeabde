"""What the stable library takes from others: PyTorch's C functions, the C and the C++ library, and nothing else."""

import os
import pathlib
import re
import subprocess

from absl.testing import absltest

_LIBRARY = pathlib.Path(__file__).with_name("libother_matmul_ops.so")
_ALLOWED = {
    "the stable ABI": re.compile(r"(aoti_torch|torch)_\w+"),
    "the C and the C++ library": re.compile(r"\w+@@?(GLIBC|GLIBCXX|CXXABI|GCC)_[\w.]+"),
    "what the linker adds": re.compile(r"__gmon_start__|_ITM_\w+"),
}


class StableTest(absltest.TestCase):
    def test_symbols(self) -> None:
        command = [os.environ["NM"], "--dynamic", "--undefined-only", str(_LIBRARY)]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        names = [line.split()[-1] for line in lines]
        shim = [name for name in names if _ALLOWED["the stable ABI"].fullmatch(name)]
        self.assertGreater(len(shim), 10)
        others = [name for name in names if not any(form.fullmatch(name) for form in _ALLOWED.values())]
        self.assertEqual(others, [])


if __name__ == "__main__":
    absltest.main()
