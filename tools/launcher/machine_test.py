"""Tests of what the machine must be."""

import unittest
from collections.abc import Collection
from unittest import mock

from tools.launcher import errors
from tools.launcher.debian import machine

_DEBIAN = {"ID": "debian", "PRETTY_NAME": "Debian GNU/Linux 12 (bookworm)"}


class MachineTest(unittest.TestCase):
    def check(
        self,
        system: dict[str, str] | None = None,
        processor: str = "x86_64",
        missing: Collection[str] = (),
    ) -> machine.Architecture:
        def os_release() -> dict[str, str]:
            if system == {}:
                raise OSError("no os-release")
            return _DEBIAN if system is None else system

        with (
            mock.patch("platform.freedesktop_os_release", os_release),
            mock.patch("platform.machine", lambda: processor),
            mock.patch("platform.system", lambda: "Darwin"),
            mock.patch("shutil.which", lambda name: None if name in missing else f"/usr/bin/{name}"),
        ):
            return machine.check()

    def test_x86_64(self) -> None:
        self.assertEqual(self.check(), machine.Architecture("amd64", "x86_64-linux-gnu", "ld-linux-x86-64.so.2"))

    def test_arm64(self) -> None:
        self.assertEqual(
            self.check(processor="aarch64"),
            machine.Architecture("arm64", "aarch64-linux-gnu", "ld-linux-aarch64.so.1"),
        )

    def test_other_processor(self) -> None:
        with self.assertRaisesRegex(errors.LauncherError, "x86-64 and arm64 only, not on riscv64: put bazelisk"):
            self.check(processor="riscv64")

    def test_other_system(self) -> None:
        with self.assertRaisesRegex(errors.LauncherError, "on Debian only, not on Fedora Linux 40: put bazelisk"):
            self.check({"ID": "fedora", "PRETTY_NAME": "Fedora Linux 40"})

    def test_system_without_os_release(self) -> None:
        with self.assertRaisesRegex(errors.LauncherError, "on Debian only, not on Darwin: put bazelisk"):
            self.check({})

    def test_missing_program(self) -> None:
        for program, package in (("apt-get", "apt"), ("apt-cache", "apt"), ("dpkg-deb", "dpkg")):
            with self.assertRaisesRegex(
                errors.LauncherError,
                f"{program}, which fetches Debian's, is not on the PATH: install the package {package},",
            ):
                self.check(missing=[program])


if __name__ == "__main__":
    unittest.main()
