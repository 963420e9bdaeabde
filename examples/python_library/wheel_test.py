"""The wheel has what its tags say, and runs where there is NumPy alone."""

import io
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy
from absl.testing import absltest
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

_TAG = "py3-none-manylinux_2_39_x86_64"


class WheelTest(absltest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.wheel = zipfile.ZipFile(os.environ["WHEEL"])

    def test_tags_and_metadata(self) -> None:
        self.assertEndsWith(os.environ["WHEEL"], f"/classifier-1.0.0-{_TAG}.whl")
        self.assertIn(f"Tag: {_TAG}\n", self.wheel.read("classifier-1.0.0.dist-info/WHEEL").decode())
        metadata = self.wheel.read("classifier-1.0.0.dist-info/METADATA").decode()
        self.assertIn("Requires-Dist: numpy>=2.1\n", metadata)

    def test_files(self) -> None:
        names = self.wheel.namelist()
        self.assertContainsSubset(
            ["classifier.py", "classifier.pyi", "classifier.libs/classifier.so", "classifier.libs/classifier.pte"],
            names,
        )
        self.assertLen(
            [name for name in names if name.endswith("/licenses/LICENSE") or name.endswith("_main/LICENSE")], 2
        )

    def test_the_tag_is_true(self) -> None:
        """The libraries need the system's libraries only, and no newer glibc than that of the tag."""
        libraries = {name: self.wheel.read(name) for name in self.wheel.namelist() if name.endswith(".so")}
        own = {name.rpartition("/")[2] for name in libraries}
        newest = tuple(map(int, _TAG.split("_")[1:3]))
        for name, content in libraries.items():
            elf = ELFFile(io.BytesIO(content))
            dynamic: Any = elf.get_section_by_name(".dynamic")
            for tag in dynamic.iter_tags():
                if tag.entry.d_tag == "DT_NEEDED" and tag.needed not in own:
                    self.assertRegex(tag.needed, r"^(ld-linux-x86-64|lib(c|dl|gcc_s|m|pthread|stdc\+\+))\.so\.\d$")
                if tag.entry.d_tag == "DT_RUNPATH":
                    self.assertEqual(tag.runpath, "$ORIGIN")
            for section in elf.iter_sections():
                if isinstance(section, GNUVerNeedSection):
                    versions = [one.name for _, needed in section.iter_versions() for one in needed]
                    for version in re.findall(r"\bGLIBC_(\d+)\.(\d+)", " ".join(versions)):
                        self.assertLessEqual(tuple(map(int, version)), newest, name)

    def test_runs(self) -> None:
        folder = Path(self.create_tempdir().full_path)
        self.wheel.extractall(folder)
        packages = folder / "packages"
        packages.mkdir()
        for name in ("numpy", "numpy.libs"):
            if (source := Path(numpy.__file__).parents[1] / name).is_dir():
                (packages / name).symlink_to(source)
        main = Path(__file__).with_name("main.py")
        found = subprocess.run(
            [sys.executable, "-I", "-c", f"import sys; sys.path += {[str(folder), str(packages)]}\n{main.read_text()}"],
            check=True,
            capture_output=True,
            text=True,
        )
        self.assertIn("sums: [1.0, 1.0, 1.0]\n", found.stdout)


if __name__ == "__main__":
    absltest.main()
