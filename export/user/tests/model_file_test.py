"""Tests of model files that are at fault: one finding says what and where."""

from __future__ import annotations

import linecache
import sys

from absl.testing import absltest

from export.exporter import export
from export.tests.model_files import LINEAR, ErrorCase, model_file


class ErrorTest(ErrorCase):
    def test_syntax_error(self) -> None:
        self.assert_raised("import torch\ndef get_model(:\n", 2, "SyntaxError", "def get_model(:", "not valid Python")

    def test_raises_at_import(self) -> None:
        source = "import torch\ndef helper():\n    raise ValueError('no weights')\nhelper()\n"
        self.assert_raised(source, 3, "ValueError: no weights", "model.py:4, in <module>", "in helper")

    def test_exits_at_import(self) -> None:
        self.assert_raised("import sys\nsys.exit(3)\n", 2, "SystemExit")

    def test_import_error(self) -> None:
        lock = "@executorch_python//:no_such_module, for which executorch.python(requirements = ...) takes a lock."
        self.assert_raised("import no_such_module\n", 1, "no_such_module", "`deps`", lock)
        self.assert_raised("def get_model():\n    import no_such_module.parts\n", 2, "no_such_module", "`deps`", lock)

    def test_name_that_a_module_lacks(self) -> None:
        self.assert_raised(
            "from torch import no_such_name\n", 1, "no_such_name", "has no such name", "lock the version"
        )

    def test_raises_in_get_model(self) -> None:
        self.assert_raised(
            "def get_model():\n    return {}['weights']\n",
            2,
            "get_model() raised KeyError: 'weights'",
            "#user-code-raised",
        )

    def test_get_model_takes_arguments(self) -> None:
        self.assert_raised(
            "\ndef get_model(size):\n    return None\n", 2, "missing 1 required positional argument: 'size'"
        )

    def test_no_entry_point(self) -> None:
        source = "def get_modl(): pass\ndef other(): pass\n"
        self.assert_error(source, "no-entry-point model.py")

    def test_no_function_at_all(self) -> None:
        self.assert_error("x = 1\n", "no-entry-point model.py")

    def test_entry_point_is_no_function(self) -> None:
        self.assert_error("get_model = 3\n", "wrong-return-value model.py")

    def test_nonsense(self) -> None:
        for value in (
            "None",
            "torch.nn.ReLU()",
            "(torch.nn.ReLU, (torch.ones(1),))",
            "(torch.nn.ReLU(), torch.ones(1))",
            "(torch.nn.ReLU(), [torch.ones(1)])",
            "{}",
            "{'a': 3}",
            "(torch.nn.ReLU(), (torch.ones(1),), 3)",
        ):
            with self.subTest(value):
                source = f"import torch\ndef get_model():\n    return {value}\n"
                self.assert_error(source, "wrong-return-value model.py:2:1")

    def test_nonsense_samples(self) -> None:
        for value in (
            "(torch.ones(2, 4),)",
            "[]",
            "[(torch.ones(2, 4), 1)]",
            "[(torch.ones(2, 4, 1),)]",
            "[(torch.ones(2, 4).long(),)]",
            "[(torch.ones(3, 4),)]",
        ):
            with self.subTest(value):
                source = LINEAR + f"def get_sample_inputs():\n    return {value}\n"
                self.assert_error(source, "wrong-return-value model.py:9:1")

    def test_eager_raises(self) -> None:
        source = LINEAR.replace("torch.ones(2, 4)", "torch.ones(2, 5)")
        self.assert_raised(source, 8, "sample 0 raised RuntimeError: mat1 and mat2", "Tensor float32 [2, 5]")

    def test_raises_in_a_package(self) -> None:
        # The message has the user's frame, and the innermost one of the package. PyTorch's frames are between them.
        folder = self.folder / "site-packages" / "package_of_test"
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("")
        (folder / "layers.py").write_text(
            """
            import torch
            def spectrum(x):
                return torch.matmul(x, torch.ones(7, 7))
            class Layer(torch.nn.Module):
                def forward(self, x):
                    return torch.nn.Sequential(torch.nn.ReLU(), Inner())(x)
            class Inner(torch.nn.Module):
                def forward(self, x):
                    return spectrum(x)
            """.replace("\n            ", "\n")
        )
        before = f"import sys\nsys.path.insert(0, {str(folder.parent)!r})\nfrom package_of_test.layers import Layer\n"
        called = model_file("def forward(self, x): return Layer()(x)", "(torch.ones(2, 3),)", before=before)
        code = "return torch.matmul(x, torch.ones(7, 7))"
        frame = f"    package_of_test/layers.py:4, in spectrum\n        {code}\n  Likely"
        self.assert_raised(called, 7, "model.py:7, in forward", frame)
        self.assert_raised(called.replace("Model(), (torch", "Layer(), (torch"), 8, frame)
        # torch.export's messages have PyTorch's frames, too.
        (folder / "layers.py").write_text(
            (folder / "layers.py").read_text().replace("torch.matmul(x, torch.ones(7, 7))", "x if x.sum() > 0 else -x")
        )
        del sys.modules["package_of_test.layers"]
        linecache.clearcache()
        frame = frame.replace("torch.matmul(x, torch.ones(7, 7))", "x if x.sum() > 0 else -x")
        self.assert_raised(called, 7, "torch.export of forward()", "model.py:7, in forward", frame)

    def test_operator_that_is_not_registered(self) -> None:
        source = model_file("def forward(self, x): return torch.ops.atn.cumsum(x)", "(torch.ones(1),)")
        self.assert_raised(
            source,
            4,
            "forward() on sample 0 calls atn::cumsum, an operator that is not registered; did you mean aten::cumsum",
            "`deps` of the executorch_program",
            "#unknown-torch-operator",
        )

    def test_output_of_unknown_class(self) -> None:
        source = model_file("def forward(self, x): return object()", "(torch.ones(1),)")
        self.assert_error(source, "unsupported-value model.py:5:1")

    def test_complex(self) -> None:
        for forward, x in (("x.abs()", "torch.ones(1, dtype=torch.cfloat)"), ("torch.fft.rfft(x)", "torch.ones(4)")):
            source = model_file(f"def forward(self, x): return {forward}", f"({x},)")
            self.assert_error(source, "unsupported-value model.py:5:1")

    def test_torchscript(self) -> None:
        for make in ("torch.jit.script(torch.nn.ReLU())", "torch.jit.trace(torch.nn.ReLU(), torch.ones(2))"):
            source = f"import torch\ndef get_model():\n    return {make}, (torch.ones(2),)\n"
            self.assert_error(source, "wrong-return-value model.py:2:1")

    def test_module_without_sizes(self) -> None:
        source = (
            "import torch\ndef get_model():\n    return torch.nn.Sequential(torch.nn.LazyLinear(3)), (torch.ones(2),)\n"
        )
        self.assert_error(source, "wrong-return-value model.py:2:1")

    def test_module_that_contains_itself(self) -> None:
        part = "class Part(torch.nn.Module):\n    def __init__(self, whole):\n        super().__init__()\n        "
        for before, attribute in (
            ("", "self.me = self"),
            (part + "self.whole = whole", "self.parts = torch.nn.ModuleList([Part(self)])"),
            (part + "self.inner = torch.nn.Sequential(self)", "self.part = Part(self)"),
        ):
            source = model_file(
                f"def __init__(self):\n    super().__init__()\n    {attribute}\ndef forward(self, x): return x",
                "(torch.ones(3),)",
                before=before,
            )
            line = source[: source.index("def get_model")].count("\n") + 1
            self.assert_error(source, f"wrong-return-value model.py:{line}:1")

    def test_no_such_file(self) -> None:
        self.assert_refused(lambda: export(self.folder / "missing.py"), "unreadable-file missing.py")


if __name__ == "__main__":
    absltest.main()
