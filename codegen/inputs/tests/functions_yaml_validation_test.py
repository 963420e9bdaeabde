from __future__ import annotations

from absl.testing import absltest

from codegen.inputs import functions_yaml
from codegen.tests import case

_K = "  kernels: [{arg_meta: null, kernel_name: a::f}]\n"


def _func(schema: str) -> str:
    return f"- func: my_ops::{schema}\n{_K}"


_LONG = "l" * 100

# What a YAML file may have wrong: the finding's id, functions.yaml, custom_ops.yaml, what the message says. Elsewhere
# much of it is dropped without a word.
_ROWS = (
    ("unknown-operator", f"- op: add.outt\n{_K}", None, "functions.yaml:1:7: error: unknown operator 'add.outt'"),
    ("unknown-key", f"- op: add.out\n  kernelz: 1\n{_K}", None, "functions.yaml:2:3: error: unknown key 'kernelz'"),
    (
        "unknown-key",
        "- op: add.out\n  kernels:\n    - arg_metas: null\n      kernel_name: a::f\n",
        None,
        "functions.yaml:3:7: error: unknown key 'arg_metas' in an entry of 'kernels'; did you mean arg_meta?",
    ),
    ("missing-kernel-name", "- op: add.out\n", None, "functions.yaml:1:3: error: missing kernel name: aten::add.out "),
    ("missing-kernel-name", "- op: add.out\n  kernels: [{kernel_name: }]\n", None, "'kernel_name' has no value"),
    (
        "duplicate-operator",
        f"- op: add.out\n{_K}- op: add.out\n{_K}",
        None,
        "functions.yaml:3:7: error: duplicate operator aten::add.out, first given at functions.yaml:1:7",
    ),
    (
        "duplicate-operator",
        f"- op: add.out\n{_K}",
        "- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)\n" + _K,
        "custom.yaml:1:9: error: duplicate operator aten::add.out, first given at functions.yaml:1:7",
    ),
    (
        "unknown-type",
        None,
        _func("f.out(Tensr x, *, Tensor(a!) out) -> Tensor(a!)"),
        "custom.yaml:1:23: error: 'Tensr' in the schema",
    ),
    ("op-in-custom-ops", None, f"- op: add.out\n{_K}", "custom.yaml:1:3: error: 'op: add.out' in custom_ops.yaml"),
    (
        "kernels-and-dispatch",
        f"- op: add.out\n{_K}  dispatch: {{CPU: b::g}}\n",
        None,
        "functions.yaml:3:3: error: aten::add.out has both 'kernels' and 'dispatch'",
    ),
    (
        "bad-kernel-name",
        None,
        "- func: a::b(Tensor x) -> Tensor\n  kernels: [{kernel_name: my::errno}]\n",
        "custom.yaml:2:27: error: 'my::errno', the kernel of a::b, has the part 'errno', a keyword or macro of C++",
    ),
    (
        "bad-kernel-name",
        "- op: add.out\n  dispatch: {CPU: class::add}\n",
        None,
        "functions.yaml:2:19: error: 'class::add', the kernel of aten::add.out, has the part 'class', ",
    ),
    (
        "bad-kernel-name",
        "- op: add.out\n  dispatch: {CPU: añadir}\n",
        None,
        "'añadir', the kernel of aten::add.out, is not",
    ),
    (
        "kernel-and-namespace",
        None,
        _func("b(Tensor x) -> Tensor") + "- func: a::c(Tensor x) -> Tensor\n  dispatch: {CPU: a::native::f::out}\n",
        "custom.yaml:2:43: error: the kernel a::native::f of my_ops::b has the name of the namespace of "
        "a::native::f::native::out, the kernel at custom.yaml:4:19\n",
    ),
    (
        "malformed-schema",
        None,
        "- func: \"a::b(Tensor x, str s='\\u202e') -> Tensor\"\n" + _K,
        r"malformed schema 'a::b(Tensor x, str s='\u202e') -> Tensor': it has the character U+202E, which is not shown",
    ),
    (
        "malformed-schema",
        None,
        '- func: "1a::b(Tensor x) -> Tensor"\n' + _K,
        "custom.yaml:1:10: error: malformed schema '1a::b(Tensor x) -> Tensor': it does not start with an operator",
    ),
    (
        "yaml-too-large",
        None,
        f"[{'a,' * 100_000}a]",
        "custom.yaml:1:200000: error: the file has more than 100,000 values",
    ),
    ("yaml-too-large", None, f"# {'a' * 2**22}", "custom.yaml: error: the file has more than 4 MiB"),
    (
        "name-too-long",
        None,
        _func(_LONG + ".out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"),
        f"custom.yaml:1:9: error: the operator's name my_ops::{_LONG}.out has more than 99 characters",
    ),
    ("op-or-func", f"- tags: core\n{_K}", None, "functions.yaml:1:3: error: the entry has neither 'op' nor 'func'"),
    ("empty-yaml", "# nothing\n", None, "functions.yaml: error: the file has no entries"),
    ("wrong-yaml-type", "- op: add.out\n  kernels: a::f\n", None, "functions.yaml:2:12: error: 'kernels' of "),
    ("bad-kernel-name", "- op: add.out\n  kernels: [{kernel_name: a::f()}]\n", None, "is not a C++ name"),
    ("duplicate-key", f"- op: add.out\n  op: mul.out\n{_K}", None, "the key 'op' appears twice"),
    ("malformed-yaml", "- op: add.out\n\tkernels: []\n", None, "not valid YAML"),
    ("malformed-schema", None, _func("f.out(Tensor) -> Tensor"), "malformed schema"),
    (
        "unsupported-type",
        None,
        _func("f.out(Tensor x, Generator g, *, Tensor(a!) out) -> Tensor(a!)"),
        "the argument 'Generator g' of my_ops::f.out has a type that ExecuTorch's runtime has no value for",
    ),
    ("unsupported-return", None, _func("f(Tensor x) -> Tensor[]"), "has no out argument and returns Tensor[]"),
    (
        "conflicting-kernel",
        None,
        _func("f(Tensor x) -> int") + _func("g(Tensor x) -> float"),
        "the kernel a::native::f of my_ops::g returns double, but for my_ops::f",
    ),
)
# What is right, though elsewhere it is refused, or binds the wrong kernel.
_RIGHT = (
    ("two namespaces", f"- op: add.out\n{_K}", _func("add.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")),
    (
        "two namespaces in one file",
        None,
        "- func: a::f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n"
        f"{_K}- func: b::f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n{_K}",
    ),
    ("both forms in one file", f"- op: add.out\n{_K}- op: mul.out\n  dispatch: {{CPU: b::g}}\n", None),
)


class ValidationTest(case.TestCase):
    def _read(self, functions: str | None, custom_ops: str | None) -> list[str]:
        paths = [
            self.write(name, text) if text is not None else None
            for name, text in (("functions.yaml", functions), ("custom.yaml", custom_ops))
        ]
        return sorted(functions_yaml.read(*paths, max_kernels=2000))

    def test_wrong(self) -> None:
        for id_, functions, custom_ops, expected in _ROWS:
            with self.subTest(expected):
                finding = self.finding(lambda f=functions, c=custom_ops: self._read(f, c))  # type: ignore[misc]
                self.assertIn(expected, finding)
                self.assert_id(finding, id_)

    def test_all_at_once(self) -> None:
        rows = [row for row in _ROWS if row[0] in ("unknown-operator", "unknown-type", "op-in-custom-ops")]
        functions, custom_ops = ("".join(row[column] or "" for row in rows) for column in (1, 2))
        findings = self.findings(lambda: self._read(functions, custom_ops))
        self.assertEqual(sorted(finding.rpartition("#")[2] for finding in findings), sorted(row[0] for row in rows))

    def test_right(self) -> None:
        for what, functions, custom_ops in _RIGHT:
            with self.subTest(what):
                self.assertEqual(len(self._read(functions, custom_ops)), 2)


if __name__ == "__main__":
    absltest.main()
