"""Tests that a small block size needs less stack and gives the same results."""

from __future__ import annotations

import platform
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from absl.testing import absltest, parameterized

_HERE = Path(__file__).parent
_LIBRARIES = _HERE.parents[1] / "testing"
_FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
# GCC touches a frame that is larger than a page one page at a time, up to an address in %r11.
_FRAME = re.compile(r"\bsub +\$0x([0-9a-f]+),%rsp|\blea +-0x([0-9a-f]+)\(%rsp\),%r11")


def _results(block_size: int) -> tuple[str, int]:
    """The hash of the results of stack_use with a block size, and the bytes of stack that the computation needs."""
    program = _HERE / f"stack_use_{block_size}"
    hash_, stack = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
    return hash_, int(stack)


def _lines(*command: str | Path) -> Iterator[str]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield from process.stdout
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} failed")


def _frames(library: Path) -> dict[str, int]:
    """The bytes of the stack frame of each function of a library, without callees and saved registers."""
    frames: dict[str, int] = defaultdict(int)
    function = ""
    for line in _lines("objdump", "--disassemble", "--no-show-raw-insn", "--demangle", library):
        if found := _FUNCTION.match(line):
            function = found[1]
        elif found := _FRAME.search(line):
            frames[function] += int(found[1] or found[2], 16)
    return frames


class BlockSizeTest(parameterized.TestCase):
    def test_small_blocks(self) -> None:
        hash_of_small, small = _results(64)
        hash_of_large, large = _results(256)
        self.assertEqual(hash_of_small, hash_of_large)
        # Measured with GCC 12 on x86-64: 14.8 and 22.3 KB. The blocks are the part that depends on the block size.
        self.assertLess(small, 0.7 * large)
        self.assertLess(small, 16 * 1024)

    # Measured with GCC 12 on x86-64: 7,760 bytes (index_select) and 13,288 bytes (the product of mixed_linear).
    @parameterized.parameters((64, 8), (256, 14))
    def test_largest_frame(self, block_size: int, limit: int) -> None:
        if platform.machine() != "x86_64":
            self.skipTest("stack frames are only measured on x86-64")
        frames = _frames(_LIBRARIES / f"op_caller_{block_size}")
        self.assertNotEmpty(frames)
        largest = max(frames, key=lambda name: frames[name])
        self.assertLessEqual(frames[largest], limit * 1024, largest)


if __name__ == "__main__":
    absltest.main()
