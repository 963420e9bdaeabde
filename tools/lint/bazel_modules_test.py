from __future__ import annotations

from pathlib import Path

from absl.testing import absltest

from tools.lint import bazel_modules

_TABLE = """
[versions.rules_cc]
debian = "0.0.11"
lowest = "0.0.17"
newest = "0.2.22"
[versions.rules_python]
debian = "0.22.1"
lowest = "1.2.0"
newest = "2.4.6"
[[row]]
in = ["load"]
of = "@rules_cc//cc:defs.bzl"
names = ["cc_library"]
[[row]]
in = ["load"]
of = "@rules_cc//cc:defs.bzl"
names = ["CcInfo"]
instead = 'load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")'
[[row]]
in = ["label"]
names = ["@rules_cc//cc:toolchain_type", "@rules_cc//cc/common:common"]
[[row]]
in = ["label"]
names = ["@rules_python//python/cc:toolchain_type"]
lacks = ["debian", "newest"]
only_in = "rules/headers.bzl"
[[row]]
in = ["field"]
module = "rules_cc"
of = "cc_common"
names = ["compile"]
[[row]]
in = ["field"]
module = "rules_python"
of = "py_cc_toolchain"
names = ["headers"]
lacks = ["debian"]
only_in = "rules/headers.bzl"
"""


class BazelModulesTest(absltest.TestCase):
    def check(self, file: str, text: str, table: str = _TABLE) -> list[str]:
        tree = Path(self.create_tempdir().full_path)
        (tree / file).parent.mkdir(parents=True, exist_ok=True)
        (tree / file).write_text(text)
        return list(bazel_modules.check(tree, [file], bazel_modules.Table(table)))

    def test_known(self) -> None:
        for file, text in (
            ("BUILD.bazel", 'load("@rules_cc//cc:defs.bzl", "cc_library")\nx(deps = ["@rules_cc//cc/common"])'),
            ("a/b.bzl", 'load(\n    "@rules_cc//cc:defs.bzl",\n    _library = "cc_library",\n)\ncc_common.compile(x)'),
            ("page.md", "A toolchain of @rules_cc//cc:toolchain_type. Load @@rules_cc//cc:defs.bzl."),
            ("a.py", 'TEXT = "load(\\"@rules_cc//cc:defs.bzl\\", \\"cc_library\\")"'),
            ("MODULE.bazel", 'bazel_dep(name = "rules_cc", version = "0.0.17")\nbazel_dep(name = "x", version = "1")'),
            ("a/b.bzl", 'load("@rules_go//go:defs.bzl", "go_library")\nload(":cc_common.bzl", "x")'),
            ("a/b_test.py", '"@rules_cc//cc:gone"'),
            ("rules/headers.bzl", 'Label("@rules_python//python/cc:toolchain_type")\nx.py_cc_toolchain.headers'),
        ):
            self.assertEmpty(self.check(file, text), text)

    def test_unknown(self) -> None:
        for file, text, place, name in (
            (
                "BUILD.bazel",
                'load("@rules_cc//cc:defs.bzl", "cc_library", "cc_tost")',
                "1:47",
                "cc_tost of @rules_cc//cc:defs.bzl",
            ),
            ("BUILD.bazel", '\nload("@rules_cc//cc:gone.bzl", y = "x")', "2:37", "x of @rules_cc//cc:gone.bzl"),
            ("a.bzl", 'X = """\nload(\\"@rules_cc//cc:gone.bzl\\", \\"x\\")"""', "2:36", "x of @rules_cc//cc:gone.bzl"),
            ("a.py", 'x = "@@rules_cc//cc"', "1:6", "@rules_cc//cc:cc"),
            ("page.md", "It needs @rules_python//python:gone.", "1:10", "@rules_python//python:gone"),
            ("a.bzl", "x = cc_common.link(y)", "1:5", "cc_common.link"),
        ):
            (line,) = self.check(file, text)
            self.assertStartsWith(line, f"{file}:{place}: {name} is not in tools/lint/bazel_modules.toml: it is new or")
            self.assertEndsWith(line, "add it with what you read")
        self.assertIn("the sources of rules_python 0.22.1, 1.2.0, 2.4.6", self.check("a.py", '"@rules_python//x"')[0])

    def test_instead(self) -> None:
        self.assertEqual(
            self.check("a.bzl", 'load("@rules_cc//cc:defs.bzl", "CcInfo")'),
            [
                "a.bzl:1:33: CcInfo of @rules_cc//cc:defs.bzl is an old name, or loads more than the name needs: write "
                'load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")'
            ],
        )

    def test_lacking(self) -> None:
        self.assertEqual(
            self.check("a.bzl", 'X = ["@rules_python//python/cc:toolchain_type"]\nx.py_cc_toolchain.headers'),
            [
                "a.bzl:1:7: @rules_python//python/cc:toolchain_type is not in rules_python 0.22.1, 2.4.6: use "
                "rules/headers.bzl, which does without it there",
                "a.bzl:2:3: py_cc_toolchain.headers is not in rules_python 0.22.1: use rules/headers.bzl, which does "
                "without it there",
            ],
        )

    def test_part(self) -> None:
        for text in ('"@rules_cc//cc:" + x', '"@rules_cc//cc:{name}"', '"@rules_cc//cc:%s" % x', '"@rules_cc//" + x'):
            (line,) = self.check("a.bzl", text)
            self.assertRegex(line, r"^a.bzl:1:2: @rules_cc//\S* is a part of a label, .*: write the whole label$", text)

    def test_version(self) -> None:
        (line,) = self.check("README.md", 'bazel_dep(name = "rules_cc", version = "0.1.0")')
        self.assertStartsWith(line, "README.md:1:41: version 0.1.0 of rules_cc is not the lowest")
        self.assertIn("write 0.0.17, or change the table", line)

    def test_own_table(self) -> None:
        table = bazel_modules.TABLE.read_text()
        for text in (
            'load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")',
            'load("@rules_python//python:py_runtime_pair.bzl", "py_runtime_pair")',
            'load("@bazel_skylib//lib:unittest.bzl", "analysistest")',
        ):
            self.assertEmpty(self.check("a.bzl", text, table), text)
        for text, instead in (
            ('load("@rules_cc//cc:defs.bzl", "CcInfo")', "@rules_cc//cc/common:cc_info.bzl"),
            ('load("@rules_cc//cc:defs.bzl", "cc_common")', "@rules_cc//cc/common:cc_common.bzl"),
            ('load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cpp_toolchain")', "write find_cc_toolchain"),
            ('load("@rules_python//python:defs.bzl", "PyInfo")', "@rules_python//python:py_info.bzl"),
        ):
            self.assertIn(instead, self.check("a.bzl", text, table)[0])
        (line,) = self.check("a.py", '"@rules_python//python/cc:toolchain_type"', table)
        self.assertIn("is not in rules_python 0.22.1:", line)


if __name__ == "__main__":
    absltest.main()
