"""Tests of what Bazel is told."""

import pathlib
import shlex
import tempfile
import unittest
import zipfile

from tools.launcher.debian import settings


class SettingsTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix = pathlib.Path(folder.name) / "a cache"
        self.root = self.prefix / "root"
        (self.root / "usr/share/bazel").mkdir(parents=True)
        (self.root / "usr/share/java").mkdir(parents=True)

    def test_class_path(self) -> None:
        java = self.root / "usr/share/java"
        for jar in ("named-1.0.jar", "other.jar"):
            (java / jar).touch()
        (java / "named.jar").symlink_to("named-1.0.jar")
        listed = self.root / "usr/share/bazel/bazel_classpath_debian_depends.txt"
        listed.write_text("/usr/share/java/named.jar\n/usr/share/java/left-out.jar\n")
        (self.root / "usr/share/bazel/build-label.txt").write_text("7.7.1\n")
        settings.write_class_path(self.prefix, self.root)
        version = self.prefix / "version.jar"
        self.assertEqual(listed.read_text().splitlines(), [f"{java}/named.jar", f"{java}/other.jar", str(version)])
        with zipfile.ZipFile(version) as archive:
            self.assertEqual(archive.read("build-data.properties"), b"build.label=7.7.1\n")

    def test_bazelrc(self) -> None:
        wheel = self.root / "usr/share/python-wheels/pip-26.0-py3-none-any.whl"
        bazelrc = settings.write_bazelrc(self.prefix, wheel)
        self.assertNotIn("override", bazelrc.read_text())
        settings.override_modules(bazelrc, self.prefix, self.root)
        lines = [shlex.split(line) for line in bazelrc.read_text().splitlines()]
        self.assertEqual({(len(line), line[0]) for line in lines}, {(2, "common")})
        options = [line[1] for line in lines]
        skylib = self.root / "usr/share/bazel/tools/skylib"
        self.assertIn(f"--override_module=bazel_skylib={skylib}", options)
        self.assertIn(f"--override_repository=bazel_skylib={skylib}", options)
        self.assertIn("--lockfile_mode=off", options)
        self.assertIn(f"--repo_env=EXECUTORCH_PIP_WHEEL={wheel}", options)

    def test_modules_that_bazel_asks_for_are_there(self) -> None:
        bazelrc = settings.write_bazelrc(self.prefix, self.root / "pip.whl")
        settings.override_modules(bazelrc, self.prefix, self.root)
        for name in ("apple_support", "buildozer", "protobuf", "zlib"):
            stub = self.prefix / "stubs" / name
            self.assertIn(f'name = "{name}"', (stub / "MODULE.bazel").read_text())
            self.assertTrue((stub / "BUILD.bazel").exists())
        # Bazel's //third_party/zlib:zlib is an alias of this target, and a query of a target's dependencies loads it.
        self.assertIn('filegroup(name = "zlib", ', (self.prefix / "stubs/zlib/BUILD.bazel").read_text())
        self.assertIn(
            "buildozer_binary = module_extension(", (self.prefix / "stubs/buildozer/buildozer_binary.bzl").read_text()
        )


if __name__ == "__main__":
    unittest.main()
