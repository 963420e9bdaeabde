"""Tests of models that PyTorch or ExecuTorch refuses: one finding says what and where."""

from __future__ import annotations

import functools
import linecache
import re
import textwrap

import torch
from absl.testing import absltest

from diagnostics.errors import InputError
from export.exporter import export
from export.tests.model_files import LINEAR, ErrorCase, model_file


class ErrorTest(ErrorCase):
    def test_nonsense_dynamic_shapes(self) -> None:
        self.assert_raised(LINEAR + "def get_dynamic_shapes(): return {'z': None}\n", 9, "arg names ['x']", "dynamic")

    def test_data_dependent_control_flow(self) -> None:
        source = model_file("def forward(self, x):\n    return x if x.sum() > 0 else -x", "(torch.ones(3),)")
        self.assert_raised(source, 5, "torch.export of forward()", "data-dependent", "torch.where")

    def test_branch_of_a_written_buffer(self) -> None:
        for write in (
            "self.state.fill_(0.0)",
            "self.state = x",
            "self.state[1:].add_(x[1:])",
            "with torch.autocast('cuda', enabled=False): self.state.copy_(x)",
        ):
            source = model_file(
                f"""
                def __init__(self):
                    super().__init__()
                    self.register_buffer("state", torch.ones(3))
                def forward(self, x):
                    y = x * 2 if self.state[1] > 0 else x
                    {write}
                    return y
                """,
                "(torch.ones(3),)",
            )
            self.assert_raised(source, 8, "data-dependent", "run the model once")

    def test_integers_of_values(self) -> None:
        for classes, given in (
            ("torch.nn.functional.one_hot(i)", "num_classes"),
            ("x[: int(i.max())]", "n = x.item()"),
        ):
            forward = f"def forward(self, x, i): return {classes} * 2"
            source = model_file(forward, "(torch.ones(3), torch.tensor([0, 2]))")
            self.assert_raised(source, 4, "`int()` takes a value of a tensor", given)

    def test_packed_sequence(self) -> None:
        packed = "torch.nn.utils.rnn.pack_padded_sequence(x, lengths)"
        for states in ("", ", torch.zeros(1, 2, 4)"):
            source = model_file(
                f"layer = torch.nn.GRU(3, 4)\ndef forward(self, x, lengths): return self.layer({packed}{states})[1]",
                "(torch.ones(5, 2, 3), torch.tensor([5, 2]))",
            )
            self.assert_raised(source, 5, "pack_padded_sequence", "y.gather(1, (lengths - 1)")

    def test_gradients(self) -> None:
        source = model_file(
            "layer = torch.nn.Linear(2, 1)\n"
            "def forward(self, x): return torch.func.grad(lambda y: self.layer(y).sum())(x)",
            "(torch.ones(2, 2),)",
        )
        self.assert_raised(source, 6, "computes derivatives", "by a formula")

    def test_derivatives(self) -> None:
        for call in ("grad(lambda y: (y**2).sum())(x)", "jacrev(torch.sin)(x)", "vjp(torch.sin, x)[1](x)[0]"):
            source = model_file(f"def forward(self, x): return torch.func.{call}", "(torch.ones(2),)")
            # PyTorch has the line for some of them only.
            with self.assertRaisesRegex(InputError, r"(?s)model\.py:[45]:.*computes derivatives.*by a formula"):
                self.export(source)

    def test_batch_norm_of_all_runs(self) -> None:
        source = model_file(
            """
            def __init__(self):
                super().__init__()
                self.norm = torch.nn.BatchNorm1d(3, momentum=None)
            def forward(self, x):
                self.norm.train()
                return self.norm(x)
            """,
            "(torch.ones(5, 3),)",
        )
        self.assert_raised(source, 9, "momentum=None", "such as 0.1")

    def test_causal_masks_of_torch(self) -> None:
        before = "from torch.nn.attention.bias import causal_lower_right"
        call = "torch.nn.functional.scaled_dot_product_attention(x, x, x, attn_mask={})"
        source = model_file(
            f"def forward(self, x): return {call.format('causal_lower_right(4, 4)')}", "(torch.ones(1, 4, 8),)", before
        )
        self.assert_raised(source, 4, "a mask of a class of its own", ".tril(m - n)")
        source = model_file(
            f"mask = causal_lower_right(4, 4)\ndef __init__(self):\n    super().__init__()\n    self.kept = self.mask\n"
            f"def forward(self, x): return {call.format('self.kept')}",
            "(torch.ones(1, 4, 8),)",
            before,
        )
        self.assert_raised(source, 9, "self.kept is a tensor of a class of its own", ".tril(m - n)")

    def test_size_as_a_key(self) -> None:
        source = model_file(
            "def forward(self, x): return x * {5: 2.0}.get(x.shape[0], 3.0)",
            "(torch.ones(5),)",
            after="def get_dynamic_shapes(): return {'x': {0: torch.export.Dim('n', max=9)}}",
        )
        self.assert_raised(source, 4, "is a key of a dict", "in each call")

    def test_branch_that_writes_to_a_buffer(self) -> None:
        source = model_file(
            """
            def __init__(self):
                super().__init__()
                self.register_buffer("count", torch.zeros(1))
            def forward(self, x):
                def first(x):
                    self.count.add_(1)
                    return x * 2
                return torch.cond(x.sum() > 0, first, lambda x: x * 3, (x,)) + self.count
            """,
            "(torch.ones(3),)",
        )
        self.assert_raised(source, 12, "writes to a buffer", "return the new value from each branch")

    def test_floats_of_values(self) -> None:
        for call in ("float(x.max())", "math.sqrt(x.sum())"):
            source = "import math\n" + model_file(f"def forward(self, x): return x * {call}", "(torch.ones(2),)")
            self.assert_raised(source, 5, "Python's `float()`", "x.item()")

    def test_generators(self) -> None:
        for made, generator in (
            ("", "torch.Generator().manual_seed(3)"),
            ("self.generator = torch.Generator()", "self.generator"),
        ):
            source = model_file(
                f"""
                def __init__(self):
                    super().__init__()
                    {made or "pass"}
                def forward(self, x):
                    return x + torch.rand(2, generator={generator})
                """,
                "(torch.ones(2),)",
            )
            self.assert_raised(source, 8, "gives a torch.Generator to aten.rand.generator", "leave `generator` out")

    def test_layers_that_torch_ao_quantized(self) -> None:
        source = model_file(
            "layer = torch.ao.quantization.quantize_dynamic(torch.nn.Sequential(torch.nn.Linear(4, 3)))\n"
            "def forward(self, x): return self.layer(x)",
            "(torch.ones(2, 4),)",
        )
        self.assert_raised(source, 6, "as by quantize_dynamic()", "quantize_() of torchao")

    def test_data_of_other_sizes(self) -> None:
        source = model_file(
            """
            def __init__(self):
                super().__init__()
                self.w = torch.nn.Parameter(torch.ones(3))
            def forward(self, x):
                self.w.data = x
                return self.w * 2
            """,
            "(torch.ones(2),)",
        )
        self.assert_raised(source, 8, "`.data` of torch.float32 with the sizes (3,) gets", "as large as it becomes")

    def test_index_without_dimensions(self) -> None:
        source = model_file("def forward(self, x, i): return x[i] * 2", "(torch.ones(3, 2), torch.tensor(1))")
        self.assert_raised(source, 4, "a tensor i of no dimensions", "x[i.reshape(1)][0]")

    def test_function_of_sizes(self) -> None:
        source = model_file("def forward(self, x): return x * (x.shape[0] & 3)", "(torch.ones(5),)")
        source += "def get_dynamic_shapes(): return ({0: torch.export.Dim('n', max=9)},)\n"
        self.assert_raised(source, 4, "the call: operator.and_", "does not have this function of numbers", "torch.full")

    def test_method_without_inputs(self) -> None:
        source = model_file(
            """
            def __init__(self):
                super().__init__()
                self.register_buffer("calls", torch.zeros(2))
            def forward(self):
                self.calls.add_(1)
                return self.calls * 2
            """,
            "()",
        )
        self.assert_raised(source, 10, "forward() has no inputs", "give forward() an input")

    def test_part_in_torchscript(self) -> None:
        source = model_file(
            """
            def __init__(self):
                super().__init__()
                self.inner = torch.jit.script(Inner())
            def forward(self, x):
                return self.inner(x)
            """,
            "(torch.ones(2),)",
            before="class Inner(torch.nn.Module):\n    def forward(self, x): return x * 2",
        )
        self.assert_raised(source, 9, "inner of the module is TorchScript", "Python classes")

    def test_varying_number_of_time_steps(self) -> None:
        source = model_file(
            "layer = torch.nn.LSTM(3, 4)\ndef forward(self, x): return self.layer(x)[0]", "(torch.ones(5, 2, 3),)"
        )
        source += "\n\ndef get_dynamic_shapes():\n    return ({0: torch.export.Dim.AUTO(max=9)},)\n"
        self.assert_raised(source, 6, "has a varying number of time steps", 'add "recurrent" to graph_passes')

    def test_dynamic_shape_constraints(self) -> None:
        source = model_file(
            "def forward(self, x): return x + torch.ones(2)",
            "(torch.ones(2),)",
            after="def get_dynamic_shapes(): return ({0: torch.export.Dim('n', max=8)},)",
        )
        self.assert_raised(source, 5, "n = 2", "follow the suggested fixes")

    def test_sizes_that_torch_export_cannot_describe(self) -> None:
        for body, word in (
            ("pad(x, (0, 0, 0, -x.shape[1] % 4)).view(2, -1, 4, 8).sum(2)", "inconsistent min"),
            ("pad(x, (0, 0, -1, -1))", "Expected op to be"),
        ):
            source = model_file(
                f"def forward(self, x): return torch.nn.functional.{body}",
                "(torch.ones(2, 6, 8),)",
                after="def get_dynamic_shapes(): return ({1: torch.export.Dim('n', max=16)},)",
            )
            self.assert_raised(source, 5, word, "give a larger min")

    def test_operator_without_out_variant(self) -> None:
        source = model_file(
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
        source = model_file(quantized, "(torch.ones(3),)", before=module)
        self.assert_error(source, "no-out-variant model.py:6:1")
        _, samples = self.export(model_file(quantized, "(torch.ones(3),)", before=f"{module}\n{imported}"))
        self.assertEqual(samples["forward/0/output/0"].tolist(), [10, 10, 10])

    def test_layers_that_torchao_quantized(self) -> None:
        for config in (
            "IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(32))",
            "Int8DynamicActivationInt8WeightConfig()",
            "Int8DynamicActivationIntxWeightConfig(torch.int4, PerGroup(32))",
        ):
            source = (
                "from torchao.quantization import *\n"
                + LINEAR.replace("Linear(4, 3)", "Linear(32, 32)").replace("(2, 4)", "(2, 32)")
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
                    + LINEAR.replace("Linear(4, 3)", "Linear(32, 32)").replace("(2, 4)", "(2, 32)")
                    + f"eager = Model()\nquantize_(eager, {config})\n"
                    + "def quantized(): return eager, (torch.ones(2, 32),)\n"
                )
                with_pass = functools.partial(export, self.model, "quantized", graph_passes=("default", graph_pass))
                self.assert_refused(with_pass, "no-out-variant model.py:14:1")

    def test_operator_without_fake(self) -> None:
        source = model_file(
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

    def test_nested_tensors(self) -> None:
        source = model_file(
            "def forward(self, x): return torch.nested.nested_tensor([x, x[:2]]).to_padded_tensor(0)",
            "(torch.ones(3, 2),)",
        )
        self.assert_raised(source, 4, "aten::_nested_tensor_from_tensor_list", "padded tensors and a mask")

    def test_branch_that_returns_a_view(self) -> None:
        source = model_file(
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
                    source = model_file(
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
                source = model_file(
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
            model_file(
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
        source = model_file(
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
        source = model_file(
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
        source = model_file(
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
                source = model_file(
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
                    model_file(
                        "def __init__(self):\n    super().__init__()\n    memory = torch.ones(4)\n"
                        "    self.one, self.other = torch.nn.Buffer(torch.zeros(1)), torch.nn.Buffer(torch.zeros(1))\n"
                        f"    self.one, self.other = {buffers}\ndef forward(self, x):\n    {body}",
                        "(torch.ones(1),)",
                    )
                )
                self.assertIn(b"aten::", pte)

    def test_methods_that_share_state(self) -> None:
        source = """
            import copy
            import torch


            class Cache(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.register_buffer("rows", torch.zeros(4))
                    self.layer = torch.nn.Linear(4, 4)


            class Fill(torch.nn.Module):
                def __init__(self, cache):
                    super().__init__()
                    self.cache = cache

                def forward(self, x):
                    self.cache.rows[1:].add_(x)
                    return x * 2


            class Read(torch.nn.Module):
                def __init__(self, inner):
                    super().__init__()
                    self.inner = inner

                def forward(self, x):
                    return {read}


            def get_model():
                cache = Cache()
                return {{"fill": (Fill(cache), (torch.ones(3),)), "read": (Read({cache}), (torch.ones(4),))}}
            """
        source = textwrap.dedent(source).lstrip()
        shared = source.format(read="x + self.inner.rows", cache="cache")
        branch = source.format(read="x * 2 if self.inner.rows[0] == 0 else x", cache="cache")
        for one in (shared, branch):
            self.assert_error(one, "methods-share-state model.py:18:1")
        for read, cache in (("x + self.inner.rows", "copy.deepcopy(cache)"), ("self.inner.layer(x)", "cache")):
            with self.subTest(cache):
                self.export(source.format(read=read, cache=cache))

    def test_state_in_globals(self) -> None:
        for write in ("G[0] = G[0] + x", "G.append(x)"):
            for given in ("", "def get_sample_inputs(): return [(torch.ones(3),)] * 3\n"):
                forward = f"def forward(self, x):\n    {write}\n    return sum(G)"
                source = "G = [0]\n" + model_file(forward, "(torch.ones(3),)") + given
                with self.assertRaisesRegex(InputError, r"model.py:8:1: .* keeps a tensor in a global"):
                    self.export(source)

    def test_attributes_that_methods_share(self) -> None:
        source = textwrap.dedent("""
            import torch


            class Part(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.memory = torch.zeros(2)
                    self.calls = 0


            class Write(torch.nn.Module):
                def __init__(self, part):
                    super().__init__()
                    self.part = part

                def forward(self, x):
                    self.part.memory = x + 1
                    self.part.calls += 1
                    return x * 2


            class Read(torch.nn.Module):
                def __init__(self, part):
                    super().__init__()
                    self.inner = part

                def forward(self, x):
                    return {read}


            def get_model():
                part, x = Part(), torch.ones(2)
                return {{"write": (Write(part), (x,)), "read": (Read(part), (x,))}}
            """).lstrip()
        self.assert_error(source.format(read="x + self.inner.memory"), "methods-share-state model.py:17:1")
        self.export(source.format(read="x + 1"))
        self.export(source.format(read="x + len(self.inner.memory)"))

    def test_buffers_that_assignments_replace(self) -> None:
        for first, value in (
            ("torch.zeros(2, dtype=torch.int64)", "self.kept + x"),
            ("torch.zeros(1)", "self.kept + x"),
            ("torch.zeros(0)", "torch.cat([self.kept, x])"),
        ):
            with self.subTest(first):
                source = model_file(
                    f"""
                    def __init__(self):
                        super().__init__()
                        self.register_buffer("kept", {first})
                    def forward(self, x):
                        self.kept = {value}
                        return self.kept * 2
                    """,
                    "(torch.ones(2),)",
                )
                self.assert_error(source, "replaced-buffer model.py:8:1")

    def test_sparse_buffer(self) -> None:
        source = model_file(
            """
            def __init__(self):
                super().__init__()
                self.register_buffer("matrix", torch.eye(2).to_sparse())
            def forward(self, x): return self.matrix @ x
            """,
            "(torch.ones(2, 1),)",
        )
        self.assert_error(source, "unsupported-value model.py:8:1")

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
        source = model_file(
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

    def test_input_without_largest_size(self) -> None:
        for dim in ("torch.export.Dim('n')", "torch.export.Dim.AUTO", "torch.export.Dim.DYNAMIC"):
            source = model_file("def forward(self, x): return x * 2", "(torch.ones(3, 2),)")
            source += f"\ndef get_dynamic_shapes(): return {{'x': {{0: {dim}}}}}\n"
            self.assert_error(source, "unbounded-size model.py:5:1")

    def test_samples_of_other_sizes(self) -> None:
        for dim, size in (("Dim('n', max=9)", 12), ("Dim.AUTO(max=9)", 10), ("Dim('n', min=4, max=9)", 3)):
            source = model_file(
                "def forward(self, x): return x * 2",
                "(torch.ones(6, 2),)",
                after=f"def get_dynamic_shapes(): return {{'x': {{0: torch.export.{dim}}}}}",
            )
            source += f"\ndef get_sample_inputs(): return [(torch.ones(5, 2),), (torch.ones({size}, 2),)]\n"
            self.assert_error(source, "wrong-return-value model.py:5:1")

    def test_narrowed_sizes(self) -> None:
        for body, size, line in (
            ("x / math.sqrt(x.shape[0])", 3, 5),
            ("x.sum() if x.shape[0] < 5 else x", 3, 5),
            ("x.diagonal(x.shape[0] - 2)", 3, 5),
            ("x * 2", 1, 6),
            ("x + torch.ones(3, 1)", 3, 5),
        ):
            source = "import math\n" + model_file(f"def forward(self, x): return {body}", f"(torch.ones({size}, 2),)")
            source += "\ndef get_dynamic_shapes(): return {'x': {0: torch.export.Dim.AUTO(max=9)}}\n"
            linecache.clearcache()
            self.model.write_text(source)
            self.assert_findings(export(self.model).warnings, f"narrowed-size model.py:{line}:1")

    def test_narrowed_sizes_of_nested_inputs(self) -> None:
        source = model_file(
            "def forward(self, x, more, *, y): return x + more['a'][1] + y / more['a'][0].shape[0] ** 0",
            "{'x': torch.ones(3), 'more': {'a': [torch.ones(1), torch.ones(3)]}, 'y': torch.ones(3)}",
        )
        hint = "{0: torch.export.Dim.AUTO(max=9)}"
        source += (
            f"\ndef get_dynamic_shapes(): return {{'x': None, 'more': {{'a': [{hint}, None]}}, 'y': ({hint}[0],)}}\n"
        )
        linecache.clearcache()
        self.model.write_text(source)
        self.assert_findings(export(self.model).warnings, "narrowed-size model.py:5:1", "narrowed-size model.py:4:1")

    def test_fixed_views_of_open_sizes(self) -> None:
        hints = "def get_dynamic_shapes(): return [dict.fromkeys((0, 1), torch.export.Dim.AUTO(max=24))]"
        source = model_file("def forward(self, x): return x.view(2, 4, 3).sum(0)", "(torch.ones(2, 12),)", after=hints)
        self.assert_error(source, "narrowed-size model.py:4:1")
        # There is a program, which refuses other sizes when it runs.
        self.model.write_text(source.replace("view(2, 4, 3)", "reshape([24])"))
        linecache.clearcache()
        self.assert_findings(export(self.model).warnings, "narrowed-size model.py:4:1")

    def test_size_without_bound(self) -> None:
        for call in ("torch.bincount(x)", "torch.ones(x.max().item())"):
            source = model_file(f"def forward(self, x): return {call} * 2", "(torch.tensor([1, 2, 5]),)")
            self.assert_error(source, "unbounded-size model.py:4:1")

    def test_sizes_without_bound(self) -> None:
        source = model_file(
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
        source = model_file(
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
        source = model_file(
            "def forward(self, x): return (x + 1, x) if torch.compiler.is_compiling() else x + 1", "(torch.ones(2),)"
        )
        self.assert_raised(source, 5, "forward() returns 1 values on sample 0", "#varying-outputs")


if __name__ == "__main__":
    absltest.main()
