from __future__ import annotations

from absl.testing import absltest

from codegen.inputs import functions_yaml
from codegen.tests import case

_K = "  kernels: [{arg_meta: null, kernel_name: a::f}]\n"


def _func(schema: str) -> str:
    return f"- func: my_ops::{schema}\n{_K}"


# What a YAML file may have wrong: the finding's id and place, functions.yaml, custom_ops.yaml. Elsewhere much of it is
# dropped without a word.
_ROWS = (
    ("unknown-operator functions.yaml:1:7", f"- op: add.outt\n{_K}", None),
    ("unknown-key functions.yaml:2:3", f"- op: add.out\n  kernelz: 1\n{_K}", None),
    (
        "unknown-key functions.yaml:3:7",
        "- op: add.out\n  kernels:\n    - arg_metas: null\n      kernel_name: a::f\n",
        None,
    ),
    ("missing-kernel-name functions.yaml:1:3", "- op: add.out\n", None),
    ("missing-kernel-name functions.yaml:2:14", "- op: add.out\n  kernels: [{kernel_name: }]\n", None),
    ("duplicate-operator functions.yaml:3:7", f"- op: add.out\n{_K}- op: add.out\n{_K}", None),
    (
        "duplicate-operator custom.yaml:1:9",
        f"- op: add.out\n{_K}",
        "- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)\n" + _K,
    ),
    ("unknown-type custom.yaml:1:23", None, _func("f.out(Tensr x, *, Tensor(a!) out) -> Tensor(a!)")),
    ("op-in-custom-ops custom.yaml:1:3", None, f"- op: add.out\n{_K}"),
    ("kernels-and-dispatch functions.yaml:3:3", f"- op: add.out\n{_K}  dispatch: {{CPU: b::g}}\n", None),
    (
        "bad-kernel-name custom.yaml:2:27",
        None,
        "- func: a::b(Tensor x) -> Tensor\n  kernels: [{kernel_name: my::errno}]\n",
    ),
    ("bad-kernel-name functions.yaml:2:19", "- op: add.out\n  dispatch: {CPU: class::add}\n", None),
    ("bad-kernel-name functions.yaml:2:19", "- op: add.out\n  dispatch: {CPU: añadir}\n", None),
    (
        "kernel-and-namespace custom.yaml:2:43",
        None,
        _func("b(Tensor x) -> Tensor") + "- func: a::c(Tensor x) -> Tensor\n  dispatch: {CPU: a::native::f::out}\n",
    ),
    ("malformed-schema custom.yaml:1:9", None, "- func: \"a::b(Tensor x, str s='\\u202e') -> Tensor\"\n" + _K),
    ("malformed-schema custom.yaml:1:10", None, '- func: "1a::b(Tensor x) -> Tensor"\n' + _K),
    ("yaml-too-large custom.yaml:1:200000", None, f"[{'a,' * 100_000}a]"),
    ("yaml-too-large custom.yaml", None, f"# {'a' * 2**22}"),
    ("name-too-long custom.yaml:1:9", None, _func(f"{'l' * 100}.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")),
    ("op-or-func functions.yaml:1:3", f"- tags: core\n{_K}", None),
    ("empty-yaml functions.yaml", "# nothing\n", None),
    ("wrong-yaml-type functions.yaml:2:12", "- op: add.out\n  kernels: a::f\n", None),
    ("bad-kernel-name functions.yaml:2:27", "- op: add.out\n  kernels: [{kernel_name: a::f()}]\n", None),
    ("duplicate-key functions.yaml:2:3", f"- op: add.out\n  op: mul.out\n{_K}", None),
    ("malformed-yaml functions.yaml:2:1", "- op: add.out\n\tkernels: []\n", None),
    ("malformed-schema custom.yaml:1:23", None, _func("f.out(Tensor) -> Tensor")),
    (
        "unsupported-type custom.yaml:1:9",
        None,
        _func("f.out(Tensor x, Generator g, *, Tensor(a!) out) -> Tensor(a!)"),
    ),
    ("unsupported-return custom.yaml:1:9", None, _func("f(Tensor x) -> Tensor[]")),
    ("conflicting-kernel custom.yaml:4:43", None, _func("f(Tensor x) -> int") + _func("g(Tensor x) -> float")),
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
        for expected, functions, custom_ops in _ROWS:
            with self.subTest(expected):
                self.assert_refused(lambda f=functions, c=custom_ops: self._read(f, c), expected)  # type: ignore[misc]

    def test_all_at_once(self) -> None:
        ids = ("unknown-operator", "unknown-type", "op-in-custom-ops")
        rows = [row for row in _ROWS if row[0].startswith(ids)]
        functions, custom_ops = ("".join(row[column] or "" for row in rows) for column in (1, 2))
        self.assert_refused(
            lambda: self._read(functions, custom_ops),
            "unknown-operator functions.yaml:1:7",
            "unknown-type custom.yaml:1:23",
            "op-in-custom-ops custom.yaml:3:3",
        )

    def test_right(self) -> None:
        for what, functions, custom_ops in _RIGHT:
            with self.subTest(what):
                self.assertEqual(len(self._read(functions, custom_ops)), 2)


if __name__ == "__main__":
    absltest.main()
