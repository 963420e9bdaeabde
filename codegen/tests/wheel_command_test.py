from __future__ import annotations

import base64
import csv
import hashlib
import zipfile
from unittest import mock

from absl.testing import absltest

from codegen.binaries import dynamic_linking
from codegen.binaries.dynamic_linking import DynamicLinking
from codegen.tests import case

_INFO = "acme-1.2.dist-info"


def _linking(*versions: str, needed: tuple[str, ...] = ("libc.so.6",)) -> DynamicLinking:
    return DynamicLinking("x86-64", needed, {"libc.so.6": versions})


class WheelCommandTest(case.TestCase):
    def _wheel(self, *linkings: DynamicLinking, platform: str = "manylinux_2_31_x86_64") -> zipfile.ZipFile:
        """Returns a wheel of a module, and of libraries with these links."""
        libraries = {self.write(f"{i}.so", b""): linking for i, linking in enumerate(linkings)}
        module = self.write("module.py", "x = 1\n")
        files = {"acme/module.py": module} | {f"acme/{i}.so": path for i, path in enumerate(libraries)}
        with mock.patch.object(dynamic_linking, "read", lambda path: libraries.get(str(path))):
            self.run_command(
                "wheel",
                "--label=//app:wheel",
                f"--output={self.directory}/acme.whl",
                "--distribution=acme",
                "--version=1.2",
                f"--platform={platform}",
                "--requires=numpy>=2.1",
                "--requires=ml_dtypes",
                "--python_requires=>=3.10",
                "--summary=A program",
                *(f"--path={path}" for path in files),
                *(f"--source={source}" for source in files.values()),
            )
        return zipfile.ZipFile(self.directory / "acme.whl")

    def test_metadata(self) -> None:
        wheel = self._wheel()
        self.assertEqual(
            wheel.read(f"{_INFO}/METADATA").decode(),
            "Metadata-Version: 2.1\nName: acme\nVersion: 1.2\nSummary: A program\nRequires-Python: >=3.10\n"
            "Requires-Dist: numpy>=2.1\nRequires-Dist: ml_dtypes\n",
        )
        tags = wheel.read(f"{_INFO}/WHEEL").decode()
        self.assertIn("Root-Is-Purelib: false\nTag: py3-none-manylinux_2_31_x86_64\n", tags)

    def test_record(self) -> None:
        wheel = self._wheel()
        rows = {row[0]: row[1:] for row in csv.reader(wheel.read(f"{_INFO}/RECORD").decode().splitlines())}
        self.assertCountEqual(rows, wheel.namelist())
        self.assertEqual(rows.pop(f"{_INFO}/RECORD"), ["", ""])
        for path, (digest, size) in rows.items():
            content = wheel.read(path)
            expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            self.assertEqual((digest, int(size)), (f"sha256={expected}", len(content)))

    def test_the_same_files_give_the_same_wheel(self) -> None:
        self._wheel()
        first = (self.directory / "acme.whl").read_bytes()
        self._wheel()
        self.assertEqual((self.directory / "acme.whl").read_bytes(), first)

    def test_libraries_that_fit(self) -> None:
        self._wheel(_linking("GLIBC_2.31", "GLIBCXX_3.4.28", "CXXABI_1.3.12", "GLIBC_PRIVATE"))
        self._wheel(_linking("GLIBC_2.99"), platform="linux_x86_64")

    def test_libraries_that_are_too_new(self) -> None:
        expected = "wheel-platform //app:wheel"
        self.assert_refused(lambda: self._wheel(_linking("GLIBC_2.17"), _linking("GLIBC_2.32")), expected)
        self.assert_refused(lambda: self._wheel(_linking("GLIBC_2.17", "GLIBCXX_3.4.30")), expected)
        self.assertEqual(self.places(lambda: self._wheel(_linking("CXXABI_1.3.15"))), [expected])

    def test_libraries_for_another_processor(self) -> None:
        self._wheel(DynamicLinking("AArch64", (), {}), platform="manylinux_2_31_aarch64")
        self.assert_refused(lambda: self._wheel(DynamicLinking("AArch64", (), {})), "wheel-platform //app:wheel")

    def test_a_library_that_is_not_there(self) -> None:
        self._wheel(_linking(needed=("libstdc++.so.6", "0.so", "ld-linux-x86-64.so.2", "libtorch_cpu.so")))
        self.assert_refused(
            lambda: self._wheel(_linking(needed=("libopenblas.so.0",))), "wheel-needs-library //app:wheel"
        )


if __name__ == "__main__":
    absltest.main()
