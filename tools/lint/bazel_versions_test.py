from __future__ import annotations

import textwrap
from pathlib import Path

from absl.testing import absltest

from tools.lint import bazel_versions


class BazelVersionsTest(absltest.TestCase):
    def _found(self, file: str, text: str) -> list[tuple[str, str]]:
        """Returns the findings of a file as places with names and what the message says of these."""
        found = []
        for finding in bazel_versions.findings(file, textwrap.dedent(text)):
            place, _, rest = finding.removeprefix(f"{file}:").partition(": ")
            name, _, said = rest.partition(": ") if ": " in rest else rest.partition(" is ")
            found.append((f"{place} {name}", said))
        return found

    def _assert_found(self, file: str, text: str, *expected: str) -> None:
        self.assertEqual([place for place, _ in self._found(file, text)], list(expected))

    def _assert_begins(self, text: str, beginning: str) -> None:
        self.assertEqual(text[: len(beginning)], beginning)

    def test_message(self) -> None:
        text = 'load("@bazel_tools//tools/python:toolchain.bzl", "py_runtime_pair")\n'
        (finding,) = bazel_versions.findings("rules/x.bzl", text)
        self._assert_begins(
            finding,
            "rules/x.bzl:1:7: @bazel_tools//tools/python:toolchain.bzl: Bazel 8 has it no more; write: "
            "@rules_python//python:py_runtime_pair.bzl (",
        )
        (finding,) = bazel_versions.findings("a/BUILD.bazel", 'cc_library(name = "a")\n')
        self._assert_begins(
            finding,
            "a/BUILD.bazel:1:1: cc_library: Bazel 9 has it no more; write: load it: "
            'load("@rules_cc//cc:cc_library.bzl", "cc_library") (',
        )
        (finding,) = bazel_versions.findings("MODULE.bazel", 'module(name = "a", compatibility_level = 1)\n')
        self._assert_begins(
            finding, "MODULE.bazel:1:20: compatibility_level of module(): deprecated since Bazel 9; write: leave it out"
        )
        (finding,) = bazel_versions.findings("a/BUILD.bazel", 'aliass(name = "a")\n')
        self.assertEqual(
            finding,
            "a/BUILD.bazel:1:1: aliass is not in tools/lint/bazel_versions.toml; correct the name, or add a row with "
            "the source of what Bazel 7.4 to 10 have",
        )

    def test_labels(self) -> None:
        text = """
            x = "@bazel_tools//tools/cpp:current_cc_toolchain"
            y = Label("@@bazel_tools//tools/cpp:toolchain_type")
            z = "@platforms//os:{}".format(x), "@platforms//cpu:x68_64", "@platforms//host"
            u = "@platforms//so:" + x
        """
        self._assert_found(
            "a.bzl",
            text,
            "2:6 @bazel_tools//tools/cpp:current_cc_toolchain",
            "4:37 @platforms//cpu:x68_64",
            "5:6 @platforms//so",
        )
        self._assert_found(".bazelrc", "\nbuild --platforms=@platforms//os:hosst\n", "2:19 @platforms//os:hosst")

    def test_names(self) -> None:
        text = """
            load(":a.bzl", "one", three = "two")

            def f(cc_common, *args, **kwargs):
                PyInfo = [JavaInfo for JavaInfo in args]
                return native.cc_test(name = "t") if one(three) else struct(a = CcInfo, b = PyInfo, c = kwargs)

            g = lambda ProtoInfo: ProtoInfo
            h = rule(implementation = f, incompatible_use_toolchain_transition = True, **{})
        """
        self._assert_found(
            "a.bzl", text, "6:12 native.cc_test", "6:69 CcInfo", "9:30 incompatible_use_toolchain_transition of rule()"
        )
        text = """
            def _impl(ctx):
                x = struct(a = 1)
                return struct(providers = [x])

            h = rule(_impl)
            a = aspect(implementation = _impl)
        """
        self._assert_found("a.bzl", text, "4:12 a struct as the result of _impl()")
        text = """
            def _impl(rctx):
                rctx.file("a", "")
                return rctx.repo_metadata(reproducible = True)
        """
        found = self._found("a.bzl", text)
        self.assertEqual([place for place, _ in found], ["4:12 rctx.repo_metadata"])
        self._assert_begins(found[0][1], "Bazel 7.4 has it not, 8 has; write: nothing")
        self._assert_found("BUILD.bazel", "macro()\nset([1])\n", "1:1 macro", "2:1 set")

    def test_workspaces(self) -> None:
        text = 'workspace(name = "a")\n\nlocal_repository(\n    name = "b",\n    path = "b",\n)\n'
        self._assert_found("WORKSPACE", text)
        self._assert_found("docs/a.md", f"```starlark\n{text}```\n")
        self._assert_found("a/BUILD.bazel", text, "1:1 workspace", "3:1 local_repository")

    def test_templates(self) -> None:
        text = """
            {shown_module}
            executorch.python(requirements = "//:r.txt")
            bazel_dep(name = "a", max_compatibility_level = 1)
        """
        self._assert_found("a/MODULE.bazel.in", text, "4:23 max_compatibility_level of bazel_dep()")

    def test_strings(self) -> None:
        text = '''
            _BUILD = """\\
            load("@rules_cc//cc:defs.bzl", "cc_import")

            {libraries}
            cc_import(name = "a")
            cc_library(
                name = "b",
                deps = {deps},
                target_compatible_with = ["@platforms//os:linus"],
            )
            """
            def more(x):
                return "\\n".join(["cc_test(", x, ")"]) + "\\ncc_binary(name = 'c')"

            fail("load(x) failed: {}".format(1))
        '''
        self._assert_found(
            "rules/a.bzl", text, "7:1 cc_library", "10:32 @platforms//os:linus", "14:12 cc_binary", "14:24 cc_test"
        )
        text = '''
            def module(name: str, rows: str) -> str:
                return f"""{rows}use_repo(x)
            module(
                name = "{name}",
                compatibility_level = 1,
            )
            """
            MODEL = "def f(x):\\n    return print(x)\\n"
        '''
        self._assert_found("tools/init/a.py", text, "6:5 compatibility_level of module()")
        # A test has excerpts; what they become is not built.
        self._assert_found("a/b_test.py", "TEXT = \"cc_library(name = 'a')\"\n")
        self._assert_found("a/b.py", "TEXT = \"cc_library(name = 'a')\"\n", "1:9 cc_library")

    def test_pages(self) -> None:
        text = """
            1. `BUILD.bazel`:

               ```starlark
               load("@rules_executorch//rules:defs.bzl", "executorch_program")

               py_binary(
                   name = "a",
                   ...
               )
               ```

            ```starlark
            py_library(name = "an excerpt")
            ```

            ```starlark
            load("@rules_cc//cc:defs.bzl", "cc_library")
            cc_library(name = "of the same file")
            executorch_program(name = "loaded above")
            ```

            ```python
            print(CcInfo)
            ```

            ```starlark
            load("@fbsource//tools:a.bzl", "b")
            cc_library(name = "of Buck")
            ```
        """
        self._assert_found("docs/a.md", text, "7:4 py_binary")

    def test_unreadable(self) -> None:
        (finding,) = bazel_versions.findings("a.bzl", "x = = 1\n")
        self.assertEqual(
            finding,
            "a.bzl:1:1: the file, which cannot be parsed, is not checked; write it so that it can be parsed",
        )

    def test_rows(self) -> None:
        table = bazel_versions.rows()
        self.assertEqual(
            table["build", "py_test"].instead, 'load it: load("@rules_python//python:py_test.bzl", "py_test")'
        )
        self.assertEqual(table["label", "@platforms//host:host"], table["label", "@platforms//:incompatible"])
        for row in table.values():
            self.assertTrue(row.source)

    def test_flags(self) -> None:
        for flag in bazel_versions.flags():
            self.assertEqual(bool(flag.why), flag.here != "on", flag.name)
        on = [flag for flag in bazel_versions.flags() if flag.here == "on"]
        others = [flag for flag in bazel_versions.flags() if flag.here != "on"]
        bazelrc = "common:bazel9 --config=bazel8\ncommon:bazel10 --config=bazel9\n"
        bazelrc += "".join(f"common:bazel{flag.release} {flag.name}\n" for flag in on)
        page = f"# Contributing\n\n{bazel_versions.page_table()}\nMore.\n"
        self.assertEqual(list(bazel_versions.flag_findings(bazelrc, page)), [])

        first, other = on[0], others[0]
        line = f"common:bazel{first.release} {first.name}"
        less = bazelrc.replace(line + "\n", "")
        (finding,) = bazel_versions.flag_findings(less, page)
        self.assertEqual(
            finding,
            f"tools/lint/bazel_versions.bazelrc: --config=bazel{first.release} lacks {first.name}, `on` in "
            f"tools/lint/bazel_versions.toml; add a line `{line}`",
        )
        (finding,) = bazel_versions.flag_findings(f"{bazelrc}build:bazel8 {other.name}\n", page)
        self._assert_begins(finding, f"tools/lint/bazel_versions.bazelrc: --config=bazel8 has {other.name}, not `on` ")
        row = next(line for line in page.split("\n") if other.name in line)
        (finding,) = bazel_versions.flag_findings(bazelrc, page.replace(row, row + " "))
        self.assertEqual(finding.partition("; ")[2], f"add it: {row}")
        (finding,) = bazel_versions.flag_findings(bazelrc, page + "| `--incompatible_new` | 11 | ? |\n")
        self._assert_begins(finding, "CONTRIBUTING.md: the table of Bazel's flags has --incompatible_new, which ")

    def test_check(self) -> None:
        tree = Path(self.create_tempdir().full_path)
        files = {
            "a.bzl": "x = cc_common\n",
            "tools/lint/bazel_versions_test.py": 'x = "@bazel_tools//a"\n',
            "tools/lint/bazel_versions.bazelrc": "",
            "CONTRIBUTING.md": "",
        }
        for file, text in files.items():
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            (tree / file).write_text(text)
        found = list(bazel_versions.check(tree, files))
        self._assert_begins(found[0], "a.bzl:1:5: cc_common: Bazel 9 has it no more")
        self.assertEqual(
            {line.partition(":")[0] for line in found},
            {"a.bzl", "tools/lint/bazel_versions.bazelrc", "CONTRIBUTING.md"},
        )


if __name__ == "__main__":
    absltest.main()
