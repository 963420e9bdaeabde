"""Tests of the choice of a Bazel."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from tools.launcher import choice, errors


class ChoiceTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.launcher = self.script("tools/bazel", "exit 9")

    def script(self, name: str, body: str) -> pathlib.Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    def bazel(self, name: str, version: str) -> pathlib.Path:
        return self.script(name, f"echo '{version}'")

    def choose(self, *folders: str, **environ: str) -> pathlib.Path | None:
        path = os.pathsep.join(str(self.folder / folder) for folder in folders)
        return choice.choose({"PATH": path, **environ}, self.launcher)

    def test_bazel_real_comes_first(self) -> None:
        real = self.bazel("real/bazel", "bazel 5.0.0")
        self.bazel("bin/bazelisk", "bazel 7.7.1")
        self.assertEqual(self.choose("bin", BAZEL_REAL=str(real)), real)

    def test_bazel_real_must_be_a_program(self) -> None:
        with self.assertRaisesRegex(errors.LauncherError, "BAZEL_REAL is /no/bazel, which is no program: set it"):
            self.choose(BAZEL_REAL="/no/bazel")
        with self.assertRaisesRegex(errors.LauncherError, "which is no program"):
            self.choose(BAZEL_REAL=str(self.folder))

    def test_bazel_real_must_not_be_the_launcher(self) -> None:
        link = self.folder / "link"
        link.symlink_to(self.launcher)
        for real in (self.launcher, link):
            with self.assertRaisesRegex(errors.LauncherError, "this launcher itself: set it to a Bazel, or unset it"):
                self.choose(BAZEL_REAL=str(real))

    def test_bazelisk_comes_before_bazel(self) -> None:
        self.bazel("one/bazel", "bazel 8.1.0")
        bazelisk = self.script("two/bazelisk", "exit 1")
        self.assertEqual(self.choose("one", "two"), bazelisk)

    def test_first_bazel_that_is_new_enough(self) -> None:
        self.bazel("one/bazel", "bazel 6.5.0")
        ten = self.bazel("two/bazel", "bazel 10.0.0")
        self.bazel("three/bazel", "bazel 7.7.1")
        self.assertEqual(self.choose("one", "two", "three"), ten)

    def test_unusable_ones_are_passed_over(self) -> None:
        self.script("fails/bazel", "echo bazel 7.7.1; exit 1")
        self.bazel("talks/bazel", "no release")
        self.script("format/bazel", "").write_bytes(b"\0\1\2\3")
        (self.folder / "plain").mkdir()
        (self.folder / "plain/bazel").write_text("#!/bin/sh\necho bazel 7.7.1\n")
        (self.folder / "directory/bazel").mkdir(parents=True)
        self.assertIsNone(self.choose("fails", "talks", "format", "plain", "directory", "missing"))

    def test_empty_path(self) -> None:
        self.assertIsNone(choice.choose({}, self.launcher))
        self.assertIsNone(choice.choose({"PATH": ""}, self.launcher))

    def test_launcher_on_the_path_is_passed_over(self) -> None:
        (self.folder / "links").mkdir()
        (self.folder / "links/bazel").symlink_to(self.launcher)
        (self.folder / "links/bazelisk").symlink_to(self.launcher)
        self.assertIsNone(self.choose("tools", "links"))

    def test_launcher_of_another_checkout_is_passed_over(self) -> None:
        self.bazel("other/tools/bazel", "bazel 7.7.1")
        self.script("other/tools/launcher/choice.py", "")
        self.assertIsNone(self.choose("other/tools"))

    def test_script_that_calls_the_launcher_is_passed_over(self) -> None:
        program = pathlib.Path(choice.__file__).with_name("__main__.py")
        launcher = self.script("tools/bazel", f'exec {sys.executable} -B {program} /nowhere "$0" "$@"')
        self.script("bin/bazel", f'{launcher} "$@"')
        self.assertIsNone(self.choose("bin", "/usr/bin", "/bin"))

    def test_probed_launcher_refuses(self) -> None:
        with self.assertRaisesRegex(errors.LauncherError, "called by a `bazel` on the PATH"):
            self.choose(**{choice.PROBE: "1"})

    def test_wrapper_that_honors_bazel_real_is_chosen(self) -> None:
        # As bazelisk does under the name `bazel`, and the script of Bazel's own packages.
        program = pathlib.Path(choice.__file__).with_name("__main__.py")
        launcher = self.script("tools/bazel", f'exec {sys.executable} -B {program} /nowhere "$0" "$@"')
        real = self.bazel("real/bazel", "bazel 7.7.1")
        wrapper = self.script("bin/bazel", f'BAZEL_REAL={real} exec {launcher} "$@"')
        self.assertEqual(self.choose("bin"), wrapper)
        self.assertEqual(subprocess.run([wrapper], capture_output=True, text=True, check=True).stdout, "bazel 7.7.1\n")


if __name__ == "__main__":
    unittest.main()
