"""Tests of the way to Debian's packages, with apt and dpkg played by a fake."""

import dataclasses
import pathlib
import tempfile
import unittest
from collections.abc import Callable, Sequence
from unittest import mock

from tools.launcher import errors
from tools.launcher.debian import apt, machine, process

_AMD64 = machine.Architecture("amd64", "x86_64-linux-gnu", "ld-linux-x86-64.so.2")
_TARGETS = "http://mirror/debian/ bookworm main\n"

# `app` needs `lib`, one of `editor-a` and `editor-b`, and a virtual package.
_DEPENDS = """\
app
  PreDepends: lib
 |Depends: editor-a
  Depends: editor-b
  Depends: <virtual-tool>
    tool-a
    tool-b
  Depends: <nobody-provides>
lib
  Depends: libc:any
editor-a
  Depends: lib
editor-b
tool-a
  Depends: heavy
tool-b
heavy
  Depends: heavier
heavier
libc
<virtual-tool>
<nobody-provides>
"""

Answer = Callable[[list[str]], str]


@dataclasses.dataclass(frozen=True)
class _FakeCommands(process.Commands):
    """Answers for apt and dpkg: by the first word of a command's arguments that is a key here."""

    answers: dict[str, Answer]
    ran: list[list[str]] = dataclasses.field(default_factory=list)

    def run(self, command: Sequence[str | pathlib.Path], cwd: pathlib.Path | None = None) -> str:
        words = [str(word) for word in command]
        self.ran.append(words)
        key = next(word for word in words if word in self.answers)
        answer = self.answers[key](words)
        if key == "download" and "--print-uris" not in words and cwd is not None:
            for package in words[words.index("download") + 1 :]:
                (cwd / f"{package}_1_all.deb").touch()
        return answer


def _says(text: str) -> Answer:
    return lambda command: text


def _fails(program: str, complaint: str) -> Answer:
    def answer(command: list[str]) -> str:
        raise process.CommandError(program, complaint)

    return answer


class SuiteTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix = pathlib.Path(folder.name)
        release = mock.patch("platform.freedesktop_os_release", lambda: {"VERSION_CODENAME": "bookworm"})
        release.start()
        self.addCleanup(release.stop)

    def suite(self, **answers: Answer) -> tuple[apt.Suite, _FakeCommands]:
        by_word = {name.replace("_", "-"): answer for name, answer in answers.items()}
        commands = _FakeCommands(0, {"indextargets": _says(_TARGETS), **by_word})
        return apt.Suite("forky", self.prefix / "apt", commands), commands

    def error_of(self, step: Callable[[], object]) -> str:
        with self.assertRaises(errors.LauncherError) as caught:
            step()
        return str(caught.exception)

    def test_update_uses_the_machines_mirror(self) -> None:
        suite, _ = self.suite(update=_says(""))
        suite.update(_AMD64)
        source = (self.prefix / "apt/sources.list").read_text()
        self.assertRegex(source, r"^deb \[target=Packages arch=amd64.*\] http://mirror/debian forky main\n$")

    def test_update_keeps_apts_state_private(self) -> None:
        suite, commands = self.suite(update=_says(""))
        suite.update(_AMD64)
        self.assertEqual(commands.ran[-1][:3], ["apt-get", "-c", str(self.prefix / "apt/apt.conf")])
        configuration = (self.prefix / "apt/apt.conf").read_text()
        for place in ("Dir::State", "Dir::State::Lists", "Dir::State::status", "Dir::Cache", "Dir::Etc::sourcelist"):
            self.assertIn(f'{place} "{self.prefix}/apt', configuration)

    def test_no_mirror(self) -> None:
        suite, _ = self.suite(indextargets=_says("https://elsewhere/apt stable extras\n"))
        self.assertRegex(
            self.error_of(lambda: suite.update(_AMD64)),
            r"no Debian mirror .* in /etc/apt/sources.list .*: configure one",
        )

    def test_next_mirror_where_the_first_lacks_the_suite(self) -> None:
        def update(command: list[str]) -> str:
            if "/other" not in (self.prefix / "apt/sources.list").read_text():
                raise process.CommandError("apt-get", "E: The repository 'x' does not have a Release file.")
            return ""

        suite, _ = self.suite(
            indextargets=_says("http://b/other bookworm main\nhttp://a/debian bookworm main\n"), update=update
        )
        suite.update(_AMD64)
        self.assertIn("http://b/other forky", (self.prefix / "apt/sources.list").read_text())

    def test_mirror_without_the_suite(self) -> None:
        suite, _ = self.suite(update=_fails("apt-get", "E: The repository 'x' does not have a Release file."))
        message = self.error_of(lambda: suite.update(_AMD64))
        self.assertIn("http://mirror/debian has no suite forky", message)
        self.assertIn("configure a complete Debian mirror", message)

    def test_no_network(self) -> None:
        suite, _ = self.suite(
            update=_fails("apt-get", "W: x\nE: Failed to fetch http://mirror Could not resolve\nW: y")
        )
        message = self.error_of(lambda: suite.update(_AMD64))
        self.assertIn("the download of Bazel from http://mirror/debian broke off", message)
        self.assertIn("apt-get said: E: Failed to fetch http://mirror Could not resolve)", message)
        self.assertIn("check the network", message)

    def test_unknown_signature(self) -> None:
        suite, _ = self.suite(update=_fails("apt-get", "E: The repository is not signed.\nW: NO_PUBKEY 0123"))
        self.assertRegex(
            self.error_of(lambda: suite.update(_AMD64)), "cannot verify .*: upgrade the package debian-archive-keyring"
        )

    def test_suite_without_bazel(self) -> None:
        suite, _ = self.suite(depends=_fails("apt-cache", "E: No packages found"))
        message = self.error_of(lambda: suite.dependencies(["bazel-bootstrap"]))
        self.assertIn("Debian's suite forky has no package bazel-bootstrap (any more): put bazelisk", message)

    def test_suite_without_one_of_the_packages(self) -> None:
        suite, _ = self.suite(depends=_says("app\n"))
        message = self.error_of(lambda: suite.dependencies(["app", "patchelf"]))
        self.assertIn("Debian's suite forky has no package patchelf (any more)", message)

    def test_unpack_extracts_what_it_downloads(self) -> None:
        suite, commands = self.suite(download=_says(""), __extract=_says(""))
        suite.unpack([f"p{number}" for number in range(20)], self.prefix / "root")
        extracted = sorted(pathlib.Path(command[2]).name for command in commands.ran if "--extract" in command)
        self.assertEqual(extracted, sorted(f"p{number}_1_all.deb" for number in range(20)))
        self.assertEqual(list(self.prefix.glob("apt/**/*.deb")), [])

    def test_broken_download(self) -> None:
        def download(command: list[str]) -> str:
            if "--print-uris" in command:
                return ""
            raise process.CommandError("apt-get", "E: Failed to fetch http://mirror/x.deb  Connection reset")

        suite, _ = self.suite(download=download)
        message = self.error_of(lambda: suite.unpack(["app"], self.prefix / "root"))
        self.assertRegex(message, "download of Bazel from the Debian mirror broke off .*Connection reset.*run again")

    def test_broken_package(self) -> None:
        suite, _ = self.suite(
            download=_says(""), __extract=_fails("dpkg-deb", "dpkg-deb: error: unexpected end of file")
        )
        message = self.error_of(lambda: suite.unpack(["app"], self.prefix / "root"))
        self.assertIn("app_1_all.deb cannot be unpacked (dpkg-deb said: dpkg-deb: error: unexpected end", message)

    def test_full_disk(self) -> None:
        full = _fails("dpkg-deb", "tar: ./usr/lib/modules: Cannot write: No space left on device\ndpkg-deb: error: tar")
        suite, _ = self.suite(download=_says(""), __extract=full)
        message = self.error_of(lambda: suite.unpack(["app"], self.prefix / "root"))
        self.assertIn(
            f"the disk filled up while Bazel was being installed under {self.prefix}: free some space", message
        )


class FindMirrorsTest(unittest.TestCase):
    def test_debians_own_come_first(self) -> None:
        targets = """\
https://a.example/apt bookworm main
http://b.example/debian/ bookworm main
http://b.example/debian/ bookworm main
http://b.example/debian/ bookworm-updates main
http://b.example/debian-security/ bookworm-security main
https://c.example/linux/debian bookworm stable
https://d.example/node nodistro main
"""
        self.assertEqual(apt.find_mirrors(targets, "bookworm"), ["http://b.example/debian", "https://a.example/apt"])

    def test_suite_named_by_its_role(self) -> None:
        self.assertEqual(apt.find_mirrors("http://m/debian testing main\n", "bookworm"), ["http://m/debian"])


class DependenciesTest(unittest.TestCase):
    def test_parse(self) -> None:
        graph = apt.parse_dependencies(_DEPENDS)
        self.assertEqual(graph["app"], [["lib"], ["editor-a", "editor-b"], ["tool-a", "tool-b"], []])
        self.assertEqual(graph["lib"], [["libc"]])
        self.assertEqual(graph["editor-b"], [])

    def test_closure(self) -> None:
        graph = apt.parse_dependencies(_DEPENDS)
        self.assertEqual(
            apt.closure(graph, ["app"], []), ["app", "editor-a", "heavier", "heavy", "lib", "libc", "tool-a"]
        )

    def test_closure_without(self) -> None:
        graph = apt.parse_dependencies(_DEPENDS)
        self.assertEqual(apt.closure(graph, ["app"], ["heavy"]), ["app", "editor-a", "lib", "libc", "tool-a"])

    def test_closure_ends_on_a_cycle(self) -> None:
        self.assertEqual(apt.closure({"a": [["b"]], "b": [["a"]]}, ["a"], []), ["a", "b"])


class SharesTest(unittest.TestCase):
    def test_even(self) -> None:
        sizes = {"huge": 60, "large": 40, "middle": 20, "small": 10}
        self.assertEqual(apt.shares(sizes, 2), [["huge", "small"], ["large", "middle"]])

    def test_more_shares_than_packages(self) -> None:
        self.assertEqual(apt.shares({"one": 1}, 4), [["one"]])


if __name__ == "__main__":
    unittest.main()
