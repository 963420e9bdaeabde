"""Tests of the export tool: what it writes, against PyTorch and ExecuTorch's own Python runtime, and every error."""

from __future__ import annotations

import contextlib
import functools
import json
import linecache
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import torch
from absl.testing import absltest
from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

from diagnostics.errors import InputError
from diagnostics.golden import case
from export.exporter import export

_DTYPES = {
    0: torch.uint8,
    1: torch.int8,
    2: torch.int16,
    3: torch.int32,
    4: torch.int64,
    5: torch.half,
    6: torch.float,
    7: torch.double,
    11: torch.bool,
    15: torch.bfloat16,
}

_LINEAR = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)
    def forward(self, x):
        return self.linear(x)
def get_model():
    return Model(), (torch.ones(2, 4),)
"""


def _module(forward: str, inputs: str, before: str = "", after: str = "") -> str:
    """A model file with one module whose forward() has the given lines."""
    body = textwrap.indent(textwrap.dedent(forward).strip(), "    ")
    return (
        f"import torch\n{textwrap.dedent(before)}\nclass Model(torch.nn.Module):\n{body}\n"
        f"def get_model():\n    return Model(), {inputs}\n{textwrap.dedent(after)}"
    )


def _read(ptd: bytes) -> dict[str, torch.Tensor]:
    payload = FlatTensorSerializer().deserialize(ptd)
    tensors = {}
    for key, entry in payload.named_data.items():
        layout = entry.tensor_layout
        data = bytearray(payload.buffers[entry.buffer_index])
        dtype = _DTYPES[int(layout.scalar_type)]
        in_memory = [layout.sizes[dim] for dim in layout.dim_order]
        flat = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
        inverse = [layout.dim_order.index(dim) for dim in range(len(in_memory))]
        tensors[key] = flat.reshape(in_memory).permute(inverse)
    return tensors


class _Files(case.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = self.directory
        self.model = self.folder / "model.py"

    def export(self, source: str, entry_point: str = "get_model") -> tuple[bytes, dict[str, torch.Tensor]]:
        self.model.write_text(source)
        with open(os.devnull, "w") as null, contextlib.redirect_stderr(null):
            exported = export(self.model, entry_point)
        return exported.pte, _read(exported.ptd)


class ExportTest(_Files):
    def run_and_compare(self, source: str, method: str = "forward") -> dict[str, torch.Tensor]:
        """Exports, runs the samples in ExecuTorch, compares with the recorded outputs; returns the samples."""
        pte, samples = self.export(source)
        program = _load_for_executorch_from_buffer(pte)
        count = len({key.split("/")[1] for key in samples if key.startswith(method + "/")})
        for index in range(count):
            inputs, outputs = (self.tensors(samples, f"{method}/{index}/{kind}/") for kind in ("input", "output"))
            results = program.run_method(method, tuple(inputs))
            torch.testing.assert_close(results, outputs)
        return samples

    def tensors(self, samples: dict[str, torch.Tensor], prefix: str) -> list[torch.Tensor]:
        return [samples[f"{prefix}{i}"] for i in range(sum(key.startswith(prefix) for key in samples))]

    def test_outputs_equal_pytorchs(self) -> None:
        samples = self.run_and_compare(_LINEAR)
        self.assertCountEqual(samples, ["forward/0/input/0", "forward/0/output/0"])
        torch.testing.assert_close(samples["forward/0/input/0"], torch.ones(2, 4))

    def test_dtypes_and_shapes(self) -> None:
        samples = self.run_and_compare(
            _module(
                "def forward(self, *xs): return [x.clone() for x in xs]",
                f"(*[torch.arange(-3, 3).reshape(2, 3).to(d) for d in {list(_DTYPES.values())}],"
                " torch.tensor(1.5), torch.zeros(0, 3), torch.arange(120.).reshape(1, 3, 5, 8)"
                ".to(memory_format=torch.channels_last))",
            )
        )
        for index, dtype in enumerate(_DTYPES.values()):
            expected = torch.arange(-3, 3).reshape(2, 3).to(dtype)
            torch.testing.assert_close(samples[f"forward/0/input/{index}"], expected)
        self.assertEqual(samples["forward/0/input/10"].shape, ())
        self.assertEqual(samples["forward/0/input/11"].shape, (0, 3))
        self.assertTrue(samples["forward/0/input/12"].is_contiguous(memory_format=torch.channels_last))
        torch.testing.assert_close(samples["forward/0/input/12"], torch.arange(120.0).reshape(1, 3, 5, 8))

    def test_origins(self) -> None:
        packages = self.folder / "lib" / "site-packages"
        packages.mkdir(parents=True)
        (packages / "block_of_test.py").write_text(
            "import torch\n\n\nclass Block(torch.nn.Module):\n    def forward(self, x):\n        return x.sigmoid()\n"
        )
        self.model.write_text(
            """
import sys
sys.path.append(__file__.replace("model.py", "lib/site-packages"))
import torch
from block_of_test import Block
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
    def forward(self, x):
        y = self.block(x)
        y = torch.cond(y.sum() > 0, lambda t: t.sin(), lambda t: t.cos(), (y,))
        return (y + x).view(-1)
def get_model():
    return Model(), (torch.ones(2, 4),)
"""
        )
        exported = export(self.model)
        self.assertNotIn(str(self.folder).encode(), exported.origins)
        document = json.loads(exported.origins)
        frames = [tuple(frame) for frame in document["frames"]]
        of_operator = {
            origin["operator"]: (origin["module"], [frames[i][:3] for i in origin["stack"]])
            for origin in document["methods"]["forward"].values()
        }
        # The file of the model is outside of the working directory, so that its name is all that stays the same.
        block = [("model.py", 11, "forward"), ("block_of_test.py", 6, "forward")]
        self.assertEqual(of_operator["aten::sigmoid.out"], ("block", block))
        self.assertEqual(of_operator["aten::add.out"], ("", [("model.py", 13, "forward")]))
        branch = [("model.py", 12, "forward"), ("model.py", 12, "<lambda>")]
        for in_a_branch in ("aten::sin.out", "aten::cos.out"):
            self.assertEqual(of_operator[in_a_branch], ("", branch))

    def test_state_starts_as_in_pytorch_and_carries_over(self) -> None:
        samples = self.run_and_compare(
            _module(
                """
                def __init__(self):
                    super().__init__()
                    self.register_buffer("total", torch.tensor([5., 7.]))
                    self.register_buffer("calls", torch.tensor(0))
                def forward(self, x):
                    self.total.add_(x)
                    self.calls.add_(1)
                    return self.total * 1, self.calls + 0
                """,
                "(torch.zeros(2),)",
                after="def get_sample_inputs(): return [(torch.full((2,), float(i)),) for i in range(3)]",
            )
        )
        # 5 + 0, 5 + 0 + 1, 5 + 0 + 1 + 2.
        totals = [samples[f"forward/{i}/output/0"].tolist() for i in range(3)]
        self.assertEqual(totals, [[5.0, 7.0], [6.0, 8.0], [8.0, 10.0]])
        self.assertEqual([samples[f"forward/{i}/output/1"].item() for i in range(3)], [1, 2, 3])

    def test_state_in_plain_objects_that_buffers_share(self) -> None:
        # As in transformers' static caches.
        samples = self.run_and_compare(
            _module(
                """
                def __init__(self):
                    super().__init__()
                    self.cache = Cache()
                    self.register_buffer("kept", self.cache.kept)
                def forward(self, x):
                    self.cache.kept.add_(x)
                    return self.cache.kept * 2
                """,
                "(torch.ones(2),)",
                before="class Cache:\n    def __init__(self): self.kept = torch.zeros(2)",
                after="def get_sample_inputs(): return [(torch.ones(2),)] * 2",
            )
        )
        self.assertEqual(samples["forward/1/output/0"].tolist(), [4.0, 4.0])

    def test_inputs_that_are_written_to(self) -> None:
        cases = (
            ("x.add_(1); return x * 2", "(torch.ones(2),)", [[2, 2], [4, 4]]),
            ("x.add_(1); y.mul_(3); return x + y", "(torch.ones(2), torch.ones(2))", [[2, 2], [3, 3], [5, 5]]),
            # One tensor for both is two inputs of a program.
            ("x.add_(1); y.mul_(3); return x + y", "(ones := torch.ones(2), ones)", [[2, 2], [3, 3], [5, 5]]),
            ("x.add_(1); return x", "(torch.ones(2),)", [[2, 2], [2, 2]]),
            ("y[0] = 5.; return x, y.view(2, 1)", "(torch.ones(2), torch.ones(2))", [[5, 1], [1, 1], [[5], [1]]]),
            ("self.kept.add_(x); x.sub_(1); return self.kept + 0", "(torch.ones(2),)", [[0, 0], [1, 1]]),
        )
        for body, inputs, expected in cases:
            with self.subTest(body):
                parameters = "self, x, y" if "y" in body.split("return")[0] else "self, x"
                source = _module(
                    f"""
                    def __init__(self):
                        super().__init__()
                        self.register_buffer("kept", torch.zeros(2))
                    def forward({parameters}): {body}
                    """,
                    inputs,
                )
                samples = self.run_and_compare(source)
                self.assertEqual([output.tolist() for output in self.tensors(samples, "forward/0/output/")], expected)

    def test_buffers_that_are_given_one_value(self) -> None:
        for body, expected in (
            ("y = self.one + x\nself.one = y\nself.other = y\nreturn y * 2 + self.other", [[3, 3], [9, 9]]),
            ("y = self.one + x\nself.one.copy_(y)\nself.other.copy_(y.detach())\nreturn self.other", [[1, 1], [3, 3]]),
            ("self.one += x\nself.other.copy_(self.one)\nreturn self.other + self.one", [[2, 2], [6, 6]]),
        ):
            with self.subTest(body):
                forward = textwrap.indent(body, "    ")
                source = _module(
                    "def __init__(self):\n    super().__init__()\n"
                    "    self.register_buffer('one', torch.zeros(2))\n"
                    "    self.register_buffer('other', torch.ones(2))\n"
                    f"def forward(self, x):\n{forward}",
                    "(torch.ones(2),)",
                    after="def get_sample_inputs(): return [(torch.ones(2),), (torch.ones(2) * 2,)]",
                )
                samples = self.run_and_compare(source)
                outputs = [samples[f"forward/{index}/output/0"].tolist() for index in range(2)]
                self.assertEqual(outputs, expected)

    def test_sizes_that_depend_on_values(self) -> None:
        samples = self.run_and_compare(
            _module(
                "def forward(self, x, y): return torch.stack([x[x > 0], y[x > 0]])",
                "(torch.tensor([1., -1., 2.]), torch.arange(3.))",
                after="def get_sample_inputs(): return [(torch.tensor(x), torch.arange(3.)) for x in ([1., -1., 2.],"
                " [-1., 0., -1.], [1., 1., 1.])]",
            )
        )
        self.assertEqual(
            [samples[f"forward/{index}/output/0"].tolist() for index in range(3)],
            [[[1, 2], [0, 2]], [[], []], [[1, 1, 1], [0, 1, 2]]],
        )

    def test_outputs_of_all_kinds(self) -> None:
        cases = (
            ("x, x * 2", 2),
            ("(lambda y: (y, y))(x + 1)", 2),
            ("torch.ones(2), x * 2, self.kept", 3),
            ("None, x * 2, None", 1),
            ('{"b": x + 1, "a": (x * 2, [x * 3])}', 3),
            ("Pair(x + 1, x * 2)", 2),
            ("WithoutName(x + 1, x * 2)", 2),
            ("Named(x + 1, {'rest': Old(None, x * 2)}), Local(x)", 3),
            ("torch.max(torch.stack((x, x + 1)), 0)", 2),
        )
        for outputs, count in cases:
            with self.subTest(outputs):
                source = _module(
                    f"""
                    def __init__(self):
                        super().__init__()
                        self.kept = torch.nn.Parameter(torch.ones(2))
                    def forward(self, x): return {outputs}
                    """,
                    "(torch.ones(2),)",
                    before="""
                    import collections
                    import dataclasses
                    from typing import NamedTuple
                    @dataclasses.dataclass
                    class Pair:
                        a: torch.Tensor
                        b: torch.Tensor
                    torch.export.register_dataclass(Pair, serialized_type_name="Pair")
                    class WithoutName(Pair): pass
                    torch.export.register_dataclass(WithoutName)
                    class Named(NamedTuple):
                        a: torch.Tensor
                        b: dict
                    Old = collections.namedtuple("Old", "a b")
                    Local = (lambda: collections.namedtuple("Local", "a"))()
                    """,
                )
                pte, samples = self.export(source)
                results = _load_for_executorch_from_buffer(pte).run_method("forward", (torch.ones(2),))
                keys = [key for key in samples if "/output/" in key]
                self.assertEqual(len(keys), count)
                for key in keys:
                    torch.testing.assert_close(results[int(key.rpartition("/")[2])], samples[key])

    def test_inputs_in_named_tuples(self) -> None:
        samples = self.run_and_compare(
            _module(
                "def forward(self, pair, *, more): return Pair(pair.b * more[0].a, pair.a)",
                '{"pair": Pair(torch.ones(2), torch.zeros(2)), "more": [Pair(torch.ones(2), torch.ones(2))]}',
                before="from typing import Any, NamedTuple\nclass Pair(NamedTuple):\n    a: Any\n    b: Any",
                after="""
                def get_sample_inputs():
                    first, second = torch.tensor([1., 2.]), torch.tensor([3., 4.])
                    return [{"pair": Pair(a=first, b=second), "more": [Pair(second, first)]}]
                """,
            )
        )
        self.assertEqual(samples["forward/0/output/0"].tolist(), [9.0, 16.0])
        self.assertEqual(samples["forward/0/output/1"].tolist(), [1.0, 2.0])

    def test_several_methods_keywords_and_exported_programs(self) -> None:
        source = """
import torch
class Add(torch.nn.Module):
    def forward(self, x, *, y): return x + y
class Double(torch.nn.Module):
    def forward(self, x): return {"twice": x * 2, "pair": (x, None)}
def get_model():
    return {
        "add": (Add(), {"x": torch.ones(2), "y": torch.ones(2)}),
        "double": torch.export.export(Double(), (torch.ones(3),)),
    }
def get_sample_inputs():
    return {"add": [{"y": torch.tensor([1., 2.]), "x": torch.tensor([10., 20.])}]}
"""
        samples = self.run_and_compare(source, "add")
        self.assertEqual(samples["add/0/input/0"].tolist(), [10.0, 20.0])
        self.assertEqual(samples["add/0/output/0"].tolist(), [11.0, 22.0])
        self.assertEqual(samples["double/0/output/0"].tolist(), [2.0, 2.0, 2.0])
        self.assertNotIn("double/0/output/2", samples)

    def test_dynamic_shapes(self) -> None:
        samples = self.run_and_compare(
            _module(
                "def forward(self, x): return x.sum(1)",
                "(torch.ones(2, 3),)",
                after="""
                def get_dynamic_shapes(): return ({0: torch.export.Dim("rows", max=8)},)
                def get_sample_inputs(): return [(torch.ones(rows, 3),) for rows in (1, 5, 8)]
                """,
            )
        )
        self.assertEqual([samples[f"forward/{i}/output/0"].shape[0] for i in range(3)], [1, 5, 8])

    def test_values_that_are_no_tensors(self) -> None:
        _, samples = self.export(
            _module(
                "def forward(self, x, times, scale, flag, nothing, mode): return x * times + scale, 3, nothing",
                "(torch.ones(2), 3, 0.5, True, None, 'mode')",
            )
        )
        self.assertEqual(samples["forward/0/input/1"].dtype, torch.int64)
        self.assertEqual(samples["forward/0/input/2"].item(), 0.5)
        self.assertEqual(samples["forward/0/input/3"].dtype, torch.bool)
        self.assertNotIn("forward/0/input/4", samples)
        self.assertNotIn("forward/0/input/5", samples)
        self.assertEqual(samples["forward/0/output/1"].item(), 3)

    def test_dropout_is_off(self) -> None:
        samples = self.run_and_compare(
            _module("def forward(self, x): return torch.dropout(x, 0.5, self.training)", "(torch.ones(64),)")
        )
        self.assertEqual(samples["forward/0/output/0"].sum().item(), 64)

    def test_custom_operator(self) -> None:
        pte, samples = self.export(
            _module(
                "def forward(self, x): return torch.ops.export_test.triple(x)",
                "(torch.ones(2),)",
                before="""
                library = torch.library.Library("export_test", "DEF")
                library.define("triple(Tensor x) -> Tensor")
                library.define("triple.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
                library.impl("triple", lambda x: x * 3, "CompositeExplicitAutograd")
                library.impl("triple.out", lambda x, *, out: out.copy_(x * 3), "CompositeExplicitAutograd")
                """,
            )
        )
        self.assertIn(b"export_test::triple", pte)
        self.assertEqual(samples["forward/0/output/0"].tolist(), [3.0, 3.0])

    def test_custom_operator_whose_defaults_have_spaces_and_commas(self) -> None:
        defaults = ("int[2] by=[3, 4]", 'str by="plus (one, two]"', "str by='it\\'s = 1'")
        for name, default in zip(("list", "text", "quote"), defaults, strict=True):
            with self.subTest(default):
                pte, samples = self.export(
                    _module(
                        f"def forward(self, x): return torch.ops.defaults_test.{name}(x)",
                        "(torch.ones(2),)",
                        before=f"""
                        library = torch.library.Library("defaults_test", "FRAGMENT")
                        library.define({f"{name}(Tensor x, {default}) -> Tensor"!r})
                        library.define({f"{name}.out(Tensor x, {default}, *, Tensor(a!) out) -> Tensor(a!)"!r})
                        library.impl("{name}", lambda x, by=0: x * 3, "CompositeExplicitAutograd")
                        out = lambda x, by=0, *, out: out.copy_(x * 3)
                        library.impl("{name}.out", out, "CompositeExplicitAutograd")
                        """,
                    )
                )
                self.assertIn(f"defaults_test::{name}".encode(), pte)
                self.assertEqual(samples["forward/0/output/0"].tolist(), [3.0, 3.0])

    def test_other_entry_point(self) -> None:
        _, samples = self.export(_LINEAR.replace("get_model", "tiny"), "tiny")
        self.assertEqual(len(samples), 2)


class ErrorTest(_Files):
    """Each error is one finding that names the file, and the line where there is one."""

    def assert_error(self, source: str, expected: str, entry_point: str = "get_model") -> None:
        # Several model files of one test have the same path.
        linecache.clearcache()
        self.assert_refused(lambda: self.export(source, entry_point), expected)

    def assert_raised(self, source: str, line: int, *expected: str) -> None:
        """A message with words of Python and PyTorch; Python 3.10 knows no columns."""
        with self.assertRaises(InputError) as caught:
            self.export(source)
        message = str(caught.exception)
        where = f"{self.model}:{line}:" if line else f"{self.model}: "
        self.assertEqual(message[: len(where)], where)
        for text in (*expected, "Likely cause: ", "Fix: ", "See: docs/errors.md#"):
            self.assertIn(text, message)
        self.assertNotIn("site-packages", message)
        self.assertNotIn("Traceback", message)

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
                source = _LINEAR + f"def get_sample_inputs():\n    return {value}\n"
                self.assert_error(source, "wrong-return-value model.py:9:1")

    def test_nonsense_dynamic_shapes(self) -> None:
        self.assert_raised(_LINEAR + "def get_dynamic_shapes(): return {'z': None}\n", 9, "arg names ['x']", "dynamic")

    def test_eager_raises(self) -> None:
        source = _LINEAR.replace("torch.ones(2, 4)", "torch.ones(2, 5)")
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
        called = _module("def forward(self, x): return Layer()(x)", "(torch.ones(2, 3),)", before=before)
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
        source = _module("def forward(self, x): return torch.ops.atn.cumsum(x)", "(torch.ones(1),)")
        self.assert_raised(
            source,
            4,
            "forward() on sample 0 calls atn::cumsum, an operator that is not registered; did you mean aten::cumsum",
            "`deps` of the executorch_program",
            "#unknown-torch-operator",
        )

    def test_output_of_unknown_class(self) -> None:
        source = _module("def forward(self, x): return object()", "(torch.ones(1),)")
        self.assert_error(source, "unsupported-value model.py:5:1")

    def test_complex(self) -> None:
        source = _module("def forward(self, x): return x.abs()", "(torch.ones(1, dtype=torch.cfloat),)")
        self.assert_error(source, "unsupported-value model.py:5:1")

    def test_data_dependent_control_flow(self) -> None:
        source = _module("def forward(self, x):\n    return x if x.sum() > 0 else -x", "(torch.ones(3),)")
        self.assert_raised(source, 5, "torch.export of forward()", "data-dependent", "torch.where")

    def test_packed_sequence(self) -> None:
        packed = "torch.nn.utils.rnn.pack_padded_sequence(x, lengths)"
        for states in ("", ", torch.zeros(1, 2, 4)"):
            source = _module(
                f"layer = torch.nn.GRU(3, 4)\ndef forward(self, x, lengths): return self.layer({packed}{states})[1]",
                "(torch.ones(5, 2, 3), torch.tensor([5, 2]))",
            )
            self.assert_raised(source, 5, "pack_padded_sequence", "y.gather(1, (lengths - 1)")

    def test_dynamic_shape_constraints(self) -> None:
        source = _module(
            "def forward(self, x): return x + torch.ones(2)",
            "(torch.ones(2),)",
            after="def get_dynamic_shapes(): return ({0: torch.export.Dim('n', max=8)},)",
        )
        self.assert_raised(source, 5, "n = 2", "follow the suggested fixes")

    def test_operator_without_out_variant(self) -> None:
        source = _module(
            "def forward(self, x): return torch.ops.no_out.twice(x, 2)",
            "(torch.ones(3),)",
            before="""
            library = torch.library.Library("no_out", "DEF")
            library.define("twice(Tensor x, int by) -> Tensor")
            library.impl("twice", lambda x, by: x * by, "CompositeExplicitAutograd")
            """,
        )
        self.assert_error(source, "no-out-variant model.py:9:1")

    def test_quantized_operators_without_out_variants(self) -> None:
        quantized = """
            def forward(self, x):
                return torch.ops.quantized_decomposed.quantize_per_tensor(x, 0.1, 0, -128, 127, torch.int8)
            """
        imported = "import executorch.kernels.quantized"
        module = "import torch.ao.quantization.fx._decomposed"
        source = _module(quantized, "(torch.ones(3),)", before=module)
        self.assert_error(source, "no-out-variant model.py:6:1")
        _, samples = self.export(_module(quantized, "(torch.ones(3),)", before=f"{module}\n{imported}"))
        self.assertEqual(samples["forward/0/output/0"].tolist(), [10, 10, 10])

    def test_layers_that_torchao_quantized(self) -> None:
        for config in (
            "IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(32))",
            "Int8DynamicActivationInt8WeightConfig()",
            "Int8DynamicActivationIntxWeightConfig(torch.int4, PerGroup(32))",
        ):
            source = (
                "from torchao.quantization import *\n"
                + _LINEAR.replace("Linear(4, 3)", "Linear(32, 32)").replace("(2, 4)", "(2, 32)")
                + f"eager = Model()\nquantize_(eager, {config})\ndef quantized(): return eager, (torch.ones(2, 32),)\n"
            )
            with self.subTest(config):
                self.assert_error(source, "no-out-variant model.py:14:1", "quantized")
        asymmetric = "IntxWeightOnlyConfig(torch.int4, PerGroup(32), MappingType.ASYMMETRIC)"
        self.model.write_text(re.sub("quantize_.*", f"quantize_(eager, {asymmetric})", source))
        self.assert_refused(
            lambda: export(self.model, "quantized", graph_passes=("default", "weight_only")),
            "no-out-variant model.py:14:1",
        )

    def test_groups_of_weights_that_no_kernel_has(self) -> None:
        for config, graph_pass in (
            ("IntxWeightOnlyConfig(torch.int4, PerGroup(4))", "weight_only"),
            ("IntxWeightOnlyConfig(torch.int8, PerGroup(8))", "weight_only"),
            ("Int8DynamicActivationIntxWeightConfig(torch.int4, PerGroup(4))", "dynamic_linear"),
        ):
            with self.subTest(config):
                linecache.clearcache()
                self.model.write_text(
                    "from torchao.quantization import *\n"
                    + _LINEAR.replace("Linear(4, 3)", "Linear(32, 32)").replace("(2, 4)", "(2, 32)")
                    + f"eager = Model()\nquantize_(eager, {config})\n"
                    + "def quantized(): return eager, (torch.ones(2, 32),)\n"
                )
                with_pass = functools.partial(export, self.model, "quantized", graph_passes=("default", graph_pass))
                self.assert_refused(with_pass, "no-out-variant model.py:14:1")

    def test_operator_without_fake(self) -> None:
        source = _module(
            "def forward(self, x): return torch.ops.no_fake.twice(x)",
            "(torch.ones(3),)",
            before="""
            library = torch.library.Library("no_fake", "DEF")
            library.define("twice(Tensor x) -> Tensor")
            library.impl("twice", lambda x: x * 2, "CPU")
            """,
        )
        self.assert_raised(
            source,
            8,
            "torch.export of forward() needs a fake kernel of no_fake::twice, which has none",
            '@torch.library.register_fake("no_fake::twice")',
            'TORCH_LIBRARY_IMPL(no_fake, Meta, m) { m.impl("twice", ...); }',
            "#no-fake-kernel",
        )

    def test_branch_that_returns_a_view(self) -> None:
        source = _module(
            "def forward(self, x): return torch.cond(x.sum() > 0, lambda x: x.t(), lambda x: (x + 1).t(), (x,))",
            "(torch.ones(2, 3),)",
        )
        self.assert_raised(
            source,
            4,
            "cond_true might be aliasing the input",
            "a branch of torch.cond, or the body of a loop, returns one of its inputs or a view of it",
            "return a copy: `.clone()`",
            "#user-code-raised",
        )

    def test_torchscript(self) -> None:
        for make in ("torch.jit.script(torch.nn.ReLU())", "torch.jit.trace(torch.nn.ReLU(), torch.ones(2))"):
            source = f"import torch\ndef get_model():\n    return {make}, (torch.ones(2),)\n"
            self.assert_error(source, "wrong-return-value model.py:2:1")

    def test_module_that_contains_itself(self) -> None:
        part = "class Part(torch.nn.Module):\n    def __init__(self, whole):\n        super().__init__()\n        "
        for before, attribute in (
            ("", "self.me = self"),
            (part + "self.whole = whole", "self.parts = torch.nn.ModuleList([Part(self)])"),
            (part + "self.inner = torch.nn.Sequential(self)", "self.part = Part(self)"),
        ):
            source = _module(
                f"def __init__(self):\n    super().__init__()\n    {attribute}\ndef forward(self, x): return x",
                "(torch.ones(3),)",
                before=before,
            )
            line = source[: source.index("def get_model")].count("\n") + 1
            self.assert_error(source, f"wrong-return-value model.py:{line}:1")

    def test_operator_that_writes_to_its_arguments(self) -> None:
        cases = (
            ("inc(Tensor(a!) x, Tensor y) -> ()", "inc(y, x)"),
            ("inc(Tensor(a!)[] x, Tensor y) -> ()", "inc([y], x)"),
            ("inc_(Tensor(a!) x, Tensor y) -> Tensor(a!)", "inc_(y, x)"),
            ("inc.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "inc.out(x, out=y)"),
        )
        for number, (schema, call) in enumerate(cases):
            with self.subTest(schema):
                name = schema.partition("(")[0]
                for exported in (False, True):
                    namespace = f"mutable{number}{exported}"
                    source = _module(
                        f"""
                        def forward(self, x):
                            y = x * 2
                            torch.ops.{namespace}.{call}
                            return y
                        """,
                        "(torch.ones(2),)",
                        before=f"""
                        library = torch.library.Library("{namespace}", "DEF")
                        library.define("{schema}")
                        def run(x, y=None, out=None):
                            written = x if out is None else out
                            (written[0] if isinstance(written, list) else written).add_(1)
                            return None if "()" in "{schema}" else written
                        library.impl("{name}", run, "CPU")
                        library.impl("{name}", run, "Meta")
                        """,
                    )
                    if exported:
                        made = "torch.export.export(Model(), (torch.ones(2),))"
                        source = source.replace("return Model(), (torch.ones(2),)", f"return {made}")
                    self.assert_error(source, "mutable-operator model.py:15:1")

    def test_python_operator_that_writes_to_its_arguments(self) -> None:
        for number, (returns, body) in enumerate((("None", "None"), ("torch.Tensor", "x * 2"))):
            with self.subTest(returns):
                source = _module(
                    """
                    def forward(self, x):
                        y = x * 2
                        inc(y)
                        return y
                    """,
                    "(torch.ones(2),)",
                    before=f"""
                    @torch.library.custom_op("mutable_python::inc{number}", mutates_args=("x",))
                    def inc(x: torch.Tensor) -> {returns}:
                        x.add_(1)
                        return {body}
                    inc.register_fake(lambda x: {body})
                    """,
                )
                self.assert_error(source, "mutable-operator model.py:12:1")

    def test_operator_that_updates_a_state(self) -> None:
        _, samples = self.export(
            _module(
                """
                def __init__(self):
                    super().__init__()
                    self.register_buffer("kept", torch.zeros(2))
                def forward(self, x): return torch.ops.stateful.update(self.kept, x)
                """,
                "(torch.ones(2),)",
                before="""
                library = torch.library.Library("stateful", "DEF")
                library.define("update(Tensor(a!) kept, Tensor x) -> Tensor")
                library.define("update.out(Tensor(a!) kept, Tensor x, *, Tensor(b!) out) -> Tensor(b!)")
                library.impl("update", lambda kept, x: kept.add_(x) * 2, "CPU")
                library.impl("update", lambda kept, x: torch.empty_like(x), "Meta")
                """,
                after="def get_sample_inputs(): return [(torch.ones(2),)] * 2",
            )
        )
        self.assertEqual(samples["forward/1/output/0"].tolist(), [4.0, 4.0])

    def test_operator_that_updates_a_state_without_out_variant(self) -> None:
        source = _module(
            "def forward(self, x): return torch.ops.no_out_state.update(x, x)",
            "(torch.ones(2),)",
            before="""
            library = torch.library.Library("no_out_state", "DEF")
            library.define("update(Tensor(a!) kept, Tensor x) -> Tensor")
            library.impl("update", lambda kept, x: kept.add_(x) * 2, "CPU")
            library.impl("update", lambda kept, x: torch.empty_like(x), "Meta")
            """,
        )
        self.assert_error(source, "no-out-variant model.py:10:1")

    def test_python_operator_without_fake(self) -> None:
        source = _module(
            "def forward(self, x): return twice(x)",
            "(torch.ones(3),)",
            before="""
            @torch.library.custom_op("no_fake::python_twice", mutates_args=())
            def twice(x: torch.Tensor) -> torch.Tensor:
                return x * 2
            """,
        )
        self.assert_raised(source, 8, 'register_fake("no_fake::python_twice")', "#no-fake-kernel")

    def test_write_to_a_tensor_that_is_no_buffer(self) -> None:
        source = _module(
            """
            def forward(self, x):
                KEPT.add_(x)
                return KEPT * 2
            """,
            "(torch.ones(2),)",
            before="KEPT = torch.zeros(2)",
        )
        self.assert_error(source, "state-outside-buffers model.py:7:1")

    def test_buffers_that_share_memory(self) -> None:
        for buffers, line in (
            ("memory[:2], memory[1:3]", 10),
            ("memory, memory", 10),
            ("memory, memory.view(2, 2)", 10),
            ("memory.view(2, 2), memory[1::2]", 10),
        ):
            with self.subTest(buffers):
                source = _module(
                    f"""
                    def __init__(self):
                        super().__init__()
                        memory = torch.zeros(4)
                        self.one, self.other = torch.nn.Buffer(torch.zeros(1)), torch.nn.Buffer(torch.zeros(1))
                        self.one, self.other = {buffers}
                    def forward(self, x):
                        self.one.add_(x)
                        return self.other * 2
                    """,
                    "(torch.ones(1),)",
                )
                self.assert_error(source, f"buffers-share-memory model.py:{line}:1")

    def test_buffers_that_share_memory_and_stay(self) -> None:
        for buffers, body in (
            ("memory, memory.view(2, 2)", "return self.one.sum() + self.other * x"),
            ("memory[::2], memory[1::2]", "self.one.add_(x)\n    return self.other * 2"),
        ):
            with self.subTest(buffers):
                pte, _ = self.export(
                    _module(
                        "def __init__(self):\n    super().__init__()\n    memory = torch.ones(4)\n"
                        "    self.one, self.other = torch.nn.Buffer(torch.zeros(1)), torch.nn.Buffer(torch.zeros(1))\n"
                        f"    self.one, self.other = {buffers}\ndef forward(self, x):\n    {body}",
                        "(torch.ones(1),)",
                    )
                )
                self.assertIn(b"aten::", pte)

    def test_state_beside_layers_that_torchao_quantized(self) -> None:
        """A quantized weight has no memory that a buffer could share."""
        self.model.write_text(
            "import torch\nfrom torchao.quantization import Int8WeightOnlyConfig, quantize_\n\n\n"
            "class Model(torch.nn.Module):\n"
            "    def __init__(self):\n        super().__init__()\n        self.layer = torch.nn.Linear(32, 4)\n"
            '        self.register_buffer("calls", torch.zeros(1))\n'
            "    def forward(self, x):\n        self.calls.add_(1)\n        return self.layer(x) + self.calls\n\n\n"
            "def get_model():\n    model = Model().eval()\n    quantize_(model, Int8WeightOnlyConfig())\n"
            "    return model, (torch.ones(2, 32),)\n"
        )
        exported = export(self.model, graph_passes=("default", "weight_only"))
        self.assertEqual(exported.checked["forward"].left_out, "")

    def test_loop_whose_end_depends_on_values(self) -> None:
        source = _module(
            """
            def forward(self, x):
                step = lambda y: (y * 2 + 1,)
                y, = while_loop(lambda y: y.sum() < 99, step, (x,))
                return y
            """,
            "(torch.ones(2),)",
            before="from torch._higher_order_ops.while_loop import while_loop",
        )
        self.assert_error(source, "unsupported-control-flow model.py:6:1")

    def test_size_without_bound(self) -> None:
        for call in ("torch.bincount(x)", "torch.ones(x.max().item())"):
            source = _module(f"def forward(self, x): return {call} * 2", "(torch.tensor([1, 2, 5]),)")
            self.assert_error(source, "unbounded-size model.py:4:1")

    def test_sizes_without_bound(self) -> None:
        source = _module(
            """
            def forward(self, x, y):
                x = x.repeat_interleave(y)
                bounded = torch.bincount(x)
                torch._check(bounded.shape[0] <= 20)
                scale = y.max().item()
                return x * scale, bounded, torch.bincount(y)
            """,
            "(torch.tensor([1, 2, 5]), torch.tensor([3, 0, 2]))",
        )
        expected = "unbounded-size model.py:5:1", "unbounded-size model.py:9:1"
        self.assert_refused(lambda: self.export(source), *expected)

    def test_size_with_bound(self) -> None:
        source = _module(
            """
            def forward(self, x):
                y = torch.bincount(x)
                torch._check(y.shape[0] <= 20)
                n = x.max().item()
                torch._check(n <= 10)
                return y * 2, torch.ones(n)
            """,
            "(torch.tensor([1, 2, 5]),)",
        )
        _, samples = self.export(source)
        torch.testing.assert_close(samples["forward/0/output/0"], torch.tensor([0, 2, 2, 0, 0, 2]))

    def test_outputs_that_vary(self) -> None:
        source = _module(
            "def forward(self, x): return (x + 1, x) if torch.compiler.is_compiling() else x + 1", "(torch.ones(2),)"
        )
        self.assert_raised(source, 5, "forward() returns 1 values on sample 0", "#varying-outputs")

    def test_no_such_file(self) -> None:
        self.assert_refused(lambda: export(self.folder / "missing.py"), "unreadable-file missing.py")


class CommandTest(_Files):
    """The tool as a build action runs it."""

    def run_tool(self, *arguments: str, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), *sys.path]))
        return subprocess.run(
            [sys.executable, "-m", "export.main", f"--model={self.model.name}", "--program=out.pte", *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=False,
        )

    def test_says_nothing_and_writes_the_same_bytes_every_time(self) -> None:
        library = self.folder / "library"
        library.mkdir()
        (library / "layers.py").write_text("import torch\nLinear = torch.nn.Linear\n")
        source = _LINEAR.replace("torch.nn.Linear(4, 3)", "layers.Linear(4, 3)") + "\nprint('building')\n"
        self.model.write_text("import layers, warnings\nwarnings.warn('deprecated')\n" + source)
        written = []
        for seed in ("1", "2"):
            result = self.run_tool("--samples=out.ptd", "--import_path=library", hash_seed=seed)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
            written.append(((self.folder / "out.pte").read_bytes(), (self.folder / "out.ptd").read_bytes()))
        self.assertEqual(written[0], written[1])
        self.assertNotIn(str(self.folder).encode(), b"".join(written[0]))
        self.assertEqual(list(self.folder.rglob("__pycache__")), [])

    def test_passes_are_the_rules_by_default(self) -> None:
        self.model.write_text(_LINEAR)
        written = []
        for flags in ((), ("--graph_passes=default",), ("--graph_passes=",)):
            self.assertEqual(self.run_tool(*flags, "--passes_report=out.txt").stderr, "")
            written.append(((self.folder / "out.pte").read_bytes(), (self.folder / "out.txt").read_text()))
        self.assertEqual(written[0], written[1])
        self.assertNotEqual(written[0], written[2])

    def test_check(self) -> None:
        self.model.write_text(_LINEAR)
        programs = []
        for flags, line in (
            ((), "1 of 1 samples and 3 drawn inputs have the results of the module"),
            (("--nocheck_program",), "left out"),
        ):
            result = self.run_tool(*flags, "--passes_report=out.txt", "--passes_report_json=out.json")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertEqual((self.folder / "out.txt").read_text().splitlines()[-1], f"  check: {line}")
            checks = json.loads((self.folder / "out.json").read_text())["checks"]
            self.assertEqual(checks, {"forward": line})
            programs.append((self.folder / "out.pte").read_bytes())
        self.assertEqual(programs[0], programs[1])

    def test_traceback(self) -> None:
        self.model.write_text(_module("def forward(self, x): return x.add_(y=1)", "(torch.ones(1),)"))
        self.assertNotIn("Traceback (most recent call last)", self.run_tool().stderr)
        self.assertIn("Traceback (most recent call last)", self.run_tool("--traceback").stderr)

    def test_failure(self) -> None:
        self.model.write_text("print('reading weights')\ndef get_model():\n    raise OSError('disk on fire')\n")
        result = self.run_tool("--label=//pkg:model")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, "^//pkg:model: cannot export\nmodel.py:3:")
        self.assertIn("get_model() raised OSError: disk on fire", result.stderr)
        self.assertRegex(result.stderr, re.escape("Printed during the export:\nreading weights\n") + "$")
        self.assertNotIn("Traceback", result.stderr)
        self.assertFalse((self.folder / "out.pte").exists())

    def test_pytorchs_own_warnings(self) -> None:
        branch = "print('branching')\n        return x if x.sum() > 0 else -x"
        self.model.write_text(_LINEAR.replace("return self.linear(x)", branch))
        for flags, is_shown in ((), False), (("--verbose",), True):
            stderr = self.run_tool(*flags).stderr
            self.assertIn("branching\n", stderr)
            self.assertEqual("symbolic_shapes.py" in stderr, is_shown, stderr)


if __name__ == "__main__":
    absltest.main()
