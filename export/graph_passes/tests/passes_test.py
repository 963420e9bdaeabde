"""Tests of each graph pass: a graph on which it acts, and graphs on which it must not; run by ExecuTorch's runtime."""

from __future__ import annotations

import itertools
import json
import textwrap
from collections.abc import Sequence
from typing import Any

import torch
from absl.testing import absltest
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

from diagnostics.errors import InputError
from export.exporter import Exported
from export.graph_passes import graphs, packing, passes, report
from export.graph_passes.calls import (
    FusedConvolution,
    OwnScaledDotProductAttention,
    PackedConvolution,
    PackedEmbedding,
    PackedLinear,
    QuantizedConvolution,
    QuantizedLinear,
    RmsNorm,
    WeightOnlyLinear,
    WinogradConvolution,
)
from export.graph_passes.operators import packed_convolution, packed_linear, winograd_convolution
from export.graph_passes.tests import rewriting
from export.graph_passes.tests.pass_test_case import (
    ATTENTION_OUT,
    CONVOLUTION_OUT,
    PACKED_CONVOLUTION_OUT,
    PACKED_LINEAR_OUT,
    RMS_NORM_OUT,
    WINOGRAD_CONVOLUTION_OUT,
    PassTestCase,
    model_file,
)


class BatchNormTest(PassTestCase):
    _FOLDED = "a batch norm folded into the layer before it"

    def test_acts(self) -> None:
        for convolution, x in (
            ("Conv2d(4, 6, 3)", "torch.rand(2, 4, 5, 6)"),
            ("Conv2d(4, 6, 3, groups=2, bias=False)", "torch.rand(2, 4, 5, 6)"),
            ("ConvTranspose2d(4, 6, 3, stride=2)", "torch.rand(2, 4, 5, 6)"),
        ):
            init = f"self.layers = torch.nn.Sequential(torch.nn.{convolution}, torch.nn.BatchNorm2d(6))"
            self.check(
                "batch_norm",
                model_file("return self.layers(x)", x, init=init),
                changes=[self._FOLDED],
                calls=["aten::convolution.out"],
            )

    def test_acts_on_linear_layers(self) -> None:
        init = "self.layers = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.BatchNorm1d(6))"
        source = model_file("return self.layers(x)", "torch.rand(3, 4)", init=init)
        self.check("batch_norm", source, changes=[self._FOLDED], calls=["aten::addmm.out", "aten::permute_copy.out"])
        kept = self.export(source, ["batch_norm", "linear"])
        self.assertEqual(self.calls(kept), ["aten::linear.out"])
        self.assertEqual(self.changes(kept, "batch_norm"), [self._FOLDED])

    def test_leaves(self) -> None:
        norm = "aten::_native_batch_norm_legit_no_training.out"
        for forward, init, x, calls in (
            # The convolution's result has another user.
            (
                "y = self.layer(x)\nreturn self.norm(y) + y",
                "Conv2d(4, 6, 1)",
                "torch.rand(2, 4, 5, 6)",
                ["aten::add.out", "aten::convolution.out", norm],
            ),
            # Something lies between them.
            (
                "return self.norm(self.layer(x).relu())",
                "Conv2d(4, 6, 1)",
                "torch.rand(2, 4, 5, 6)",
                ["aten::convolution.out", "aten::relu.out", norm],
            ),
            # A transposed convolution in groups, whose weights lie otherwise.
            (
                "return self.norm(self.layer(x))",
                "ConvTranspose2d(4, 6, 1, groups=2)",
                "torch.rand(2, 4, 5, 6)",
                ["aten::convolution.out", norm],
            ),
        ):
            source = model_file(forward, x, init=f"self.layer = torch.nn.{init}\nself.norm = torch.nn.BatchNorm2d(6)")
            self.check("batch_norm", source, changes=[], calls=calls)


def _padded(pad: str, convolution: str = "Conv2d(3, 4, 3, padding=(1, 0))") -> str:
    forward = f"return self.layer(torch.nn.functional.pad(x, {pad}))"
    return model_file(forward, "torch.rand(1, 3, 6, 5)", init=f"self.layer = torch.nn.{convolution}")


class PaddingTest(PassTestCase):
    def test_acts(self) -> None:
        for pad in ("(1, 1)", "(1, 1, 2, 2)", "(2, 2, 0, 0, 0, 0)"):
            self.check(
                "padding",
                _padded(pad),
                changes=["zeros that a convolution pads itself"],
                calls=["aten::convolution.out"],
            )

    def test_leaves(self) -> None:
        calls = ["aten::constant_pad_nd.out", "aten::convolution.out"]
        for pad in ("(0, 1, 0, 1)", "(1, 1), value=0.5"):
            self.check("padding", _padded(pad), changes=[], calls=calls)
        self.check("padding", _padded("(0, 0, 0, 0, 1, 1)", "Conv2d(5, 4, 3)"), changes=[], calls=calls)
        self.check("padding", _padded("(1, 1)", "ConvTranspose2d(3, 4, 3)"), changes=[], calls=calls)


class UnevenPaddingTest(PassTestCase):
    def test_acts(self) -> None:
        for pad in ("(0, 1, 0, 1)", "(2, 0)", "(1, 1)"):
            self.check(
                "uneven_padding",
                _padded(pad),
                changes=["zeros that a convolution pads itself"],
                calls=[CONVOLUTION_OUT],
            )

    def test_leaves(self) -> None:
        calls = ["aten::constant_pad_nd.out", "aten::convolution.out"]
        for source in (
            _padded("(0, 1), value=0.5"),
            _padded("(0, 0, 0, 0, 0, 1)", "Conv2d(4, 4, 3)"),
            _padded("(0, 1)", "ConvTranspose2d(3, 4, 3)"),
        ):
            self.check("uneven_padding", source, changes=[], calls=calls)

    def test_operator(self) -> None:
        x, weight, bias = torch.rand(1, 4, 7, 6), torch.rand(6, 2, 3, 3), torch.rand(6)
        args = (x, weight, bias, [2, 1], [0, 1], [1, 0], [1, 1], 2, "clamp", 0.0, 1.0)
        operator = FusedConvolution.overload()
        padded = torch.nn.functional.pad(x, (1, 0, 0, 1))
        expected = torch.nn.functional.conv2d(padded, weight, bias, stride=(2, 1), groups=2).clamp(0, 1)
        torch.testing.assert_close(operator(*args), expected)
        self.assertEqual(torch.ops.rules_executorch.fused_convolution.out._schema.name, operator.name())


class NoOpsTest(PassTestCase):
    def test_acts(self) -> None:
        for forward, dropped in (
            ("return x.expand(2, -1, 4) + 1.0", "aten::expand_copy that changes nothing"),
            ("return x.clone() + 1.0", "dim_order_ops::_clone_dim_order that changes nothing"),
            ("return x.view(2, 3, 4) + 1.0", "aten::view_copy that changes nothing"),
            ("return torch.nn.functional.pad(x, (0, 0)) + 1.0", "aten::constant_pad_nd that changes nothing"),
        ):
            self.check("no_ops", model_file(forward, "torch.rand(2, 3, 4)"), changes=[dropped], calls=["aten::add.out"])

    def test_acts_on_permutations(self) -> None:
        one = "two permutations made one"
        self.check(
            "no_ops",
            model_file("return x.permute(2, 0, 1).permute(1, 2, 0) + 1.0", "torch.rand(2, 3, 4)"),
            changes=[one, "aten::permute_copy that changes nothing"],
            calls=["aten::add.out"],
        )
        self.check(
            "no_ops",
            model_file("return x.permute(2, 0, 1).permute(0, 2, 1) + 1.0", "torch.rand(2, 3, 4)"),
            changes=[one],
            calls=["aten::add.out", "aten::permute_copy.out"],
        )

    def test_leaves(self) -> None:
        for forward, calls in (
            ("return x[:, ::2] + 1.0", ["aten::add.out", "aten::slice_copy.Tensor_out"]),
            ("return x.expand(5, -1, -1) + 1.0", ["aten::add.out", "aten::expand_copy.out"]),
            ("return x.permute(0, 2, 1) + 1.0", ["aten::add.out", "aten::permute_copy.out"]),
            ("return x.double().float()", ["dim_order_ops::_to_dim_order_copy.out"]),
            ("return x.flip(0)[:, :1].clone()", ["aten::flip.out", "aten::slice_copy.Tensor_out"]),
            # An output has memory of its own.
            ("return x.clone()", ["dim_order_ops::_clone_dim_order.out"]),
        ):
            x = "torch.rand(1, 3, 4)" if "expand" in forward else "torch.rand(2, 3, 4)"
            with self.subTest(forward):
                exported = self.export(model_file(forward, x), ["no_ops"])
                if "flip" not in forward:
                    self.assertEqual(self.changes(exported, "no_ops"), [])
                    self.assertEqual(self.calls(exported), calls)
                self.check_values(exported)

    def test_outputs_stay_apart(self) -> None:
        exported = self.export(model_file("y = x + 1.0\nreturn y, y.clone()", "torch.rand(2, 3)"), ["no_ops"])
        self.assertEqual(self.changes(exported, "no_ops"), [])
        self.check_values(exported)

    def test_state_is_copied_before_it_changes(self) -> None:
        source = model_file(
            "before = self.cache.clone()\nself.cache.add_(x)\nreturn before",
            "torch.rand(2, 3)",
            init="self.register_buffer('cache', torch.zeros(2, 3))",
            after="def get_sample_inputs():\n    return [(torch.rand(2, 3),) for _ in range(3)]",
        )
        self.check_values(self.export(source, ["default"]))

    def test_memory_formats_stay(self) -> None:
        source = model_file(
            "return x.to(memory_format=torch.channels_last).relu().contiguous()", "torch.rand(2, 3, 4, 5)"
        )
        exported = self.export(source, ["no_ops"])
        self.assertEqual(self.changes(exported, "no_ops"), [])
        self.check_values(exported)


class ConstantsTest(PassTestCase):
    def test_acts(self) -> None:
        source = model_file(
            "return x @ self.weight.t() + torch.arange(5.0)",
            "torch.rand(2, 3)",
            init="self.weight = torch.nn.Parameter(torch.rand(5, 3))",
        )
        exported = self.check(
            "constants",
            source,
            changes=[
                "aten::permute_copy of constants computed at export",
                "aten::arange.start_step of constants computed at export",
            ],
            calls=["aten::add.out", "aten::mm.out"],
        )
        self.assertEqual(exported, self.export(source, ["constants"]))

    def test_leaves_what_makes_the_program_larger(self) -> None:
        weights = "self.weight = torch.nn.Parameter(torch.rand(200, 100))"
        row = "self.weight = torch.nn.Parameter(torch.rand(1, 100))"
        for forward, init, stays in (
            # The weight stays, since something else needs the weight as it is.
            ("return x @ self.weight.t() @ self.weight", weights, "aten::permute_copy.out"),
            ("return x.expand(200, 100) + self.weight.expand(200, 100)", row, "aten::expand_copy.out"),
        ):
            x = "torch.rand(1, 100)" if init is row else "torch.rand(2, 100)"
            exported = self.export(model_file(forward, x, init=init), ["constants"])
            self.assertIn(stays, self.calls(exported))
            self.assertEqual(self.changes(exported, "constants"), [])
            self.check_values(exported)

    def test_leaves_what_changes(self) -> None:
        source = model_file(
            "y = self.cache.t() + x\nself.cache.add_(x)\nreturn y",
            "torch.rand(2, 2)",
            init="self.register_buffer('cache', torch.zeros(2, 2))",
            after="def get_sample_inputs():\n    return [(torch.rand(2, 2),) for _ in range(3)]",
        )
        exported = self.export(source, ["constants"])
        self.assertEqual(self.changes(exported, "constants"), [])
        self.check_values(exported)
        random = model_file("return x + torch.rand(2, 2)", "torch.rand(2, 2)")
        self.assertIn("aten::rand.out", self.calls(self.export(random, ["constants"])))

    def test_leaves_constants_that_the_method_gives_out(self) -> None:
        source = model_file(
            "return x + 1.0, self.weight.t()",
            "torch.rand(2, 2)",
            init="self.weight = torch.nn.Parameter(torch.rand(2, 2))",
        )
        self.check("constants", source, changes=[], calls=["aten::add.out", "aten::permute_copy.out"])


class ViewsTest(PassTestCase):
    def test_acts(self) -> None:
        for forward, what in (
            ("return x.unsqueeze(1) + 1.0", "aten::unsqueeze_copy made a view"),
            ("return x[0] + 1.0", "aten::select_copy.int made a view"),
            ("return x.squeeze(0) + 1.0", "aten::squeeze_copy.dims made a view"),
            ("return x.permute(1, 0, 2) + 1.0", "aten::permute_copy made a view"),
        ):
            self.check(
                "views",
                model_file(f"x = x * 2.0\n{forward}", "torch.rand(1, 3, 4)"),
                changes=[what],
                calls=["aten::add.out", "aten::mul.out"],
            )

    def test_acts_on_shapes_that_vary(self) -> None:
        source = model_file(
            "return (x * 2.0).unsqueeze(0) + 1.0",
            "torch.rand(3, 4)",
            takes="x",
            after="""
            def get_dynamic_shapes():
                return {"x": {0: torch.export.Dim("n", min=2, max=8)}}

            def get_sample_inputs():
                return [(torch.rand(n, 4),) for n in (2, 8, 5)]
            """,
        )
        self.check(
            "views",
            source,
            changes=["aten::unsqueeze_copy made a view"],
            calls=["aten::add.out", "aten::mul.out", "executorch_prim::et_view.default"],
        )

    def test_leaves(self) -> None:
        for forward, calls in (
            ("return (x * 2.0).permute(0, 2, 1) + 1.0", ["aten::add.out", "aten::mul.out", "aten::permute_copy.out"]),
            ("return (x * 2.0)[:, 0] + 1.0", ["aten::add.out", "aten::mul.out", "aten::select_copy.int_out"]),
            ("return (x * 2.0).unsqueeze(0)", ["aten::mul.out", "aten::unsqueeze_copy.out"]),
        ):
            self.check("views", model_file(forward, "torch.rand(1, 3, 4)"), changes=[], calls=calls)

    def test_leaves_other_memory_formats(self) -> None:
        source = model_file(
            "return (x.to(memory_format=torch.channels_last) * 2.0).unsqueeze(1).contiguous() + 1.0",
            "torch.rand(1, 3, 4, 5)",
        )
        self.assertEqual(self.changes(self.export(source, ["views"]), "views"), [])

    def test_acts_on_results_in_place(self) -> None:
        source = model_file(
            "self.cache.index_copy_(0, others[0], x)\nreturn self.cache[None] * 2.0",
            "torch.rand(1, 3)",
            "torch.tensor([0])",
            init="self.register_buffer('cache', torch.zeros(8, 3))",
            after="def get_sample_inputs():\n    return [(torch.rand(1, 3), torch.tensor([i])) for i in (0, 5, 2)]",
        )
        exported = self.export(source, ["in_place", "views"])
        self.assertEqual(self.changes(exported, "in_place"), ["index_put in place"])
        self.assertEqual(self.calls(exported), ["aten::index_put_", "aten::mul.out"])
        self.check_values(exported)


class InPlaceTest(PassTestCase):
    _CACHE = "self.register_buffer('cache', torch.zeros(8, 3))"
    _SAMPLES = """
    def get_sample_inputs():
        return [(torch.rand(1, 3), torch.tensor([i])) for i in (0, 5, 2)]
    """

    def _source(self, forward: str) -> str:
        return model_file(forward, "torch.rand(1, 3)", "torch.tensor([0])", init=self._CACHE, after=self._SAMPLES)

    def test_acts(self) -> None:
        self.check(
            "in_place",
            self._source("self.cache.index_copy_(0, others[0], x)\nreturn self.cache * 2.0"),
            changes=["index_put in place"],
            calls=["aten::index_put_", "aten::mul.out"],
        )

    def test_leaves(self) -> None:
        for forward in (
            # What was there before is needed afterwards.
            "new = self.cache.index_put((others[0],), x)\nold = self.cache * 2.0\nself.cache.copy_(new)\nreturn old",
            # A view shares the memory of what is written to.
            "y = x.expand(8, 3) + 1.0\nreturn y.view(24).index_put((others[0],), x[0, 0]) + y.view(24)",
            # ExecuTorch's kernel does neither in place.
            "self.cache.index_put_((others[0],), x, accumulate=True)\nreturn self.cache * 2.0",
            "self.cache.index_put_((others[0],), x[0, 0])\nreturn self.cache * 2.0",
        ):
            exported = self.export(self._source(forward), ["in_place"])
            self.assertEqual(self.changes(exported, "in_place"), [])
            self.check_values(exported)


class LinearTest(PassTestCase):
    def test_acts(self) -> None:
        source = model_file(
            "return self.layers(x)",
            "torch.rand(2, 3, 4)",
            init="self.layers = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Linear(6, 5, bias=False))",
        )
        self.check("linear", source, changes=["a linear layer kept whole"] * 2, calls=["aten::linear.out"])

    def test_leaves(self) -> None:
        self.check("linear", model_file("return x @ x", "torch.rand(3, 3)"), changes=[], calls=["aten::mm.out"])

    def test_leaves_out_what_partitioners_see(self) -> None:
        source = model_file("return self.layer(x)", "torch.rand(2, 4)", init="self.layer = torch.nn.Linear(4, 6)")
        exported = self.export(source, ["all"], backends=["xnnpack"])
        self.assertEqual(dict(exported.delegations["forward"].delegates[0].operators), {"aten::linear": 1})
        left_out = {one.name for one in exported.graph_passes["forward"] if one.left_out}
        self.assertEqual(left_out, {"attention", "linear"})

    def test_weights_of_one_dimension(self) -> None:
        """PyTorch's linear takes them, and gives no features: a batch norm behind it has those of the rows."""
        init = """
        self.weight, self.bias = (torch.nn.Parameter(torch.rand(sizes)) for sizes in ((6,), ()))
        self.norm = torch.nn.BatchNorm1d(6)
        """
        for forward in (
            "return torch.nn.functional.linear(x, self.weight)",
            "return torch.nn.functional.linear(x, self.weight, self.bias)",
            "return self.norm(torch.nn.functional.linear(x, self.weight))",
        ):
            source: dict[str, Any] = {}
            exec(model_file(forward, "torch.rand(3, 6, 6)", init=init), source)
            module, inputs = source["get_model"]()
            rewriting.compare(module.eval(), rewriting.rewrite(module.eval(), inputs), inputs)


class PackedLinearTest(PassTestCase):
    _PACKED = "weights of a linear layer packed"
    _EMBEDDING = "embedding of a linear layer's packed weights"

    def test_acts(self) -> None:
        init = "self.layers = torch.nn.Sequential(torch.nn.Linear(4, 90, bias=False), torch.nn.Linear(90, 96))"
        source = model_file("return self.layers(x)", "torch.rand(2, 3, 4)", init=init)
        exported = self.export(source, ["linear", "packed_linear"])
        self.assertEqual(self.calls(exported), [PACKED_LINEAR_OUT])
        self.assertEqual(self.changes(exported, "packed_linear"), [self._PACKED] * 2)

    def test_acts_on_products(self) -> None:
        for forward in ("torch.addmm(self.b, x, self.w)", "x @ self.w"):
            init = "self.w = torch.nn.Parameter(torch.rand(4, 96))\nself.b = torch.nn.Parameter(torch.rand(96))"
            exported = self.export(model_file(f"return {forward}", "torch.rand(3, 4)", init=init), ["packed_linear"])
            self.assertEqual(self.calls(exported), [PACKED_LINEAR_OUT])

    def test_acts_on_half_precision(self) -> None:
        init = "self.layer = torch.nn.Linear({}, 48, dtype={})"
        for dtype, features, changes in (
            ("torch.float16", 5, 1),
            ("torch.bfloat16", 6, 1),
            ("torch.bfloat16", 5, 0),  # Panels of bfloat16 have pairs of input features.
        ):
            source = model_file(
                "return self.layer(x)", f"torch.rand(3, {features}, dtype={dtype})", init=init.format(features, dtype)
            )
            exported = self.export(source, ["linear", "packed_linear"])
            self.assertEqual(self.changes(exported, "packed_linear"), [self._PACKED] * changes)
            self.assertEqual(self.calls(exported), [PACKED_LINEAR_OUT if changes else "aten::linear.out"])

    def test_acts_on_tables_of_embeddings(self) -> None:
        init = "self.table = torch.nn.Parameter(torch.rand(470, 480))"
        forward = "tokens = torch.nn.functional.embedding(others[0], self.table, padding_idx=3)\nreturn {}"
        for result, changes in (
            ("torch.nn.functional.linear(x, self.table), tokens", [self._EMBEDDING, self._PACKED]),
            # Rows of the table are the weights of input features.
            ("torch.mm(x[:, :470], self.table), tokens", []),
            ("x, tokens", []),
        ):
            source = model_file(
                forward.format(result), "torch.rand(2, 480)", "torch.tensor([[0, 469, 48], [3, 0, 47]])", init=init
            )
            exported = self.export(source, ["linear", "packed_linear"])
            self.assertEqual(self.changes(exported, "packed_linear"), changes)
            self.assertLess(len(exported.pte), 1.1 * 480 * 480 * 4)
            self.assertEqual("rules_executorch::packed_embedding.out" in self.calls(exported), bool(changes))

    def test_packs_shared_weights_once(self) -> None:
        init = "self.layer = torch.nn.Linear(480, 480)"
        source = model_file("return self.layer(self.layer(x))", "torch.rand(2, 480)", init=init)
        exported = self.export(source, ["linear", "packed_linear"])
        self.assertEqual(self.changes(exported, "packed_linear"), [self._PACKED] * 2)
        self.assertLess(len(exported.pte), 1.1 * 480 * 480 * 4)

    def test_leaves(self) -> None:
        linear = "torch.nn.functional.linear"
        for forward, init in (
            # Panels would be much larger than so few columns, or columns behind the last panel.
            ("return self.layer(x)", "self.layer = torch.nn.Linear(48, 8)"),
            ("return self.layer(x)", "self.layer = torch.nn.Linear(48, 70)"),
            # Something else needs the weight as it is; the weight comes from outside; the weight changes.
            (f"return {linear}(x, self.w) + self.w[0]", "self.w = torch.nn.Parameter(torch.rand(48, 48))"),
            (f"return {linear}(x, others[0])", "pass"),
            (
                f"y = {linear}(x, self.cache)\nself.cache.add_(1)\nreturn y",
                "self.register_buffer('cache', torch.zeros(48, 48))",
            ),
            (f"return {linear}(x, self.w) + x @ self.w", "self.w = torch.nn.Parameter(torch.rand(48, 48))"),
            ("return self.layer(x.double())", "self.layer = torch.nn.Linear(48, 48).double()"),
        ):
            with self.subTest(forward):
                source = model_file(forward, "torch.rand(2, 48)", "torch.rand(48, 48)", init=init)
                exported = self.export(source, ["linear", "packed_linear"])
                self.assertEqual(self.changes(exported, "packed_linear"), [])
                self.assertIn("aten::linear.out", self.calls(exported))

    def test_operators(self) -> None:
        linear, embedding = PackedLinear.overload(), PackedEmbedding.overload()
        for dtype in (torch.float32, torch.bfloat16):
            x, weight, bias = (torch.rand(shape).to(dtype) for shape in ((2, 3, 8), (50, 8), 50))
            panels = packed_linear.pack(weight)
            indices = torch.tensor([[0, 49], [47, 48]])
            torch.testing.assert_close(embedding(panels, indices, 50), torch.nn.functional.embedding(indices, weight))
            torch.testing.assert_close(linear(x, panels, bias, 50), torch.nn.functional.linear(x, weight, bias))
        self.assertEqual(torch.ops.rules_executorch.packed_linear.out._schema.name, linear.name())


class ChannelsLastTest(PassTestCase):
    _COPY = "dim_order_ops::_to_dim_order_copy.out"
    _LAYER = "aten::convolution of channels-last tensors"

    def _export(self, forward: str, init: str, names: Sequence[str] = ("channels_last",)) -> Exported:
        layers = f"{init}\nself.a = torch.nn.Conv2d(3, 32, 3)\nself.b = torch.nn.Conv2d(32, 64, 3, padding=1)"
        return self.export(model_file(forward, "torch.rand(1, 3, 18, 18)", init=layers), names)

    def test_acts(self) -> None:
        exported = self._export(
            "return self.b(self.c(torch.relu(self.a(x)))).amax(dim=(2, 3))",
            "self.c = torch.nn.Conv2d(32, 32, 5, groups=32, stride=2, padding=2)",
        )
        self.assertEqual(self.changes(exported, "channels_last"), [self._LAYER] * 3)
        self.assertEqual(self.calls(exported), ["aten::amax.out", "aten::relu.out", PACKED_CONVOLUTION_OUT])

    def test_carries(self) -> None:
        """Nothing is copied between the layers."""
        for between in (
            "torch.nn.functional.pad(y, (1, 2, 0, 1))",
            "torch.nn.functional.max_pool2d(y, 2)",
            "torch.nn.functional.interpolate(y, scale_factor=2)",
            "torch.cat([y, y.sigmoid()], dim=2)",
            "y * y.amax(dim=(2, 3), keepdim=True)",
            "y * self.scale + 1.0",
            "torch.nn.functional.batch_norm(y, self.variance, self.variance)",
        ):
            with self.subTest(between):
                forward = f"y = self.a(x)\nreturn self.b({between}).amax(dim=(2, 3))"
                init = "self.scale = torch.nn.Parameter(torch.rand(32, 1, 1))"
                init += "\nself.register_buffer('variance', torch.rand(32))"
                exported = self._export(forward, init)
                self.assertEqual(self.changes(exported, "channels_last"), [self._LAYER] * 2)
                self.assertNotIn(self._COPY, self.calls(exported))

    def test_copies_at_borders(self) -> None:
        forward = "y = self.b(self.a(x))\nreturn self.c(y.view(1, 64, 8, 32)), y"
        exported = self._export(forward, "self.c = torch.nn.Conv2d(64, 64, 3)")
        # For the view and for the caller, once; the last layer's input and result.
        copies = ["copied from channels-last"] * 2 + ["copied to channels-last"]
        self.assertEqual(self.changes(exported, "channels_last"), [self._LAYER] * 3 + copies)

    def test_acts_on_what_is_channels_last(self) -> None:
        source = "x = x.to(memory_format=torch.channels_last)\nreturn self.b(torch.relu(self.a(x)))"
        exported = self._export(source, "pass")
        self.assertEqual(self.changes(exported, "channels_last"), [self._LAYER] * 2)

    def test_leaves(self) -> None:
        images = "torch.rand(1, 32, 16, 16)"
        for layer, inputs in (
            # The copies cost more than the layer gains.
            ("Conv2d(32, 32, 3, groups=32)", images),
            ("Conv2d(32, 2, 1)", images),
            # Panels would be empty mostly.
            ("Conv2d(32, 32, 9, groups=8)", images),
            ("ConvTranspose2d(32, 64, 5)", images),
            ("Conv2d(32, 64, 5).double()", f"{images}.double()"),
            ("Conv1d(4, 64, 25)", "torch.rand(1, 4, 88)"),
        ):
            with self.subTest(layer):
                init = f"self.layer = torch.nn.{layer}"
                source = model_file("return self.layer(x)", inputs, init=init)
                self.check("channels_last", source, changes=[], calls=["aten::convolution.out"])
        source = model_file("return torch.nn.functional.conv2d(x, others[0])", images, "torch.rand(64, 32, 5, 5)")
        self.check("channels_last", source, changes=[], calls=["aten::convolution.out"])

    def test_values(self) -> None:
        class Network(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.first = torch.nn.Conv2d(3, 50, 3, stride=2)
                self.depthwise = torch.nn.Conv2d(50, 50, 3, padding=1, groups=50)
                self.groups = torch.nn.Conv2d(50, 50, 3, padding=(1, 2), dilation=(1, 2), groups=2)
                self.last = torch.nn.Conv2d(50, 100, 3)

            def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
                x = torch.nn.functional.pad(self.first(x).relu(), (0, 1, 0, 0))
                y = torch.nn.functional.hardtanh(self.depthwise(x) + x)
                z = (x + self.groups(y)).sigmoid() + y
                return self.last(z).flatten(1), y

        network, inputs = Network().eval(), (torch.rand(2, 3, 21, 19),)
        names = ("uneven_padding", "channels_last", "addends", "activations")
        edge = to_edge_transform_and_lower(
            torch.export.export(network, inputs), compile_config=EdgeCompileConfig(_check_ir_validity=False)
        )
        program = edge.exported_program()
        for one in passes.select(names):
            self.assertNotEqual(len(passes.apply(one, program)), 0, one.name)
        torch.testing.assert_close(program.module()(*inputs), network(*inputs), rtol=1e-4, atol=1e-4)

    def test_half_precision(self) -> None:
        forward = "return self.b(self.c(torch.relu(self.a(x)))).amax(dim=(2, 3))"
        init = "self.c = torch.nn.Conv2d(32, 32, 5, groups=32, stride=2, padding=2)"
        for dtype in ("half", "bfloat16"):
            layers = f"{init}\nself.a = torch.nn.Conv2d(3, 32, 3)\nself.b = torch.nn.Conv2d(32, 64, 3)\nself.{dtype}()"
            source = model_file(forward, f"torch.rand(1, 3, 18, 18).{dtype}()", init=layers)
            exported = self.export(source, ["channels_last", "activations"])
            self.assertEqual(self.changes(exported, "channels_last"), [self._LAYER] * 3)
            self.assertEqual(self.calls(exported), ["aten::amax.out", PACKED_CONVOLUTION_OUT])

    def test_operator(self) -> None:
        operator = PackedConvolution.overload()
        for (shape, groups), dtype in itertools.product(
            (((70, 8, 3, 2), 1), ((40, 4, 3, 2), 2), ((8, 1, 3, 2), 8)), (torch.float32, torch.bfloat16)
        ):
            x, weight, bias = (torch.rand(sizes).to(dtype) for sizes in ((2, 8, 7, 6), shape, shape[:1]))
            packed = packed_convolution.pack(weight, groups)
            steps = ([2, 1], [0, 1], [1, 0], [1, 2])
            expected = torch.nn.functional.conv2d(
                torch.nn.functional.pad(x, (1, 0, 0, 1)), weight, bias, (2, 1), 0, (1, 2), groups
            )
            addend = torch.rand_like(expected)
            args = (x, packed, bias, addend, [3, 2], shape[0], *steps, groups, "clamp", 0.0, 9.0)
            result = (expected + addend).clamp(0, 9)
            tolerance = 1e-5 if dtype == torch.float32 else 0.02
            torch.testing.assert_close(operator(*args), result, rtol=tolerance, atol=tolerance)
        self.assertEqual(torch.ops.rules_executorch.packed_convolution.out._schema.name, operator.name())


class AddendsTest(PassTestCase):
    _NAMES = ("channels_last", "addends", "activations")
    _INIT = "self.a = torch.nn.Conv2d(3, 32, 3)\nself.b = torch.nn.Conv2d(32, 32, 3, padding=1)"

    def _calls(self, forward: str) -> list[str]:
        source = model_file(f"y = self.a(x)\n{forward}", "torch.rand(1, 3, 18, 18)", init=self._INIT)
        return self.calls(self.export(source, self._NAMES))

    def test_acts(self) -> None:
        for forward in ("self.b(y) + y", "y + self.b(y)", "torch.relu(y + self.b(y))", "self.b(y) + self.b(y.abs())"):
            with self.subTest(forward):
                calls = self._calls(f"return ({forward}).amax(dim=(2, 3))")
                self.assertNotIn("aten::add.out", calls)
                self.assertNotIn("aten::relu.out", calls)

    def test_leaves(self) -> None:
        for forward in (
            "z = self.b(y)\nreturn (z + y + z.amax()).amax(dim=(2, 3))",  # The sum without the addend is needed, too.
            "return torch.add(self.b(y), y, alpha=2).amax(dim=(2, 3))",
            "return (self.b(y) + y.amax(dim=3, keepdim=True)).amax(dim=(2, 3))",
            "z = self.b(y)\nreturn (z + z).amax(dim=(2, 3))",
        ):
            with self.subTest(forward):
                self.assertIn("aten::add.out", self._calls(forward))


class WinogradTest(PassTestCase):
    _NAMES = ("channels_last", "addends", "activations", "winograd")

    def _changes(self, layer: str, size: str) -> list[str]:
        """What the pass does to a layer whose input is channels-last."""
        init = f"self.first = torch.nn.Conv2d(3, 64, 3)\nself.layer = torch.nn.{layer}"
        source = model_file("return self.layer(self.first(x)).amax(dim=(2, 3))", f"torch.rand(1, 3, {size})", init=init)
        return self.changes(self.export(source, self._NAMES), "winograd")

    def test_acts(self) -> None:
        # With tiles of 2, more is multiplied, and fewer weights are read.
        for layer, size, tile in (("Conv2d(64, 64, 3, padding=1)", "34, 36", 4), ("Conv2d(64, 1024, 3)", "18, 20", 2)):
            with self.subTest(layer):
                self.assertEqual(self._changes(layer, size), [f"multiplied in tiles of {tile} by {tile}"])

    def test_calls(self) -> None:
        source = model_file(
            "y = self.a(x)\nreturn torch.relu(self.b(y) + y).amax(dim=(2, 3))",
            "torch.rand(1, 3, 34, 34)",
            init="self.a = torch.nn.Conv2d(3, 32, 3)\nself.b = torch.nn.Conv2d(32, 32, 3, padding=1)",
        )
        exported = self.export(source, self._NAMES)
        self.assertEqual(self.calls(exported), ["aten::amax.out", PACKED_CONVOLUTION_OUT, WINOGRAD_CONVOLUTION_OUT])

    def test_leaves(self) -> None:
        for layer, size in (
            ("Conv2d(64, 64, 3, stride=2)", "66, 66"),
            ("Conv2d(64, 64, 3, dilation=2)", "66, 66"),
            ("Conv2d(64, 64, 3, groups=4)", "66, 66"),
            ("Conv2d(64, 64, 5)", "66, 66"),
            # Transforms take longer than the products saved.
            ("Conv2d(64, 4, 3)", "66, 66"),
            # Weights are read once for few pixels.
            ("Conv2d(64, 512, 3)", "6, 6"),
        ):
            with self.subTest(layer):
                self.assertEqual(self._changes(layer, size), [])

    def test_leaves_sizes_that_vary(self) -> None:
        source = model_file(
            "return self.b(self.a(x)).amax(dim=(2, 3))",
            "torch.rand(1, 3, 66, 66)",
            init="self.a = torch.nn.Conv2d(3, 64, 3)\nself.b = torch.nn.Conv2d(64, 64, 3)",
            after="""
                def get_dynamic_shapes():
                    return ({2: torch.export.Dim("height", min=16, max=128)},)
                """,
        )
        self.assertEqual(self.changes(self.export(source, self._NAMES), "winograd"), [])

    def test_values(self) -> None:
        class Network(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.first = torch.nn.Conv2d(3, 40, 3)
                self.uneven = torch.nn.Conv2d(40, 40, 3)
                self.last = torch.nn.Conv2d(40, 100, 3, padding=(2, 0), bias=False)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                x = self.first(x)
                y = self.uneven(torch.nn.functional.pad(x, (0, 2, 1, 1)))
                last: torch.Tensor = self.last(torch.nn.functional.hardtanh(x + y))
                return last.amax(dim=(2, 3))

        self.check_graph(Network().eval(), (torch.rand(2, 3, 33, 29),), "uneven_padding", *self._NAMES)

    def test_operator(self) -> None:
        operator = WinogradConvolution.overload()
        for tile, channels in ((2, 70), (4, 16)):
            x, weight, bias = torch.rand(2, 8, 7, 6), torch.rand(channels, 8, 3, 3), torch.rand(channels)
            packed = winograd_convolution.pack(weight, tile)
            torch.testing.assert_close(winograd_convolution.unpack(packed, channels, 8), weight)
            expected = torch.nn.functional.conv2d(torch.nn.functional.pad(x, (1, 0, 0, 1)), weight, bias)
            addend = torch.rand_like(expected)
            args = (x, packed, bias, addend, channels, [0, 1], [1, 0], "clamp", 0.0, 20.0)
            torch.testing.assert_close(operator(*args), (expected + addend).clamp(0, 20))


# As transformers' NewGELUActivation has it.
_GELU = "0.5 * y * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (y + 0.044715 * torch.pow(y, 3.0))))"


class ActivationsTest(PassTestCase):
    _NAMES = ("linear", "packed_linear", "activations")
    _LINEAR = "self.layer = torch.nn.Linear(4, 48)"

    def test_acts(self) -> None:
        for activation, what in (
            ("torch.relu(y)", "clamp"),
            ("torch.nn.functional.relu6(y)", "clamp"),
            ("y.clamp(min=-1)", "clamp"),
            ("torch.nn.functional.gelu(y)", "gelu"),
            ("torch.nn.functional.gelu(y, approximate='tanh')", "gelu_tanh"),
            (_GELU, "gelu_tanh"),
            ("torch.sigmoid(y)", "sigmoid"),
            ("torch.nn.functional.silu(y)", "silu"),
        ):
            with self.subTest(activation):
                source = model_file(f"y = self.layer(x)\nreturn {activation}", "torch.rand(3, 4)", init=self._LINEAR)
                exported = self.export(source, self._NAMES)
                self.assertEqual(self.calls(exported), [PACKED_LINEAR_OUT])
                self.assertEqual(self.changes(exported, "activations"), [f"{what} done by the layer before it"])

    def test_acts_behind_views(self) -> None:
        source = model_file("return torch.relu(self.layer(x).view(4, 36)) + 1.0", "torch.rand(3, 4)", init=self._LINEAR)
        self.assertEqual(self.calls(self.export(source, self._NAMES)), ["aten::add.out", PACKED_LINEAR_OUT])

    def test_acts_on_convolutions(self) -> None:
        for layers in (
            "torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU6()",
            "torch.nn.ZeroPad2d((0, 1, 0, 1)), torch.nn.Conv2d(3, 4, 3), torch.nn.SiLU()",
        ):
            init = f"self.layers = torch.nn.Sequential({layers})"
            exported = self.export(model_file("return self.layers(x)", "torch.rand(1, 3, 6, 6)", init=init), ["all"])
            self.assertEqual(self.calls(exported), [CONVOLUTION_OUT])
            self.assertEqual(len(self.changes(exported, "activations")), 1)
        init = "self.layers = torch.nn.Sequential(torch.nn.ConvTranspose2d(3, 4, 3), torch.nn.ReLU())"
        exported = self.export(model_file("return self.layers(x)", "torch.rand(1, 3, 6, 6)", init=init), ["all"])
        self.assertEqual(self.calls(exported), ["aten::convolution.out", "aten::relu.out"])

    def test_leaves(self) -> None:
        for forward, stays in (
            # The layer's own result is needed, too.
            ("return torch.relu(y) + y", "aten::relu.out"),
            ("return torch.relu(y), y", "aten::relu.out"),
            ("return y * torch.sigmoid(y) + y", "aten::sigmoid.out"),
            # A function of a function; a product that is no silu; a bound that is no number.
            ("return torch.sigmoid(torch.relu(y))", "aten::sigmoid.out"),
            ("return y * torch.sigmoid(x[:, :1])", "aten::mul.out"),
            (f"return {_GELU.replace('3.0', '2.0')}", "aten::tanh.out"),
            (f"return {_GELU} + y", "aten::tanh.out"),
            ("return y.clamp(min=float('nan'))", "aten::clamp.out"),
        ):
            with self.subTest(forward):
                source = model_file(f"y = self.layer(x)\n{forward}", "torch.rand(3, 4)", init=self._LINEAR)
                self.assertIn(stays, self.calls(self.export(source, self._NAMES)))


class AttentionTest(PassTestCase):
    _FORWARD = "return torch.nn.functional.scaled_dot_product_attention(x, *others)"

    def test_acts(self) -> None:
        shape = "torch.rand(1, 2, 3, 4)"
        for inputs in ([shape] * 3, [shape] * 3 + ["torch.rand(3, 3) < 0.5"], ["torch.rand(2, 3, 4)"] * 3):
            self.check(
                "attention", model_file(self._FORWARD, *inputs), changes=["attention kept whole"], calls=[ATTENTION_OUT]
            )

    def test_acts_on_tokens_before_heads(self) -> None:
        attention = "torch.nn.functional.scaled_dot_product_attention"
        for forward, permuted in (
            (f"return {attention}(*(y.transpose(1, 2) for y in (x, *others))).transpose(1, 2)", False),
            (f"return {attention}(*(y.permute(0, 2, 1, 3) for y in (x, *others))).permute(0, 2, 1, 3)", False),
            (f"return {attention}(x, *(y.transpose(-2, -3) for y in others)) + 1.0", False),
            (f"return {attention}(x, *others).view(2, 3, 4, 5).transpose(1, 2) + 1.0", False),
            # Something else than heads and tokens; a result that is needed both ways.
            (f"return {attention}(*(y.transpose(2, 3) for y in (x, *others)))", True),
            (f"y = {attention}(x, *others)\nreturn y.transpose(1, 2), y + 1.0", True),
        ):
            others = ["torch.rand(2, 4, 3, 5)" if "y.transpose(-2, -3)" in forward else "torch.rand(2, 3, 4, 5)"] * 2
            inputs = ["torch.rand(2, 3, 4, 5)", *others]
            with self.subTest(forward):
                exported = self.export(model_file(forward, *inputs), ["attention"])
                calls = self.calls(exported)
                self.assertIn(ATTENTION_OUT, calls)
                copies = {"aten::transpose_copy.int_out", "aten::permute_copy.out"}
                self.assertEqual(not copies.isdisjoint(calls), permuted)

    def test_acts_on_repeated_heads(self) -> None:
        forward = """
        key, value = (
            y[:, :, None].expand(1, 2, 3, 5, 4).reshape(1, 6, 5, 4) for y in others
        )
        return torch.nn.functional.scaled_dot_product_attention(x, key, value)
        """
        source = model_file(forward, "torch.rand(1, 6, 3, 4)", "torch.rand(1, 2, 5, 4)", "torch.rand(1, 2, 5, 4)")
        exported = self.check(
            "attention",
            source,
            changes=["attention kept whole, with heads that share keys and values"],
            calls=[ATTENTION_OUT],
        )
        self.assertNotIn("aten::expand_copy.out", self.calls(exported))

    def test_leaves(self) -> None:
        for inputs in (
            # Keys that all of a batch share, and no heads.
            ["torch.rand(2, 2, 3, 4)", "torch.rand(1, 2, 3, 4)", "torch.rand(1, 2, 3, 4)"],
            ["torch.rand(3, 4)"] * 3,
        ):
            exported = self.export(model_file(self._FORWARD, *inputs), ["attention"])
            self.assertEqual(self.changes(exported, "attention"), [])
            self.assertNotIn(ATTENTION_OUT, self.calls(exported))
            self.check_values(exported)

    def test_operator(self) -> None:
        attention = OwnScaledDotProductAttention.overload()
        query, key = torch.rand(2, 4, 5, 6), torch.rand(2, 2, 7, 6)
        by_token = query.transpose(1, 2).contiguous()
        torch.testing.assert_close(
            attention(by_token, key, key, query_by_token=True, out_by_token=True),
            attention(query, key, key).transpose(1, 2),
        )
        self.assertEqual(torch.ops.rules_executorch.scaled_dot_product_attention.out._schema.name, attention.name())


_QUANTIZER = """
def get_quantizer():
    from executorch.backends.xnnpack.quantizer import xnnpack_quantizer

    config = xnnpack_quantizer.get_symmetric_quantization_config(is_per_channel=True)
    return xnnpack_quantizer.XNNPACKQuantizer().set_global(config)
"""
_ENDS = ["quantized_decomposed::dequantize_per_tensor.out", "quantized_decomposed::quantize_per_tensor.out"]
_CONVOLUTION_OF_BYTES = "rules_executorch::quantized_convolution.out"
_LINEAR_OF_BYTES = "rules_executorch::quantized_linear.out"
_QUANTIZED = [
    "quantized_moves",
    "quantized_tables",
    "quantized_layers",
    "quantized_add",
    "channels_of_bytes",
    "padding",
    "no_ops",
]
_COPY = "dim_order_ops::_to_dim_order_copy.out"


class QuantizedTest(PassTestCase):
    def _export(self, forward: str, x: str, init: str = "pass", names: Sequence[str] = tuple(_QUANTIZED)) -> Exported:
        return self.export(model_file(forward, x, init=init, after=_QUANTIZER), names)

    def test_linear(self) -> None:
        init = "self.layers = torch.nn.Sequential(torch.nn.Linear(5, 18), torch.nn.ReLU(), torch.nn.Linear(18, 3))"
        exported = self._export("return self.layers(x)", "torch.rand(2, 5)", init)
        self.assertEqual(self.calls(exported), sorted([*_ENDS, _LINEAR_OF_BYTES]))
        self.assertEqual(self.changes(exported, "quantized_layers"), ["aten::linear of bytes"] * 2)

    def test_convolutions(self) -> None:
        init = """
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3, stride=2),
            torch.nn.ReLU6(),
            torch.nn.ZeroPad2d((0, 1, 1, 0)),
            torch.nn.Conv2d(8, 8, 3, groups=8, bias=False),
            torch.nn.Sigmoid(),
            torch.nn.Conv2d(8, 4, 1),
        )
        """
        exported = self._export("return self.layers(x)", "torch.rand(1, 3, 12, 12)", init)
        self.assertEqual(self.calls(exported), sorted([*_ENDS, _CONVOLUTION_OF_BYTES, _COPY]))
        self.assertEqual(self.changes(exported, "quantized_layers"), ["aten::convolution of bytes"] * 3)
        # Bytes are copied at the borders alone.
        self.assertEqual(self.changes(exported, "channels_of_bytes"), [f"{_COPY[:-4]} of channels-last bytes"] * 2)

    def test_padding_before_the_quantization(self) -> None:
        init = "self.layer = torch.nn.Conv2d(3, 4, 3)"
        exported = self._export(
            "return self.layer(torch.nn.functional.pad(x, (0, 1, 2, 0)))", "torch.rand(1, 3, 8, 8)", init
        )
        self.assertEqual(self.calls(exported), sorted([*_ENDS, _CONVOLUTION_OF_BYTES, _COPY]))
        self.assertEqual(self.changes(exported, "quantized_moves"), ["aten::constant_pad_nd of bytes"])

    def test_convolutions_of_rows(self) -> None:
        init = "self.layers = torch.nn.Sequential(torch.nn.Conv1d(3, 8, 3, padding=1), torch.nn.Conv1d(8, 4, 2))"
        exported = self._export("return self.layers(x)", "torch.rand(2, 3, 12)", init)
        self.assertEqual(self.changes(exported, "quantized_layers"), ["aten::convolution of bytes"] * 2)

    def test_averages(self) -> None:
        init = "self.layer = torch.nn.Conv2d(3, 8, 1)"
        for forward, change in (
            ("return self.layer(x).mean((2, 3))", "aten::mean.dim of bytes"),
            ("return torch.nn.functional.adaptive_avg_pool2d(self.layer(x), 1)", "aten::mean.dim of bytes"),
            ("return torch.nn.functional.avg_pool2d(self.layer(x), 3, 2, padding=1)", "aten::avg_pool2d of bytes"),
        ):
            exported = self._export(forward, "torch.rand(2, 3, 7, 9)", init)
            changes = ["aten::convolution of bytes", change]
            self.assertEqual(self.changes(exported, "quantized_layers"), sorted(changes), forward)

    def test_leaves_other_averages(self) -> None:
        init = "self.layer = torch.nn.Conv2d(3, 8, 1)"
        for forward in (
            "return self.layer(x).mean((1, 3))",
            "return torch.nn.functional.avg_pool2d(self.layer(x), 3, padding=1, count_include_pad=False)",
            "return torch.nn.functional.avg_pool2d(self.layer(x), 2, ceil_mode=True)",
        ):
            exported = self._export(forward, "torch.rand(2, 3, 7, 9)", init)
            self.assertEqual(self.changes(exported, "quantized_layers"), ["aten::convolution of bytes"], forward)

    def test_additions(self) -> None:
        exported = self._export("return torch.nn.functional.relu(x + x * 2.0)", "torch.rand(2, 5)")
        self.assertIn("rules_executorch::quantized_add.out", self.calls(exported))
        self.assertEqual(self.changes(exported, "quantized_add"), ["an addition of bytes"])

    def test_bytes_move(self) -> None:
        init = "self.layer = torch.nn.Linear(4, 6)"
        exported = self._export(
            "return self.layer(x).view(2, 3, 3, 2).permute(0, 2, 1, 3)", "torch.rand(2, 3, 4)", init
        )
        self.assertEqual(self.calls(exported), sorted([*_ENDS, _LINEAR_OF_BYTES, "aten::permute_copy.out"]))
        self.assertEqual(
            self.changes(exported, "quantized_moves"), ["aten::permute_copy of bytes", "aten::view_copy of bytes"]
        )

    def test_leaves(self) -> None:
        # Weights that nothing is known of, and a transposed convolution.
        for forward, x, init, call in (
            ("return x @ x", "torch.rand(3, 3)", "pass", "aten::mm.out"),
            (
                "return self.layer(x)",
                "torch.rand(1, 3, 4, 4)",
                "self.layer = torch.nn.ConvTranspose2d(3, 3, 2)",
                "aten::convolution.out",
            ),
        ):
            exported = self._export(forward, x, init)
            self.assertEqual(self.changes(exported, "quantized_layers"), [])
            self.assertIn(call, self.calls(exported))

    def test_leaves_floats(self) -> None:
        source = model_file("return self.layer(x)", "torch.rand(2, 4)", init="self.layer = torch.nn.Linear(4, 6)")
        exported = self.export(source, _QUANTIZED)
        self.assertEqual(self.calls(exported), ["aten::linear.out"])

    def test_a_pad_that_nothing_reads(self) -> None:
        edge = to_edge_transform_and_lower(
            torch.export.export(torch.nn.ReLU(), (torch.rand(2, 4),)),
            compile_config=EdgeCompileConfig(_check_ir_validity=False),
        )
        program = edge.exported_program()
        relu = next(graphs.calls(program, graphs.EDGE.aten.relu.default))
        source = relu.args[0]
        assert isinstance(source, torch.fx.Node)
        padded = torch.nn.functional.pad(graphs.value(source), (0, 1))
        graphs.insert_call(relu, graphs.EDGE.aten.constant_pad_nd.default, (source, [0, 1], 0.0), padded)
        (moves,) = passes.select(["quantized_moves"])
        self.assertEqual(list(passes.apply(moves, program)), [])

    def test_results_are_those_of_the_separate_calls(self) -> None:
        """Each operator next to what the pass replaces: bytes differ by a step at most, and few do."""
        from torch.ao.quantization.fx import _decomposed  # noqa: F401, defines torch.ops.quantized_decomposed.

        separate = torch.ops.quantized_decomposed
        linear, convolution = QuantizedLinear.overload(), QuantizedConvolution.overload()
        generator = torch.Generator().manual_seed(0)
        x = torch.randint(-128, 128, (5, 40), generator=generator).to(torch.int8)
        weight = torch.randint(-127, 128, (20, 40), generator=generator).to(torch.int8)
        scales, bias = torch.rand(20, generator=generator) * 0.01, torch.randn(20, generator=generator)
        floats = torch.nn.functional.linear(
            separate.dequantize_per_tensor(x, 0.02, 3, -128, 127, torch.int8),
            separate.dequantize_per_channel(weight, scales, None, 0, -127, 127, torch.int8),
            bias,
        )
        expected = separate.quantize_per_tensor(floats, 0.05, -4, -128, 127, torch.int8)
        scale = 0.02 * scales / 0.05
        offset = bias / 0.05 - (128 + 3) * weight.sum(1) * scale - 4
        panels = packing.panels_of_rows(weight)
        actual = linear(x, panels, scale, offset, None, -128, 127, torch.int8)
        difference = (actual.int() - expected.int()).abs()
        self.assertLessEqual(int(difference.max()), 1)
        self.assertLess(int(difference.sum()), 3)
        image = torch.randint(0, 256, (1, 4, 6, 6), generator=generator).to(torch.uint8)
        image = image.to(memory_format=torch.channels_last)
        for channels, groups in ((20, 2), (4, 4)):
            kernel = torch.randint(-127, 128, (channels, 4 // groups, 3, 5), generator=generator).to(torch.int8)
            floats = torch.nn.functional.conv2d(
                separate.dequantize_per_tensor(image, 0.02, 7, 0, 255, torch.uint8),
                separate.dequantize_per_channel(kernel, scales[:channels], None, 0, -127, 127, torch.int8),
                bias[:channels],
                [2, 1],
                [1, 2],
                groups=groups,
            )
            expected = separate.quantize_per_tensor(floats, 0.05, 9, 0, 255, torch.uint8)
            offset = bias[:channels] / 0.05 - 7 * kernel.flatten(1).sum(1) * scale[:channels] + 9
            panels = packing.panels_of_convolution(kernel, groups)
            self.assertTrue(
                torch.equal(packing.convolution_of_panels(panels, channels, 4 // groups, [3, 5], groups), kernel)
            )
            args = (
                image,
                panels,
                scale[:channels],
                offset,
                None,
                [3, 5],
                [2, 1],
                [1, 2, 1, 2],
                [1, 1],
                groups,
                7,
                0,
                255,
            )
            difference = (convolution(*args, torch.uint8).int() - expected.int()).abs()
            self.assertLessEqual(int(difference.max()), 1)


def _by_torchao(
    config: str, forward: str = "return self.layer(x)", x: str = "torch.rand(1, 128)", dtype: str = "torch.float32"
) -> str:
    """A model file whose linear layer, of 128 features, torchao quantizes."""
    x = f"{x}.to({dtype})"
    return model_file(
        forward,
        x,
        init="self.layer = torch.nn.Linear(128, 160)",
        after=f"""
        from torchao import quantization
        from torchao.quantization.granularity import PerAxis, PerGroup

        def get_model():
            model = Model().eval().to({dtype})
            quantization.quantize_(model, quantization.{config})
            return model, ({x},)
        """,
    )


# What differs where torchao rounds weights and the scales of rows to a dtype, too.
_ROUNDED = {"torch.float16": 0.01, "torch.bfloat16": 0.08}


class WeightOnlyTest(PassTestCase):
    _CALL = "rules_executorch::weight_only_linear.out"

    def test_acts(self) -> None:
        for config, bits in (
            ("IntxWeightOnlyConfig(torch.int4, PerGroup(32))", 4),
            ("IntxWeightOnlyConfig(torch.int4, PerAxis(0))", 4),
            ("IntxWeightOnlyConfig(torch.int4, PerGroup(16))", 8),
            ("IntxWeightOnlyConfig(torch.int8, PerGroup(64))", 8),
            ("IntxWeightOnlyConfig(torch.int8, PerAxis(0))", 8),
        ):
            for dtype in ("torch.float32", "torch.bfloat16"):
                exported = self.export(_by_torchao(config, dtype=dtype), ["weight_only"])
                self.assertEqual(self.calls(exported), [self._CALL])
                self.assertEqual(
                    self.changes(exported, "weight_only"), [f"a linear layer with weights of {bits} bits"], config
                )

    def test_acts_on_scaled_products(self) -> None:
        """torchao's own weights of 8 bits are floats before a product, whose columns have the scales."""
        for x, dtype in (
            ("torch.rand(1, 128)", "torch.float32"),
            ("torch.rand(2, 3, 128)", "torch.float32"),
            ("torch.rand(2, 3, 128)", "torch.float16"),
            ("torch.rand(1, 128)", "torch.bfloat16"),
        ):
            source = _by_torchao("Int8WeightOnlyConfig()", x=x, dtype=dtype)
            exported = self.export(source, ["constants", "no_ops", "weight_only"])
            self.assertEqual(self.changes(exported, "weight_only"), ["a linear layer with weights of 8 bits"])
            self.assertNotIn("aten::add.out", self.calls(exported))
            self.assertLess(len(exported.pte), 1.5 * 128 * 160)

    def test_values(self) -> None:
        for config, x in itertools.product(
            ("Int8WeightOnlyConfig()", "IntxWeightOnlyConfig(torch.int4, PerGroup(32))"),
            ("torch.randn(5, 128)", "torch.randn(2, 3, 128)"),
        ):
            source: dict[str, Any] = {}
            exec(_by_torchao(config, x=x), source)
            self.check_graph(*source["get_model"](), "constants", "weight_only")
            for dtype, tolerance in _ROUNDED.items():
                exec(_by_torchao(config, x=x, dtype=dtype), source)
                self.check_graph(*source["get_model"](), "constants", "weight_only", tolerance=tolerance)

    def test_leaves_other_products(self) -> None:
        for forward in (
            "return x @ self.weight.float()",
            "return (x @ self.weight.float()) * x.sum()",
            "return (x @ self.weight.float()) * self.scale[:, None]",
            "return (x @ self.weight.float()) * self.factor",
        ):
            init = "self.register_buffer('weight', torch.ones(300, 300, dtype=torch.int8))"
            init += "\nself.scale = torch.nn.Parameter(torch.rand(300))"
            init += "\nself.factor = torch.nn.Parameter(torch.tensor(2.0))"
            exported = self.export(model_file(forward, "torch.rand(300, 300)", init=init), ["weight_only"])
            self.assertEqual(self.changes(exported, "weight_only"), [])

    def test_operator(self) -> None:
        own = WeightOnlyLinear.overload()
        weight = torch.randint(-8, 8, (6, 64)).to(torch.int8)
        x, scale, bias = torch.randn(3, 64), torch.rand(6, 2), torch.randn(6)
        expected = torch.nn.functional.linear(x, weight * scale.repeat_interleave(32, 1), bias)
        for given in (weight, packing.pack_halves(weight)):
            torch.testing.assert_close(own(x, given, scale, bias), expected)

    def test_leaves_computed_zero_points(self) -> None:
        """A weight is symmetric only if its zero points are known to be zeros."""
        init = """
        self.register_buffer("weight", torch.randint(-8, 8, (20, 64)).to(torch.int8))
        self.register_buffer("scale", torch.rand(20, 2))
        self.register_buffer("zeros", torch.zeros(20, 2, dtype=torch.int8))
        """
        for zero_point, changes in (
            ("self.zeros", ["a linear layer with weights of 4 bits"]),
            ("self.zeros + 1", []),
            ("self.scale.mul(x[0, 0]).to(torch.int8)", []),
        ):
            forward = f"""
            from torchao.quantization.quant_primitives import dequantize_affine
            weight = dequantize_affine(self.weight, (1, 32), self.scale, {zero_point}, torch.int8, -8, 7)
            return torch.nn.functional.linear(x, weight)
            """
            source: dict[str, Any] = {}
            exec(model_file(forward, "torch.rand(3, 64) * 9.0", init=init), source)
            module, inputs = source["get_model"]()
            edge = to_edge_transform_and_lower(
                torch.export.export(module, inputs),
                compile_config=EdgeCompileConfig(
                    _check_ir_validity=False, preserve_ops=[torch.ops.aten.linear.default]
                ),
            )
            program = edge.exported_program()
            *_, found = [passes.apply(one, program) for one in passes.select(["constants", "weight_only"])]
            self.assertEqual([change.what for change in found], changes, zero_point)
            torch.testing.assert_close(program.module()(*inputs), module(*inputs), rtol=1e-4, atol=1e-4)


class DynamicLinearTest(PassTestCase):
    _CALL = "rules_executorch::dynamic_linear.out"
    _CONFIGS = (
        ("Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=PerGroup(32))", 4),
        ("Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=PerAxis(0))", 4),
        ("Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int8, weight_granularity=PerGroup(64))", 8),
        ("Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int8, weight_granularity=PerAxis(0))", 8),
        ("Int8DynamicActivationInt8WeightConfig()", 8),
    )

    def test_acts(self) -> None:
        for config, bits in self._CONFIGS:
            with self.subTest(config):
                for dtype in ("torch.float32", "torch.bfloat16"):
                    exported = self.export(_by_torchao(config, x="torch.rand(2, 3, 128)", dtype=dtype), ["all"])
                    self.assertEqual(
                        self.changes(exported, "dynamic_linear"),
                        [f"a linear layer of quantized rows and weights of {bits} bits"],
                    )
                    self.assertEqual(set(self.calls(exported)) - {"aten::view_copy.out"}, {self._CALL})
                    self.assertLess(len(exported.pte), 1.4 * 128 * 160 * bits / 8 + 8000)

    def test_values(self) -> None:
        """As torchao calculates, but for the order of sums, and what torchao rounds to fewer bits."""
        for (config, _), x in itertools.product(self._CONFIGS, ("torch.randn(5, 128)", "torch.randn(2, 3, 128)")):
            source: dict[str, Any] = {}
            exec(_by_torchao(config, x=x), source)
            self.check_graph(*source["get_model"](), "constants", "dynamic_linear")
            for dtype, tolerance in _ROUNDED.items():
                exec(_by_torchao(config, x=x, dtype=dtype), source)
                self.check_graph(*source["get_model"](), "constants", "dynamic_linear", tolerance=tolerance)

    def test_layouts(self) -> None:
        for bits, columns, groups in ((4, 64, 2), (8, 64, 2), (4, 50, 1), (8, 50, 1)):
            weight = torch.randint(-(2 ** (bits - 1)), 2 ** (bits - 1), (22, columns)).to(torch.int8)
            scale = torch.rand(22, groups)
            panels = packing.panels_of_dynamic_rows(weight, bits)
            self.assertTrue(torch.equal(packing.rows_of_dynamic_panels(panels, 22, columns), weight))
            self.assertTrue(torch.equal(packing.columns_of_panels(packing.panels_of_columns(scale), 22), scale))


# As transformers' LlamaRMSNorm, Gemma3RMSNorm and T5LayerNorm have it.
_LLAMA_NORM = """
y = x.to(torch.float32)
y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)
return self.weight * y.to(x.dtype)
"""
_GEMMA_NORM = """
y = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-5)
return (y * (1.0 + self.weight.float())).type_as(x)
"""
_T5_NORM = """
y = x * torch.rsqrt(x.to(torch.float32).pow(2).mean(-1, keepdim=True) + 1e-5)
return self.weight * y.to(self.weight.dtype)
"""


class RmsNormTest(PassTestCase):
    _DTYPES = ("torch.float32", "torch.float16", "torch.bfloat16")

    def _source(self, forward: str, dtype: str = "torch.float32", shape: str = "2, 3, 8", weight: str = "8") -> str:
        init = f"self.weight = torch.nn.Parameter(torch.rand({weight}, dtype={dtype}))"
        return model_file(forward, f"torch.rand({shape}, dtype={dtype})", init=init)

    def _check_acts(self, source: str) -> None:
        exported = self.export(source, ["constants", "rms_norm"])
        self.assertEqual(self.calls(exported), [RMS_NORM_OUT])
        self.assertEqual(self.changes(exported, "rms_norm"), ["an RMS norm made one call"])

    def test_acts_on_pytorchs(self) -> None:
        whole = "return torch.nn.functional.rms_norm(x, ({}), {}, 1e-5)"
        for dtype in self._DTYPES:
            self._check_acts(self._source(whole.format("8,", "self.weight"), dtype))
        self._check_acts(self._source(whole.format("8,", "None")))
        self._check_acts(self._source(whole.format("3, 8", "self.weight"), weight="3, 8"))
        # PyTorch's own epsilon.
        self._check_acts(self._source("return torch.nn.functional.rms_norm(x, (8,), self.weight)"))

    def test_acts_on_those_written_out(self) -> None:
        for forward in (_LLAMA_NORM, _GEMMA_NORM, _T5_NORM):
            with self.subTest(forward):
                self._check_acts(self._source(forward, "torch.bfloat16"))
        for forward in (
            "return x * (x.pow(2).mean(-1, keepdim=True) + 1e-5).pow(-0.5) * self.weight",
            "return torch.rsqrt(1e-5 + (x * x).mean(2, keepdim=True)) * x * self.weight",
            "return x * torch.rsqrt(x.square().mean((1, 2), keepdim=True) + 1e-5)",
        ):
            with self.subTest(forward):
                self._check_acts(self._source(forward))

    def test_leaves_other_calls(self) -> None:
        """What is no norm stays; a norm's neighbors do."""
        for forward in (
            "return x * torch.rsqrt(x.pow(2).mean(1, keepdim=True) + 1e-5)",  # Not the last dimension.
            "return x * torch.rsqrt(x.pow(3).mean(2, keepdim=True) + 1e-5)",
            "return x * torch.rsqrt(x.mean(2, keepdim=True) + 1e-5)",
            "return self.weight * torch.rsqrt(x.pow(2).mean(2, keepdim=True) + 1e-5)",
            "return x * torch.rsqrt(x.pow(2).mean(2, keepdim=True) + x)",
            "return x * (x.pow(2).mean(2, keepdim=True) + 1e-5).pow(-0.25)",
            "y = torch.rsqrt(x.pow(2).mean(2, keepdim=True) + 1e-5)\nreturn x * y, y",
        ):
            with self.subTest(forward):
                exported = self.export(self._source(forward), ["rms_norm"])
                self.assertEqual(self.changes(exported, "rms_norm"), [])
                self.check_values(exported)
        norm = "x * torch.rsqrt(x.pow(2).mean(2, keepdim=True) + 1e-5)"
        for forward in (
            f"y = {norm}\nreturn y * y",
            f"return {norm} * x",
            f"y = {norm}\nreturn y * self.weight + y",
            f"return {norm} * self.weight.unsqueeze(0)",  # Shapes of more dimensions are no weights.
        ):
            with self.subTest(forward):
                calls = self.calls(self.export(self._source(forward), ["constants", "rms_norm"]))
                self.assertIn(RMS_NORM_OUT, calls)
                self.assertIn("aten::mul.out", calls)

    def test_keeps_results_of_float32(self) -> None:
        forward = "y = x.float()\nreturn y * torch.rsqrt(y.pow(2).mean(2, keepdim=True) + 1e-5) * self.weight.float()"
        exported = self.export(self._source(forward, "torch.bfloat16"), ["constants", "rms_norm"])
        self.assertEqual(self.calls(exported), ["dim_order_ops::_to_dim_order_copy.out", RMS_NORM_OUT])

    def test_values(self) -> None:
        for dtype, forward in itertools.product(self._DTYPES, (_LLAMA_NORM, _GEMMA_NORM, _T5_NORM)):
            source: dict[str, Any] = {}
            exec(self._source(forward, dtype), source)
            module, inputs = source["get_model"]()
            inputs = (inputs[0] * 9 - 4,)
            edge = to_edge_transform_and_lower(
                torch.export.export(module, inputs), compile_config=EdgeCompileConfig(_check_ir_validity=False)
            )
            program = edge.exported_program()
            for one in passes.select(["constants", "rms_norm"]):
                passes.apply(one, program)
            # Of bfloat16, one step more: PyTorch's result is rounded before the weight.
            tolerance = {torch.float32: 1e-6, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}[inputs[0].dtype]
            # The mean of the smaller one's squares is about the number that is added to it.
            for x in (inputs[0], inputs[0] * 1e-3):
                torch.testing.assert_close(program.module()(x), module(x), rtol=tolerance, atol=1e-5)

    def test_operator(self) -> None:
        operator = RmsNorm.overload()
        for dtype in (torch.float32, torch.bfloat16):
            x, weight = torch.randn(2, 3, 8).to(dtype), torch.rand(3, 8).to(dtype)
            expected = torch.nn.functional.rms_norm(x, (3, 8), weight, 1e-5)
            torch.testing.assert_close(operator(x, weight, 2, 1e-5), expected)
        self.assertEqual(torch.ops.rules_executorch.rms_norm.out._schema.name, operator.name())


class SelectionTest(PassTestCase):
    def test_groups(self) -> None:
        every = [
            "attention",
            "linear",
            "batch_norm",
            "padding",
            "no_ops",
            "constants",
            "quantized_moves",
            "quantized_tables",
            "quantized_layers",
            "quantized_add",
            "channels_of_bytes",
            "dynamic_linear",
            "weight_only",
            "rms_norm",
            "uneven_padding",
            "convolution_1d",
            "packed_linear",
            "channels_last",
            "addends",
            "activations",
            "winograd",
            "in_place",
            "views",
        ]
        default = ["batch_norm", "padding", "no_ops", "constants", "quantized_moves", "in_place", "views"]
        self.assertCountEqual([one.name for one in passes.select(["all"])], every)
        self.assertEqual([one.name for one in passes.select(["default"])], default)
        self.assertEqual([one.name for one in passes.select(["views", "linear", "views"])], ["linear", "views"])
        self.assertEqual(passes.select([]), ())
        self.assertEqual(
            [one.name for one in passes.select(["default", "-views", "-padding"])],
            ["batch_norm", "no_ops", "constants", "quantized_moves", "in_place"],
        )

    def test_unknown_name(self) -> None:
        for name in ("linaer", "-linaer"):
            with self.assertRaises(InputError) as caught:
                passes.select(["default", name])
            finding = caught.exception.findings[0]
            self.assertEqual(finding.id, "unknown-graph-pass")
            self.assertEqual(finding.found, "there is no pass linaer; did you mean linear?")
            self.assertIn("all, default, activations, addends, attention", finding.fix)

    def test_none(self) -> None:
        exported = self.export(model_file("return x.clone() + 1.0", "torch.rand(2)"), [])
        self.assertIn("dim_order_ops::_clone_dim_order.out", self.calls(exported))
        self.assertEqual(report.as_text(exported.graph_passes), "forward: no graph passes\n")

    def test_reports(self) -> None:
        exported = self.export(
            model_file("y = x.clone() + 1.0\nreturn y.expand(2) * x.clone()", "torch.rand(2)"), ["no_ops", "views"]
        )
        model = f"{self.folder}/model.py"
        self.assertEqual(
            report.as_text(exported.graph_passes),
            textwrap.dedent(
                f"""\
                forward:
                  no_ops: 3 changes
                    1: aten::expand_copy that changes nothing; {model}:13:1
                    2: dim_order_ops::_clone_dim_order that changes nothing; {self.folder}/model.py:12:1, {model}:13:1
                  views: 0 changes
                """
            ),
        )
        of_method = json.loads(report.as_json(exported.graph_passes))["methods"]["forward"]
        self.assertEqual([one["name"] for one in of_method], ["no_ops", "views"])
        self.assertEqual(of_method[0]["changes"][0]["at"], f"{self.folder}/model.py:12:1")
        self.assertEqual(of_method[0]["left_out"], "")

    def test_delegates_keep_what_they_want(self) -> None:
        init = "self.layers = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU())"
        source = model_file("return self.layers(x).cumsum(1)[:] + 1.0", "torch.rand(1, 3, 6, 6)", init=init)
        with_passes, without = (self.export(source, names, backends=["xnnpack"]) for names in (["all"], []))
        self.assertEqual(with_passes.delegations["forward"].delegates, without.delegations["forward"].delegates)
        self.check_values(with_passes)


if __name__ == "__main__":
    absltest.main()
