"""Tests of tools/bazel itself, with an install that takes no time."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

_TOOLS = pathlib.Path(__file__).parents[1]

# Installs a Bazel that prints its arguments.
_INSTALL = """\
import pathlib, sys

def install(prefix, lock):
    print("installing", file=sys.stderr)
    bazel = prefix / "bin" / "bazel"
    bazel.parent.mkdir(parents=True)
    bazel.write_text('#!/bin/sh\\\\nprintf "[%s]" "$@"; exit 3\\\\n')
    bazel.chmod(0o755)
"""


class LauncherTestCase(unittest.TestCase):
    """A checkout with a launcher."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # A checkout whose folder has a space in its name.
        self.tools = self.folder / "a checkout/tools"
        launcher = self.tools / "launcher"
        (launcher / "debian").mkdir(parents=True)
        self.launcher = self.tools / "bazel"
        shutil.copy(_TOOLS / "bazel", self.launcher)
        for name in ("__main__.py", "cache.py", "errors.py"):
            shutil.copy(_TOOLS / "launcher" / name, launcher / name)
        self.recipe = launcher / "debian/install.py"
        self.recipe.write_text(_INSTALL.replace("\\\\n", "\\n"))
        (self.folder / "bin").mkdir()

    def run_launcher(
        self,
        *arguments: str,
        program: pathlib.Path | None = None,
        folder: pathlib.Path | None = None,
        **environ: str,
    ) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(self.folder / "bin"), "/usr/bin", "/bin"])
        return subprocess.run(
            [program or self.launcher, *arguments],
            env={"PATH": path, "HOME": str(self.folder), **environ},
            capture_output=True,
            cwd=folder,
            text=True,
            check=False,
        )

    def script(self, name: str, body: str) -> pathlib.Path:
        path = self.folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path


class LauncherTest(LauncherTestCase):
    def test_installs_once_and_passes_everything_on(self) -> None:
        for said in ("installing\n", ""):
            done = self.run_launcher("run", "--", "a b", "", "$c")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (3, "[run][--][a b][][$c]", said))

    def test_place_of_the_install(self) -> None:
        self.run_launcher()
        self.run_launcher(XDG_CACHE_HOME=str(self.folder / "elsewhere"))
        for cache in (".cache", "elsewhere"):
            self.assertEqual(len(list((self.folder / cache / "rules_executorch").glob("bazel-7-forky-*"))), 1)

    def test_changed_recipe_makes_a_new_install(self) -> None:
        self.run_launcher()
        self.recipe.write_text(self.recipe.read_text() + "# changed\n")
        self.assertEqual(self.run_launcher().stderr, "installing\n")
        self.assertEqual(self.run_launcher().stderr, "")

    def test_installed_one_runs_without_python(self) -> None:
        self.run_launcher()
        (self.tools / "launcher/__main__.py").unlink()
        self.assertEqual(self.run_launcher("version").stdout, "[version]")

    def test_bazel_real(self) -> None:
        self.run_launcher()
        real = self.script("real", 'printf "real:%s" "$1"')
        self.assertEqual(self.run_launcher("version", BAZEL_REAL=str(real)).stdout, "real:version")

    def test_init_in_a_folder_of_no_workspace(self) -> None:
        self.run_launcher()
        real = self.script("real", 'printf "%s|%s" "${EXECUTORCH_START_DIRECTORY:-}" "$(pwd -P)"')
        root = self.tools.parent.resolve()
        empty = self.folder / "an empty one"
        empty.mkdir()
        init = ("run", "@rules_executorch//tools/init", "--", "model.py")
        for folder, arguments, expected in (
            (empty, init, f"{empty}|{root}"),
            (empty, ("run", "@rules_executorch//tools/lock"), f"|{empty.resolve()}"),
        ):
            with self.subTest(arguments):
                done = self.run_launcher(*arguments, folder=folder, BAZEL_REAL=str(real))
                self.assertEqual(done.stdout, expected)
        (empty / "MODULE.bazel").touch()
        (empty / "below").mkdir()
        done = self.run_launcher(*init, folder=empty / "below", BAZEL_REAL=str(real))
        self.assertEqual(done.stdout, f"|{(empty / 'below').resolve()}")

    def test_bazelisk_that_calls_back(self) -> None:
        self.run_launcher()
        real = self.script("real", 'printf "real:%s" "$1"')
        self.script("bazelisk", f'BAZEL_REAL={real} exec "{self.launcher}" "$@"')
        self.assertEqual(self.run_launcher("version").stdout, "real:version")

    def test_bazel_on_the_path_comes_before_the_install(self) -> None:
        self.run_launcher()
        self.script("bazel", "echo bazel 6.5.0")
        self.assertEqual(self.run_launcher("version").stdout, "[version]")
        self.script("bazel", "echo bazel 7.0.0")
        self.assertEqual(self.run_launcher("version").stdout, "bazel 7.0.0\n")

    def test_script_that_calls_back(self) -> None:
        self.script("bazel", f'exec "{self.launcher}" "$@"')
        self.assertEqual(self.run_launcher("version").stdout, "[version]")

    def test_called_by_a_link_on_the_path(self) -> None:
        link = self.folder / "bin/bazel"
        link.symlink_to(self.launcher)
        self.assertEqual(self.run_launcher("version", program=link).stdout, "[version]")

    def test_error_is_one_line(self) -> None:
        done = self.run_launcher(BAZEL_REAL="/no/bazel")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(
            done.stderr,
            "tools/bazel: BAZEL_REAL is /no/bazel, which is no program: set it to a Bazel, or unset it\n",
        )

    def test_no_coreutils(self) -> None:
        self.script("cat", "exit 0")
        done = self.run_launcher(PATH=str(self.folder / "bin"))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(
            done.stderr,
            f"tools/bazel: not on the PATH ({self.folder}/bin): cksum dirname readlink uname: add the folder of these,"
            " such as /usr/bin, or install coreutils\n",
        )

    def test_no_home(self) -> None:
        done = self.run_launcher(HOME="")
        self.assertEqual(done.returncode, 1)
        self.assertIn("set HOME or XDG_CACHE_HOME to an absolute path", done.stderr)

    def test_first_bazel_on_the_path_that_is_new_enough(self) -> None:
        unusable = {"old": "echo bazel 6.5.0", "fails": "echo bazel 7.7.1; exit 1", "talks": "echo no release"}
        for name, body in {**unusable, "ten": "echo bazel 10.0.0", "seven": "echo bazel 7.7.1"}.items():
            (self.folder / name).mkdir()
            self.script(f"../{name}/bazel", body)
        (self.folder / "plain").mkdir()
        (self.folder / "plain/bazel").write_text("#!/bin/sh\necho bazel 7.7.1\n")
        (self.folder / "directory/bazel").mkdir(parents=True)
        folders = [str(self.folder / name) for name in (*unusable, "plain", "directory", "missing", "ten", "seven")]
        path = os.pathsep.join([*folders, "/usr/bin", "/bin"])
        self.assertEqual(self.run_launcher("version", PATH=path).stdout, "bazel 10.0.0\n")

    def test_wrapper_that_honors_bazel_real(self) -> None:
        # As bazelisk does under the name `bazel`, and the script of Bazel's own packages.
        real = self.script("real", "echo bazel 7.7.1")
        self.script("bazel", f'echo wrapper >&2; BAZEL_REAL={real} exec "{self.launcher}" "$@"')
        done = self.run_launcher("version")
        self.assertEqual((done.stdout, done.stderr), ("bazel 7.7.1\n", "wrapper\n"))


class OtherSystemTest(LauncherTestCase):
    """A machine with macOS, played by a program `uname`. Its other programs are links, and there is no Python."""

    def setUp(self) -> None:
        super().setUp()
        self.script("uname", "echo Darwin")
        for program in ("cat", "cksum", "dirname"):
            (self.folder / "bin" / program).symlink_to(f"/usr/bin/{program}")
        # macOS before 12.3 knows no -f.
        self.script("readlink", '[ "$1" != -f ] || exit 1; exec /usr/bin/readlink "$@"')
        self.script("python3", "echo xcode-select: note: no developer tools were found >&2; exit 1")
        (self.folder / "other").mkdir()

    def run_there(self, *arguments: str, path: str = "bin", **environ: str) -> subprocess.CompletedProcess[str]:
        folders = os.pathsep.join(str(self.folder / folder) for folder in path.split(os.pathsep))
        return self.run_launcher(*arguments, program=None, folder=None, PATH=folders, **environ)

    def test_no_bazel(self) -> None:
        done = self.run_there("version")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(
            done.stderr,
            "tools/bazel: no Bazel found, and it can be installed by itself on Debian only, not on macOS: put bazelisk"
            " or a Bazel 7 or newer on the PATH, or set BAZEL_REAL to one\n",
        )
        self.assertFalse((self.folder / ".cache").exists())

    def test_bazelisk_comes_before_bazel(self) -> None:
        self.script("bazel", '[ "$1" != --version ] || { echo bazel 7.7.1; exit; }; printf "bazel:%s" "$*"; exit 3')
        self.assertEqual(self.run_there("run", "//a b").stdout, "bazel:run //a b")
        self.script("../other/bazelisk", 'printf "bazelisk:%s" "$*"; exit 4')
        done = self.run_there("run", "//a b", path="bin:other")
        self.assertEqual((done.returncode, done.stdout), (4, "bazelisk:run //a b"))

    def test_bazelisk_that_calls_back(self) -> None:
        real = self.script("real", 'printf "real:%s" "$1"')
        self.script("bazelisk", f'BAZEL_REAL={real} exec "{self.launcher}" "$@"')
        self.assertEqual(self.run_there("version").stdout, "real:version")

    def test_bazel_real(self) -> None:
        self.script("bazelisk", "exit 1")
        real = self.script("real", 'printf "real:%s" "$1"')
        self.assertEqual(self.run_there("version", BAZEL_REAL=str(real)).stdout, "real:version")
        link = self.folder / "link"
        link.symlink_to(os.path.relpath(self.launcher, self.folder))
        for wrong, reason in (
            ("/no/bazel", "which is no program"),
            (str(self.folder), "which is no program"),
            (str(self.launcher), "this launcher itself"),
            (str(link), "this launcher itself"),
        ):
            done = self.run_there(BAZEL_REAL=wrong)
            expected = f"tools/bazel: BAZEL_REAL is {wrong}, {reason}: set it to a Bazel, or unset it\n"
            self.assertEqual((done.returncode, done.stderr), (1, expected))

    def test_launchers_on_the_path_are_passed_over(self) -> None:
        (self.folder / "bin/bazelisk").symlink_to(self.launcher)
        (self.folder / "bin/bazel").symlink_to("bazelisk")
        self.assertIn("no Bazel found", self.run_there().stderr)
        another = self.folder / "other/tools"
        (another / "launcher").mkdir(parents=True)
        (another / "launcher/cache.py").touch()
        self.script("../other/tools/bazel", "exit 7")
        self.assertIn("no Bazel found", self.run_there(path="bin:other/tools").stderr)
        self.script("../other/bazel", "echo bazel 7.7.1")
        self.assertEqual(self.run_there(path="bin:other/tools:other").stdout, "bazel 7.7.1\n")

    def test_called_by_a_relative_link(self) -> None:
        self.script("bazelisk", 'printf "bazelisk:%s" "$1"')
        link = self.folder / "link"
        link.symlink_to(os.path.relpath(self.launcher, self.folder))
        done = self.run_launcher("version", program=link, PATH=str(self.folder / "bin"))
        self.assertEqual(done.stdout, "bazelisk:version")


if __name__ == "__main__":
    unittest.main()
