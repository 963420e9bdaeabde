"""Installs Bazel from the machine's Debian mirror, and builds with it. Needs a Debian machine and its mirror."""

import pathlib
import subprocess
import tempfile
import unittest

_LAUNCHER = pathlib.Path(__file__).parents[1] / "bazel"

_MODULE = """\
module(name = "workspace")

bazel_dep(name = "bazel_features", version = "1.11.0")
bazel_dep(name = "bazel_skylib", version = "1.7.1")
bazel_dep(name = "platforms", version = "0.0.10")
bazel_dep(name = "rules_cc", version = "0.0.9")
bazel_dep(name = "rules_license", version = "0.0.7")
bazel_dep(name = "rules_python", version = "0.22.1")


"""

_WORKSPACE = """\
load("@bazel_tools//tools/build_defs/repo:http.bzl", "http_archive")

[
    http_archive(
        name = name,
        urls = ["https://example.invalid/" + name],
    )
    for name in ["bazel_features", "bazel_skylib", "rules_cc", "rules_python"]
]

load("@bazel_features//:deps.bzl", "bazel_features_deps")

bazel_features_deps()

load("@bazel_skylib//:workspace.bzl", "bazel_skylib_workspace")

bazel_skylib_workspace()
"""

_BUILD = """\
load("@rules_cc//cc:defs.bzl", "cc_test")
load("@rules_python//python:defs.bzl", "py_test")
load(":analysis.bzl", "subject", "subject_test")

cc_test(
    name = "cc",
    size = "small",
    srcs = ["main.cc"],
)

py_test(
    name = "py",
    size = "small",
    srcs = ["py.py"],
)

subject(
    name = "subject",
    tags = ["manual"],
)

subject_test(
    name = "analysis",
    size = "small",
    target_under_test = ":subject",
)
"""

_ANALYSIS = """\
load("@bazel_features//:features.bzl", "bazel_features")
load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")

def _subject_impl(_ctx):
    return [DefaultInfo()]

subject = rule(implementation = _subject_impl)

def _subject_test_impl(ctx):
    env = analysistest.begin(ctx)
    asserts.true(env, bazel_features.external_deps.is_bzlmod_enabled != None)
    asserts.equals(env, "subject", analysistest.target_under_test(env).label.name)
    return analysistest.end(env)

subject_test = analysistest.make(_subject_test_impl)
"""

_FILES = {
    "MODULE.bazel": _MODULE,
    "WORKSPACE": _WORKSPACE,
    "BUILD.bazel": _BUILD,
    "analysis.bzl": _ANALYSIS,
    "main.cc": "int main() { return 0; }\n",
    "py.py": "print()\n",
    ".bazelrc": "common --noenable_workspace\n",
}


class InstallTest(unittest.TestCase):
    folder: pathlib.Path

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        for name, content in _FILES.items():
            path = cls.folder / "workspace" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
        first = cls.bazel("--version")
        assert first.stdout.startswith("bazel 7."), first.stderr
        # Without the registry, a line says what stands in for its modules.
        (bazelrc,) = cls.folder.glob("cache/rules_executorch/bazel-*/bazelrc")
        said = ["installing Debian's"] + ["stand in for"] * ("--override_module=" in bazelrc.read_text())
        lines = first.stderr.splitlines()
        assert len(lines) == len(said) and all(map(str.__contains__, lines, said)), first.stderr
        cls.addClassCleanup(cls.bazel, "shutdown")

    @classmethod
    def bazel(cls, *arguments: str) -> subprocess.CompletedProcess[str]:
        environ = {"PATH": "/usr/bin:/bin", "HOME": f"{cls.folder}/home", "XDG_CACHE_HOME": f"{cls.folder}/cache"}
        return subprocess.run(
            [_LAUNCHER, *arguments],
            cwd=cls.folder / "workspace",
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )

    def test_later_runs_say_nothing(self) -> None:
        self.assertEqual(self.bazel("--version").stderr, "")

    def test_version_is_known_to_the_server(self) -> None:
        self.assertRegex(self.bazel("info", "release").stdout, r"^release 7\.")

    def test_modules(self) -> None:
        done = self.bazel("test", "//...")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse((self.folder / "workspace/MODULE.bazel.lock").exists())

    def test_module_graph(self) -> None:
        done = self.bazel("mod", "graph")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("bazel_skylib", done.stdout)

    def test_workspace_file(self) -> None:
        done = self.bazel("test", "--noenable_bzlmod", "--enable_workspace", "//...")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_everything_lies_in_the_cache_folder(self) -> None:
        base = self.bazel("info", "output_base").stdout
        self.assertTrue(base.startswith(f"{self.folder}/cache/bazel/"), base)

    def test_pip_wheel(self) -> None:
        (install,) = self.folder.glob("cache/rules_executorch/bazel-*")
        (wheel,) = install.glob("root/usr/share/python-wheels/pip-*.whl")
        self.assertIn(f"--repo_env=EXECUTORCH_PIP_WHEEL={wheel}", (install / "bazelrc").read_text())
        pip = subprocess.run(
            ["/usr/bin/python3", "-I", f"{wheel}/pip", "--version"], capture_output=True, text=True, check=False
        )
        self.assertRegex(pip.stdout, r"^pip \d+")


if __name__ == "__main__":
    unittest.main()
