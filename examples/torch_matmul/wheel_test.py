"""The wheel of the operators has the files and the tags, and its module loads the operators."""

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import torch
from absl.testing import absltest
from elftools.elf.elffile import ELFFile

_CODE = """
import sys
sys.path[:0] = {path!r}
import other_matmul_ops
import torch
x = torch.arange(4.0).reshape(2, 2)
print(torch.equal(torch.ops.other_custom_ops.matmul(x, x), x @ x), other_matmul_ops.__file__)
"""


class WheelTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.wheel = zipfile.ZipFile(os.environ["WHEEL"])

    def test_files_and_metadata(self) -> None:
        self.assertEndsWith(os.environ["WHEEL"], "/other_matmul_ops-1.0.0-py3-none-manylinux_2_39_x86_64.whl")
        files = ["other_matmul_ops.py", "libother_matmul_ops.so"]
        info = [f"other_matmul_ops-1.0.0.dist-info/{name}" for name in ("METADATA", "WHEEL", "RECORD")]
        self.assertCountEqual(self.wheel.namelist(), files + info)
        self.assertIn(b"Requires-Dist: torch>=2.10\n", self.wheel.read(info[0]))

    def test_no_paths_of_the_build(self) -> None:
        elf = ELFFile(io.BytesIO(self.wheel.read("libother_matmul_ops.so")))
        section: Any = elf.get_section_by_name(".dynamic")
        tags = list(section.iter_tags())
        self.assertEqual([tag.runpath for tag in tags if tag.entry.d_tag == "DT_RUNPATH"], ["$ORIGIN"])
        self.assertNotIn("libpython", " ".join(tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"))

    def test_runs(self) -> None:
        folder = Path(self.create_tempdir().full_path)
        self.wheel.extractall(folder)
        code = _CODE.format(path=[str(folder), str(Path(torch.__file__).parents[1])])
        found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        self.assertEqual(found.stdout.split(), ["True", str(folder / "other_matmul_ops.py")])


if __name__ == "__main__":
    absltest.main()
