"""An image of kernels for a microcontroller without an operating system runs on an emulated board, and is small."""

import json
import os
import re
import subprocess
from pathlib import Path

from absl.testing import absltest

_IMAGE = os.environ["IMAGE"]
_QEMU = os.environ["QEMU"]
_SIZE = os.environ["SIZE"]

# docs/platforms.md has the figures.
_MOST_FLASH = 30_000
_MOST_RAM = 30_000
_MOST_STACK = 20_000


class BareMetalTest(absltest.TestCase):
    def test_runs(self) -> None:
        done = subprocess.run(
            [_QEMU, "-M", "mps2-an500", "-nographic", "-semihosting", "-kernel", _IMAGE],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )
        text = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, text)
        # (x + sqrt(x * x + 4)) / 2 of 1.5, 3.75, 0; -1.5, 0, -3.75: a layer's outputs, in hundredths.
        self.assertIn("200 400 100 50 100 25 \n", text)
        (stack,) = re.findall(r"^stack (\d+)$", text, re.MULTILINE)
        print(f"stack: {stack} bytes")
        self.assertLessEqual(int(stack), _MOST_STACK)

    def test_flash(self) -> None:
        sizes = subprocess.run([_SIZE, _IMAGE], capture_output=True, text=True, check=True).stdout.splitlines()
        code_and_constants, data, zeros = map(int, sizes[1].split()[:3])
        print(f"flash: {code_and_constants + data} bytes, RAM without the stack: {data + zeros} bytes")
        self.assertLessEqual(code_and_constants + data, _MOST_FLASH)
        self.assertLessEqual(data + zeros, _MOST_RAM)

    def test_size_report(self) -> None:
        sizes = subprocess.run([_SIZE, _IMAGE], capture_output=True, text=True, check=True).stdout.splitlines()
        report = json.loads(Path(os.environ["IMAGE_SIZE"]).read_text())
        self.assertEqual(report["bytes"], sum(map(int, sizes[1].split()[:3])))
        self.assertEqual(sum(part["bytes"] for part in report["parts"]), report["bytes"])
        operators = {part["name"] for part in report["parts"] if part["group"] == "operators"}
        self.assertEqual(operators, {"aten::addmm.out", "my_ops::squareplus.out"})


if __name__ == "__main__":
    absltest.main()
