"""Tests of the export tool: what it writes, against PyTorch and ExecuTorch's own Python runtime."""

from __future__ import annotations

import json
import textwrap
from typing import cast

import torch
from absl.testing import absltest
from executorch.exir import schema
from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer

from export.exporter import export
from export.tests.model_files import DTYPES, LINEAR, Files, model_file


class ExportTest(Files):
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
        samples = self.run_and_compare(LINEAR)
        self.assertCountEqual(samples, ["forward/0/input/0", "forward/0/output/0"])
        torch.testing.assert_close(samples["forward/0/input/0"], torch.ones(2, 4))

    def test_dtypes_and_shapes(self) -> None:
        samples = self.run_and_compare(
            model_file(
                "def forward(self, *xs): return [x.clone() for x in xs]",
                f"(*[torch.arange(-3, 3).reshape(2, 3).to(d) for d in {list(DTYPES.values())}],"
                " torch.tensor(1.5), torch.zeros(0, 3), torch.arange(120.).reshape(1, 3, 5, 8)"
                ".to(memory_format=torch.channels_last))",
            )
        )
        for index, dtype in enumerate(DTYPES.values()):
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

    def test_names_of_constants(self) -> None:
        self.model.write_text(LINEAR)
        exported = export(self.model)
        values = deserialize_pte_binary(exported.pte).program.execution_plan[0].values
        names = json.loads(exported.origins)["constants"]["forward"]
        sizes = {name: list(cast(schema.Tensor, values[int(value)].val).sizes) for value, name in names.items()}
        self.assertEqual(sizes, {"linear.weight": [3, 4], "linear.bias": [3]})

    def test_state_starts_as_in_pytorch_and_carries_over(self) -> None:
        samples = self.run_and_compare(
            model_file(
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
            model_file(
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
                source = model_file(
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
                source = model_file(
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
            model_file(
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
                source = model_file(
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
            model_file(
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
            model_file(
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
            model_file(
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
            model_file("def forward(self, x): return torch.dropout(x, 0.5, self.training)", "(torch.ones(64),)")
        )
        self.assertEqual(samples["forward/0/output/0"].sum().item(), 64)

    def test_custom_operator(self) -> None:
        pte, samples = self.export(
            model_file(
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
                    model_file(
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
        _, samples = self.export(LINEAR.replace("get_model", "tiny"), "tiny")
        self.assertEqual(len(samples), 2)


if __name__ == "__main__":
    absltest.main()
